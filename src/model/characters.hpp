// SPDX-License-Identifier: Apache-2.0
// Characters, whatever the locale: kinds of ASCII ones, and others as UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace beamheap {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether `text` has `word`, not as a part of a longer one (undef, but not undefined): letters, digits, _ and @ are of
/// words.
constexpr bool has_word(std::string_view text, std::string_view word) {
    const auto in_word = [](char c) {
        return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '_' || c == '@';
    };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
    }
    return false;
}

/// Appends a code point, at most 0x1FFFFF, as UTF-8.
inline void append_utf8(std::string& out, std::uint32_t code) {
    const auto rest = [code](unsigned shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | code >> 6);
        out += rest(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | code >> 12);
        out += rest(6);
        out += rest(0);
    } else {
        out += static_cast<char>(0xF0 | code >> 18);
        out += rest(12);
        out += rest(6);
        out += rest(0);
    }
}
/// Appends what ISO 8859-1 has as bytes, as UTF-8.
inline void append_latin1(std::string& out, std::string_view latin1) {
    for (const char c : latin1) append_utf8(out, static_cast<unsigned char>(c));
}
inline std::string from_latin1(std::string_view latin1) {
    std::string out;
    append_latin1(out, latin1);
    return out;
}

}  // namespace beamheap
