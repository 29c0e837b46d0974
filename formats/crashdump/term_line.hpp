// SPDX-License-Identifier: Apache-2.0
// One line of terms, walked by its grammar and its lengths, with an observer of what stands in it.
//
// The grammar is said here and nowhere else: line_end() asks only where a line ends; whoever copies a dump sees,
// besides, where its values are. (The reader of heaps has a faster way through the usual lines, heap_lines.hpp, and
// this one as its specification.)
#pragma once

#include <cstring>
#include <string_view>

#include "formats/crashdump/term_grammar.hpp"
#include "model/characters.hpp"

namespace beamheap::crashdump {

/// Sees nothing. Positions given to an observer are offsets in the text that is walked, [begin, end).
struct NoObserver {
    void element(std::size_t, std::size_t) {}      ///< an immediate or an address, in the order of the line
    void list_cell(std::size_t) {}                 ///< the element that begins here is the head of a list's cell
    void map_node(std::size_t, std::size_t) {}     ///< children of a node of a large map
    void integer(std::size_t, std::size_t) {}      ///< a small integer: sign and digits
    void big_integer(std::size_t, std::size_t) {}  ///< an integer with a line of its own
    void atom(std::size_t, std::size_t) {}         ///< an atom's bytes
    void binary(std::uint64_t, std::size_t, std::size_t) {
    }  ///< bytes of a binary, how many, and where they stand encoded
    void external(std::uint64_t, std::size_t, std::size_t) {}  ///< bytes in the external term format, the same
    void fragments(std::size_t, std::size_t) {}  ///< what a message of another node has behind those, encoded
};

/// Walks over one line; stops at the first thing that is not there (incomplete_) or not of the grammar (malformed_).
template <class Observer>
class LineWalk {
public:
    LineWalk(TermStyle style, std::string_view text, std::size_t pos, Observer& observer)
        : observer_(observer),
          style_(style),
          begin_(text.data()),
          p_(text.data() + pos),
          end_(text.data() + text.size()) {}

