// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/vm/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bytes/loaded_files.hpp"

namespace beamheap::otp {
namespace {

using bytes::Bytes;
using bytes::ElfImage;
using bytes::ElfSegment;
namespace elf = bytes::elf;

constexpr std::uint64_t most_statics = 1ull << 26;  // bytes of one segment
constexpr std::uint64_t page = 4096;                // the smallest; arm64 has larger ones as well
constexpr std::uint64_t page_sizes[] = {page, 16384, 65536};
constexpr std::size_t relocation_bytes = 24;
constexpr std::size_t relocations_tried = 4096;

std::string_view name_in(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}
std::string folder_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string{"."} : std::string{path.substr(0, slash)};
}

Error refuse(const std::string& path, std::string what, std::string advice = {}) {
    return Error{ErrorCode::not_recognised, path + ": " + std::move(what), std::move(advice)};
}

// The path that the process's own executable had, as far as the notes tell.
std::string executable_path(const bytes::CoreNotes& notes) {
    for (const auto& hint : {notes.entry, notes.program_headers})
        if (hint)
            if (const bytes::CoreFile* file = notes.file_at(*hint)) return file->path;
    for (const bytes::CoreFile& file : notes.files)
        if (name_in(file.path).substr(0, 4) == "beam") return file.path;
    return {};
}

// The build id that the image itself holds of the executable mapped at `start`: kernel cores keep the first page.
std::string build_id_in_memory(const bytes::AddressSpace& space, std::uint64_t start) {
    bytes::MemoryReader memory(space);
    const Bytes head = memory.from(start, page);
    if (head.size() < page) return {};
    const auto parsed = ElfImage::parse(head, {});
    if (!parsed) return {};
    for (const ElfSegment& segment : parsed->segments()) {
        if (segment.type != elf::segment_note) continue;
        const Bytes notes = memory.from(start + segment.offset, std::min<std::uint64_t>(segment.file_size, page));
        for (const bytes::ElfNote& note : bytes::parse_notes(notes)) {
            if (note.owner != "GNU" || note.type != elf::note_gnu_build_id || note.description.size() > 64) continue;
            std::string text;
            for (const std::byte b : note.description) text += fmt::format("{:02x}", static_cast<unsigned>(b));
            return text;
        }
    }
    return {};
}

// A format string without its conversions and what leads to them: "25%s [smp:%beu:%beu]\n" is "25 [smp]".
std::string without_conversions(std::string_view format) {
    std::string text;
    for (std::size_t i = 0; i < format.size() && format[i] != '\n'; ++i) {
        if (format[i] != '%') {
            text += format[i];
            continue;
        }
        if (text.ends_with(':')) text.pop_back();
        while (i + 1 < format.size() && format[i + 1] >= 'a' && format[i + 1] <= 'z') ++i;
    }
    return text;
}

}  // namespace

std::vector<std::string> executable_places(const std::string& core, const std::string& recorded,
                                           const std::string& id) {
    std::vector<std::string> places;
    if (!recorded.empty()) places.push_back(recorded);
    if (id.size() > 2) {
        places.push_back("/usr/lib/.build-id/" + id.substr(0, 2) + "/" + id.substr(2));
        if (const char* home = std::getenv("HOME"))
            places.push_back(fmt::format("{}/.cache/debuginfod_client/{}/executable", home, id));
    }
    const std::string beside = folder_of(core) + "/";
    if (!recorded.empty()) places.push_back(beside + std::string{name_in(recorded)});
    places.push_back(beside + "beam.smp");
    std::string stem{name_in(core)};
    for (std::string_view suffix : {".zst", ".gz", ".xz", ".core"})
        if (stem.size() > suffix.size() && stem.compare(stem.size() - suffix.size(), suffix.size(), suffix) == 0)
            stem.resize(stem.size() - suffix.size());
    places.push_back(beside + stem + ".beam.smp");
    return places;
}

