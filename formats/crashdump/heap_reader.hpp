// SPDX-License-Identifier: Apache-2.0
// Reads the four sections that hold one process's terms into a HeapGraph.
//
// The writer puts them next to each other: =proc_messages, =proc_dictionary, =proc_stack, =proc_heap (the first two
// only where there is anything). A reader belongs to one worker and is used for process after process:
//
//     reader.begin(facts);
//     for each section of the process, in file order, for each piece of its body:
//         consumed = reader.feed(section, text, offset, last);   // present the rest again, with more behind it
//     HeapGraph& graph = reader.finish();                        // valid until the next begin()
//
// Pieces may end anywhere. feed() takes whole lines by the grammar's lengths (atoms hold LF, and anything else) and
// leaves at most one incomplete line; a piece of 256 KiB fits the processor's caches. Damaged lines are skipped up to
// the next LF and counted. The result does not depend on how the text was cut.
//
// Most lines are read by HeapLines (heap_lines.hpp), which knows the common forms of 64-bit machines. Addresses are 1
// to 16 digits of upper case hexadecimal; up to dump version 0.2 they are cut to 32 bits on 64-bit machines
// (erl_process_dump.c, %X), which needs no care within a heap.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "beamheap/heap_graph.hpp"
#include "formats/crashdump/heap_lines.hpp"
#include "formats/crashdump/object_words.hpp"
#include "formats/crashdump/term_grammar.hpp"

namespace beamheap::crashdump {

/// What holds for all heaps of a dump.
struct HeapDialect {
    TermStyle style;
    std::uint32_t otp = 0;  ///< major release, 0 unknown
    unsigned word_bytes = 8;
    bool frames_end_with_return = true;  ///< OTP 23 and later: y registers come before their return address
    bool latin1_atoms = false;           ///< up to R15
    bool fast_lines = true;              ///< false: common lines are read by the grammar, too (tests)
    std::uint64_t least_in_part = std::uint64_t{16}
                                  << 20;  ///< bytes of heap from which on parts of it are read alone (part_of_heap.hpp)
    std::string node_name;  ///< to tell references of this node from others; empty: all are taken for its own
};

/// What the =proc section says that the heap's reader needs.
struct HeapFacts {
    HeapGraph::Mode mode = HeapGraph::Mode::sizes;
    std::uint64_t heap_words = 0;         ///< "Stack+heap"
    std::uint64_t heap_unused_words = 0;  ///< "Heap unused"
    /// Entries of Process::stack before that of the first return address: the current function, up to OTP 22 also CP.
    std::uint32_t frames_before_returns = 1;
};

/// What a reader met that it could not use.
struct HeapDamage {
    std::uint64_t bad_lines = 0;       ///< lines that were skipped
    std::uint64_t first_bad_line = 0;  ///< offset of the first
    std::uint64_t bad_bytes = 0;       ///< of those that end within the piece that they began in
    std::uint64_t cut_lines = 0;       ///< last line of a section, not complete
    std::uint64_t first_cut_line = 0;
};

/// A heap that was read in `values` mode.
struct ReadHeap {
    HeapGraph graph;
    HeapDamage damage;
    std::uint64_t messages = 0;
    std::uint32_t sections = 0;  ///< that it was read from
};

class HeapReader {
public:
    explicit HeapReader(const HeapDialect& dialect);

    void begin(const HeapFacts& facts);
    /// Makes room for as many objects as a giant has at least, after begin(): its arrays need not grow by small steps.
    void expect_giant();
    /// Takes lines of `text`, a piece of the section's body that begins at a line (or where the last call stopped).
    /// `offset` is where text begins in the input; `last`: the section ends with this piece.
    /// Returns the bytes taken, all of them if `last`.
    std::size_t feed(TermSection section, std::string_view text, std::uint64_t offset, bool last);
    HeapGraph& finish();
    /// Keeps so many of the oldest messages as roots, until begin(); all are counted.
    void keep_messages(std::uint64_t most) { most_messages_ = most; }
    /// For a caller that has read the stack's frames since begin().
    void set_frames_before_returns(std::uint32_t frames) { facts_.frames_before_returns = frames; }
    /// After finish(): the graph itself, to keep.
    HeapGraph take_graph() { return std::move(graph_); }
    /// The same, without the addresses of objects, which are in the text.
    ReadHeap take(std::uint32_t sections = 0) {
        graph_.forget_addresses();
        return {std::move(graph_), damage_, messages_, sections};
    }

