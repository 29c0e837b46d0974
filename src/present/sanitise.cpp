// SPDX-License-Identifier: Apache-2.0
#include "present/sanitise.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

namespace beamheap::present {
namespace {

// What to do with a byte: copy it, decode a UTF-8 character there, or look at it (control or special to a format).
enum : std::uint8_t { special_json = 1, special_csv = 2, special_markdown = 4, control = 8, lead = 16 };

constexpr std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> classes{};
    for (std::size_t i = 0; i < 256; ++i) {
        if (i < 0x20 || i == 0x7F) classes[i] = control;
        if (i >= 0x80) classes[i] = lead;
    }
    for (const char c : std::string_view("\"\\")) classes[static_cast<unsigned char>(c)] |= special_json;
    for (const char c : std::string_view("\"")) classes[static_cast<unsigned char>(c)] |= special_csv;
    for (const char c : std::string_view("|`<>&@[]*\\")) classes[static_cast<unsigned char>(c)] |= special_markdown;
    return classes;
}
constexpr std::array<std::uint8_t, 256> classes = make_classes();

// C1 controls, and characters that reorder, hide or split text: Unicode's Cf that are not for letters, plus U+2028/9.
constexpr bool unsafe(char32_t c) {
    return (c >= 0x80 && c < 0xA0) || c == 0xAD || c == 0x61C || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
           (c >= 0xFFF0 && c <= 0xFFFB) || (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF) ||
           (c >= 0xE0000 && c <= 0xE0FFF);
}

constexpr char hex_digit(unsigned value) { return "0123456789abcdef"[value & 15]; }

void append_hex_byte(unsigned char byte, std::string& out) {
    const std::array<char, 4> text{'\\', 'x', hex_digit(byte >> 4), hex_digit(byte)};
    out.append(text.data(), text.size());
}

void append_text_control(char c, std::string& out) {
    switch (c) {
        case '\n': out += "\\n"; break;
        case '\t': out += "\\t"; break;
        case '\r': out += "\\r"; break;
        default: append_hex_byte(static_cast<unsigned char>(c), out);
    }
}

void append_text_point(char32_t c, std::string& out) {
    out += "\\x{";
    int shift = 20;
    while (shift > 0 && (c >> shift) == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) out += hex_digit(static_cast<unsigned>(c >> shift));
    out += '}';
}

void append_json_unit(unsigned unit, std::string& out) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += hex_digit(unit >> shift);
}

// The one loop: `Policy` says which classes matter and how each kind of oddity is written.
template <class Policy>
void append_with(std::string_view raw, std::string& out) {
    constexpr std::uint8_t stop = Policy::special | control | lead;
    std::size_t clean = 0;  // start of the run that is copied as it is
    std::size_t i = 0;
    while (i < raw.size()) {
        const std::uint8_t kind = classes[static_cast<unsigned char>(raw[i])] & stop;
        if (kind == 0) {
            ++i;
            continue;
        }
        char32_t point = 0;
        std::size_t length = 1;
        if (kind == lead) {
            length = decode_utf8(raw.substr(i, 4), point);
            if (length != 0 && !unsafe(point)) {
                i += length;
                continue;
            }
        }
        out.append(raw, clean, i - clean);
        if (kind != lead) kind == control ? Policy::control_byte(raw[i], out) : Policy::special_byte(raw[i], out);
        else if (length == 0) Policy::bad_byte(static_cast<unsigned char>(raw[i]), out);
        else Policy::unsafe_point(point, out);
        i += std::max<std::size_t>(length, 1);
        clean = i;
    }
    out.append(raw, clean, raw.size() - clean);
}

struct TextPolicy {
    static constexpr std::uint8_t special = 0;
    static void control_byte(char c, std::string& out) { append_text_control(c, out); }
    static void special_byte(char c, std::string& out) { out += c; }
    static void bad_byte(unsigned char c, std::string& out) { append_hex_byte(c, out); }
    static void unsafe_point(char32_t c, std::string& out) { append_text_point(c, out); }
};

