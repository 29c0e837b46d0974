// SPDX-License-Identifier: Apache-2.0
#include "present/literal_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "model/characters.hpp"
#include "present/sanitise.hpp"

namespace beamheap::present {
namespace {

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// An Elixir key that needs no quotes.
bool is_elixir_name(std::string_view name) {
    if (name.empty() || !(is_small(name.front()) || is_capital(name.front()) || name.front() == '_')) return false;
    if (name.back() == '?' || name.back() == '!') name.remove_suffix(1);
    for (const char c : name)
        if (!is_small(c) && !is_capital(c) && !is_digit(c) && c != '_' && c != '@') return false;
    return true;
}

/// One byte that is not valid UTF-8, or a control character.
void append_code(std::string& out, std::uint32_t code, Syntax syntax) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), code, 16).ptr;
    if (syntax == Syntax::elixir && code < 256) {
        out += code < 16 ? "\\x0" : "\\x";
        out.append(digits.data(), end);
        return;
    }
    out += syntax == Syntax::elixir ? "\\u{" : "\\x{";
    out.append(digits.data(), end);
    out += '}';
}

bool is_hidden(char32_t code) {
    return code < 32 || (code >= 127 && code < 160) || code == 0x061C || (code >= 0x200B && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
           (code >= 0xE0000 && code <= 0xE007F);
}

}  // namespace

void append_escaped(std::string& out, std::string_view utf8, char quote, Syntax syntax) {
    while (!utf8.empty()) {
        char32_t code = 0;
        std::size_t size = decode_utf8(utf8, code);
        if (size == 0) {
            append_code(out, static_cast<unsigned char>(utf8.front()), syntax);
            utf8.remove_prefix(1);
            continue;
        }
        switch (code) {
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            case '\v': out += "\\v"; break;
            case '\b': out += "\\b"; break;
            case '\f': out += "\\f"; break;
            case 27: out += "\\e"; break;
            case '\\': out += "\\\\"; break;
            default:
                if (code == static_cast<char32_t>(quote)) out += '\\';
                if (syntax == Syntax::elixir && code == '#' && utf8.size() > 1 && utf8[1] == '{') out += '\\';
                if (is_hidden(code)) append_code(out, code, syntax);
                else out.append(utf8.substr(0, size));
        }
        utf8.remove_prefix(size);
    }
}

void append_elixir_key(std::string& out, std::string_view name) {
    if (is_elixir_name(name)) {
        out += name;
    } else {
        out += '"';
        append_escaped(out, name, '"', Syntax::elixir);
        out += '"';
    }
    out += ": ";
}

void append_float(std::string& out, double value) {
    if (!std::isfinite(value)) {  // no Erlang float is; an input may hold anything
        out += std::isnan(value) ? "<NaN>" : value < 0 ? "<-infinity>" : "<infinity>";
        return;
    }
    if (std::signbit(value)) {
        out += '-';
        value = -value;
    }
    if (value == 0) {
        out += "0.0";
        return;
    }
    // The fewest digits that read back as the same number, and where the point stands among them. fmt has them without
    // the tables of 128 bits that the standard library's std::to_chars brings along, a hundredth of the program.
    const std::string text = fmt::format("{}", value);
    const std::size_t e = std::min(text.find('e'), text.size());
    std::string digits;
    int place = 0;
    bool fraction = false;
    for (const char c : text.substr(0, e)) {
        if (c == '.') fraction = true;
        else if (c == '0' && digits.empty()) place -= fraction;
        else {
            digits += c;
            place += !fraction;
        }
    }
    digits.erase(digits.find_last_not_of('0') + 1);
    if (e < text.size()) {
        int exponent = 0;
        const std::size_t sign = text[e + 1] == '+' ? 1 : 0;
        std::from_chars(text.data() + e + 1 + sign, text.data() + text.size(), exponent);
        place += exponent;
    }
    // Plain where that is not longer than with an exponent (io_lib_format:insert_decimal/2).
    const int count = static_cast<int>(digits.size());
    const std::string shown_exponent = std::to_string(place - 1);
    const int cost = static_cast<int>(shown_exponent.size()) + 1 + (count == 1 ? 2 : 1);
    if (place > 0 && place < count) {
        out.append(digits, 0, static_cast<std::size_t>(place));
        out += '.';
        out.append(digits, static_cast<std::size_t>(place));
    } else if (place <= 0 && 2 - place <= cost) {
        out += "0.";
        out.append(static_cast<std::size_t>(-place), '0');
        out += digits;
    } else if (place >= count && place - count + 2 <= cost) {
        out += digits;
        out.append(static_cast<std::size_t>(place - count), '0');
        out += ".0";
    } else {
        out += digits[0];
        out += '.';
        out += count == 1 ? "0" : digits.substr(1);
        out += 'e';
        out += shown_exponent;
    }
}

bool is_printable_latin1(std::uint64_t code) {
    return (code >= 32 && code <= 126) || (code >= 160 && code <= 255) || (code >= 8 && code <= 13) || code == 27;
}

std::size_t printable_utf8(std::string_view bytes, bool& ends_within) {
    ends_within = false;
    std::size_t at = 0;
    while (at < bytes.size()) {
        char32_t code = 0;
        const std::size_t size = decode_utf8(bytes.substr(at), code);
        if (size == 0) {
            const auto lead = static_cast<unsigned char>(bytes[at]);
            const std::size_t needs = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
            ends_within = lead >= 0xC2 && lead <= 0xF4 && bytes.size() - at < needs;
            for (std::size_t i = at + 1; ends_within && i < bytes.size(); ++i)
                ends_within = (static_cast<unsigned char>(bytes[i]) & 0xC0) == 0x80;
            return at;
        }
        const bool escape = (code >= 8 && code <= 13) || code == 27;
        if (!escape && is_hidden(code)) return at;
        at += size;
    }
    return at;
}

}  // namespace beamheap::present
