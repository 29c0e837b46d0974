// SPDX-License-Identifier: Apache-2.0
#include "present/secrets/secret_forms.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "present/secrets/redact_lex.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

#define BH_FORM(prefix, least, also, issuer) SecretForm{prefix, least, also, issuer},
constexpr std::array forms{
#include "present/secrets/secret_forms.inc"
};
#undef BH_FORM

// The rows of each first character, as a range of `forms`.
constexpr auto rows_of_letter = [] {
    std::array<std::array<std::uint8_t, 2>, 128> rows{};
    for (std::size_t i = 0; i < forms.size(); ++i) {
        auto& [begin, end] = rows[static_cast<unsigned char>(forms[i].prefix[0])];
        if (end == 0) begin = static_cast<std::uint8_t>(i);
        end = static_cast<std::uint8_t>(i + 1);
    }
    return rows;
}();
static_assert(forms.size() < 256);
static_assert(std::ranges::is_sorted(forms, {}, [](const SecretForm& form) { return form.prefix[0]; }));

// The text was cut here, so that a secret may be shorter than its form.
bool cut_at(std::string_view text, std::size_t i) { return i >= text.size() || starts(text, i, "..."); }

// A text that was cut says so, mostly; where one just ends, more of the token must be there to believe it.
std::size_t least_when_cut(std::string_view text, std::size_t end) { return starts(text, end, "...") ? 4 : 8; }

// What was drawn at random, not written: npm_install and sk-learn-tools are names. A piece of a token has a digit, or
// is long and behind a beginning that is no word's.
bool random_part(std::string_view prefix, std::string_view tail, bool whole) {
    constexpr std::size_t long_piece = 6, rare_prefix = 4;
    const bool rare =
        prefix.size() >= rare_prefix && std::ranges::all_of(prefix, [](char c) { return letter(c) || digit(c); });
    return std::ranges::any_of(tail, digit) ||
           ((whole || (rare && tail.size() >= long_piece)) && std::ranges::any_of(tail, upper));
}

bool luhn(std::string_view digits) {
    unsigned sum = 0;
    bool twice = false;
    for (std::size_t i = digits.size(); i-- > 0; twice = !twice) {
        unsigned value = static_cast<unsigned>(digits[i] - '0') * (twice ? 2 : 1);
        sum += value > 9 ? value - 9 : value;
    }
    return sum % 10 == 0;
}

// Issuers' ranges (ISO/IEC 7812): Visa 4, Mastercard 51-55 and 2221-2720, Discover 6011 and 65, JCB 3528-3589, American
// Express 34 and 37, Diners 36, 38 and 300-305.
bool card(std::string_view digits) {
    const auto first = [&](std::size_t n) {
        unsigned value = 0;
        for (std::size_t i = 0; i < n; ++i) value = value * 10 + static_cast<unsigned>(digits[i] - '0');
        return value;
    };
    const auto between = [](unsigned value, unsigned low, unsigned high) { return value >= low && value <= high; };
    bool known = false;
    if (digits.size() == 16)
        known = digits[0] == '4' || between(first(2), 51, 55) || between(first(4), 2221, 2720) || first(4) == 6011 ||
                first(2) == 65 || between(first(4), 3528, 3589);
    else if (digits.size() == 15) known = first(2) == 34 || first(2) == 37;
    else if (digits.size() == 14) known = first(2) == 36 || first(2) == 38 || between(first(3), 300, 305);
    return known && luhn(digits);
}

// 40 letters, digits, / and +, of all kinds, as Amazon's secret keys are; hashes have no capitals, or no small letters.
constexpr std::size_t amazon_secret = 40;
bool random_base64(std::string_view word) {
    const bool small = std::ranges::any_of(word, lower), large = std::ranges::any_of(word, upper),
               number = std::ranges::any_of(word, digit);
    const bool signs = word.find_first_of("/+") != word.npos;
    const auto digits = std::ranges::count_if(word, digit);
    return small && large && number && (signs || (digits > 2 && digits < 12)) && word.find("//") == word.npos;
}

