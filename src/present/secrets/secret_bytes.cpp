// SPDX-License-Identifier: Apache-2.0
#include "present/secrets/secret_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "bytes/compress.hpp"
#include "present/secrets/redact.hpp"
#include "present/secrets/redact_lex.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t most_unpacked = std::size_t{1} << 16;  // of one piece
constexpr char term_version = '\x83';                        // the first byte of a term

constexpr bool readable(unsigned char c) { return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\r' || c == '\t'; }

// Nearly all characters must be such as texts have; the others become "?".
std::string of_utf16(std::string_view bytes) {
    constexpr std::size_t shortest = 8;
    if (bytes.size() < shortest || bytes.size() % 2 != 0) return {};
    const bool big = bytes[0] == '\0' || bytes.starts_with("\xFE\xFF");
    if (bytes.starts_with("\xFE\xFF") || bytes.starts_with("\xFF\xFE")) bytes.remove_prefix(2);
    bytes = bytes.substr(0, 2 * most_unpacked);
    std::string text;
    std::size_t others = 0;
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
        const char low = bytes[i + (big ? 1 : 0)], high = bytes[i + (big ? 0 : 1)];
        const bool known = high == '\0' && readable(static_cast<unsigned char>(low));
        if (!known && ++others * 8 > bytes.size() / 2) return {};
        text += known ? low : '?';
    }
    return text;
}

// A term in the external format, as Erlang writes it. What has no values (pids, references, funs) is passed over, and
// reading ends at the first thing that is no term, with what came before it.
class ExternalText {
public:
    explicit ExternalText(std::string_view bytes) : bytes_(bytes) {}

    std::string run() {
        term();
        while (!bad_ && !open_.empty() && out_.size() < most_unpacked) {
            if (open_.back().left == 0) {
                out_ += open_.back().close;
                open_.pop_back();
                continue;
            }
            between(open_.back());
            term();
        }
        return std::move(out_);
    }

private:
    struct Open {
        std::uint64_t left, done = 0;
        std::string_view close;
        bool map = false;
    };

    void between(Open& open) {
        if (open.map && open.done % 2 == 1) out_ += " => ";
        else if (open.done != 0) out_ += ',';
        ++open.done;
        --open.left;
    }
    std::string_view take(std::uint64_t n) {
        if (n > bytes_.size()) {
            bad_ = true;
            n = bytes_.size();
        }
        const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(n));
        bytes_.remove_prefix(taken.size());
        return taken;
    }
    std::uint64_t number(unsigned size) {
        std::uint64_t value = 0;
        for (const char c : take(size)) value = value << 8 | static_cast<unsigned char>(c);
        return value;
    }
    void open(std::string_view begin, std::uint64_t terms, std::string_view close, bool map = false) {
        out_ += begin;
        open_.push_back({terms, 0, close, map});
    }
    void quoted(std::string_view text, char quote) { out_ += fmt::format("{0}{1}{0}", quote, lex::escaped(text)); }
    void bytes(std::string_view content, std::string_view begin, std::string_view end) {
        if (std::ranges::all_of(content, [](char c) { return readable(static_cast<unsigned char>(c)); })) {
            out_ += begin == "[" ? "" : begin;
            quoted(content, '"');
            out_ += begin == "[" ? "" : end;
            return;
        }
        out_ += begin;
        for (std::size_t i = 0; i < content.size() && out_.size() < most_unpacked; ++i)
            out_ += fmt::format("{}{}", i == 0 ? "" : ",", static_cast<unsigned char>(content[i]));
        out_ += end;
    }
    void node_and(std::uint64_t size) {
        const std::uint64_t tag = number(1);
        if (tag == 100 || tag == 118) take(number(2));
        else if (tag == 115 || tag == 119) take(number(1));
        else bad_ = true;
        take(size);
        out_ += "'a pid'";
    }

    void term() {
        switch (number(1)) {
            case 97: out_ += std::to_string(number(1)); break;
            case 98: out_ += std::to_string(static_cast<std::int32_t>(number(4))); break;
            case 99: take(31), out_ += "0.0"; break;
            case 70: take(8), out_ += "0.0"; break;
            case 100:
            case 118: quoted(take(number(2)), '\''); break;
            case 115:
            case 119: quoted(take(number(1)), '\''); break;
            case 104: open("{", number(1), "}"); break;
            case 105: open("{", number(4), "}"); break;
            case 106: out_ += "[]"; break;
            case 107: bytes(take(number(2)), "[", "]"); break;
            case 109: bytes(take(number(4)), "<<", ">>"); break;
            case 77: {
                const std::uint64_t size = number(4);
                take(1);
                bytes(take(size), "<<", ">>");
                break;
            }
            case 108: open("[", number(4) + 1, "]"); break;  // and its tail
            case 110: take(1 + number(1)), out_ += "4294967296"; break;
            case 111: take(1 + number(4)), out_ += "4294967296"; break;
            case 116: open("#{", 2 * number(4), "}", true); break;
            case 88: node_and(12); break;
            case 103: node_and(9); break;
            case 90: {
                const std::uint64_t words = number(2);
                node_and(4 + 4 * words);
                break;
            }
            default: bad_ = true;
        }
    }

    std::string_view bytes_;
    std::string out_;
    std::vector<Open> open_;
    bool bad_ = false;
};