std::optional<Build> parse_build(std::string_view line) {
    constexpr std::string_view start = "Erlang/OTP ", erts = " [erts-";
    if (line.substr(0, start.size()) != start) return std::nullopt;
    Build build;
    std::size_t at = start.size();
    for (; at < line.size() && line[at] >= '0' && line[at] <= '9' && build.release < 1000; ++at)
        build.release = build.release * 10 + static_cast<std::uint32_t>(line[at] - '0');
    const std::size_t version = line.find(erts, at);
    if (build.release == 0 || version == std::string_view::npos || version > at + 16) return std::nullopt;
    const std::size_t end = line.find(']', version);
    if (end == std::string_view::npos || end - version > 64) return std::nullopt;
    build.erts_version = line.substr(version + erts.size(), end - version - erts.size());
    build.line = without_conversions(line);
    build.jit = line.find(" [jit") != std::string_view::npos;
    build.hipe = line.find(" [hipe]") != std::string_view::npos;
    for (std::string_view option : {"debug-compiled", "lock-counting", "lock-checking", "valgrind-compiled", "dtrace",
                                    "systemtap", "sharing-preserving", "type-assertions"})
        if (line.find(fmt::format(" [{}]", option)) != std::string_view::npos) build.foreign = option;
    return build;
}

std::optional<Build> find_build(const ElfImage& executable) {
    constexpr std::string_view start = "Erlang/OTP ";
    for (const bool code : {false, true}) {  // constants first, they are much smaller than code
        for (const ElfSegment& segment : executable.segments()) {
            if (segment.type != elf::segment_load || ((segment.flags & elf::flag_execute) != 0) != code) continue;
            const Bytes data = executable.contents(segment);
            const std::string_view text{reinterpret_cast<const char*>(data.data()), data.size()};
            for (std::size_t at = 0; at < text.size(); at += start.size()) {
                const void* found = memmem(text.data() + at, text.size() - at, start.data(), start.size());
                if (found == nullptr) break;
                at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
                const std::string_view rest = text.substr(at, 512);
                if (auto build = parse_build(rest.substr(0, rest.find('\0')))) return build;
            }
        }
    }
    return std::nullopt;
}