// Kinds of characters follow each other often in what was drawn at random; names have pieces of words.
bool mixed_well(std::string_view word, std::size_t longest_of_words = 4) {
    const auto kind = [](char c) { return lower(c) ? 0 : upper(c) ? 1 : digit(c) ? 2 : 3; };
    std::size_t changes = 0, run = 0, longest = 0;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (i != 0 && kind(word[i]) != kind(word[i - 1])) ++changes, run = 0;
        ++run;
        if (lower(word[i])) longest = std::max(longest, run);
    }
    return 5 * changes >= 2 * word.size() && longest <= longest_of_words;
}

constexpr bool base64_char(char c) { return letter(c) || digit(c) || c == '/' || c == '+'; }

std::optional<unsigned> base64_value(char c) {
    if (upper(c)) return c - 'A';
    if (lower(c)) return c - 'a' + 26;
    if (digit(c)) return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    if (c == '/' || c == '_') return 63;
    return std::nullopt;
}

}  // namespace

std::span<const SecretForm> secret_forms() { return forms; }

namespace {

// What has no beginning of its own: a private key in base64 (30 82 xx xx 02 01 00 in bytes), Amazon's secret keys.
std::size_t end_of_plain_secret(std::string_view text, std::size_t i) {
    if (i != 0 && (base64_char(text[i - 1]) || text[i - 1] == '=' || text[i - 1] == '-' || text[i - 1] == '_' ||
                   text[i - 1] == '.'))
        return i;
    const bool key = (starts(text, i, "MII") && starts(text, i + 6, "IBA")) || starts(text, i, "MHcCAQEEI") ||
                     starts(text, i, "MIGHAgEAM") || starts(text, i, "MIG2AgEAM") || starts(text, i, "MIGTAgEAM") ||
                     starts(text, i, "MC4CAQAwBQYDK2Vw");
    std::size_t end = i;
    if (!key)
        while (end - i <= amazon_secret && base64_char(at(text, end))) ++end;
    const std::string_view word = text.substr(i, end - i);
    const bool alone = std::string_view("=-_.:<").find(at(text, end)) == std::string_view::npos || end >= text.size();
    constexpr std::size_t least_when_cut = 16;
    const bool cut =
        word.size() >= least_when_cut && word.size() < amazon_secret && starts(text, end, "...") && mixed_well(word);
    if (!key) return ((word.size() == amazon_secret && alone) || cut) && random_base64(word) ? end : i;
    while (base64_char(at(text, end)) || at(text, end) == '=') ++end;
    return end;
}

}  // namespace

std::size_t end_of_token(std::string_view text, std::size_t i) {
    const auto letter_code = static_cast<unsigned char>(at(text, i));
    if (letter_code >= rows_of_letter.size()) return i;
    const auto [begin, end_of_rows] = rows_of_letter[letter_code];
    for (std::size_t row = begin; row < end_of_rows; ++row) {
        const SecretForm& form = forms[row];
        if (!starts(text, i, form.prefix)) continue;
        std::size_t end = i + form.prefix.size();
        while (end < text.size() &&
               (word(text[end]) || text[end] == '-' ||
                (form.also.find(text[end]) != std::string_view::npos && !starts(text, end, "..."))))
            ++end;
        const std::size_t tail = end - i - form.prefix.size();
        const bool whole = tail >= form.least, piece = cut_at(text, end) && tail >= least_when_cut(text, end);
        if ((whole || piece) && random_part(form.prefix, text.substr(i + form.prefix.size(), tail), whole)) return end;
    }
    if (const std::size_t end = end_of_marked_token(text, i); end != i) return end;
    return end_of_plain_secret(text, i);
}

