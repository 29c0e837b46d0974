// SPDX-License-Identifier: Apache-2.0
// The atom table of an image: index to text, each interned once.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "beamheap/interned.hpp"
#include "bytes/address_space.hpp"
#include "formats/otp/layout/layout.hpp"
#include "formats/otp/layout/tagged_word.hpp"

namespace beamheap::otp {

/// Most bytes that an atom's text can have: 255 characters of UTF-8.
inline constexpr std::size_t longest_atom = 255 * 4;

class AtomTable {
public:
    AtomTable() = default;
    /// `table` is the IndexTable; entries are read when they are asked for.
    AtomTable(bytes::MemoryReader& memory, const Layout& layout, std::uint64_t table);

    /// Takes note of atoms that a running VM has made meanwhile; `table` is the one that it was made of.
    void renew(bytes::MemoryReader& memory, std::uint64_t table) {
        const auto entries = memory.word32(table + layout_->at.index_entries);
        if (entries && *entries > entries_ && *entries <= limit_) entries_ = *entries;
    }
    /// Forgets whose ids intern() gave: the next table that it is asked with is another snapshot's.
    void forget_interned() {
        known_.clear();
        lost_.clear();
        known_in_ = nullptr;
    }
    std::uint32_t size() const { return entries_; }
    std::uint32_t limit() const { return limit_; }
    /// Text of the atom with this index, in UTF-8; nothing where the image does not hold it, or where its index or its
    /// hash value says that something else stands there.
    std::optional<std::string_view> text(bytes::MemoryReader& memory, std::uint32_t index) const;
    /// What erlang:memory counts for the table, and for the texts that were allocated for it (not those that are
    /// constants of the executable, which `is_constant` tells by address).
    struct Bytes {
        std::uint64_t table = 0, texts = 0;
        std::uint64_t unreadable = 0;  ///< atoms that the image does not hold
    };
    template <class IsConstant>
    Bytes bytes(bytes::MemoryReader& memory, IsConstant&& is_constant) const {
        Bytes sum;
        sum.table = table_bytes_;
        for (std::uint32_t i = 0; i < entries_; ++i) {
            const auto name = text(memory, i);
            if (!name) {
                if (++sum.unreadable > 1000 && sum.unreadable > i / 2) break;
            } else if (layout_->atom_name_is_term || !is_constant(address_of_name(memory, i))) {
                sum.texts += name->size();
            }
        }
        return sum;
    }
    /// The interned text of an atom word; TextId::none where it is no atom, or unreadable.
    TextId intern(bytes::MemoryReader& memory, Word atom, TextTable& texts) const;
    /// How many atoms were asked of intern() whose text is not there.
    std::uint64_t lost() const { return lost_.size(); }

private:
    std::uint64_t entry(bytes::MemoryReader& memory, std::uint32_t index) const;
    std::optional<std::string_view> bytes_of(bytes::MemoryReader& memory, const std::byte* atom) const;
    std::uint64_t address_of_name(bytes::MemoryReader& memory, std::uint32_t index) const;
    const Layout* layout_ = nullptr;
    std::uint64_t segments_ = 0, table_bytes_ = 0;
    std::uint32_t entries_ = 0, limit_ = 0;
    bool hashed_ = false;                ///< whether atoms have the index and hash value that are expected
    mutable std::vector<TextId> known_;  // by index
    mutable std::unordered_set<std::uint32_t> lost_;
    mutable const TextTable* known_in_ = nullptr;  ///< whose ids these are: the table that asked first (the snapshot's)
};

}  // namespace beamheap::otp
