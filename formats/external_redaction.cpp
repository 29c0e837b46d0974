// SPDX-License-Identifier: Apache-2.0
#include "formats/external_redaction.hpp"

#include <cstdint>
#include <vector>

namespace beamheap {
namespace {

// What a container still holds; of a list's elements it is known that they may be characters.
struct Left {
    std::uint64_t terms = 0;
    bool list = false;
};

class Walk {
public:
    Walk(std::span<char> bytes, const std::function<void(std::span<char>)>& value,
         const std::function<bool(std::span<char>)>& atom)
        : bytes_(bytes), value_(value), atom_(atom) {}

    bool run() {
        while (!bad_ && at_ < bytes_.size()) {
            left_.push_back({1, false});
            while (!bad_ && !left_.empty()) {
                if (left_.back().terms == 0) {
                    left_.pop_back();
                    continue;
                }
                --left_.back().terms;
                term(left_.back().list);
            }
        }
        return !bad_;
    }

private:
    std::span<char> take(std::uint64_t n) {
        if (n > bytes_.size() - at_) {
            bad_ = true;
            at_ = bytes_.size();
            return {};
        }
        const std::span<char> taken = bytes_.subspan(at_, static_cast<std::size_t>(n));
        at_ += static_cast<std::size_t>(n);
        return taken;
    }
    std::uint64_t number(unsigned size) {
        std::uint64_t value = 0;
        for (const char c : take(size)) value = value << 8 | static_cast<unsigned char>(c);
        return value;
    }
    // No term takes less than a byte, so that no count can be larger than what is left.
    void push(std::uint64_t terms, bool list = false) {
        if (terms > bytes_.size() - at_) bad_ = true;
        else if (terms != 0) left_.push_back({terms, list});
    }
    void character(unsigned size) {
        const std::span<char> raw = take(size);
        std::uint64_t code = 0;
        for (const char c : raw) code = code << 8 | static_cast<unsigned char>(c);
        if (bad_ || !((code >= 9 && code <= 13) || (code >= 32 && code < 127) || (code >= 160 && code <= 0x10FFFF)))
            return;
        for (char& c : raw) c = 0;
        raw.back() = 'x';
    }

    void term(bool in_list) {
        std::uint64_t tag = number(1);
        if (tag == 131 && at_ == bytes_.size()) return;  // all that a match context is written as
        if (tag == 131) tag = number(1);
        switch (tag) {
            case 97: in_list ? character(1) : void(take(1)); break;  // SMALL_INTEGER
            case 98: in_list ? character(4) : void(take(4)); break;  // INTEGER
            case 99: take(31); break;                                // FLOAT
            case 70: take(8); break;                                 // NEW_FLOAT
            case 82: take(1); break;                                 // ATOM_CACHE_REF
            case 100:
            case 118: atom_(take(number(2))); break;  // ATOM, ATOM_UTF8
            case 115:
            case 119: atom_(take(number(1))); break;   // SMALL_ATOM, SMALL_ATOM_UTF8
            case 104: push(number(1)); break;          // SMALL_TUPLE
            case 105: push(number(4)); break;          // LARGE_TUPLE
            case 106: break;                           // NIL
            case 107: value_(take(number(2))); break;  // STRING
            case 109: value_(take(number(4))); break;  // BINARY
            case 77: {                                 // BIT_BINARY
                const std::uint64_t size = number(4);
                take(1);
                value_(take(size));
                break;
            }
            case 108: list(); break;          // LIST
            case 110: big(number(1)); break;  // SMALL_BIG
            case 111: big(number(4)); break;  // LARGE_BIG
            case 116: {                       // MAP
                const std::uint64_t pairs = number(4);
                push(pairs <= bytes_.size() ? pairs * 2 : ~std::uint64_t{0});
                break;
            }
            case 113: push(3); break;       // EXPORT
            case 101: node_and(5); break;   // REFERENCE
            case 102: node_and(5); break;   // PORT
            case 89: node_and(8); break;    // NEW_PORT
            case 120: node_and(12); break;  // V4_PORT
            case 103: node_and(9); break;   // PID
            case 88: node_and(12); break;   // NEW_PID
            case 114: reference(1); break;  // NEW_REFERENCE
            case 90: reference(4); break;   // NEWER_REFERENCE
            case 112: {                     // NEW_FUN: size, arity, hash, index, free; 4 terms and those
                take(4 + 1 + 16 + 4);
                const std::uint64_t free = number(4);
                push(4 + free);
                break;
            }
            case 117: push(4 + number(4)); break;  // FUN
            default: bad_ = true;
        }
    }
    void list() {
        const std::uint64_t length = number(4);
        push(1);  // its tail
        push(length, true);
    }
    // The top digit stays: as many words, and none of them zero.
    void big(std::uint64_t size) {
        take(1);  // sign
        const std::span<char> digits = take(size);
        if (digits.size() > 1) value_(digits.first(digits.size() - 1));
    }
    // A node's name is an atom, in front of numbers: it is read at once.
    void node_and(std::uint64_t size) {
        if (node()) take(size);
    }
    void reference(unsigned creation) {
        const std::uint64_t words = number(2);
        if (node()) take(creation + words * 4);
    }
    bool node() {
        const std::uint64_t tag = number(1);
        if (tag == 82) take(1);
        else if (tag == 100 || tag == 118) atom_(take(number(2)));
        else if (tag == 115 || tag == 119) atom_(take(number(1)));
        else bad_ = true;
        return !bad_;
    }

    std::span<char> bytes_;
    const std::function<void(std::span<char>)>& value_;
    const std::function<bool(std::span<char>)>& atom_;
    std::vector<Left> left_;
    std::size_t at_ = 0;
    bool bad_ = false;
};

}  // namespace

bool redact_external(std::span<char> bytes, const std::function<void(std::span<char>)>& value,
                     const std::function<bool(std::span<char>)>& atom) {
    return Walk(bytes, value, atom).run();
}

}  // namespace beamheap
