// SPDX-License-Identifier: Apache-2.0
// Writes small ELF files and pieces of memory for tests: cores and executables, whole or broken on purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/elf_image.hpp"

namespace beamheap::test {

/// Bytes of a little-endian image under construction; put() grows it as needed.
class Blob {
public:
    explicit Blob(std::size_t size = 0) : bytes_(size) {}
    template <class T>
    void put(std::size_t at, T value) {
        if (bytes_.size() < at + sizeof value) bytes_.resize(at + sizeof value);
        std::memcpy(bytes_.data() + at, &value, sizeof value);
    }
    void word(std::size_t at, std::uint64_t value) { put(at, value); }
    void text(std::size_t at, std::string_view value) {
        if (bytes_.size() < at + value.size()) bytes_.resize(at + value.size());
        for (std::size_t i = 0; i < value.size(); ++i) bytes_[at + i] = static_cast<std::byte>(value[i]);
    }
    std::size_t size() const { return bytes_.size(); }
    void resize(std::size_t size) { bytes_.resize(size); }
    bytes::Bytes bytes() const { return bytes_; }
    std::byte* data() { return bytes_.data(); }

private:
    std::vector<std::byte> bytes_;
};

/// An ELF file of segments; contents follow the program headers.
class ElfWriter {
public:
    explicit ElfWriter(std::uint16_t type, std::uint16_t machine = bytes::elf::machine_x86_64)
        : type_(type), machine_(machine) {}

    /// A segment with its contents; `memory_size` 0: as long as the contents.
    void segment(std::uint32_t type, std::uint32_t flags, std::uint64_t address, Blob contents,
                 std::uint64_t memory_size = 0) {
        segments_.push_back(
            {type, flags, address, memory_size == 0 ? contents.size() : memory_size, std::move(contents)});
    }
    void load(std::uint64_t address, Blob contents,
              std::uint32_t flags = bytes::elf::flag_read | bytes::elf::flag_write) {
        segment(bytes::elf::segment_load, flags, address, std::move(contents));
    }
    /// Adds a note to the PT_NOTE segment.
    void note(std::string_view owner, std::uint32_t type, const Blob& description) {
        const std::size_t at = notes_.size();
        notes_.put<std::uint32_t>(at, static_cast<std::uint32_t>(owner.size() + 1));
        notes_.put<std::uint32_t>(at + 4, static_cast<std::uint32_t>(description.size()));
        notes_.put<std::uint32_t>(at + 8, type);
        notes_.text(at + 12, owner);
        notes_.resize(at + 12 + ((owner.size() + 1 + 3) & ~std::size_t{3}));
        const std::size_t body = notes_.size();
        notes_.resize(body + ((description.size() + 3) & ~std::size_t{3}));
        if (description.size() != 0) std::memcpy(notes_.data() + body, description.bytes().data(), description.size());
    }

    /// A section without a name, whose contents stand behind the segments.
    void section(std::uint32_t type, Blob contents) { sections_.push_back({type, 0, std::move(contents)}); }

    /// Two sections: dynamic symbols, and their names.
    void symbols(const std::vector<std::pair<std::string, std::uint64_t>>& all) {
        constexpr std::size_t row = 24;
        Blob table(row), names(1);  // the first one is none
        for (std::size_t i = 0; i < all.size(); ++i) {
            table.put<std::uint32_t>(row * (i + 1), static_cast<std::uint32_t>(names.size()));
            table.put<std::uint8_t>(row * (i + 1) + 4, 1);   // STT_OBJECT
            table.put<std::uint16_t>(row * (i + 1) + 6, 1);  // of some section
            table.word(row * (i + 1) + 8, all[i].second);
            table.resize(row * (i + 2));
            names.text(names.size(), all[i].first + '\0');
        }
        sections_.push_back(
            {bytes::elf::section_dynamic_symbols, static_cast<std::uint32_t>(sections_.size() + 2), std::move(table)});
        section(3, std::move(names));
    }

    Blob write() const {
        std::vector<Segment> all = segments_;
        if (notes_.size() != 0) all.push_back({bytes::elf::segment_note, 0, 0, 0, notes_});
        Blob file(64);
        file.text(0, "\177ELF\2\1\1");
        file.put<std::uint16_t>(16, type_);
        file.put<std::uint16_t>(18, machine_);
        file.put<std::uint32_t>(20, 1);
        file.word(32, 64);
        file.put<std::uint16_t>(52, 64);
        file.put<std::uint16_t>(54, 56);
        file.put<std::uint16_t>(56, static_cast<std::uint16_t>(all.size()));
        file.put<std::uint16_t>(58, 64);
        std::size_t offset = 64 + 56 * all.size();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t header = 64 + 56 * i;
            file.put<std::uint32_t>(header, all[i].type);
            file.put<std::uint32_t>(header + 4, all[i].flags);
            file.word(header + 8, offset);
            file.word(header + 16, all[i].address);
            file.word(header + 32, all[i].contents.size());
            file.word(header + 40, all[i].memory_size);
            file.resize(std::max(file.size(), offset + all[i].contents.size()));
            if (all[i].contents.size() != 0)
                std::memcpy(file.data() + offset, all[i].contents.bytes().data(), all[i].contents.size());
            offset += all[i].contents.size();
        }
        if (!sections_.empty()) write_sections(file);
        return file;
    }

private:
    void write_sections(Blob& file) const {
        constexpr std::size_t row = 64;
        Blob table(row);  // the first one is none
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            const Blob& contents = sections_[i].contents;
            const std::size_t at = (file.size() + 7) / 8 * 8;
            file.resize(at + contents.size());
            if (contents.size() != 0) std::memcpy(file.data() + at, contents.bytes().data(), contents.size());
            table.put<std::uint32_t>(row * (i + 1) + 4, sections_[i].type);
            table.put<std::uint32_t>(row * (i + 1) + 40, sections_[i].link);
            table.word(row * (i + 1) + 24, at);
            table.word(row * (i + 1) + 32, contents.size());
            table.resize(row * (i + 2));
        }
        const std::size_t at = (file.size() + 7) / 8 * 8;
        file.resize(at + table.size());
        std::memcpy(file.data() + at, table.bytes().data(), table.size());
        file.word(40, at);
        file.put<std::uint16_t>(60, static_cast<std::uint16_t>(sections_.size() + 1));
    }

    struct Section {
        std::uint32_t type, link;
        Blob contents;
    };
    struct Segment {
        std::uint32_t type, flags;
        std::uint64_t address, memory_size;
        Blob contents;
    };
    std::uint16_t type_, machine_;
    std::vector<Segment> segments_;
    std::vector<Section> sections_;
    Blob notes_;
};

}  // namespace beamheap::test
