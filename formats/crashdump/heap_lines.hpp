// SPDX-License-Identifier: Apache-2.0
// Lines of a heap as nearly all of them are, fast.
//
// A dump of a 64-bit VM is a hundred million lines of a few forms: "7F3A5C012340:lI97|H7F3A5C012350", addresses of
// twelve digits, small integers, short atoms. HeapReader knows the whole grammar, every release, 32-bit machines, CR LF
// and damage; it is the specification. This is the loop for the common forms alone: it takes line after line while they
// are of a form that it knows for certain, and stops, having written nothing, at the first one that is not. HeapReader
// reads that line and calls again. So whatever is rare, wide, torn or at the end of the text never has to be thought of
// here, and a line that is taken here gives the graph exactly what HeapReader would have given it
// (tests/unit/heap_lines_test.cpp holds the two against each other, on real dumps, cut ones and noise).
//
// What makes it fast is what it does not do. All that changes is in one local object (there are more such values than
// registers, and the graph's arrays are written through an Appender: a store through uint8_t* may alias every member of
// every object, and would have the arrays looked up again each time); of an address the first eight digits are
// compared, as text, with those that were read before: they are the chunk of 64 KiB (AddressSpace), of which a heap has
// few, and the last four digits are the word in it. What is the same for a whole chunk is kept with it: how the graph
// compresses its addresses, and which of its words are young. Nothing is called but AddressSpace for a new chunk. What
// an object costs is measured by `tests/bench/run --gate`.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "beamheap/heap_graph.hpp"

namespace beamheap::crashdump {

class HeapLines {
public:
    /// Another heap follows: forgets the chunks of the last one.
    void begin() { chunks_.clear(); }
    /// Bytes that are read behind `safe`, at most: of a cell that begins before it both elements are within reach, each
    /// of which has up to 40 characters, or ends before it; data that begins before it may go on for `data_ahead`.
    static constexpr std::size_t look_ahead = 128, data_ahead = look_ahead - 2;
    /// Takes lines from p on into `graph`, to which nothing else may be added meanwhile, and gives where it stopped.
    /// `offset` is where p stands in the input.
    const char* take(HeapGraph& graph, const char* p, const char* safe, std::uint64_t offset);

    /// What an object in external term format is depends on its length and its first characters alone: `prefix` of
    /// them. The next line that begins so is taken here.
    void remember(std::uint64_t length, std::string_view prefix, TermKind kind, std::uint32_t words);

private:
    struct Known {
        std::uint64_t length = 0;  // of the term, in bytes; 0: none is known
        std::uint32_t prefix = 0;  // characters
        std::uint32_t words = 0;
        TermKind kind = TermKind::unknown;
        std::array<char, 96> text{};
    };
    /// Funs of one module often have one length: they differ in their number, whose last bits are in this character.
    static constexpr std::size_t last_of_slot = 36;
    static std::size_t slot(std::uint64_t length, std::string_view text) {
        const bool fun = text.size() >= last_of_slot && text[1] == '3' && text[2] == 'A';  // 131, 112: NEW_FUN_EXT
        const std::uint64_t key = length << 8 | (fun ? static_cast<unsigned char>(text[last_of_slot - 1]) : 0u);
        return key * 0x9E3779B97F4A7C15ull >> 58;
    }
    const char* remembered(const char* q, const char* safe, TermKind& kind, std::uint32_t& words) const;
    std::array<Known, 64> known_;

    /// A chunk whose addresses were met: the eight digits that these begin with, as they stand in the text.
    struct Chunk {
        std::uint64_t text;         ///< 0: none (but in the first entry)
        std::uint32_t packed;       ///< its first address as the graph's AddressSpace compresses it
        std::uint32_t young_from;   ///< the first of its words that lie in the graph's young area
        std::uint32_t young_words;  ///< how many do
    };
    struct Chunks {
        static constexpr Chunk free_first{1, 0, 0, 0};  // zeros are looked for here, a one is not: no free one is found
        std::array<Chunk, 256> entries{{free_first}};
        std::array<std::uint8_t, 256> used{};  // the first `count`: which entries are not free
        std::size_t count = 0;
        void put(std::size_t at, const Chunk& chunk) {
            if (entries[at].text <= free_first.text) used[count++] = static_cast<std::uint8_t>(at);
            entries[at] = chunk;
        }
        void clear() {
            while (count != 0) entries[used[--count]] = Chunk{0, 0, 0, 0};
            entries[0] = free_first;
        }
    };
    Chunks chunks_;
    class Line;
};

}  // namespace beamheap::crashdump