namespace {

std::uint32_t relative_relocation(std::uint16_t machine) {
    return machine == elf::machine_aarch64 ? 1027 : 8;  // R_AARCH64_RELATIVE, R_X86_64_RELATIVE
}

// Calls visit(where, addend), both as linked, for each relative relocation, until it says that it has had enough.
template <class Visit>
void each_relative_relocation(const ElfImage& executable, Visit&& visit) {
    const std::uint32_t relative = relative_relocation(executable.machine());
    for (const bytes::ElfSection& section : executable.sections()) {
        const Bytes table = executable.contents(section);
        if (section.type == elf::section_relocations) {
            for (std::size_t at = 0; at + relocation_bytes <= table.size(); at += relocation_bytes) {
                const std::byte* entry = table.data() + at;
                if (bytes::load<std::uint32_t>(entry + 8) != relative) continue;
                if (!visit(bytes::load<std::uint64_t>(entry), bytes::load<std::uint64_t>(entry + 16))) return;
            }
        }
        if (section.type != elf::section_relative_relocations) continue;
        // Packed (gABI, SHT_RELR): an address, then words whose bits from 1 on say which of the next 63 have one too.
        std::uint64_t next = 0;
        for (std::size_t at = 0; at + 8 <= table.size(); at += 8) {
            const auto word = bytes::load<std::uint64_t>(table.data() + at);
            const bool bits = (word & 1) != 0;
            for (unsigned i = 0; i < (bits ? 63u : 1u); ++i) {
                const std::uint64_t where = bits ? next + 8ull * i : word;
                const Bytes value = executable.at_address(where, 8);
                if ((bits && (word >> (i + 1) & 1) == 0) || value.empty()) continue;
                if (!visit(where, bytes::load<std::uint64_t>(value.data()))) return;
            }
            next = bits ? next + 63 * 8 : word + 8;
        }
    }
}

struct Match {
    std::size_t tried = 0, right = 0;
    bool good() const { return tried != 0 && right * 100 >= tried * 99; }
};

// Relative relocations of writable pages: each of them must hold "bias + addend", unless the program changed it later;
// the loader protects those in RELRO from that, so they are the ones that are tried.
Match match(const ElfImage& executable, const bytes::AddressSpace& space, std::uint64_t bias) {
    Match result;
    bytes::MemoryReader memory(space);
    AddressRange fixed{};
    for (const ElfSegment& segment : executable.segments())
        if (segment.type == elf::segment_relro) fixed = {segment.address, segment.address + segment.memory_size};
    each_relative_relocation(executable, [&](std::uint64_t where, std::uint64_t addend) {
        if (!fixed.holds(where)) return true;
        const std::byte* value = memory.probe(where + bias, 8);
        if (value == nullptr) return true;
        ++result.tried;
        if (bytes::load<std::uint64_t>(value) == addend + bias) ++result.right;
        return result.tried < relocations_tried;
    });
    if (result.tried != 0 || executable.type() != elf::type_executable) return result;
    // A program at a fixed address has no relocations: most of its initialised data never changes.
    for (const ElfSegment& segment : executable.segments()) {
        if (segment.type != elf::segment_load || (segment.flags & elf::flag_write) == 0) continue;
        const Bytes data = executable.contents(segment);
        std::size_t equal = 0, words = 0;
        for (std::size_t at = 0; at + 8 <= data.size(); at += 8) {
            const auto word = bytes::load<std::uint64_t>(data.data() + at);
            const std::byte* value = memory.probe(segment.address + bias + at, 8);
            if (word == 0 || value == nullptr) continue;
            ++words;
            equal += bytes::load<std::uint64_t>(value) == word;
        }
        if (words != 0) result = {1, equal * 10 >= words * 7 ? std::size_t{1} : std::size_t{0}};
    }
    return result;
}

std::optional<std::uint64_t> find_bias(const ElfImage& executable, const bytes::AddressSpace& space,
                                       const bytes::CoreNotes& notes) {
    std::vector<std::uint64_t> candidates;
    if (executable.type() == elf::type_executable) candidates.push_back(0);
    if (notes.entry) candidates.push_back(*notes.entry - executable.entry());
    for (const ElfSegment& segment : executable.segments())
        if (segment.type == elf::segment_program_headers && notes.program_headers)
            candidates.push_back(*notes.program_headers - segment.address);
    for (const bytes::CoreFile& file : notes.files)
        if (file.file_offset == 0) candidates.push_back(file.start - executable.base_address());
    for (const std::uint64_t bias : candidates)
        if (match(executable, space, bias).good()) return bias;
    // Without notes (gcore writes them last, a cut image has none): some segment begins where the relocated data does.
    for (const ElfSegment& segment : executable.segments()) {
        if (segment.type != elf::segment_load || (segment.flags & elf::flag_write) == 0) continue;
        for (const std::uint64_t size : page_sizes) {
            const std::uint64_t first = segment.address & ~(size - 1);
            for (const bytes::AddressSpace::Segment& place : space.segments())
                if (match(executable, space, place.start - first).good()) return place.start - first;
        }
    }
    return std::nullopt;
}

}  // namespace

void Image::map_executable() {
    for (const ElfSegment& segment : executable_.segments()) {
        std::uint64_t start = 0, end = 0;
        if (segment.type != elf::segment_load || __builtin_add_overflow(segment.address, bias_, &start) ||
            __builtin_add_overflow(start, segment.memory_size, &end))
            continue;
        if ((segment.flags & elf::flag_write) != 0) {
            // A VM's own static data has one or two megabytes: a forged size is not walked to its end.
            statics_.push_back({start, start + std::min(end - start, most_statics)});
            continue;
        }
        constants_.push_back({start, end});
        space_.add(start, executable_.contents(segment), bytes::AddressSpace::Origin::file, false);
    }
    for (const bytes::ElfSymbol& symbol : executable_.symbols()) {
        const std::string_view name = symbol.name;
        if (name.substr(0, 5) == "erts_" || name.substr(0, 4) == "etp_" || name.substr(0, 4) == "the_")
            symbols_.emplace(name, symbol.address + bias_);
    }
}

