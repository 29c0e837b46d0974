#include "formats/otp/atoms.hpp"

#include "formats/otp/binaries.hpp"

namespace beamheap::otp {
namespace {

constexpr std::uint32_t most_atoms = 1u << 28;  // an atom index fits 26 bits on 32-bit VMs; +t allows 2147483647
constexpr unsigned page_shift = 10;             // INDEX_PAGE_SHIFT (index.h)

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
    known_.assign(entries_, TextId::none);
}

std::optional<std::string_view> AtomTable::text(bytes::MemoryReader& memory, std::uint32_t index) const {
    if (index >= entries_) return std::nullopt;
    const Offsets& at = layout_->at;
    const auto page = memory.word(segments_ + 8ull * (index >> page_shift));
    if (!page) return std::nullopt;
    const auto entry = memory.word(*page + 8ull * (index & ((1u << page_shift) - 1)));
    if (!entry) return std::nullopt;
    const std::byte* atom = memory.at(*entry, at.atom_size);
    if (atom == nullptr) return std::nullopt;
    const auto name = bytes::load<std::uint64_t>(atom + at.atom_name);
    if (layout_->atom_name_is_term) return small_binary(memory, *layout_, name, longest_atom);
    const auto length = bytes::load<std::int16_t>(atom + at.atom_length);
    if (length == 0) return std::string_view{};
    if (length < 0 || static_cast<std::size_t>(length) > longest_atom) return std::nullopt;
    const std::byte* bytes = memory.at(name, static_cast<std::uint64_t>(length));
    if (bytes == nullptr) return std::nullopt;
    return std::string_view{reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

TextId AtomTable::intern(bytes::MemoryReader& memory, Word atom, TextTable& texts) const {
    if (!is_atom(atom) || atom_index(atom) >= entries_ || atom >> 6 > 0xffffffffull) return TextId::none;
    TextId& id = known_[atom_index(atom)];
    if (id == TextId::none)
        if (const auto name = text(memory, atom_index(atom))) id = texts.intern(*name);
    return id;
}

}  // namespace beamheap::otp
