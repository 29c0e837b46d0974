// SPDX-License-Identifier: Apache-2.0
#include "present/secrets/redact.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <string_view>

#include "present/secrets/redact_iolists.hpp"
#include "present/secrets/redact_lex.hpp"

namespace beamheap::present {
namespace {

constexpr std::string_view mask = "***";

// A known secret is replaced inside of longer texts only when it is long enough not to be a common word.
constexpr std::size_t shortest_secret = 3;
constexpr std::size_t distinctive_secret = 8;
constexpr std::size_t least_piece = 5;

struct SipState {
    std::uint64_t v0, v1, v2, v3;
    [[gnu::always_inline]] void
    round() {  // whole inputs are hashed, though the rest of this file may be compiled for size
        v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
        v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
        v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
        v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
};

}  // namespace

// J.-P. Aumasson, D. J. Bernstein: SipHash, a fast short-input PRF (2012).
std::uint64_t keyed_hash(const Salt& key, std::string_view bytes) {
    SipState s{key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull, key[0] ^ 0x6c7967656e657261ull,
               key[1] ^ 0x7465646279746573ull};
    std::size_t i = 0;
    const auto mix = [&s](std::uint64_t word) __attribute__((always_inline)) {
        s.v3 ^= word;
        s.round(), s.round();
        s.v0 ^= word;
    };
    for (; i + 8 <= bytes.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, 8);
        mix(word);
    }
    std::uint64_t last = static_cast<std::uint64_t>(bytes.size()) << 56;
    for (std::size_t j = 0; i + j < bytes.size(); ++j)
        last |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i + j])) << (8 * j);
    mix(last);
    s.v2 ^= 0xFF;
    s.round(), s.round(), s.round(), s.round();
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

const Salt& salt_of_run() {
    static const Salt drawn = [] {
        Salt salt{};
        if (::getentropy(salt.data(), sizeof salt) == 0) return salt;
        std::random_device other;  // the processor's own, where the system refuses
        for (std::uint64_t& word : salt) word = std::uint64_t{other()} << 32 | other();
        return salt;
    }();
    return drawn;
}

Salt salt_of(std::string_view secret) {
    const std::uint64_t first = keyed_hash({0x6265616D68656170ull, 1}, secret);
    return {first, keyed_hash({0x6265616D68656170ull, ~first}, secret)};
}

namespace {

// What a cut leaves of a secret: its beginning before "...", its end where a literal begins (the rest of a slice).
std::string mask_pieces(std::string_view text, std::string_view secret) {
    std::string out;
    std::size_t kept = 0;
    const auto replace = [&](std::size_t begin, std::size_t end) {
        out.append(text, kept, begin - kept).append(mask);
        kept = end;
    };
    for (std::size_t i = text.find_first_of(".\""); i != text.npos; i = text.find_first_of(".\"", i + 1)) {
        if (text[i] == '"') {
            const std::size_t end = std::min(text.find_first_of("\" \\", i + 1), text.size());
            const std::string_view piece = text.substr(i + 1, end - i - 1);
            if (piece.size() >= least_piece && piece.size() < secret.size() && secret.ends_with(piece))
                replace(i + 1, end);
        } else if (text.substr(i).starts_with("...")) {
            for (std::size_t n = std::min(secret.size() - 1, i - kept); n >= least_piece; --n) {
                if (text.substr(i - n, n) != secret.substr(0, n)) continue;
                replace(i - n, i);
                break;
            }
        }
    }
    return out.append(text, kept, text.npos);
}

}  // namespace

std::string mask_known(std::string_view text, const std::vector<std::string>& secrets) {
    std::string current(text);
    for (const std::string& secret : secrets) {
        if (secret.size() < shortest_secret) continue;
        current = mask_pieces(current, secret);
        std::string next;
        std::size_t from = 0;
        for (std::size_t found = current.find(secret); found != current.npos; found = current.find(secret, found)) {
            const std::size_t end = found + secret.size();
            const bool alone = (found == 0 || !lex::word(current[found - 1])) && !lex::word(lex::at(current, end));
            if (secret.size() < distinctive_secret && !alone) {
                ++found;
                continue;
            }
            next.append(current, from, found - from).append(mask);
            from = found = end;
        }
        if (from == 0) continue;
        next.append(current, from, current.npos);
        current = std::move(next);
    }
    return current;
}