std::optional<unsigned> sextet(char c) {
    if (lex::upper(c)) return c - 'A';
    if (lex::lower(c)) return c - 'a' + 26;
    if (lex::digit(c)) return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    if (c == '/' || c == '_') return 63;
    return std::nullopt;
}

// The first two bytes of what packed_text() reads.
bool packed_head(char first, char second) {
    return first == term_version || first == '\x1F' || first == '\x78' || first == '\0' || second == '\0' ||
           first == '\xFF' || first == '\xFE';
}

bool zlib_head(std::string_view bytes) {
    if (bytes.size() < 8) return false;
    const unsigned first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
    return bytes.starts_with("\x1F\x8B\x08") || (first == 0x78 && (first * 256 + second) % 31 == 0);
}

}  // namespace

std::string packed_text(std::string_view bytes, Unpacking& unpacking) {
    std::string held;
    std::string text;
    for (unsigned layer = 0; layer < Unpacking::deepest; ++layer) {
        const std::size_t most = std::min(most_unpacked, unpacking.left);
        if (most == 0) break;
        constexpr std::size_t compressed_head = 6;  // of a term: the version, 80 and its size
        const bool compressed = bytes.size() > compressed_head && bytes[0] == term_version && bytes[1] == 80;
        if (compressed || zlib_head(bytes)) {
            held = bytes::inflated(bytes.substr(compressed ? compressed_head : 0), most);
            if (compressed) held.insert(held.begin(), term_version);
            unpacking.left -= std::min(unpacking.left, held.size());
            bytes = text = held;
            continue;
        }
        std::string next;
        if (bytes.size() > 2 && bytes[0] == term_version) next = ExternalText(bytes.substr(1)).run();
        else next = of_utf16(bytes);
        unpacking.left -= std::min(unpacking.left, next.size());
        return next.empty() ? text : next;
    }
    return text;
}

