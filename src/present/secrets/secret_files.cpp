// SPDX-License-Identifier: Apache-2.0
#include "present/secrets/secret_files.hpp"

#include <algorithm>
#include <array>

#include "present/secrets/secret_forms.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

constexpr std::size_t far_in_file = 256;

// What no value of a file's line has in it.
bool ends_setting(char c) { return std::string_view(" \t\n\"'\\,;|)]}>&").find(c) != std::string_view::npos; }
std::size_t setting_end(std::string_view text, std::size_t i) {
    while (i < text.size() && !ends_setting(text[i])) ++i;
    return i;
}
TextSpan setting(std::string_view text, std::size_t i) { return {std::min(i, text.size()), setting_end(text, i)}; }

bool one_of_words(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

// Behind what stands for the character `letter` behind backslashes, or for it itself; `i` where it does not stand
// there.
std::size_t skip_escape(std::string_view text, std::size_t i, char letter, char itself) {
    if (at(text, i) == itself) return i + 1;
    std::size_t j = i;
    while (at(text, j) == '\\') ++j;
    return j != i && at(text, j) == letter ? j + 1 : i;
}
// Behind the end of a line, \r\n or \n; `i` where none is.
std::size_t skip_line_end(std::string_view text, std::size_t i) {
    return skip_escape(text, skip_escape(text, i, 'r', '\r'), 'n', '\n');
}
bool is_line_end(std::string_view text, std::size_t from, std::size_t behind) {
    return behind != from && (text[behind - 1] == 'n' || text[behind - 1] == '\n');
}
std::size_t skip_tabs_and_blanks(std::string_view text, std::size_t i) {
    for (std::size_t before = text.size() + 1; before != i;) {
        before = i;
        if (at(text, i) == ' ') ++i;
        else i = skip_escape(text, i, 't', '\t');
    }
    return i;
}
// Behind a quote, with as many backslashes in front of it as there are.
std::size_t skip_quote(std::string_view text, std::size_t i) {
    std::size_t j = i;
    while (at(text, j) == '\\') ++j;
    return at(text, j) == '"' ? j + 1 : i;
}

// A quote that is written as %22 or \u0022.
std::size_t skip_written_quote(std::string_view text, std::size_t i) {
    if (starts(text, i, "%22")) return i + 3;
    std::size_t j = i;
    while (at(text, j) == '\\') ++j;
    return j != i && starts(text, j, "u0022") ? j + 5 : i;
}
TextSpan in_written_quotes(std::string_view text, std::size_t end) {
    std::size_t i = skip_written_quote(text, end);
    if (i == end) return {};
    i = skip_tabs_and_blanks(text, i);
    if (at(text, i) == ':') ++i;
    else if (starts(text, i, "%3A")) i += 3;
    else return {};
    while (starts(text, i, "%20") || at(text, i) == '+') i += at(text, i) == '+' ? 1 : 3;
    const std::size_t begin = skip_written_quote(text, skip_tabs_and_blanks(text, i));
    std::size_t stop = begin;
    while (stop < text.size() && !ends_setting(text[stop]) && !starts(text, stop, "%22") &&
           !starts(text, stop, "%2C") && !starts(text, stop, "%7D"))
        ++stop;
    return {begin, stop};
}

// Go's %+v, headers without a blank, descriptions of sessions: what stands behind the colon looks like a secret.
TextSpan behind_colon(std::string_view text, std::size_t key, std::size_t colon) {
    const char last = key == 0 ? ' ' : text[key - 1];
    const bool begins = std::string_view(" {\"\n\t=&[").find(last) != std::string_view::npos ||
                        (key >= 2 && text[key - 2] == '\\' && (last == 'n' || last == 'r' || last == 't'));
    if (!begins) return {};
    const TextSpan span = setting(text, colon + 1);
    const std::string_view value = text.substr(span.begin, span.end - span.begin);
    return value.find_first_of("/(:#<") == std::string_view::npos && looks_secret(value) ? span : TextSpan{};
}

// What only its receiver knows, as a part of an address: /users/reset_password/x.
TextSpan segment_of_path(std::string_view text, std::size_t i) {
    constexpr std::size_t least = 16;
    std::size_t end = i;
    while (word(at(text, end)) || at(text, end) == '-') ++end;
    const char next = at(text, end);
    const bool whole = end >= text.size() || std::string_view("/?# \"\\'&").find(next) != std::string_view::npos ||
                       starts(text, end, "...");
    return whole && end - i >= least && looks_secret(text.substr(i, end - i)) ? TextSpan{i, end} : TextSpan{};
}

// A phrase is all of its words.
TextSpan words_of_phrase(std::string_view text, std::string_view key, std::size_t i) {
    constexpr std::array<std::string_view, 4> phrases{"assphrase", "nemonic", "hrase", "ords"};
    if (std::ranges::none_of(phrases, [&](std::string_view end) { return key.ends_with(end); })) return {};
    if (at(text, i) != ':' && at(text, i) != '=') return {};
    const std::size_t begin = skip_tabs_and_blanks(text, i + 1);
    if (!lower(at(text, begin))) return {};
    std::size_t stop = begin;
    while (word(at(text, stop)) || (at(text, stop) == ' ' && word(at(text, stop + 1)))) ++stop;
    return text.substr(begin, stop - begin).find(' ') != std::string_view::npos ? TextSpan{begin, stop} : TextSpan{};
}

// A text between apostrophes.
TextSpan in_apostrophes(std::string_view text, std::size_t i) {
    if (at(text, i) != '\'') return {};
    const std::size_t end = text.substr(0, std::min(text.size(), i + far_in_file)).find('\'', i + 1);
    return end == std::string_view::npos ? setting(text, i + 1) : TextSpan{i + 1, end};
}

// host:port:database:name:x
TextSpan secret_of_pgpass(std::string_view text, std::size_t i) {
    const std::string_view line = text.substr(i, std::min<std::size_t>(far_in_file, text.size() - i));
    std::size_t from = 0;
    for (unsigned field = 0; field < 4; ++field) {
        const std::size_t colon = line.find_first_of(": \t\n\"'\\,{}[]()<>/=", from);
        if (colon == line.npos || line[colon] != ':' || colon == from) return {};
        const std::string_view value = line.substr(from, colon - from);
        if (field == 1 && value != "*" && !std::ranges::all_of(value, digit)) return {};
        if (field == 2 && std::ranges::all_of(value, digit)) return {};  // of a time, an address
        from = colon + 1;
    }
    return setting(text, i + from);
}

}  // namespace