std::vector<Image::StaticWords> Image::static_words() const {
    std::vector<StaticWords> parts;
    bytes::MemoryReader memory(space_);
    for (const AddressRange& range : statics_) {
        for (std::uint64_t from = (range.start + 7) & ~7ull; from < range.end;) {
            const Bytes data = memory.from(from, range.end - from);
            if (data.size() >= 8) parts.push_back({from, data});
            if (data.size() >= 8 && process_ != nullptr) {
                parts.back().fetched = std::make_shared<const std::vector<std::byte>>(data.begin(), data.end());
                parts.back().data = *parts.back().fetched;
            }
            // What the image does not hold is skipped page by page.
            from = data.size() >= 8 ? from + data.size() / 8 * 8 : (from & ~(page - 1)) + page;
        }
    }
    return parts;
}

bool Image::musl() const {
    for (const ElfSegment& segment : executable_.segments()) {
        if (segment.type != elf::segment_interpreter) continue;
        const Bytes name = executable_.contents(segment);
        return std::string_view{reinterpret_cast<const char*>(name.data()), name.size()}.find("musl") !=
               std::string_view::npos;
    }
    return false;
}

bool Image::in_constants(std::uint64_t address) const {
    return std::any_of(constants_.begin(), constants_.end(), [&](const AddressRange& r) { return r.holds(address); });
}

std::optional<std::uint64_t> Image::symbol(std::string_view name) const {
    const auto found = symbols_.find(name);
    if (found == symbols_.end()) return std::nullopt;
    return found->second;
}

Result<std::unique_ptr<Image>> Image::open(const std::string& path, const std::string& executable) {
    BH_TRY(ElfImage core, ElfImage::open(path));
    return adopt(std::move(core), path, executable);
}