    /// Where the line ends, as line_end() says it.
    std::size_t walk(TermSection section) {
        switch (section) {
            case TermSection::messages: message(); break;
            case TermSection::dictionary: element(); break;
            case TermSection::stack: stack_slot(); break;
            case TermSection::heap:
            case TermSection::literals: heap_line(); break;
            case TermSection::persistent_terms:
                element();
                eat('|');
                element();
                break;
            case TermSection::binary: data([&](auto... of) { observer_.binary(of...); }); break;
        }
        end_of_line();
        if (malformed_) return line_malformed;
        if (incomplete_) return line_incomplete;
        return static_cast<std::size_t>(p_ - begin_);
    }

private:
    bool failed() const { return incomplete_ || malformed_; }
    /// The next byte is there; else the line is incomplete.
    bool more() {
        if (failed()) return false;
        if (p_ == end_) incomplete_ = true;
        return !incomplete_;
    }
    void eat(char c) {
        if (!more()) return;
        if (*p_ == c) ++p_;
        else malformed_ = true;
    }
    template <class Accept>
    void run(Accept accept) {
        while (more() && accept(*p_)) ++p_;
    }
    std::uint64_t hex() {
        std::uint64_t value = 0;
        int digits = 0;
        while (more() && is_hex(*p_)) {
            if (++digits > 16) {
                malformed_ = true;
                return 0;
            }
            value = value << 4 | static_cast<std::uint64_t>(is_digit(*p_) ? *p_ - '0' : *p_ - 'A' + 10);
            ++p_;
        }
        if (digits == 0 && !incomplete_) malformed_ = true;
        return failed() ? 0 : value;
    }
    void skip(std::uint64_t n) {
        if (failed()) return;
        if (n > static_cast<std::uint64_t>(end_ - p_)) {
            p_ = end_;
            incomplete_ = true;
        } else {
            p_ += n;
        }
    }
    void atom() {
        std::uint64_t length = hex();
        eat(':');
        if (failed()) return;
        if (length > max_atom_bytes) {
            malformed_ = true;
            return;
        }
        const std::size_t from = place();
        if (!style_.crlf) skip(length);
        else
            for (; length != 0 && more(); --length) p_ += (*p_ == '\r' && p_ + 1 != end_ && p_[1] == '\n') ? 2 : 1;
        if (!failed()) observer_.atom(from, place());
    }
    /// HEXLENGTH ":" and the bytes, encoded.
    template <class Tell>
    void data(Tell tell) {
        const std::uint64_t length = hex();
        eat(':');
        if (length >= std::uint64_t{1} << 48) malformed_ = true;
        if (failed()) return;
        const std::size_t from = place();
        skip(style_.base64 ? (length + 2) / 3 * 4 : length * 2);
        if (!failed()) tell(length, from, place());
    }
    void element() {
        if (!more()) return;
        const std::size_t whole = place();
        switch (*p_) {
            case 'H':
                ++p_;
                hex();
                break;
            case 'N': ++p_; break;
            case 'I': {
                ++p_;
                const std::size_t from = place();
                if (more() && *p_ == '-') ++p_;
                run(is_digit);
                if (!failed()) observer_.integer(from, place());
                break;
            }
            case 'A':
                ++p_;
                atom();
                break;
            case 'P':
            case 'p':
                ++p_;
                eat('<');
                run([](char c) { return is_digit(c) || c == '.'; });
                eat('>');
                break;
            default: break;  // an immediate that the writer has no form for prints nothing
        }
        if (!failed()) observer_.element(whole, place());
    }
    void elements() {
        element();
        while (more() && *p_ == ',') {
            ++p_;
            element();
        }
    }
    void heap_line() {
        hex();
        eat(':');
        if (!more()) return;
        switch (*p_++) {
            case 'l':
                observer_.list_cell(place());
                element();
                eat('|');
                element();
                break;
            case 't':
                hex();
                eat(':');
                elements();
                break;
            case 'F': {
                const std::uint64_t length = hex();
                eat(':');
                if (length > 4096) malformed_ = true;
                else skip(length);
                break;
            }
            case 'B': {
                const std::size_t from = place();
                to_line_feed();
                if (!failed()) observer_.big_integer(from, place());
                break;
            }
            case 'P':
            case 'p':
            case 'R': to_line_feed(); break;
            case 'E': data([&](auto... of) { observer_.external(of...); }); break;
            case 'Y': binary(); break;
            case 'M': map(); break;
            default: malformed_ = true;
        }
    }
    void binary() {
        if (!more()) return;
        if (*p_++ == 'h') data([&](auto... of) { observer_.binary(of...); });
        else to_line_feed();
    }
    void map() {
        if (!more()) return;
        const char kind = *p_++;
        hex();
        eat(':');
        if (kind == 'f') {
            element();
            eat(':');
        } else if (kind == 'h') {
            hex();
            eat(':');
        } else if (kind != 'n') {
            malformed_ = true;
        }
        const std::size_t from = place();
        elements();
        if (kind != 'f' && !failed()) observer_.map_node(from, place());
    }
    void stack_slot() {
        const void* colon = failed() ? nullptr : std::memchr(p_, ':', remaining());
        const void* feed = std::memchr(p_, '\n', remaining());
        if (!colon) {
            (feed ? malformed_ : incomplete_) = true;
            return;
        }
        if (feed && feed < colon) {
            malformed_ = true;
            return;
        }
        p_ = static_cast<const char*>(colon) + 1;
        if (more() && *p_ == 'S') to_line_feed();
        else element();
    }
    void message() {
        if (more() && *p_ == 'D') distribution_message();
        else element();
        eat(':');
        element();
    }
    /// "D" HEXATOMS ":" atoms, then "E" HEXLENGTH ":" data; later fragments of the data follow as further runs.
    void distribution_message() {
        ++p_;
        std::uint64_t atoms = hex();
        eat(':');
        for (; atoms != 0 && more(); --atoms) {
            if (*p_ == 'E') break;
            const char* before = p_;
            element();
            if (p_ == before) malformed_ = true;
        }
        eat('E');
        data([&](auto... of) { observer_.external(of...); });
        const std::size_t from = place();
        run([](char c) {
            return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '+' || c == '/' || c == '=';
        });
        if (!failed()) observer_.fragments(from, place());
    }
    void to_line_feed() {
        if (failed()) return;
        const void* feed = std::memchr(p_, '\n', remaining());
        if (!feed) {
            p_ = end_;
            incomplete_ = true;
            return;
        }
        p_ = static_cast<const char*>(feed);
        if (p_[-1] == '\r') --p_;
    }
    void end_of_line() {
        if (more() && *p_ == '\r') ++p_;
        eat('\n');
    }
    std::size_t remaining() const { return static_cast<std::size_t>(end_ - p_); }
    std::size_t place() const { return static_cast<std::size_t>(p_ - begin_); }
    static bool is_hex(char c) { return is_digit(c) || (c >= 'A' && c <= 'F'); }

    Observer& observer_;
    TermStyle style_;
    const char* begin_;
    const char* p_;
    const char* end_;
    bool incomplete_ = false;
    bool malformed_ = false;
};

}  // namespace beamheap::crashdump