TextSpan value_of_file(std::string_view text, std::size_t key, std::size_t end) {
    if (const TextSpan span = in_written_quotes(text, end); span.begin != span.end) return span;
    std::size_t i = end;
    if (starts(text, i, "%5D")) {
        i += 3;
        if (at(text, i) == '=') return setting(text, i + 1);
        return starts(text, i, "%3D") ? setting(text, i + 3) : TextSpan{};
    }
    const std::size_t behind_quote = skip_quote(text, i);
    if (behind_quote != i && starts(text, behind_quote, ";s:")) {
        std::size_t j = behind_quote + 3;
        while (digit(at(text, j))) ++j;
        return at(text, j) == ':' ? setting(text, skip_quote(text, j + 1)) : TextSpan{};
    }
    // A part of a form, whose name ends its header: an empty line, and the value.
    if (const std::size_t line = skip_line_end(text, behind_quote); is_line_end(text, behind_quote, line)) {
        const std::size_t second = skip_line_end(text, line);
        if (behind_quote != i && is_line_end(text, line, second)) return setting(text, second);
        if (behind_quote == i && at(text, line) == '$' && digit(at(text, line + 1))) {
            std::size_t j = line + 1;
            while (digit(at(text, j))) ++j;
            const std::size_t value = skip_line_end(text, j);
            if (is_line_end(text, j, value)) return setting(text, value);
        }
        return {};
    }
    if (behind_quote != i) return {};
    if (const TextSpan phrase = words_of_phrase(text, text.substr(key, end - key), i); phrase.begin != phrase.end)
        return phrase;
    if (at(text, i) == '/') return key != 0 && text[key - 1] == '/' ? segment_of_path(text, i + 1) : TextSpan{};
    if (at(text, i) == ':') {
        if (starts(text, i, ":: ")) return setting(text, i + 3);
        const std::size_t line = skip_line_end(text, skip_tabs_and_blanks(text, i + 1));
        if (is_line_end(text, i + 1, line)) {
            const TextSpan span = setting(text, line);
            return looks_secret(text.substr(span.begin, span.end - span.begin)) ? span : TextSpan{};
        }
        return behind_colon(text, key, i);
    }
    // Tabs, which are printed as \t, where others have blanks.
    const std::size_t blanks = skip_tabs_and_blanks(text, i);
    if (blanks == i || text.substr(i, blanks - i).find_first_not_of(' ') == std::string_view::npos) return {};
    if (at(text, blanks) == '=' || at(text, blanks) == ':')
        return setting(text, skip_tabs_and_blanks(text, blanks + 1));
    const TextSpan span = setting(text, blanks);
    return looks_secret(text.substr(span.begin, span.end - span.begin)) ? span : TextSpan{};
}