namespace {

// A core image before its executable is known.
struct Core {
    ElfImage file;
    bytes::CoreNotes notes;
    bytes::AddressSpace space;
    std::string recorded;  // the path of its executable, or empty
    std::string id;        // the executable's build id, or empty
    bool cut() const { return file.declared_size() > file.bytes().size(); }
};

Result<Core> read_core(ElfImage file, const std::string& path) {
    if (file.type() != elf::type_core)
        return refuse(path, "an ELF program, not a core image",
                      "Give the core image as input, and the executable with --exe.");
    if (file.machine() != elf::machine_x86_64 && file.machine() != elf::machine_aarch64)
        return refuse(
            path,
            fmt::format("a core image of {}; those of x86-64 and arm64 are read", bytes::machine_name(file.machine())),
            "A crash dump of that machine can be read.");
    bytes::CoreNotes notes = bytes::read_core_notes(file);
    bytes::AddressSpace space;
    for (const ElfSegment& segment : file.segments())
        if (segment.type == elf::segment_load) {
            space.declare(segment.memory_size);
            space.add(segment.address, file.contents(segment), bytes::AddressSpace::Origin::core,
                      (segment.flags & elf::flag_write) != 0);
        }
    space.seal();
    if (space.segments().empty()) return refuse(path, "a core image without any memory in it");
    std::string recorded = executable_path(notes), id;
    if (const bytes::CoreFile* program = notes.program_headers ? notes.file_at(*notes.program_headers) : nullptr)
        id = build_id_in_memory(space, program->start);
    return Core{std::move(file), std::move(notes), std::move(space), std::move(recorded), std::move(id)};
}

// An executable that fits a core image.
struct Fitting {
    ElfImage file;
    Build build;
    std::uint64_t bias = 0;
};

// Nothing where it does not fit; `why_not` says why.
std::optional<Fitting> fit(ElfImage file, const std::string& place, const Core& core, std::string& why_not) {
    std::optional<Build> build = find_build(file);
    if (!build) {
        why_not = fmt::format("{} is not an Erlang VM", place);
        return std::nullopt;
    }
    if (file.machine() != core.file.machine()) {
        why_not = fmt::format("the core image is of {}, and {} is a program of {}",
                              bytes::machine_name(core.file.machine()), place, bytes::machine_name(file.machine()));
        return std::nullopt;
    }
    const std::string theirs = file.build_id();
    if (!core.id.empty() && !theirs.empty() && core.id != theirs) {
        why_not =
            fmt::format("the core image is of another build than {} (build ids {} and {})", place, core.id, theirs);
        return std::nullopt;
    }
    const std::optional<std::uint64_t> bias = find_bias(file, core.space, core.notes);
    if (!bias) {
        why_not = fmt::format(
            "the core image does not hold the data of {}: it is of another build, or was made without anonymous memory "
            "(coredump_filter bit 0), or is cut too early",
            place);
        return std::nullopt;
    }
    return Fitting{std::move(file), std::move(*build), *bias};
}

Error no_executable(const std::string& path, const Core& core, const std::string& why_not) {
    if (!why_not.empty()) return refuse(path, why_not, "Give the executable that made the core image with --exe.");
    if (core.recorded.empty())
        return refuse(path,
                      fmt::format("its executable can't be told: the notes that name it are {}",
                                  core.cut() ? "behind the place where it is cut" : "missing"),
                      "Give the beam.smp that made the core image with --exe.");
    return refuse(path,
                  fmt::format("{}, which made this core image, was not found{}", core.recorded,
                              core.id.empty() ? std::string{} : fmt::format(" (build id {})", core.id)),
                  "Copy beam.smp from the machine or container that it ran in and give it with --exe.");
}

}  // namespace

Result<std::unique_ptr<Image>> Image::adopt(ElfImage file, const std::string& path, const std::string& executable) {
    BH_TRY(Core core, read_core(std::move(file), path));
    const std::string program = core.recorded.empty() ? core.notes.program : std::string{name_in(core.recorded)};
    if (!program.empty() && !program.starts_with("beam") && executable.empty())
        return refuse(path, fmt::format("a core image of {}, which is not an Erlang VM", program),
                      "If it is one under another name, give its executable with --exe.");

    std::string why_not;
    std::optional<Fitting> found;
    std::string place = executable;
    if (!executable.empty()) {
        BH_TRY(ElfImage given, ElfImage::open(executable));
        if (given.type() == elf::type_core)
            return refuse(executable, "a core image, where its executable was expected");
        found = fit(std::move(given), executable, core, why_not);
    } else {
        for (std::string& each : executable_places(path, core.recorded, core.id)) {
            auto opened = ElfImage::open(each);
            if (opened) found = fit(std::move(*opened), each, core, why_not);
            place = std::move(each);
            if (found) break;
        }
    }
    if (!found) return no_executable(path, core, why_not);

    std::string name = core.file.name();
    std::unique_ptr<Image> image(new Image(std::move(core.file), std::move(found->file), std::move(name)));
    image->notes_ = std::move(core.notes);
    image->build_ = std::move(found->build);
    image->bias_ = found->bias;
    if (image->notes_.files.empty())
        image->notes_.files = bytes::loaded_files(image->executable_, found->bias, *image->core_, core.space);
    const Match proof = match(image->executable_, core.space, found->bias);
    image->space_ = std::move(core.space);
    image->map_executable();
    image->space_.seal();
    image->checks_.push_back({"executable", true,
                              fmt::format("{}, loaded at {:#x}: {} of {} relocations fit", place,
                                          found->bias + image->executable_.base_address(), proof.right, proof.tried)});
    image->checks_.push_back({"build", true, image->build_.line});
    if (image->core_->declared_size() > image->core_->bytes().size())
        image->truncation_ = fmt::format("the core image ends after {} of {} bytes", image->core_->bytes().size(),
                                         image->core_->declared_size());
    return image;
}

