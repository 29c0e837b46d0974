// SPDX-License-Identifier: Apache-2.0
#include "analyses/slogan/slogan.hpp"
#include "model/characters.hpp"

namespace beamheap::analyses {
namespace {

// One element of a byte list; false where it is no number of a printable character.
bool take_printable(std::string_view text, std::size_t& at, std::string& out) {
    std::size_t digits = 0;
    unsigned value = 0;
    for (; at < text.size() && is_digit(text[at]) && digits < 4; ++at, ++digits)
        value = value * 10 + static_cast<unsigned>(text[at] - '0');
    if (digits == 0 || !((value >= 32 && value < 127) || value == 9 || value == 10 || value == 13)) return false;
    switch (value) {
        case 9: out += "\\t"; break;
        case 10: out += "\\n"; break;
        case 13: out += "\\r"; break;
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        default: out += static_cast<char>(value);
    }
    return true;
}

// A list "[97,98]" or binary "<<97,98>>" at `at`: its text with quotes, and `at` behind it; false leaves `at` alone.
bool take_bytes(std::string_view text, std::size_t& at, std::string& out) {
    const bool binary = text.substr(at).starts_with("<<");
    const std::string_view close = binary ? ">>" : "]";
    std::size_t next = at + (binary ? 2 : 1);
    std::string bytes;
    std::size_t count = 0;
    while (true) {
        if (!take_printable(text, next, bytes)) return false;
        ++count;
        if (text.substr(next).starts_with(close)) break;
        if (next >= text.size() || text[next] != ',') return false;
        ++next;
    }
    if (count < 2) return false;
    out += binary ? "<<\"" + bytes + "\">>" : "\"" + bytes + "\"";
    at = next + close.size();
    return true;
}

}  // namespace

std::string readable_term(std::string_view printed) {
    std::string out;
    out.reserve(printed.size());
    char quote = 0;
    for (std::size_t at = 0; at < printed.size();) {
        const char c = printed[at];
        if (quote != 0) {
            if (c == '\\' && at + 1 < printed.size()) out += printed[at++];
            else if (c == quote) quote = 0;
            out += printed[at++];
            continue;
        }
        if (c == '"' || c == '\'') quote = c;
        if ((c == '[' || printed.substr(at).starts_with("<<")) && take_bytes(printed, at, out)) continue;
        out += printed[at++];
    }
    return out;
}

}  // namespace beamheap::analyses