namespace {

// Random bytes that are a literal of their own, 32, 48 or 64 of them in base64, as `mix phx.gen.secret` prints them.
std::size_t end_of_key_literal(std::string_view text, std::size_t i) {
    constexpr std::array<std::size_t, 3> sizes{43, 64, 86};
    if (i == 0 || text[i - 1] != '"') return i;
    std::size_t end = i;
    while (end - i <= sizes.back() && (base64_char(at(text, end)) || at(text, end) == '-' || at(text, end) == '_'))
        ++end;
    const std::string_view word = text.substr(i, end - i);
    while (at(text, end) == '=') ++end;
    if (std::ranges::find(sizes, word.size()) == sizes.end() || at(text, end) != '"') return i;
    constexpr std::size_t longest_of_small = 7;
    const bool all_kinds =
        std::ranges::any_of(word, lower) && std::ranges::any_of(word, upper) && std::ranges::any_of(word, digit);
    return all_kinds && mixed_well(word, longest_of_small) ? end : i;
}

}  // namespace

namespace {

// Discord's: a number in base64, six characters, and a signature, with dots in between.
std::size_t end_of_bot_token(std::string_view text, std::size_t i) {
    if (at(text, i) < 'M' || at(text, i) > 'O') return i;
    constexpr std::size_t least_number = 23, most_number = 28, time = 6, signature = 27;
    std::size_t end = i;
    const auto run = [&] {
        const std::size_t begin = end;
        while (word(at(text, end)) || at(text, end) == '-') ++end;
        return end - begin;
    };
    const std::size_t number = run();
    if (number < least_number || number > most_number || at(text, end++) != '.' || run() != time) return i;
    return at(text, end++) == '.' && run() >= signature ? end : i;
}

}  // namespace

std::size_t end_of_marked_token(std::string_view text, std::size_t i) {
    if (const std::size_t end = end_of_key_literal(text, i); end != i) return end;
    struct Mark {
        std::size_t before;  // characters in front of it
        std::string_view mark;
        std::size_t least, most;     // that follow
        std::string_view also;       // what may stand in front of it, and behind it, besides letters and digits
        std::string_view last = {};  // what ends the token
    };
    // Terraform, Azure's client secrets (behind a digit), MaxMind, Mailchimp, Vault before 1.10, Firebase.
    static constexpr std::array marks{Mark{14, ".atlasv1.", 60, 80, "_-="},
                                      Mark{4, "Q~", 31, 34, "_~.-"},
                                      Mark{6, "_", 29, 29, "", "_mmk"},
                                      Mark{32, "-us", 1, 2, ""},
                                      Mark{1, ".", 24, 24, ""},
                                      Mark{11, ":APA91b", 100, 200, "_-"}};
    if (const std::size_t end = end_of_bot_token(text, i); end != i) return end;
    for (const Mark& row : marks) {
        const auto one_of = [&](char c) {
            return letter(c) || digit(c) || (c != '\0' && row.also.find(c) != row.also.npos);
        };
        if (!starts(text, i + row.before, row.mark) || !std::ranges::all_of(text.substr(i, row.before), one_of))
            continue;
        const std::size_t begin = i + row.before + row.mark.size();
        std::size_t end = begin;
        while (end < text.size() && end - begin < row.most && one_of(text[end])) ++end;
        const std::string_view tail = text.substr(begin, end - begin);
        if (tail.size() < row.least || !starts(text, end, row.last) || word(at(text, end + row.last.size()))) continue;
        const bool random = std::ranges::any_of(tail, digit) &&
                            (row.before != 1 || (text[i] == 's' && std::ranges::any_of(tail, letter)));
        const bool hex = row.before != 32 || std::ranges::all_of(text.substr(i, row.before), [](char c) {
                             return digit(c) || (c >= 'a' && c <= 'f');
                         });
        if (random && hex && (row.mark != "Q~" || digit(text[i + 3]))) return end + row.last.size();
    }
    return i;
}

