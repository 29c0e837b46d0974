// SPDX-License-Identifier: Apache-2.0
// What the youngest frames of a waiting process hold, for who waits for whom: Snapshot::slots.
//
// Pids, ports and atoms stand in the stack itself. References are objects of the heap, which is written depth first
// from the stack's youngest slot on (dump_process_info() in erl_process_dump.c): those of the youngest frames are among
// its first lines, so that a look at the section's beginning finds them without decoding the heap.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/crashdump/loader.hpp"
#include "formats/crashdump/stack.hpp"
#include "formats/crashdump/term_grammar.hpp"
#include "formats/external_term.hpp"

namespace beamheap::crashdump {

class SlotKeeper {
public:
    /// Bytes of a heap section that are searched.
    static constexpr std::size_t searched_bytes = std::size_t{256} << 10;

    /// Whether slots of a process are wanted.
    bool wants(const Loader& loader, ProcId process);
    /// Takes what the stack of a process holds.
    void stack(Loader& loader, ProcId process, std::span<const StackReader::SlotText> values);
    /// Whether objects of this process's heap are looked for.
    bool wants_heap(ProcId process) const { return process == process_ && !wanted_.empty(); }
    /// Takes the beginning of its heap section, whole lines but for the last.
    void heap(Loader& loader, TermStyle style, std::string_view text);

private:
    struct Wanted {
        std::uint32_t frame = 0;
        std::string address;
    };
    void object(Loader& loader, TermStyle style, std::uint32_t frame, std::string_view body);

    std::vector<std::optional<SlotsWanted>> functions_;  // by FunctionId; none: not asked yet
    SlotsWanted wants_ = SlotsWanted::none;              // of the process asked for last
    ProcId process_ = ProcId::none;
    std::vector<Wanted> wanted_;
    external_term::Terms terms_;
};

}  // namespace beamheap::crashdump