namespace {

constexpr std::uint64_t auxiliary_program_headers = 3, auxiliary_entry = 9;  // AT_PHDR, AT_ENTRY (elf.h)

// What a core image's notes would say: threads (their registers are not to be had without stopping them), files, the
// auxiliary vector.
bytes::CoreNotes notes_of(const bytes::RunningProcess& process) {
    bytes::CoreNotes notes;
    notes.process_id = process.pid();
    for (const bytes::TaskOfProcess& task : process.threads()) {
        bytes::CoreThread thread;
        thread.id = task.id;
        notes.threads.push_back(thread);
        if (task.id == process.pid()) notes.program = task.times.name;
    }
    for (const bytes::Mapping& mapping : process.mappings())
        if (mapping.inode != 0) notes.files.push_back({mapping.start, mapping.end, mapping.file_offset, mapping.path});
    const std::string vector = process.proc_file("auxv");
    for (std::size_t at = 0; at + 16 <= vector.size(); at += 16) {
        const auto* entry = reinterpret_cast<const std::byte*>(vector.data() + at);
        const auto kind = bytes::load<std::uint64_t>(entry), value = bytes::load<std::uint64_t>(entry + 8);
        if (kind == auxiliary_program_headers) notes.program_headers = value;
        if (kind == auxiliary_entry) notes.entry = value;
    }
    return notes;
}

}  // namespace

// The system's link to the executable leads to the very file that runs, wherever that was mounted and whether or not
// its name is still there.
Result<std::unique_ptr<Image>> Image::follow(std::shared_ptr<const bytes::RunningProcess> process,
                                             const std::string& path, const std::string& executable) {
    const std::string place = executable.empty() ? process->executable_link() : executable;
    BH_TRY(ElfImage file, ElfImage::open(place));
    std::optional<Build> build = find_build(file);
    if (!build) {
        const std::string program = process->executable_name();
        const bool emulates = program.substr(program.rfind('/') + 1).starts_with("qemu-");
        return refuse(path, fmt::format("process {} runs {}, which is not an Erlang VM", process->pid(), program),
                      emulates ? "It emulates another machine. A VM within can't be read as it runs; a crash dump of "
                                 "it (kill -USR1) or a core that qemu writes can."
                               : "beamheap ps lists those that run here.");
    }
    if (file.machine() != elf::machine_x86_64 && file.machine() != elf::machine_aarch64)
        return refuse(
            path, fmt::format("a VM of {}; those of x86-64 and arm64 are read", bytes::machine_name(file.machine())));
    bytes::CoreNotes notes = notes_of(*process);
    bytes::AddressSpace space;
    space.follow(process);
    const std::optional<std::uint64_t> bias = find_bias(file, space, notes);
    if (!bias) {
        if (process->gone())
            return refuse(path, fmt::format("process {} ended while it was looked at", process->pid()));
        return refuse(path, fmt::format("the memory of process {} does not hold the data of {}", process->pid(), place),
                      "A VM that runs under an emulator of another machine can't be read; its crash dumps can.");
    }
    std::unique_ptr<Image> image(new Image(std::nullopt, std::move(file), path));
    image->process_ = std::move(process);
    image->notes_ = std::move(notes);
    image->build_ = std::move(*build);
    image->bias_ = *bias;
    const Match proof = match(image->executable_, space, *bias);
    image->space_ = std::move(space);
    image->map_executable();
    image->space_.seal();
    image->checks_.push_back(
        {"executable", true,
         fmt::format("{}, loaded at {:#x}: {} of {} relocations fit", image->process_->executable_name(),
                     *bias + image->executable_.base_address(), proof.right, proof.tried)});
    image->checks_.push_back({"build", true, image->build_.line});
    return image;
}

}  // namespace beamheap::otp
