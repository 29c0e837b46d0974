// SPDX-License-Identifier: Apache-2.0
#include "bytes/loaded_files.hpp"

namespace beamheap::bytes {
namespace {

constexpr std::uint64_t dynamic_end = 0, dynamic_debug = 21;  // DT_NULL, DT_DEBUG
constexpr std::size_t dynamic_entry_bytes = 16, link_bytes = 40;
constexpr std::size_t most_files = 4096;
constexpr std::uint64_t largest_file = 1ull << 32;  // bytes of address space

// struct r_debug, in memory: the linker writes its address into the executable's dynamic section.
std::uint64_t debug_structure(const ElfImage& executable, std::uint64_t bias, MemoryReader& memory) {
    for (const ElfSegment& segment : executable.segments()) {
        if (segment.type != elf::segment_dynamic) continue;
        const Bytes table = memory.from(segment.address + bias, segment.memory_size);
        for (std::size_t at = 0; at + dynamic_entry_bytes <= table.size(); at += dynamic_entry_bytes) {
            const auto tag = load<std::uint64_t>(table.data() + at);
            if (tag == dynamic_end) break;
            if (tag == dynamic_debug) return load<std::uint64_t>(table.data() + at + 8);
        }
    }
    return 0;
}

std::uint64_t end_of_segment(const ElfImage& core, std::uint64_t address) {
    for (const ElfSegment& segment : core.segments())
        if (segment.type == elf::segment_load && address >= segment.address &&
            address - segment.address < segment.memory_size)
            return segment.address + segment.memory_size;
    return 0;
}

}  // namespace

std::vector<CoreFile> loaded_files(const ElfImage& executable, std::uint64_t bias, const ElfImage& core,
                                   const AddressSpace& space) {
    std::vector<CoreFile> files;
    MemoryReader memory(space);
    const std::uint64_t debug = debug_structure(executable, bias, memory);
    if (debug == 0) return files;
    // struct r_debug {int version; struct link_map* map; ...}
    std::uint64_t link = memory.word(debug + 8).value_or(0);
    for (std::size_t n = 0; link != 0 && n < most_files; ++n) {
        // struct link_map {load address; char* name; dynamic section; next; previous}
        const std::byte* p = memory.probe(link, link_bytes);
        if (p == nullptr) break;
        CoreFile file;
        file.start = load<std::uint64_t>(p);
        file.end = end_of_segment(core, load<std::uint64_t>(p + 16));
        const auto name = memory.text(load<std::uint64_t>(p + 8), 4096);
        link = load<std::uint64_t>(p + 24);
        if (!name || name->empty() || file.end <= file.start || file.end - file.start > largest_file) continue;
        file.path = *name;
        files.push_back(std::move(file));
    }
    return files;
}

}  // namespace beamheap::bytes
