// SPDX-License-Identifier: Apache-2.0
// A core image of an Erlang VM with its executable, or a VM that runs: opened, matched to each other, and refused by
// name where it can't be read. Nothing of the VM's structures is known here; roots.hpp goes on from there.
//
// A core needs its executable: constants (names of tables and allocators, the release) are in pages that nobody
// wrote to, which gcore and the kernel leave out. Whether an executable is the right one is proved on the image: its
// relocations must have been applied at the address where the core says that it was loaded.
//
// Of a VM that runs the system names the executable and where it is mapped, and the same proof is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beamheap/artifact.hpp"
#include "beamheap/error.hpp"
#include "bytes/address_space.hpp"
#include "bytes/core_notes.hpp"
#include "bytes/elf_image.hpp"
#include "bytes/running_process.hpp"

namespace beamheap::otp {

/// What an emulator's executable says of itself, out of the format string of its version line
/// ("Erlang/OTP 25%s [erts-13.1.5] [source] [64-bit] ... [jit:ns%s]", erl_bif_info.c of every release since 17).
struct Build {
    std::uint32_t release = 0;  ///< 25
    std::string erts_version;   ///< "13.1.5"
    std::string line;           ///< the whole of it, less what only the running VM fills in: "... [64-bit] [smp] [jit]"
    bool jit = false;
    bool hipe = false;
    std::string foreign;  ///< a build option that changes structures ("debug-compiled", "lock-counting"), or empty
};
/// The build that a version line's format string describes; nothing if it is none.
std::optional<Build> parse_build(std::string_view line);
/// Finds the version line in an executable.
std::optional<Build> find_build(const bytes::ElfImage& executable);

/// Where the executable of the core image `core` may be, the likeliest first: the path that was recorded, what packages
/// of debug information and debuginfod keep by build id, then beside the image under the recorded name, as beam.smp,
/// and as NAME.beam.smp where the image is NAME.core, compressed or not. `recorded` and `id` are empty where they are
/// not known.
std::vector<std::string> executable_places(const std::string& core, const std::string& recorded, const std::string& id);

struct AddressRange {
    std::uint64_t start = 0, end = 0;
    bool holds(std::uint64_t address) const { return start <= address && address < end; }
};

class Image {
public:
    /// Opens a plain core file; `executable` as given by --exe, empty to find it.
    /// Errors: unreadable, not_recognised; each with what to do about it.
    static Result<std::unique_ptr<Image>> open(const std::string& path, const std::string& executable);
    /// The same for an image that is mapped already (a spooled one), `path` being what the user gave.
    static Result<std::unique_ptr<Image>> adopt(bytes::ElfImage core, const std::string& path,
                                                const std::string& executable);

    /// A VM that runs and goes on running; `path` being what the user gave, `executable` as given by --exe, empty for
    /// the one that the system names. Errors: as open().
    static Result<std::unique_ptr<Image>> follow(std::shared_ptr<const bytes::RunningProcess> process,
                                                 const std::string& path, const std::string& executable);

    /// What the user gave.
    const std::string& name() const { return name_; }
    std::uint16_t machine() const { return executable_.machine(); }
    /// The core image; null of a VM that runs.
    const bytes::ElfImage* core() const { return core_ ? &*core_ : nullptr; }
    /// The VM that runs; null of a core image.
    const bytes::RunningProcess* process() const { return process_.get(); }
    const bytes::ElfImage& executable() const { return executable_; }
    const bytes::CoreNotes& notes() const { return notes_; }
    const bytes::AddressSpace& space() const { return space_; }
    const Build& build() const { return build_; }
    /// Whether the executable is of the C library musl, which has other structures for threads than glibc.
    bool musl() const;
    /// Load address minus link address of the executable.
    std::uint64_t bias() const { return bias_; }
    /// The executable's writable data, in memory: where the VM's static variables are.
    const std::vector<AddressRange>& statics() const { return statics_; }
    /// What the image holds of it, aligned to words.
    struct StaticWords {
        std::uint64_t start = 0;
        bytes::Bytes data;
        std::shared_ptr<const std::vector<std::byte>> fetched = {};  ///< holds `data` of a VM that runs
        std::size_t words() const { return data.size() / 8; }
        std::uint64_t word(std::size_t i) const { return bytes::load<std::uint64_t>(data.data() + 8 * i); }
        std::uint64_t address(std::size_t i) const { return start + 8 * i; }
    };
    std::vector<StaticWords> static_words() const;
    /// Whether an address is inside the executable's read-only parts (code, constants).
    bool in_constants(std::uint64_t address) const;
    /// Run-time address of a dynamic symbol of the executable ("erts_proc").
    std::optional<std::uint64_t> symbol(std::string_view name) const;
    std::size_t symbol_count() const { return symbols_.size(); }
    /// Why the file ends early, a sentence; empty if it doesn't.
    const std::string& truncation() const { return truncation_; }
    /// Choices made on the way, for `doctor`.
    const std::vector<Check>& checks() const { return checks_; }

private:
    Image(std::optional<bytes::ElfImage> core, bytes::ElfImage executable, std::string name)
        : name_(std::move(name)), core_(std::move(core)), executable_(std::move(executable)) {}
    void map_executable();

    std::string name_;
    std::optional<bytes::ElfImage> core_;
    bytes::ElfImage executable_;
    std::shared_ptr<const bytes::RunningProcess> process_;
    bytes::CoreNotes notes_;
    bytes::AddressSpace space_;
    Build build_;
    std::uint64_t bias_ = 0;
    std::vector<AddressRange> statics_, constants_;
    std::unordered_map<std::string_view, std::uint64_t> symbols_;
    std::string truncation_;
    std::vector<Check> checks_;
};

}  // namespace beamheap::otp