std::string mask_all_secrets(std::string_view text, const std::vector<std::string>& known, unsigned quoted) {
    std::string masked = mask_secrets(text, known);
    if (quoted == lex::most_quoted || masked.find("\\\"") == masked.npos) return masked;
    std::string out;
    std::size_t kept = 0;
    for (std::size_t i = masked.find('"'); i < masked.size(); i = masked.find('"', i)) {
        const std::size_t end = lex::skip_quoted(masked, i);
        const bool closed = end > i + 1 && masked[end - 1] == '"';
        const std::string_view inside = std::string_view(masked).substr(i + 1, end - i - (closed ? 2 : 1));
        if (inside.find("\\\"") != inside.npos) {
            const std::string plain = lex::unescaped(inside);
            if (const std::string shown = mask_all_secrets(plain, known, quoted + 1); shown != plain) {
                out.append(masked, kept, i + 1 - kept).append(lex::escaped(shown)).append(closed ? "\"" : "");
                kept = end;
            }
        }
        i = end;
    }
    return out.append(masked, kept, masked.npos);
}

std::vector<std::pair<std::size_t, std::size_t>> secret_parts(std::string_view text) {
    Unpacking unpacking = Unpacking::of(text);
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    for (const TextSpan& span : secret_spans(text, {}, unpacking))
        if (std::ranges::any_of(text.substr(span.begin, span.end - span.begin), lex::letter))
            parts.emplace_back(span.begin, span.end);
    return parts;
}

std::string_view name_of(RedactLevel level) {
    switch (level) {
        case RedactLevel::none: return "none";
        case RedactLevel::secrets: return "secrets";
        case RedactLevel::values: return "values";
        case RedactLevel::full: return "full";
    }
    return {};
}

Redactor::Redactor(RedactOptions options) : options_(std::move(options)) {
    // Longest first, so that a secret that contains another one is masked as a whole.
    std::ranges::sort(options_.known_secrets, [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() > b.size() : a < b;
    });
    options_.private_names = name_words(options_.private_names);
}

std::string Redactor::apply(std::string_view text, Content content, std::string_view key) const {
    if (options_.level == RedactLevel::none) return std::string(text);
    if (content == Content::fingerprint)
        return options_.level == RedactLevel::full ? fmt::format("{:016x}", keyed_hash(options_.salt, text))
                                                   : std::string(text);
    const Secrecy secrecy = key.empty() ? Secrecy::none : secrecy_of(key);
    if (secrecy == Secrecy::always || (secrecy == Secrecy::by_value && looks_like_code(text)))
        return fmt::format("'{}'", mask);
    std::string out =
        mask_all_secrets(options_.known_secrets.empty() ? std::string(text) : mask_known(text, options_.known_secrets),
                         options_.known_secrets);
    if (options_.level >= RedactLevel::values && (content == Content::term || content == Content::message))
        out = mask_values(out, content == Content::message, options_.salt, options_.level == RedactLevel::full);
    if (options_.level != RedactLevel::full || content == Content::plain) return out;
    return content == Content::message ? mask_words(out, options_.private_names, options_.salt)
                                       : mask_names(out, options_.salt);
}

std::string Redactor::apply(const Text& sentence) const {
    std::string out;
    bool terms = false;
    for (const Text::Piece& piece : sentence.pieces) {
        out += piece.content == Content::plain ? piece.text : apply(piece.text, piece.content);
        // A shape has its braces in our own words: "a tuple {password, x}".
        terms = terms || piece.content == Content::term ||
                (piece.content == Content::plain && piece.text.find('{') != piece.text.npos);
    }
    // Pieces of one term: the key may be in another one than its value.
    return terms && sentence.pieces.size() > 1 && options_.level != RedactLevel::none
               ? mask_all_secrets(out, options_.known_secrets)
               : out;
}

}  // namespace beamheap::present