    const HeapDamage& damage() const { return damage_; }
    /// Lines of =proc_stack: words that the stack occupies.
    std::uint64_t stack_words() const { return stack_words_; }
    bool has_section(TermSection section) const { return (seen_ >> static_cast<unsigned>(section) & 1) != 0; }
    /// Lines of =proc_messages, and those of them that hold data from another node not yet decoded by the process.
    std::uint64_t messages() const { return messages_; }
    std::uint64_t distribution_messages() const { return distribution_messages_; }
    std::uint64_t distribution_bytes() const { return distribution_bytes_; }
    /// Addresses of the young heap as the stack's bottom and the facts tell them; 0, 0 if they can't.
    std::uint64_t young_from() const { return young_from_; }
    std::uint64_t young_to() const { return young_to_; }

private:
    enum class Step : std::uint8_t { line, bad, more };

    std::size_t take_lines(TermSection section, const char* begin, const char* safe, std::uint64_t offset, bool tail);
    template <class Line>
    const char* take_other_lines(const char* p, const char* safe, bool tail, Line line);
    const char* take_heap_lines(const char* p, const char* safe, bool tail);
    bool after_failure(const char*& p, const char* safe, bool tail);
    const char* skip_pending(const char* p, const char* end);

    // Each takes what stands at p and returns the place behind it, or nullptr with step_ set. 64 bytes may be read
    // from any place up to safe_.
    const char* heap_line(const char* p, std::uint64_t address);
    const char* cons(const char* p, std::uint64_t address);
    const char* tuple(const char* p, std::uint64_t address);
    const char* map(const char* p, std::uint64_t address);
    const char* binary(const char* p, std::uint64_t address);
    const char* external(const char* p, std::uint64_t address);
    std::pair<TermKind, std::uint32_t> reference(unsigned tag, std::uint64_t length, std::string_view encoded);
    const char* bignum(const char* p, std::uint64_t address);
    const char* elements(const char* p, std::uint64_t count);
    const char* element(const char* p);
    const char* immediate(const char* p);
    const char* atom(const char* p);
    const char* data(const char* p, std::uint64_t& length, const char*& encoded);
    const char* message_line(const char* p);
    const char* dictionary_line(const char* p);
    const char* stack_line(const char* p);
    const char* root_element(const char* p, RootKind kind, std::uint32_t index, std::uint32_t frame);
    const char* number(const char* p, std::uint64_t& value);
    const char* end_of_line(const char* p);
    void settle_slices();
    const char* bad() {
        step_ = Step::bad;
        return nullptr;
    }
    const char* more() {
        step_ = Step::more;
        return nullptr;
    }
    bool is_there(const char* p, std::uint64_t size) const {
        return p <= safe_ && size <= static_cast<std::uint64_t>(data_end_ - p);
    }
    std::uint64_t offset_of(const char* p) const { return text_offset_ + static_cast<std::uint64_t>(p - text_); }

    HeapDialect dialect_;
    const ObjectWords* sizes_;
    HeapFacts facts_;
    HeapGraph graph_;
    HeapLines lines_;
    HeapDamage damage_;
    Step step_ = Step::line;
    std::uint8_t seen_ = 0;

    const char* text_ = nullptr;  // what is being read, and where that is in the input
    std::uint64_t text_offset_ = 0;
    const char* safe_ = nullptr;
    const char* data_end_ = nullptr;  // up to where data may go on that is not looked at
    const char* line_ = nullptr;
    std::string tail_;

    std::uint64_t pending_skip_ = 0;  // data of a distribution message that goes on in the next piece
    bool pending_tail_ = false;
    bool pending_resync_ = false;  // a bad line whose LF is in a later piece

    std::uint64_t messages_ = 0;
    std::uint64_t most_messages_ = all_messages;
    std::uint64_t distribution_messages_ = 0;
    std::uint64_t distribution_bytes_ = 0;
    std::uint64_t dictionary_entries_ = 0;
    std::uint64_t stack_words_ = 0;
    std::uint64_t returns_ = 0;
    std::uint64_t last_return_address_ = 0;
    std::uint64_t slots_after_return_ = 0;
    std::uint32_t counted_returns_ = 0;  // those that are entries of the backtrace
    std::uint32_t frames_above_ = 0;
    bool last_return_counted_ = true;
    std::uint64_t young_from_ = 0;
    std::uint64_t young_to_ = 0;
    bool young_known_ = false;
};

}  // namespace beamheap::crashdump