namespace {

// 0x60 ... 02 01 03 04 n NAME 80 n PASSWORD: what is asked for is version 3, in the name of NAME.
bool is_simple_bind(std::string_view bytes) {
    constexpr std::string_view version("\x02\x01\x03\x04", 4);
    for (std::size_t i = bytes.find(version); i != bytes.npos; i = bytes.find(version, i + 1)) {
        const std::size_t length = i + version.size();
        if (length >= bytes.size()) return false;
        const std::size_t password = length + 1 + static_cast<unsigned char>(bytes[length]);
        if (password + 2 < bytes.size() && bytes[password] == '\x80' && bytes[password + 1] != 0) return true;
    }
    return false;
}

// CONNECT, its length, MQTT and its version, and flags with that of a password.
bool is_mqtt_connect(std::string_view bytes) {
    constexpr std::string_view name("\0\4MQTT", 6);
    constexpr std::size_t longest_head = 5;
    if (bytes.empty() || bytes[0] != '\x10') return false;
    const std::size_t i = bytes.substr(0, longest_head + name.size()).find(name);
    constexpr unsigned password = 0x40;
    return i != bytes.npos && i + name.size() + 1 < bytes.size() &&
           (static_cast<unsigned char>(bytes[i + name.size() + 1]) & password) != 0;
}

// p, the length of the rest, a text, and a NUL at its end and nowhere else.
bool is_postgres_password(std::string_view bytes) {
    constexpr std::size_t head = 5, longest = 1024;
    if (bytes.size() < head + 2 || bytes.size() > longest || bytes[0] != 'p' || bytes.back() != 0) return false;
    std::size_t length = 0;
    for (std::size_t i = 1; i < head; ++i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
    return length == bytes.size() - 1 && bytes.find('\0', head) == bytes.size() - 1;
}

}  // namespace

namespace {

// A map or list of CBOR (RFC 8949) in which a text is the key of a secret: lengths of short texts are letters
// themselves.
bool secret_in_cbor(std::string_view bytes) {
    constexpr unsigned text = 0x60, longest = 23;
    const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
    if (byte(0) < 0x81 || byte(0) > 0xBF) return false;
    for (std::size_t i = 1; i < bytes.size(); ++i) {
        const unsigned length = byte(i) - text;
        if (byte(i) < text + 2 || length > longest) continue;
        const unsigned behind = byte(i + 1 + length);  // bytes or a text, short or of one byte's length
        const bool value = (behind > 0x40 && behind <= 0x58) || (behind > text && behind <= text + longest + 1);
        if (value && lex::letter(bytes[i + 1]) && sensitive_key(bytes.substr(i + 1, length))) return true;
    }
    return false;
}

}  // namespace

bool secret_on_the_wire(std::string_view bytes) {
    if (secret_in_cbor(bytes) || is_postgres_password(bytes) || is_simple_bind(bytes) || is_mqtt_connect(bytes))
        return true;
    constexpr std::size_t shortest_key = 2, longest_key = 64, least_value = 4;
    const auto key_char = [](char c) { return lex::word(c) || c == '-' || c == '.'; };
    for (std::size_t i = 0; i < bytes.size();) {
        if (!lex::letter(bytes[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < bytes.size() && key_char(bytes[end])) ++end;
        const auto names = [&](std::size_t length) {
            return length >= shortest_key && length <= longest_key && i + length <= end &&
                   i + length + least_value < bytes.size() && sensitive_key(bytes.substr(i, length));
        };
        // The length in front of a text, whole or in the last bits of a byte; or a NUL behind it.
        const unsigned before = i == 0 ? 0 : static_cast<unsigned char>(bytes[i - 1]);
        constexpr unsigned low_bits = 0x1F;
        if (i != 0 && !key_char(bytes[i - 1]) && (names(before) || names(before & low_bits))) return true;
        if (end < bytes.size() && bytes[end] == 0 && names(end - i)) return true;
        i = end;
    }
    return false;
}

std::string unpacked_hex(std::string_view word) {
    constexpr std::size_t least = 16, most = std::size_t{1} << 16;
    std::string bytes;
    if (word.size() < least || word.size() % 2 != 0 || word.size() > most) return bytes;
    const auto value = [](char c) {
        return c >= '0' && c <= '9'   ? c - '0'
               : c >= 'a' && c <= 'f' ? c - 'a' + 10
               : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                      : -1;
    };
    for (std::size_t i = 0; i < word.size(); i += 2) {
        const int high = value(word[i]), low = value(word[i + 1]);
        const int byte = high * 16 + low;
        if (high < 0 || low < 0 || ((byte < ' ' || byte == 0x7f) && byte != '\n' && byte != '\r' && byte != '\t'))
            return {};
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

std::size_t end_of_base64(std::string_view text, std::size_t i) {
    while (i < text.size() && sextet(text[i])) ++i;
    while (i < text.size() && text[i] == '=') ++i;
    return i;
}

std::size_t end_of_base64_lines(std::string_view text, std::size_t quote) {
    while (true) {
        std::size_t begin = quote + 1;
        while (begin < text.size() && std::string_view(">], [<10").find(text[begin]) != std::string_view::npos) ++begin;
        if (lex::at(text, begin) != '"') return quote;
        std::size_t end = end_of_base64(text, ++begin);
        while (lex::starts(text, end, "\\n")) end = end_of_base64(text, end + 2);
        if (end == begin) return quote;
        if (lex::at(text, end) != '"') return end >= text.size() || lex::starts(text, end, "...") ? end : quote;
        quote = end;
    }
}

std::string unpacked_base64(std::string_view word, Unpacking& unpacking) {
    constexpr std::size_t shortest = 12, first = 6;
    while (word.ends_with('=')) word.remove_suffix(1);
    if (word.size() < shortest || unpacking.left == 0) return {};
    word = word.substr(0, std::min(most_unpacked, unpacking.left) / 3 * 4);
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned held = 0;
    bool text = true;
    for (const char c : word) {
        const auto value = sextet(c);
        if (!value) return {};
        bits = (bits << 6 | *value) & 0xFFFFFF;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes += static_cast<char>(bits >> held & 0xFF);
        const auto last = static_cast<unsigned char>(bytes.back());
        text = text && (readable(last) || (last >= 0x80 && bytes.size() > first));
        if (!text && bytes.size() >= 2 && !packed_head(bytes[0], bytes[1])) return {};
    }
    unpacking.left -= std::min(unpacking.left, bytes.size());
    return text ? bytes : packed_text(bytes, unpacking);
}

}  // namespace beamheap::present
