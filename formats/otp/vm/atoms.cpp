// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/vm/atoms.hpp"

#include <algorithm>

#include "formats/otp/vm/binaries.hpp"

namespace beamheap::otp {
namespace {

constexpr std::uint32_t most_atoms = 1u << 28;  // an atom index fits 26 bits on 32-bit VMs; +t allows 2147483647
constexpr unsigned page_shift = 10;             // INDEX_PAGE_SHIFT (index.h)
constexpr std::uint32_t first_atoms = 64;       // of thousands that every VM begins with
constexpr std::string_view table_name = "atom_tab";
constexpr std::uint32_t slot_hash = 8,
                        slot_index = 16;  // IndexSlot {HashBucket {next, hvalue}, index}, which an Atom begins with

// The hash value that an atom was put into the table with (atom.c, atom_hash): PJW's, over the code points below 256
// and the bytes of all others.
std::uint64_t hash_of(std::string_view name) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        std::uint64_t value = static_cast<unsigned char>(name[i]);
        if (i + 1 < name.size() && (value & 0xfe) == 0xc2 && (static_cast<unsigned char>(name[i + 1]) & 0xc0) == 0x80)
            value = (value << 6 | (static_cast<unsigned char>(name[++i]) & 0x3f)) & 0xff;
        hash = (hash << 4) + value;
        if (const std::uint64_t high = hash & 0xf0000000) hash = (hash ^ high >> 24) ^ high;
    }
    return hash;
}

}  // namespace

AtomTable::AtomTable(bytes::MemoryReader& memory, const Layout& layout, std::uint64_t table) : layout_(&layout) {
    const Offsets& at = layout.at;
    const auto entries = memory.word32(table + at.index_entries);
    const auto limit = memory.word32(table + at.index_limit);
    const auto segments = memory.word(table + at.index_segments);
    if (!entries || !limit || !segments || *entries > most_atoms) return;
    entries_ = *entries;
    limit_ = *limit;
    segments_ = *segments;
    // index_table_sz and hash_table_sz: the structures, a pointer for each entry that there is room for, buckets, name.
    const auto room = memory.word32(table + at.index_room), shift = memory.word32(table + at.hash_shift);
    if (room && shift && *shift > 38 && *shift < 64)
        table_bytes_ = at.index_size + *room * 8ull + (8ull << (64 - *shift)) + table_name.size() + 1;
    // Hash values are held against what most of the first atoms have.
    std::uint32_t agree = 0;
    for (std::uint32_t i = 0; i < first_atoms && i < entries_; ++i) {
        const std::uint64_t address = entry(memory, i);
        const std::byte* atom = address == 0 ? nullptr : memory.at(address, at.atom_size);
        const auto name = atom == nullptr ? std::nullopt : bytes_of(memory, atom);
        agree += name && bytes::load<std::uint32_t>(atom + slot_index) == i &&
                 bytes::load<std::uint64_t>(atom + slot_hash) == hash_of(*name);
    }
    hashed_ = agree * 2 > first_atoms;
}

std::uint64_t AtomTable::entry(bytes::MemoryReader& memory, std::uint32_t index) const {
    if (index >= entries_) return 0;
    const auto page = memory.word(segments_ + 8ull * (index >> page_shift));
    return page ? memory.word(*page + 8ull * (index & ((1u << page_shift) - 1))).value_or(0) : 0;
}

std::uint64_t AtomTable::address_of_name(bytes::MemoryReader& memory, std::uint32_t index) const {
    return memory.word(entry(memory, index) + layout_->at.atom_name).value_or(0);
}

std::optional<std::string_view> AtomTable::bytes_of(bytes::MemoryReader& memory, const std::byte* atom) const {
    const Offsets& at = layout_->at;
    const auto name = bytes::load<std::uint64_t>(atom + at.atom_name);
    if (layout_->atom_name_is_term) return small_binary(memory, *layout_, name, longest_atom);
    const auto length = bytes::load<std::int16_t>(atom + at.atom_length);
    if (length == 0) return std::string_view{};
    if (length < 0 || static_cast<std::size_t>(length) > longest_atom) return std::nullopt;
    const std::byte* bytes = memory.at(name, static_cast<std::uint64_t>(length));
    if (bytes == nullptr) return std::nullopt;
    return std::string_view{reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

// The table's index and hash value stand in front of each atom, and tell whether this is what the VM wrote.
std::optional<std::string_view> AtomTable::text(bytes::MemoryReader& memory, std::uint32_t index) const {
    const std::uint64_t address = entry(memory, index);
    const std::byte* atom = address == 0 ? nullptr : memory.at(address, layout_->at.atom_size);
    if (atom == nullptr) return std::nullopt;
    const auto name = bytes_of(memory, atom);
    if (!name || (hashed_ && (bytes::load<std::uint32_t>(atom + slot_index) != index ||
                              bytes::load<std::uint64_t>(atom + slot_hash) != hash_of(*name))))
        return std::nullopt;
    return name;
}

TextId AtomTable::intern(bytes::MemoryReader& memory, Word atom, TextTable& texts) const {
    if (!is_atom(atom) || atom >> 6 >= entries_) return TextId::none;
    if (known_in_ == nullptr) known_in_ = &texts;
    if (known_in_ != &texts) {
        const auto name = text(memory, atom_index(atom));
        if (!name) lost_.insert(atom_index(atom));
        return name ? texts.intern(*name) : TextId::none;
    }
    if (atom_index(atom) >= known_.size())
        known_.resize(std::max<std::size_t>(atom_index(atom) + 1, std::min<std::size_t>(entries_, known_.size() * 2)),
                      TextId::none);
    TextId& id = known_[atom_index(atom)];
    if (id != TextId::none) return id;
    if (const auto name = text(memory, atom_index(atom))) id = texts.intern(*name);
    else lost_.insert(atom_index(atom));
    return id;
}

}  // namespace beamheap::otp
