// SPDX-License-Identifier: Apache-2.0
// ELF files, debug information, and the memory of a VM.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "bytes/core_notes.hpp"
#include "bytes/elf_image.hpp"
#include "formats/otp/heaps/core_terms.hpp"
#include "formats/otp/layout/dwarf_layout.hpp"
#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/tables/ets_objects.hpp"
#include "formats/otp/tables/tables.hpp"
#include "fuzz/dump_mutator.hpp"
#include "fuzz/targets.hpp"
#include "present/term_printer.hpp"
#include "support/elf_writer.hpp"

namespace beamheap::fuzz {
namespace {

bytes::Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

// The memory of a VM that is made up: an executable with its version line, and a core that has the bytes at memory_at.
// The VM's global structures lie at fixed places of it, each 256 bytes behind the other.
constexpr std::uint64_t constants_at = 0x400000, statics_at = 0x600000, memory_at = 0x10000000;
enum Root : std::uint64_t {
    processes,
    ports,
    atoms,
    ranges,
    modules,
    dists,
    nodes,
    this_node,
    terms,
    scheduler,
    ets,
    heap
};
constexpr std::uint64_t place_of(Root root) { return memory_at + 256 * static_cast<std::uint64_t>(root); }

class FileOfMemory {
public:
    explicit FileOfMemory(const test::Blob& contents) : descriptor_(memfd_create("made", 0)) {
        const auto size = static_cast<ssize_t>(contents.size());
        if (::write(descriptor_, contents.bytes().data(), contents.size()) != size) std::abort();
    }
    ~FileOfMemory() { ::close(descriptor_); }
    FileOfMemory(const FileOfMemory&) = delete;
    FileOfMemory& operator=(const FileOfMemory&) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

test::Blob executable_of(std::uint32_t release) {
    test::Blob constants(0x1000), statics(0x1000);
    constants.text(0x100, "Erlang/OTP " + std::to_string(release) + "%s [erts-13.1] [source] [64-bit]" +
                              (release < 24 ? "" : " [jit%s]"));
    for (std::size_t i = 0; i < 64; ++i) statics.word(0xE00 + 8 * i, 0x5EED0000 + i);
    test::ElfWriter program(bytes::elf::type_executable);
    program.load(constants_at, constants, bytes::elf::flag_read | bytes::elf::flag_execute);
    program.load(statics_at, statics);
    return program.write();
}
test::Blob core_of(std::string_view bytes) {
    test::Blob statics(0x1000), memory(bytes.size());
    for (std::size_t i = 0; i < 64; ++i) statics.word(0xE00 + 8 * i, 0x5EED0000 + i);
    std::copy_n(as_bytes(bytes).begin(), bytes.size(), memory.data());
    test::ElfWriter core(bytes::elf::type_core);
    core.load(statics_at, statics);
    core.load(memory_at, memory);
    return core.write();
}

void read_all(otp::Vm& vm) {
    Snapshot snapshot;
    otp::Reader reader(vm, snapshot);
    LoadPlan plan;
    plan.tables = plan.links = plan.stacks = plan.labels = plan.atoms = plan.modules = true;
    otp::read_processes(reader, plan);
    otp::read_schedulers(reader);
    otp::read_ets(reader);
    otp::read_ports(reader);
    otp::read_timers(reader);
    otp::read_peers(reader);
    otp::read_modules(reader);
    otp::read_atoms(reader);
    snapshot.seal();
    // The heap of a process at one place, whether or not the table has it; and a table.
    otp::CoreTerms terms(vm, snapshot, place_of(heap), true);
    for (std::size_t i = 0; i < std::min<std::size_t>(terms.heap().roots().size(), 64); ++i)
        (void)present::term_text(terms, terms.root(i));
    const otp::EtsObjects objects = otp::read_ets_objects(reader, place_of(ets), 1000, {});
    otp::CoreTerms stored(vm, snapshot, objects);
    for (std::size_t i = 0; i < std::min<std::size_t>(stored.heap().roots().size(), 64); ++i)
        (void)present::term_text(stored, stored.root(i));
}

}  // namespace

void run_elf(std::string_view bytes) {
    auto image = bytes::ElfImage::parse(as_bytes(bytes), "made");
    if (!image) return;
    for (const auto& segment : image->segments()) (void)image->contents(segment);
    for (const auto& section : image->sections()) (void)image->contents(section);
    for (const auto& symbol : image->symbols()) (void)image->at_address(symbol.address, symbol.size);
    (void)image->build_id();
    (void)image->base_address();
    const bytes::CoreNotes notes = bytes::read_core_notes(*image);
    for (const auto& file : notes.files) (void)notes.file_at(file.start);
    (void)otp::find_build(*image);
}

void run_dwarf(std::string_view bytes) {
    auto image = bytes::ElfImage::parse(as_bytes(bytes), "made");
    if (!image) return;
    constexpr std::array queries{bytes::MemberQuery{"state", "next|link"},
                                 bytes::MemberQuery{"process", "u.alive.links"}, bytes::MemberQuery{"node|Node", ""}};
    (void)bytes::read_debug_types(*image, queries);
    (void)otp::read_dwarf_fields(*image);
}

// The first byte says which release it is, the others are the memory.
void run_memory(std::string_view bytes) {
    if (bytes.empty()) return;
    const std::span<const otp::Layout> layouts = otp::known_layouts();
    const otp::Layout& layout = layouts[static_cast<unsigned char>(bytes.front()) % layouts.size()];
    const FileOfMemory executable(executable_of(layout.release)), core(core_of(bytes.substr(1)));
    auto image = otp::Image::open(core.path(), executable.path());
    if (!image) return;
    otp::Vm vm;
    vm.image = image->get();
    vm.layout = layout;
    vm.roots.process_table = place_of(processes);
    vm.roots.port_table = place_of(ports);
    vm.roots.atom_table = place_of(atoms);
    vm.roots.code_ranges = place_of(ranges);
    vm.roots.module_tables.fill(place_of(modules));
    vm.roots.dist_table = place_of(dists);
    vm.roots.node_table = place_of(nodes);
    vm.roots.this_node = place_of(this_node);
    vm.roots.persistent_terms = place_of(terms);
    vm.roots.schedulers = {place_of(scheduler)};
    bytes::MemoryReader memory(vm.image->space());
    vm.atoms = otp::AtomTable(memory, vm.layout, vm.roots.atom_table);
    if (const auto table = otp::SlotTable::read(memory, vm.layout, vm.roots.process_table)) vm.processes = *table;
    if (const auto table = otp::SlotTable::read(memory, vm.layout, vm.roots.port_table)) vm.ports = *table;
    read_all(vm);
}

// Words, not bytes: pointers with and without tags, headers, small integers, copies of other words.
std::string mutate_memory(std::string_view bytes, std::uint64_t seed, std::size_t most) {
    Random random(seed);
    std::string made(bytes.substr(0, most));
    const std::size_t least = 1 + 256 * (static_cast<std::size_t>(heap) + 4);
    if (made.size() < least && least <= most) made.resize(least);
    const std::size_t words = made.size() < 9 ? 0 : (made.size() - 1) / 8;
    for (std::size_t left = 1 + random.below(8); words != 0 && left != 0; --left) {
        const std::size_t at = 1 + 8 * random.below(words);
        std::uint64_t word = 0;
        switch (random.below(6)) {
            case 0: word = memory_at + 8 * random.below(words); break;
            case 1:
                word = (memory_at + 8 * random.below(words)) | (1 + random.below(2));
                break;                                                                // a list, a boxed term
            case 2: word = (random.below(64) << 6) | (random.below(16) << 2); break;  // a header
            case 3: word = (random.below(1 << 16) << 4) | 0xF; break;                 // a small integer
            case 4: word = random.below(256); break;
            default: std::memcpy(&word, made.data() + 1 + 8 * random.below(words), 8);
        }
        std::memcpy(made.data() + at, &word, 8);
    }
    return made;
}

}  // namespace beamheap::fuzz
