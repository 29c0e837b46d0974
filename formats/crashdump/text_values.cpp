// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/text_values.hpp"

#include <array>
#include <cstring>
#include <limits>

#include "formats/crashdump/digits.hpp"

namespace beamheap::crashdump {
namespace {

bool is_plain(char c) {
    const auto u = static_cast<unsigned char>(c);
    return (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9') || u == '_' || u == '@' ||
           u >= 0x80;
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

template <class Number>
bool take_number(std::string_view& text, Number& value) {
    constexpr std::size_t always_fits = 19;  // digits of 64 bits
    std::uint64_t number = 0;
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits <= always_fits; ++digits)
        number = number * 10 + static_cast<unsigned>(text[digits] - '0');
    if (digits > always_fits) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{}) return false;
        digits = static_cast<std::size_t>(end - text.data());
    } else {
        if (digits == 0 || number > std::numeric_limits<Number>::max()) return false;
        value = static_cast<Number>(number);
    }
    text.remove_prefix(digits);
    return true;
}

std::optional<Pid> take_long_pid(std::string_view& text) {
    std::string_view rest = text;
    Pid pid;
    if (!take(rest, "<") || !take_number(rest, pid.node) || !take(rest, ".") || !take_number(rest, pid.number) ||
        !take(rest, ".") || !take_number(rest, pid.serial) || !take(rest, ">") || !pid.has())
        return std::nullopt;
    text = rest;
    return pid;
}

// The byte that an escape in a quoted atom stands for; `at` is behind the backslash and moves behind the escape.
char unescape(std::string_view text, std::size_t& at) {
    const char c = text[at++];
    switch (c) {
        case 'n': return '\n';
        case 't': return '\t';
        case 'r': return '\r';
        case 'f': return '\f';
        case 'b': return '\b';
        case 'v': return '\v';
        default: break;
    }
    if (c < '0' || c > '7') return c;
    unsigned value = static_cast<unsigned>(c - '0');
    for (int digits = 1; digits < 3 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++digits)
        value = value * 8 + static_cast<unsigned>(text[at++] - '0');
    return static_cast<char>(value & 0xFF);
}

}  // namespace

Count parse_decimal(std::string_view text) {
    std::uint64_t value = 0;
    if (!take_number(text, value) || !text.empty() || value == std::numeric_limits<std::uint64_t>::max()) return {};
    return value;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    constexpr std::size_t always_fits = 16, half = 8;  // digits
    std::uint64_t value = 0;
    if (text.empty() || text.size() > always_fits) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
        if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
        return value;
    }
    if (text.size() >= half) {  // the first and the last eight, which may have some in common
        std::array<char, always_fits> digits;
        std::memcpy(digits.data(), text.data(), half);
        std::memcpy(digits.data() + half, text.data() + text.size() - half, half);
        const HexNumber upper = read_hex<'A'>(digits.data());
        const HexNumber both = upper.digits == always_fits ? upper : read_hex<'a'>(digits.data());
        if (both.digits == always_fits)
            return both.value >> 32 << 4 * (text.size() - half) | (both.value & 0xFFFFFFFFu);
    }
    for (const char c : text) {
        unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
        if (digit > 9) {
            const unsigned letter = (static_cast<unsigned char>(c) | 0x20u) - unsigned{'a'};
            if (letter > 5) return std::nullopt;
            digit = letter + 10;
        }
        value = value << 4 | digit;
    }
    return value;
}

std::optional<Pid> take_pid(std::string_view& text) {
    // Pids are the most frequent values of all: those of up to nine digits a part in one loop.
    constexpr std::ptrdiff_t always_fits = 9;
    if (text.empty()) return std::nullopt;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto part = [&](std::uint32_t & value, char behind) __attribute__((always_inline)) {
        const char* const first = ++at;  // behind "<", or the dot
        const char* const stop = end - first < always_fits ? end : first + always_fits;
        for (unsigned digit; at < stop && (digit = static_cast<unsigned char>(*at) - unsigned{'0'}) <= 9; ++at)
            value = value * 10 + digit;
        return at != first && at != end && *at == behind;
    };
    Pid pid{0, 0, 0};
    if (!part(pid.node, '.') || !part(pid.number, '.') || !part(pid.serial, '>')) return take_long_pid(text);
    if (text[0] != '<' || !pid.has()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(at + 1 - text.data()));
    return pid;
}

std::optional<Pid> parse_pid(std::string_view text) {
    const std::optional<Pid> pid = take_pid(text);
    return text.empty() ? pid : std::nullopt;
}

std::optional<PortName> take_port(std::string_view& text) {
    std::string_view rest = text;
    PortName port;
    if (!take(rest, "#Port<") || !take_number(rest, port.node) || !take(rest, ".") || !take_number(rest, port.number) ||
        !take(rest, ">") || !port.has())
        return std::nullopt;
    text = rest;
    return port;
}

std::optional<std::string_view> take_atom(std::string_view& text, std::string& storage) {
    if (text.empty()) return std::nullopt;
    if (text[0] != '\'') {
        std::size_t end = 0;
        while (end < text.size() && is_plain(text[end])) ++end;
        if (end == 0) return std::nullopt;
        const std::string_view atom = text.substr(0, end);
        text.remove_prefix(end);
        return atom;
    }
    const std::size_t simple = text.find_first_of("'\\", 1);
    if (simple == std::string_view::npos) return std::nullopt;
    if (text[simple] == '\'') {
        const std::string_view atom = text.substr(1, simple - 1);
        text.remove_prefix(simple + 1);
        return atom;
    }
    storage.assign(text.substr(1, simple - 1));
    std::size_t at = simple;
    while (at < text.size()) {
        const char c = text[at++];
        if (c == '\'') {
            text.remove_prefix(at);
            return std::string_view(storage);
        }
        if (c != '\\') storage.push_back(c);
        else if (at < text.size()) storage.push_back(unescape(text, at));
    }
    return std::nullopt;
}

std::optional<FunctionText> take_function(std::string_view& text, FunctionStorage& storage) {
    std::string_view rest = text;
    FunctionText function;
    const auto module = take_atom(rest, storage.module);
    if (!module || !take(rest, ":")) return std::nullopt;
    const auto name = take_atom(rest, storage.name);
    if (!name || !take(rest, "/") || !take_number(rest, function.arity)) return std::nullopt;
    function.module = *module;
    function.name = *name;
    text = rest;
    return function;
}

}  // namespace beamheap::crashdump