namespace {

// {SSHA}x, as directories and mail servers have them (RFC 3112).
std::size_t end_of_scheme_and_hash(std::string_view text, std::size_t i) {
    constexpr std::array<std::string_view, 14> schemes{"{SSHA}",   "{SHA}",   "{SSHA256}",   "{SSHA512}",  "{SHA256}",
                                                       "{SHA512}", "{SMD5}",  "{MD5}",       "{CRYPT}",    "{PBKDF2}",
                                                       "{ARGON2}", "{PLAIN}", "{CLEARTEXT}", "{BLF-CRYPT}"};
    for (const std::string_view scheme : schemes) {
        if (!starts(text, i, scheme)) continue;
        std::size_t end = i + scheme.size();
        while (base64_char(at(text, end)) || std::string_view("=$.,-_").find(at(text, end)) != std::string_view::npos) {
            if (end >= text.size()) break;
            ++end;
        }
        constexpr std::size_t least = 6;
        if (end - i >= scheme.size() + least) return end;
    }
    return i;
}

}  // namespace

std::size_t end_of_password_hash(std::string_view text, std::size_t i) {
    if (at(text, i) == '{') return end_of_scheme_and_hash(text, i);
    constexpr std::array<std::string_view, 15> schemes{"$1$",     "$2a$",     "$2b$", "$2y$",   "$5$",
                                                       "$6$",     "$7$",      "$y$",  "$apr1$", "$argon2",
                                                       "$pbkdf2", "$scrypt$", "$gy$", "$md5$",  "$sha1$"};
    // pbkdf2_sha256$260000$..., SCRAM-SHA-256$4096:...$...: a name, a number of rounds, and more of them
    std::size_t rounds = i + 1;
    while (digit(at(text, rounds))) ++rounds;
    const bool named =
        i != 0 && word(text[i - 1]) && rounds > i + 2 && (at(text, rounds) == '$' || at(text, rounds) == ':');
    if (!named && std::ranges::none_of(schemes, [&](std::string_view scheme) { return starts(text, i, scheme); }))
        return i;
    std::size_t end = i;
    while (end < text.size() &&
           (base64_char(text[end]) ||
            std::string_view(named ? "$=,.-_:" : "$=,.-_").find(text[end]) != std::string_view::npos) &&
           !starts(text, end, "..."))
        ++end;
    constexpr std::size_t least = 20;
    return end - i >= least || (cut_at(text, end) && end - i >= 8) ? end : i;
}

bool is_private_key(std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
    if (byte(0) != 0x30) return false;
    const std::size_t first = byte(1) < 0x80 ? 2 : byte(1) == 0x81 ? 3 : byte(1) == 0x82 ? 4 : bytes.size();
    return byte(first) == 0x02 && byte(first + 1) == 1 && byte(first + 2) <= 1 && first + 3 < bytes.size() &&
           (byte(first + 3) == 0x30 || (byte(first + 3) == 0x02 && byte(first + 4) > 0x20) ||
            (byte(first + 3) == 0x04 && byte(first + 4) >= 0x1c));
}

std::size_t behind_public_numbers(std::string_view text, std::size_t i) {
    constexpr std::string_view bytes = "<<1,0,1>>,<<", number = "[65537,";
    constexpr std::size_t least_digits = 100;
    std::size_t end = i;
    if (i != 0 && text[i - 1] == '[' && starts(text, i, bytes)) {
        end = skip_balanced(text, i + bytes.size() - 2);
        return end - i >= least_digits && starts(text, end, ",<<") ? end : 0;
    }
    if (!starts(text, i, number)) return 0;
    for (end += number.size(); digit(at(text, end));) ++end;
    return end - i >= least_digits && at(text, end) == ',' && digit(at(text, end + 1)) ? end : 0;
}

std::size_t end_of_number_token(std::string_view text, std::size_t i) {
    constexpr std::size_t longest = 16;
    std::string digits;
    std::size_t end = i;
    while (digits.size() <= longest && digit(at(text, end))) {
        digits += text[end++];
        if ((at(text, end) == ' ' || at(text, end) == '-') && digit(at(text, end + 1)) && digits.size() % 2 == 0) ++end;
    }
    if (!word(at(text, end)) && at(text, end) != '.' && card(digits)) return end;
    end = i;
    while (digit(at(text, end)) && end - i <= 10) ++end;
    if (end - i >= 8 && end - i <= 10 && at(text, end) == ':') {
        constexpr std::size_t tail = 35;
        std::size_t stop = end + 1;
        while (word(at(text, stop)) || at(text, stop) == '-') ++stop;
        if (stop - end - 1 == tail) return stop;
    }
    if (starts(text, i, "1//0")) {  // Google's refresh tokens
        constexpr std::size_t least = 38;
        std::size_t stop = i + 4;
        while (word(at(text, stop)) || at(text, stop) == '-') ++stop;
        if (stop - i >= least) return stop;
    }
    return i;
}