struct CsvPolicy : TextPolicy {
    static constexpr std::uint8_t special = special_csv;
    static void special_byte(char, std::string& out) { out += "\"\""; }
};

struct MarkdownPolicy : TextPolicy {
    static constexpr std::uint8_t special = special_markdown;
    static void special_byte(char c, std::string& out) {
        switch (c) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '@': out += "&#64;"; break;
            default: out += '\\', out += c;
        }
    }
    static void control_byte(char c, std::string& out) { out += '\\', append_text_control(c, out); }
    static void bad_byte(unsigned char c, std::string& out) { out += '\\', append_hex_byte(c, out); }
    static void unsafe_point(char32_t c, std::string& out) { out += '\\', append_text_point(c, out); }
};

struct JsonPolicy {
    static constexpr std::uint8_t special = special_json;
    static void special_byte(char c, std::string& out) { out += '\\', out += c; }
    static void control_byte(char c, std::string& out) {
        switch (c) {
            case '\n': out += "\\n"; break;
            case '\t': out += "\\t"; break;
            case '\r': out += "\\r"; break;
            default: append_json_unit(static_cast<unsigned char>(c), out);
        }
    }
    static void bad_byte(unsigned char c, std::string& out) { out += '\\', append_hex_byte(c, out); }
    static void unsafe_point(char32_t c, std::string& out) {
        if (c < 0x10000) return append_json_unit(static_cast<unsigned>(c), out);
        append_json_unit(0xD800 + static_cast<unsigned>((c - 0x10000) >> 10), out);
        append_json_unit(0xDC00 + static_cast<unsigned>((c - 0x10000) & 0x3FF), out);
    }
};

// Spreadsheets skip spaces before the sign.
constexpr bool starts_formula(std::string_view raw) {
    const std::size_t first = raw.find_first_not_of(' ');
    return first != raw.npos && std::string_view("=+-@").find(raw[first]) != raw.npos;
}

struct Width {
    char32_t first, last;
    std::uint8_t columns;
};
constexpr Width widths[] = {
#include "present/character_widths.inc"
};

// Columns of a terminal that a character takes: 0 where it combines with the one before it.
std::size_t width_of(char32_t c) {
    if (c < widths[0].first) return 1;
    const auto range = std::ranges::lower_bound(widths, c, {}, &Width::last);
    return range != std::end(widths) && range->first <= c ? range->columns : 1;
}

}  // namespace

std::size_t decode_utf8(std::string_view text, char32_t& code_point) {
    if (text.empty()) return 0;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) {
        code_point = first;
        return 1;
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    char32_t point = first & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
        point = point << 6 | (byte(i) & 0x3F);
    }
    static constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    if (point < smallest[length] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return 0;
    code_point = point;
    return length;
}

void append_text(std::string_view raw, std::string& out) { append_with<TextPolicy>(raw, out); }
void append_json(std::string_view raw, std::string& out) { append_with<JsonPolicy>(raw, out); }
// "<0.79.0>" and "a < b" are texts to Markdown, too: a tag or a link in brackets begins with a letter, "/", "!" or "?"
// (CommonMark 6.5, 6.6), and ">" means something at the start of a line only.
void append_markdown(std::string_view raw, std::string& out) {
    std::size_t begin = 0;
    bool blank = true;  // so far
    for (std::size_t i = 0; i < raw.size(); ++i) {
        const unsigned char next =
            i + 1 < raw.size() ? static_cast<unsigned char>(raw[i + 1]) : static_cast<unsigned char>('/');
        const bool opens = next >= 0x80 || (next | 0x20u) - static_cast<unsigned>('a') < 26 || next == '/' ||
                           next == '!' || next == '?';
        if ((raw[i] == '<' && !opens) || (raw[i] == '>' && !blank)) {
            append_with<MarkdownPolicy>(raw.substr(begin, i - begin), out);
            out += raw[i];
            begin = i + 1;
        }
        blank = blank && raw[i] == ' ';
    }
    append_with<MarkdownPolicy>(raw.substr(begin), out);
}

