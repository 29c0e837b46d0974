// SPDX-License-Identifier: Apache-2.0
#include "bytes/native_names.hpp"

#include <cxxabi.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bytes/elf_image.hpp"

namespace beamheap::bytes {
namespace {

std::string readable_name(const char* name) {
    if (name[0] != '_' || name[1] != 'Z') return std::string(name, std::strcspn(name, "@"));  // without its version
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string result = status == 0 && text != nullptr ? text : name;
    std::free(text);
    return result;
}

}  // namespace

bool name_native_code(Dwfl* dwfl, bool returning, NativeFrame& frame) {
    const Dwarf_Addr inside = returning && frame.address != 0 ? frame.address - 1 : frame.address;
    Dwfl_Module* module = dwfl_addrmodule(dwfl, inside);
    if (module == nullptr) return false;
    Dwarf_Addr start = 0;
    if (const char* name = dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr))
        frame.file = name;
    frame.offset = frame.address - start;
    GElf_Off offset = 0;
    GElf_Sym symbol{};
    const char* name = dwfl_module_addrinfo(module, inside, &offset, &symbol, nullptr, nullptr, nullptr);
    if (name != nullptr && offset < symbol.st_size) {
        frame.function = readable_name(name);
        frame.offset = frame.address - (inside - offset);
    }
    return true;
}

std::vector<std::uint64_t> symbol_bounds(Dwfl_Module* module) {
    std::vector<std::uint64_t> bounds;
    const int symbols = dwfl_module_getsymtab(module);
    for (int i = 0; i < symbols; ++i) {
        GElf_Sym symbol{};
        GElf_Addr start = 0;
        if (dwfl_module_getsym_info(module, i, &symbol, &start, nullptr, nullptr, nullptr) == nullptr) continue;
        bounds.push_back(start);
        bounds.push_back(start + symbol.st_size);
    }
    std::ranges::sort(bounds);
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    return bounds;
}

CodeExtent extent_of_unnamed(Dwfl_Module* module, std::uint64_t address) {
    GElf_Addr bias = 0;
    Elf* elf = dwfl_module_getelf(module, &bias);
    std::size_t segments = 0, size = 0;
    if (elf == nullptr || elf_getphdrnum(elf, &segments) != 0) return {};
    const char* file = elf_rawfile(elf, &size);
    for (std::size_t i = 0; file != nullptr && i < segments; ++i) {
        GElf_Phdr header{};
        if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_GNU_EH_FRAME) continue;
        if (header.p_offset > size || header.p_filesz > size - header.p_offset || header.p_filesz < 12) return {};
        const auto* table = reinterpret_cast<const std::byte*>(file + header.p_offset);
        // Version 1; the pointer and the count in 4 bytes each; pairs of 4 bytes, relative to the table's own address.
        constexpr std::uint8_t version = 1, pc_relative = 0x1b, unsigned_4 = 0x03, table_relative = 0x3b;
        if (load<std::uint8_t>(table) != version || load<std::uint8_t>(table + 1) != pc_relative ||
            load<std::uint8_t>(table + 2) != unsigned_4 || load<std::uint8_t>(table + 3) != table_relative)
            return {};
        const std::uint64_t at = header.p_vaddr + bias;
        const std::uint64_t count = std::min<std::uint64_t>(load<std::uint32_t>(table + 8), (header.p_filesz - 12) / 8);
        std::uint64_t low = 0, high = count;
        const auto start_of = [&](std::uint64_t n) {
            return at + static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(table + 12 + 8 * n)});
        };
        while (low < high) {
            const std::uint64_t middle = low + (high - low) / 2;
            if (start_of(middle) <= address) low = middle + 1;
            else high = middle;
        }
        // The last one's end is not told: what is known of it is the code that was asked for.
        if (low == 0) return {};
        return {start_of(low - 1), low < count ? start_of(low) : address + 1};
    }
    return {};
}

}  // namespace beamheap::bytes
