// SPDX-License-Identifier: Apache-2.0
// What proves that a process of a running VM stood still while it was read.
//
// Nobody stops the VM, so a process may run while its structures are followed, and what was read is then of several
// instants. It shows in its own structure: each time that a process is scheduled out its reductions have grown, a
// collection moves its heap, whatever it does moves the top of its heap or of its stack, and messages that it fetches
// leave the outer queue. So the words below are read before and after: where they are the same, and neither time it
// ran, all that hangs off the process is of one instant, but for messages that others appended meanwhile, which are
// left out: a queue is followed to what was its last element. Where they differ it is tried again, most_tries times in
// all. Facts: erl_process.h (Process), OTP 23 to 29; observed on busy nodes of 23, 25, 27 and 29: of 97,000 rows that
// were proved so none broke its program's invariants, of unproved ones one in ten had a wrong stack.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// How often a process is read until it stands still meanwhile.
inline constexpr unsigned most_tries = 4;

/// The words that prove it.
struct RowKey {
    std::array<Word, 8> words{};  ///< identifier, heap, top, stop, end, reductions, inner queue, outer queue
    std::uint32_t state = 0;      ///< flags: others set some of them while it stands still
    bool is_process() const { return is_pid(words[0]); }
    /// Whether a thread works for it at this instant.
    bool runs() const {
        return (state & (state::running | state::running_sys | state::dirty_running | state::dirty_running_sys)) != 0;
    }
    /// Whether it is on its way out of the VM.
    bool freed() const { return (state & state::free) != 0; }
    /// Whether it stood still between two readings.
    bool same(const RowKey& other) const { return words == other.words && !runs() && !other.runs(); }
    /// One number for `words`, never 0: Process::version.
    std::uint64_t version() const;
};

/// `process` holds layout.process_size bytes.
RowKey key_of(const Offsets& at, const std::byte* process);
/// As it is now, whatever was fetched before; nothing where nothing is mapped there. Only of a running VM.
std::optional<RowKey> key_now(bytes::MemoryReader& memory, const Offsets& at, std::uint64_t process);

/// Processes that are read side by side.
///
/// A call of the system takes as long as what it fetches of an ordinary process, and each process took several. Of a
/// batch there are some for all: first the rows, then the pages of what hangs off them, and of binaries that stand
/// outside; then the rows again, for their keys. What is then read of a process was thus all fetched between its two
/// keys, as where it is read alone, for as long as nothing else has to be fetched. Where it has to be (a long queue, a
/// large heap), the process's key is read once more behind that.
class RowBatch {
public:
    /// Of so many processes the pages fit in a processor's cache, and the two keys of each are a millisecond apart at
    /// the most.
    static constexpr std::size_t most = 96;
    /// What of each process is fetched beside its row.
    enum class Depth : std::uint8_t { row, stack, heap };

    /// Both must outlive it. Only of a running VM.
    RowBatch(bytes::MemoryReader& memory, const Layout& layout) : memory_(memory), layout_(layout) {}
    /// Begins a round of the reader with these processes, `most` of them or fewer.
    void fetch(std::span<const std::uint64_t> processes, Depth depth);
    /// The key of process `i` before anything of it was fetched; nothing where it is not mapped.
    const std::optional<RowKey>& before(std::size_t i) const { return before_[i]; }
    /// Its structure at that instant, layout.process_size bytes, until the next fetch(); null where it is not mapped.
    const std::byte* row(std::size_t i) const {
        return before_[i] ? rows_.data() + i * layout_.at.process_size : nullptr;
    }
    /// Its key behind all that was read of it so far.
    std::optional<RowKey> after(std::size_t i);

private:
    void keys(std::vector<std::byte>& rows, std::vector<std::optional<RowKey>>& into);
    void add_row(const std::byte* row, Depth depth);
    void add_binaries(const std::byte* row);
    bytes::MemoryReader& memory_;
    const Layout& layout_;
    std::vector<std::uint64_t> processes_;
    std::vector<std::optional<RowKey>> before_, after_;
    std::vector<std::byte> rows_, later_rows_;
    std::vector<bytes::MemoryPiece> pieces_;
    std::vector<bytes::LiveView::Range> ranges_;
    std::uint64_t fetched_ = 0;  ///< LiveView::fetches() when the later keys were read
};

}  // namespace beamheap::otp
