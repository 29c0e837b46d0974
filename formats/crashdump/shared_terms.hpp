// What the heaps of a dump share: literals, persistent terms, and binaries outside the heaps. Once for all processes.
//
// Since dump version 0.5 (OTP 20.2) literals have their own section, printed behind all heaps with the same lines as a
// heap; before, a literal was printed in the heap of the first process that reached it, and others have references
// into that heap. In both cases SharedTerms holds a graph of them. Binaries are listed behind the literals, each with
// its size and bytes: sizes of all are kept (16 bytes each), bytes only of those that were asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beamheap/heap_graph.hpp"
#include "formats/crashdump/heap_reader.hpp"

namespace beamheap::crashdump {

/// Addresses and sizes of the binaries of a dump.
class BinaryTable {
public:
    struct Entry {
        std::uint64_t address = 0;
        std::uint64_t bytes = 0;
        std::uint64_t data_offset = 0;  ///< where its encoded bytes begin in the input
    };
    void add(std::uint64_t address, std::uint64_t bytes, std::uint64_t data_offset) {
        entries_.push_back({address, bytes, data_offset});
    }
    /// Sorts by address; of two with one address the first stays. To be called before find().
    void seal();
    /// nullptr if there is none.
    const Entry* find(std::uint64_t address) const;
    const std::vector<Entry>& entries() const { return entries_; }
    std::uint64_t duplicates() const { return duplicates_; }

private:
    std::vector<Entry> entries_;
    std::uint64_t duplicates_ = 0;
};

class SharedTerms {
public:
    explicit SharedTerms(const HeapDialect& dialect) : dialect_(dialect), reader_(dialect) {}

    // ---- filling --------------------------------------------------------------------------------------------------

    /// =literals, in pieces as HeapReader::feed takes them. The text is copied: it is read again to print literals.
    std::size_t feed_literals(std::string_view text, bool last);
    /// A literal that stands in the heap of a process (dumps up to 0.3): its whole line.
    void adopt_line(std::string_view line);
    /// Bytes of a binary, encoded, from its first on; as much as is wanted.
    void keep_binary(std::uint64_t address, std::string_view encoded) { kept_[address].assign(encoded); }
    /// Nothing is fed after this.
    void seal();

    // ---- asking ---------------------------------------------------------------------------------------------------

    const HeapDialect& dialect() const { return dialect_; }
    /// The literals; in `values` mode, so that they can be printed.
    const HeapGraph& literals() const { return literals_; }
    /// What the origins of the literals count in.
    std::string_view literal_text() const { return literal_text_; }
    const HeapDamage& damage() const { return reader_.damage(); }
    BinaryTable& binaries() { return binaries_; }
    const BinaryTable& binaries() const { return binaries_; }
    /// Encoded bytes that were kept; empty if none were.
    std::string_view kept_binary(std::uint64_t address) const {
        const auto found = kept_.find(address);
        return found == kept_.end() ? std::string_view{} : std::string_view(found->second);
    }

private:
    HeapDialect dialect_;
    HeapReader reader_;
    HeapGraph literals_;
    std::string literal_text_;
    bool started_ = false;
    bool adopted_ = false;
    BinaryTable binaries_;
    std::unordered_map<std::uint64_t, std::string> kept_;
};

}  // namespace beamheap::crashdump
