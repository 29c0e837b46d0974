// SPDX-License-Identifier: Apache-2.0
#include "erlang/erlang_syntax.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "model/characters.hpp"

namespace beamheap {
namespace {

constexpr std::array<std::string_view, 29> reserved_words{
    "after", "and",   "andalso", "band",   "begin",   "bnot", "bor", "bsl",  "bsr", "bxor",
    "case",  "catch", "cond",    "div",    "else",    "end",  "fun", "if",   "let", "maybe",
    "not",   "of",    "or",      "orelse", "receive", "rem",  "try", "when", "xor"};

constexpr bool is_small(unsigned char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_capital(unsigned char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

// Letters of Latin-1 in UTF-8 are the only ones beyond ASCII that a bare atom may hold.
bool is_latin1_letter(std::string_view text, std::size_t at, bool small_only) {
    if (at + 1 >= text.size() || static_cast<unsigned char>(text[at]) != 0xC3) return false;
    const auto second = static_cast<unsigned char>(text[at + 1]);
    if (second >= 0x9F && second <= 0xBF) return second != 0xB7;
    return !small_only && second >= 0x80 && second <= 0x9E && second != 0x97;
}

bool bare(std::string_view name) {
    if (name.empty()) return false;
    std::size_t at = 0;
    if (is_small(static_cast<unsigned char>(name[0]))) {
        at = 1;
    } else if (is_latin1_letter(name, 0, true)) {
        at = 2;
    } else {
        return false;
    }
    while (at < name.size()) {
        const auto c = static_cast<unsigned char>(name[at]);
        if (is_small(c) || is_capital(c) || is_digit(c) || c == '_' || c == '@') {
            ++at;
        } else if (is_latin1_letter(name, at, false)) {
            at += 2;
        } else {
            return false;
        }
    }
    return std::find(reserved_words.begin(), reserved_words.end(), name) == reserved_words.end();
}

bool in_plain_name(unsigned char c) {
    return is_small(c) || is_capital(c) || is_digit(c) || c >= 0x80 || c == '_' || c == '@' || c == '.' || c == '-' ||
           c == '$' || c == '?' || c == '*';
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

void append_number(std::string& out, std::uint64_t number) {
    char digits[20];
    out.append(digits, std::to_chars(digits, std::end(digits), number).ptr);
}

// The escape after a backslash at text[at - 1]; false where it is not one of Erlang's.
bool read_escape(std::string_view text, std::size_t& at, std::string& name) {
    const char c = text[at++];
    constexpr std::string_view letters = "nrtbfvesd0";
    constexpr std::string_view values = "\n\r\t\b\f\v\x1b \x7f";
    if (const std::size_t found = letters.find(c); found < values.size()) {
        name += values[found];
        return true;
    }
    if (c >= '0' && c <= '7') {
        std::uint32_t code = static_cast<std::uint32_t>(c - '0');
        for (int more = 0; more < 2 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++more)
            code = code * 8 + static_cast<std::uint32_t>(text[at++] - '0');
        append_utf8(name, code);
        return true;
    }
    if (c == 'x') {
        const bool braces = at < text.size() && text[at] == '{';
        if (braces) ++at;
        std::uint32_t code = 0;
        std::size_t digits = 0;
        while (at < text.size() && hex_value(text[at]) >= 0 && digits < (braces ? 6u : 2u)) {
            code = code * 16 + static_cast<std::uint32_t>(hex_value(text[at++]));
            ++digits;
        }
        if (digits == 0 || code > 0x10FFFF) return false;
        if (braces && (at >= text.size() || text[at++] != '}')) return false;
        append_utf8(name, code);
        return true;
    }
    name += c;
    return true;
}

}  // namespace

std::string pid_text(const Pid& pid) {
    if (!pid.has()) return {};
    std::string text = "<";
    append_number(text, pid.node);
    append_number(text += '.', pid.number);
    append_number(text += '.', pid.serial);
    return text += '>';
}

std::string port_text(const PortName& port) {
    if (!port.has()) return {};
    return "#Port<" + std::to_string(port.node) + "." + std::to_string(port.number) + ">";
}

std::string atom_text(std::string_view name) {
    if (bare(name)) return std::string(name);
    std::string quoted = "'";
    std::size_t done = 0;
    for (std::size_t at = name.find_first_of("'\\\n\r\t"); at != name.npos;
         at = name.find_first_of("'\\\n\r\t", done)) {
        quoted.append(name, done, at - done) += '\\';
        const char c = name[at];
        quoted += c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c;
        done = at + 1;
    }
    return quoted.append(name, done) += '\'';
}

std::string_view module_of(const Snapshot& snapshot, FunctionId function) {
    return function == FunctionId::none ? std::string_view() : snapshot.text(snapshot.functions[function].module);
}

std::string function_text(const Snapshot& snapshot, FunctionId function) {
    if (function == FunctionId::none) return {};
    const Function& f = snapshot.functions[function];
    return atom_text(snapshot.text(f.module)) + ":" + atom_text(snapshot.text(f.name)) + "/" + std::to_string(f.arity);
}

bool read_name(std::string_view text, std::string& name, std::size_t& used, bool& quoted) {
    name.clear();
    quoted = false;
    std::size_t at = 0;
    if (at < text.size() && text[at] == ':') ++at;  // Elixir's :name
    if (at < text.size() && (text[at] == '\'' || (text[at] == '"'))) {
        const char quote = text[at++];
        quoted = true;
        while (at < text.size() && text[at] != quote) {
            if (text[at] != '\\') {
                name += text[at++];
                continue;
            }
            if (++at == text.size() || !read_escape(text, at, name)) return false;
        }
        if (at == text.size()) return false;
        used = at + 1;
        return true;
    }
    const std::size_t begin = at;
    while (at < text.size() && in_plain_name(static_cast<unsigned char>(text[at]))) ++at;
    name.assign(text.substr(begin, at - begin));
    used = at;
    return !name.empty();
}

}  // namespace beamheap