bool is_credentials(std::string_view base64) {
    while (base64.ends_with('=')) base64.remove_suffix(1);
    if (base64.size() < 6 || base64.size() > 1024 || base64.size() % 4 == 1) return false;
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : base64) {
        const auto value = base64_value(c);
        if (!value) return false;
        bits = (bits << 6 | *value) & 0xFFFFFF;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes += static_cast<char>(bits >> held & 0xFF);
    }
    const bool readable =
        std::ranges::all_of(bytes, [](char c) { return c == '\0' || (c >= ' ' && c != '\x7f') || (c & 0x80) != 0; });
    const std::size_t separator = bytes.find_first_of(std::string_view(":\0", 2));
    return readable && separator != bytes.npos && bytes.size() > 3 && bytes.find_first_not_of('\0') != bytes.npos;
}

bool is_plain_message(std::string_view bytes) {
    const std::size_t first = bytes.find('\0');
    const std::size_t second = first == bytes.npos ? bytes.npos : bytes.find('\0', first + 1);
    if (second == bytes.npos || second == first + 1 || second + 1 == bytes.size()) return false;
    constexpr std::size_t longest = 1024;
    return bytes.size() < longest && bytes.find('\0', second + 1) == bytes.npos &&
           std::ranges::all_of(bytes, [](char c) { return c == '\0' || (c >= ' ' && c != '\x7f') || (c & 0x80) != 0; });
}

bool looks_like_password(std::string_view word) {
    constexpr std::size_t least = 8;
    const auto any = [&](auto of) { return std::ranges::any_of(word, of); };
    const bool plain = std::ranges::all_of(word, [](char c) {
        return letter(c) || digit(c) || std::string_view("!@#$%^&*_+=~?-").find(c) != std::string_view::npos;
    });
    return word.size() >= least && plain && any(lower) && any(upper) && any(digit);
}

bool looks_secret(std::string_view word) {
    if (word.size() < 5) return false;
    bool digits = false, letters = false, signs = false, hump = false;
    for (std::size_t i = 0; i < word.size(); ++i) {
        digits = digits || digit(word[i]);
        letters = letters || letter(word[i]);
        signs = signs || std::string_view("!@#$%^&*+=~").find(word[i]) != std::string_view::npos;
        hump = hump || (i != 0 && upper(word[i]) && lower(word[i - 1]));
    }
    return letters && (digits || signs || hump);
}

NumberList number_list(std::string_view text, std::size_t i) {
    const bool binary = starts(text, i, "<<");
    const std::string_view close = binary ? ">>" : "]";
    NumberList list;
    std::size_t at_now = i + (binary ? 2 : 1);
    while (true) {
        at_now = skip_spaces(text, at_now);
        if (!digit(at(text, at_now))) break;
        std::uint32_t value = 0;
        for (; digit(at(text, at_now)); ++at_now)
            if (value < 0x1000000) value = value * 10 + static_cast<std::uint32_t>(text[at_now] - '0');
        if (binary && at(text, at_now) == ':')  // the bits that are left of a bitstring: <<97,98,3:4>>, <<3::size(4)>>
            while (at_now < text.size() && text[at_now] != '>' && text[at_now] != ',') ++at_now;
        list.text += value < 256 ? static_cast<char>(value) : '?';
        if (at(text, at_now) != ',') break;
        ++at_now;
    }
    if (starts(text, at_now, close)) list.end = at_now + close.size();
    else if (cut_at(text, at_now) || starts(text, at_now, "|...")) list.end = at_now;
    return list;
}

}  // namespace beamheap::present
