// SPDX-License-Identifier: Apache-2.0
// Terms and atoms in the memory of a made-up VM.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "formats/otp/layout/tagged_word.hpp"
#include "support/made_image.hpp"

namespace beamheap::test {

/// Objects one behind the other, and atoms by their names.
struct MadeTerms : MadeImage {
    static constexpr std::uint64_t M = MadeImage::memory_at, table = 0x100, segments = 0x400, page = 0x600,
                                   atom_structures = 0x8000, names = 0x10000, objects = 0x20000, lost = 0x7000000;
    std::uint64_t first_atom = 16;  // those before have no entry

    explicit MadeTerms(std::uint32_t release) : MadeImage(release) { memory.resize(0x80000); }
    std::uint64_t atom(std::string_view name) {
        const std::uint64_t index = first_atom + atoms_++, structure = atom_structures + 0x80 * index,
                            bytes = names + 0x100 * index;
        memory.word(page + 8 * index, M + structure);
        memory.put<std::int16_t>(structure + at().atom_length, static_cast<std::int16_t>(name.size()));
        memory.word(structure + at().atom_name, M + bytes);
        memory.text(bytes, name);
        std::uint64_t hash = 0;  // PJW's, as the VM has it of letters below 128
        for (const char letter : name) {
            hash = (hash << 4) + static_cast<unsigned char>(letter);
            if (const std::uint64_t high = hash & 0xf0000000) hash = (hash ^ high >> 24) ^ high;
        }
        memory.word(structure + 8, hash);
        memory.put<std::uint32_t>(structure + 16, static_cast<std::uint32_t>(index));
        return index << 6 | 0x0b;
    }
    static constexpr std::uint64_t small(std::int64_t value) { return static_cast<std::uint64_t>(value) << 4 | 0xf; }
    std::uint64_t header(otp::Tag tag, std::uint64_t words) const {
        const auto found = std::find(std::begin(vm.layout.tags), std::end(vm.layout.tags), tag);
        REQUIRE(found != std::end(vm.layout.tags));
        return words << 6 | static_cast<std::uint64_t>(found - std::begin(vm.layout.tags)) << 2;
    }
    std::uint64_t words(const std::vector<std::uint64_t>& all, std::uint64_t tag) {
        const std::uint64_t place = objects + 8 * used_;
        for (const std::uint64_t word : all) memory.word(objects + 8 * used_++, word);
        return (M + place) | tag;
    }
    std::uint64_t boxed(otp::Tag tag, std::vector<std::uint64_t> rest) {
        rest.insert(rest.begin(), header(tag, rest.size()));
        return words(rest, 2);
    }
    std::uint64_t tuple(const std::vector<std::uint64_t>& elements) { return boxed(otp::Tag::tuple, elements); }
    std::uint64_t list(const std::vector<std::uint64_t>& elements, std::uint64_t tail) {
        for (std::size_t i = elements.size(); i-- > 0;) tail = words({elements[i], tail}, 1);
        return tail;
    }
    std::uint64_t list(const std::vector<std::uint64_t>& elements) { return list(elements, vm.layout.nil); }
    std::uint64_t text(std::string_view letters) {
        std::vector<std::uint64_t> all;
        for (const char letter : letters) all.push_back(small(static_cast<unsigned char>(letter)));
        return list(all);
    }
    std::uint64_t real(double value) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, 8);
        return boxed(otp::Tag::floating, {bits});
    }
    std::uint64_t flat_map(std::uint64_t keys, const std::vector<std::uint64_t>& values) {
        std::vector<std::uint64_t> all{header(otp::Tag::map, 0), values.size(), keys};
        all.insert(all.end(), values.begin(), values.end());
        return words(all, 2);
    }
    otp::Reader& begin() {
        memory.put<std::uint32_t>(table + at().index_entries, static_cast<std::uint32_t>(first_atom + atoms_));
        memory.put<std::uint32_t>(table + at().index_limit, 1024);
        memory.word(table + at().index_segments, M + segments);
        memory.word(segments, M + page);
        otp::Reader& reader = start();
        vm.atoms = otp::AtomTable(reader.memory, vm.layout, M + table);
        return reader;
    }

private:
    std::uint64_t atoms_ = 0, used_ = 0;
};

}  // namespace beamheap::test