std::string safe_text(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    append_text(raw, out);
    return out;
}

void append_tsv(std::string_view raw, std::string& out) {
    if (starts_formula(raw)) out += '\'';
    append_text(raw, out);
}

void append_csv(std::string_view raw, std::string& out) {
    const bool formula = starts_formula(raw);
    // A space at either end is quoted as well: some readers trim it.
    const bool quoted =
        raw.find_first_of("\",;") != raw.npos || (!raw.empty() && (raw.front() == ' ' || raw.back() == ' '));
    if (quoted) out += '"';
    if (formula) out += '\'';
    append_with<CsvPolicy>(raw, out);
    if (quoted) out += '"';
}

std::size_t display_width(std::string_view safe) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < safe.size();) {
        char32_t point = 0;
        const std::size_t length = decode_utf8(safe.substr(i, 4), point);
        width += length == 0 ? 1 : width_of(point);
        i += std::max<std::size_t>(length, 1);
    }
    return width;
}

std::string clipped(std::string_view safe, std::size_t width) {
    if (safe.size() <= width || display_width(safe) <= width) return std::string(safe);
    if (width == 0) return {};
    std::size_t used = 0;
    std::size_t i = 0;
    while (i < safe.size()) {
        char32_t point = 0;
        const std::size_t length = decode_utf8(safe.substr(i, 4), point);
        const std::size_t wide = length == 0 ? 1 : width_of(point);
        if (used + wide > width - 1) break;
        used += wide;
        i += std::max<std::size_t>(length, 1);
    }
    return std::string(safe.substr(0, i)) + "\u2026";
}

namespace {

// What a line may end behind: a word; of a printed term that is wider than a line, also each of its elements. Commands,
// whose blanks are glued, are copied as one.
std::vector<std::string_view> breakable(std::string_view word, std::size_t room) {
    if (display_width(word) <= room || word.find(glued_blank) != word.npos) return {word};
    std::vector<std::string_view> parts;
    while (!word.empty()) {
        const std::size_t comma = word.find(',');
        const std::size_t end = comma == word.npos ? word.size() : comma + 1;
        parts.push_back(word.substr(0, end));
        word.remove_prefix(end);
    }
    return parts;
}

}  // namespace

std::string wrapped(std::string_view safe, std::size_t width, std::size_t hang) {
    const auto loosened = [](std::string text) {
        std::ranges::replace(text, glued_blank, ' ');
        return text;
    };
    if (width == 0 || display_width(loosened(std::string(safe))) <= width) return loosened(std::string(safe));
    hang = std::min(hang, width / 2);
    std::string text;
    std::size_t used = 0;   // columns of the line that is being filled
    std::size_t words = 0;  // on that line
    for (std::size_t at = 0; at < safe.size();) {
        std::size_t blanks = std::min(safe.find_first_not_of(' ', at), safe.size()) - at;
        const std::size_t end = std::min(safe.find(' ', at + blanks), safe.size());
        const std::string_view whole = safe.substr(at + blanks, end - at - blanks);
        const std::vector<std::string_view> parts =
            whole.empty() ? std::vector<std::string_view>{whole} : breakable(whole, width - hang);
        for (const std::string_view part : parts) {
            const std::string word = loosened(std::string(part));
            const std::size_t wide = display_width(word);
            if (words != 0 && used + blanks + wide > width) {
                // A word that has room with less before it is not wider than the line.
                used = wide <= width ? std::min(hang, width - wide) : hang;
                text.append("\n").append(used, ' ');
            } else {
                text.append(blanks, ' ');
                used += blanks;
            }
            text += word;
            used += wide;
            words += word.empty() ? 0 : 1;
            blanks = 0;
        }
        at = end;
    }
    return text;
}

}  // namespace beamheap::present