TextSpan secret_of_setting(std::string_view text, std::size_t i, std::size_t end) {
    const std::string_view name = text.substr(i, end - i);
    const char next = at(text, end);
    if (name == "crypt" && next == '(') return in_apostrophes(text, end + 1);
    if (name == "inline" && next == ':') {
        constexpr std::size_t least_key = 16, far_line = 96;
        const bool media = text.substr(i > far_line ? i - far_line : 0, std::min(i, far_line)).find("crypto:") !=
                           std::string_view::npos;
        const TextSpan span = setting(text, end + 1);
        return media && span.end - span.begin >= least_key ? span : TextSpan{};
    }
    if (name == "Private" && starts(text, end, "-Lines:")) {
        const std::size_t mac = text.find("Private-MAC:", end);
        const std::size_t begin = end + 8;
        return {std::min(begin, text.size()),
                mac == std::string_view::npos ? text.size() : setting_end(text, skip_tabs_and_blanks(text, mac + 12))};
    }
    if ((name == "PASSWORD" || name == "password") && (starts(text, end, " FOR ") || starts(text, end, " for "))) {
        const std::size_t equals = text.substr(0, std::min(text.size(), end + far_in_file)).find('=', end);
        return equals == std::string_view::npos ? TextSpan{} : in_apostrophes(text, skip_spaces(text, equals + 1));
    }
    if (name == "IDENTIFIED" && starts(text, end, " WITH ")) {
        const std::string_view near = text.substr(0, std::min(text.size(), end + far_in_file));
        std::size_t by = near.find(" BY ", end);
        if (by == near.npos) by = near.find(" AS ", end);
        return by == near.npos ? TextSpan{} : in_apostrophes(text, by + 4);
    }
    if (next == '/' && i != 0 && text[i - 1] == '/' &&
        one_of_words(name, {"confirm", "reset", "verify", "magic", "invite", "invitation", "invitations", "activate",
                            "unsubscribe", "unlock", "log_in", "login"}))
        return segment_of_path(text, end + 1);
    const bool begins = i == 0 || text[i - 1] == '"' || text[i - 1] == '\n' ||
                        (i >= 2 && text[i - 2] == '\\' && (text[i - 1] == 'n' || text[i - 1] == 'r'));
    return begins && (next == ':' || next == '.' || next == '-') ? secret_of_pgpass(text, i) : TextSpan{};
}

TextSpan secret_of_echo(std::string_view text, std::size_t end) {
    if (at(text, end) != ' ') return {};
    const std::size_t begin = skip_spaces(text, end);
    const std::string_view line = text.substr(begin, std::min(far_in_file, text.size() - begin));
    const std::size_t pipe = line.find('|'), quote = line.find('"');
    if (pipe == line.npos || quote < pipe || pipe < 2) return {};
    const std::string_view reader =
        line.substr(pipe, std::min<std::size_t>(quote == line.npos ? line.size() : quote, line.size()) - pipe);
    constexpr std::array<std::string_view, 6> readers{"sudo -S", "chpasswd",   "password-stdin",
                                                      "passwd",  "cryptsetup", "--stdin"};
    if (std::ranges::none_of(readers, [&](std::string_view each) { return reader.find(each) != reader.npos; }))
        return {};
    std::size_t stop = begin + pipe;
    while (stop > begin && text[stop - 1] == ' ') --stop;
    return {begin, stop};
}

std::size_t arguments_of_crypto(std::string_view text, std::size_t begin, std::size_t end) {
    if (!one_of_words(text.substr(begin, end - begin), {"crypto", "public_key"})) return 0;
    std::size_t i = end;
    if (at(text, i) != ',') return 0;
    i = skip_spaces(text, i + 1);
    if (at(text, i) == ':') ++i;
    if (!lower(at(text, i))) return 0;
    while (word(at(text, i))) ++i;
    if (at(text, i) != ',') return 0;
    i = skip_spaces(text, i + 1);
    return at(text, i) == '[' ? i : 0;
}

std::size_t behind_wrapper(std::string_view text, std::size_t i) {
    std::size_t end = i;
    while (letter(at(text, end))) ++end;
    const std::string_view name = text.substr(i, end - i);
    if (at(text, end) == '(' && one_of_words(name, {"Some", "Just", "Ok", "Secret", "String"})) return end + 1;
    return at(text, end) == '\'' && one_of_words(name, {"b", "u", "r", "rb", "N"}) ? end : i;
}

bool wrapped_value(std::string_view text, std::size_t i) {
    const char opening = at(text, i);
    if (opening == '[') return at(text, i + 1) == '"' || starts(text, i + 1, "<<\"") || starts(text, i + 1, "~c\"");
    if (opening != '{') return false;
    std::size_t begin = i + 1;
    if (at(text, begin) == ':') ++begin;
    std::size_t end = begin;
    while (word(at(text, end))) ++end;
    return at(text, end) == ',' &&
           one_of_words(text.substr(begin, end - begin), {"old", "new", "value", "from", "to", "some", "just"});
}

}  // namespace beamheap::present
