// SPDX-License-Identifier: Apache-2.0
// Small lexical helpers over printed terms, shared by the passes of redaction. Positions never run over the end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace beamheap::present {
/// A part of a text: [begin, end).
struct TextSpan {
    std::size_t begin = 0;
    std::size_t end = 0;
};
}  // namespace beamheap::present

namespace beamheap::present::lex {

constexpr bool lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool letter(char c) { return lower(c) || upper(c); }
constexpr bool word(char c) { return letter(c) || digit(c) || c == '_'; }
constexpr bool hex_digit(char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
/// A byte of a character that is none of ASCII's.
constexpr bool foreign(char c) { return (c & 0x80) != 0; }
constexpr char at(std::string_view text, std::size_t i) { return i < text.size() ? text[i] : '\0'; }
/// Whether the double quote at text[i] begins an atom of Elixir, as :"$gen_call" does; token:"..." is no atom.
constexpr bool atom_quote(std::string_view text, std::size_t i) {
    if (i == 0 || text[i - 1] != ':') return false;
    return i == 1 || !(word(text[i - 2]) || std::string_view("\"'>)]}").find(text[i - 2]) != std::string_view::npos);
}
constexpr bool starts(std::string_view text, std::size_t i, std::string_view what) {
    return i <= text.size() && text.substr(i).starts_with(what);
}

inline std::size_t skip_spaces(std::string_view text, std::size_t i) {
    while (i < text.size() && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t')) ++i;
    return i;
}

/// `i` is at a quote; the position after its closing quote, or the end of the text where it is cut.
inline std::size_t skip_quoted(std::string_view text, std::size_t i) {
    const char quote = text[i++];
    while (i < text.size() && text[i] != quote) i += text[i] == '\\' ? 2 : 1;
    return i < text.size() ? i + 1 : text.size();
}

/// `i` is at an opening bracket of ( [ { or at "<<"; the position after what closes it, or the end of the text.
/// Strings and quoted atoms inside are skipped over. Brackets are counted, not matched by kind.
inline std::size_t skip_balanced(std::string_view text, std::size_t i) {
    std::size_t depth = 0;
    while (i < text.size()) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            i = skip_quoted(text, i);
            continue;
        }
        const bool twice = i + 1 < text.size() && text[i + 1] == c;
        if (c == '(' || c == '[' || c == '{') ++depth;
        else if (c == ')' || c == ']' || c == '}') depth = depth == 0 ? 0 : depth - 1;
        else if (c == '<' && twice) ++depth, ++i;
        else if (c == '>' && twice && depth != 0) --depth, ++i;
        ++i;
        if (depth == 0) return i < text.size() ? i : text.size();
    }
    return text.size();
}

/// Behind the element of a list or tuple that begins at `i`, and the blanks behind it.
inline std::size_t skip_element(std::string_view text, std::size_t i) {
    const char c = at(text, i);
    if (c == '~' && letter(at(text, i + 1)) && at(text, i + 2) == '"') i = skip_quoted(text, i + 2);
    else if (c == '"' || c == '\'') i = skip_quoted(text, i);
    else if (c == '[' || c == '{' || c == '(' || starts(text, i, "<<")) i = skip_balanced(text, i);
    else
        while (i < text.size() && std::string_view(",}])|").find(text[i]) == std::string_view::npos) {
            if (text[i] == '{' || text[i] == '[') return skip_spaces(text, skip_balanced(text, i));  // #{...}, %{...}
            ++i;
        }
    return skip_spaces(text, i);
}

/// Where the literal of a key begins: before its quote, <<" or Elixir's colon.
inline std::size_t literal_begin(std::string_view text, std::size_t key) {
    std::size_t i = key;
    if (i != 0 && text[i - 1] == '$') --i;
    if (i >= 2 && text[i - 1] == '"' && text[i - 2] == ':') --i;
    if (i != 0 && (text[i - 1] == '"' || text[i - 1] == '\'' || text[i - 1] == ':')) --i;
    if (i >= 2 && text[i - 1] == '<' && text[i - 2] == '<') i -= 2;
    if (i >= 2 && letter(text[i - 1]) && text[i - 2] == '~') i -= 2;
    return i;
}
/// A literal ends at `i`, and another element follows: "password=" in ["password=", <<"x">>].
inline bool literal_ends(std::string_view text, std::size_t i) {
    if (at(text, i) != '"') return false;
    ++i;
    if (starts(text, i, ">>")) i += 2;
    i = skip_spaces(text, i);
    return at(text, i) == ',' || at(text, i) == '|';
}
/// A literal ends at `i`, and so does a list within another one.
inline bool inner_list_ends(std::string_view text, std::size_t i) {
    if (at(text, i) != '"') return false;
    ++i;
    if (starts(text, i, ">>")) i += 2;
    if (at(text, i) != ']') return false;
    while (at(text, i) == ']') ++i;
    return i >= text.size() || std::string_view(",|} ").find(text[i]) != std::string_view::npos;
}
/// Behind the comma or bar that follows the literal's end at `i`.
inline std::size_t next_element(std::string_view text, std::size_t i) {
    while (i < text.size() && text[i] != ',' && text[i] != '|') ++i;
    return i + 1;
}

/// Strings within strings that are looked into; deeper ones are hidden.
constexpr unsigned most_quoted = 4;

/// Characters that Erlang and Elixir print as a backslash and a letter, and these letters.
constexpr std::string_view escaped_characters = "\"\\\n\t\r\b\f\v\x1b", escape_letters = "\"\\ntrbfve";

/// What is between the quotes of a literal that was printed twice, as it was printed once; and back.
inline std::string unescaped(std::string_view inside) {
    std::string out;
    for (std::size_t i = 0; i < inside.size(); ++i) {
        const std::size_t known =
            inside[i] == '\\' && i + 1 < inside.size() ? escape_letters.find(inside[i + 1]) : escape_letters.npos;
        out += known == escape_letters.npos ? inside[i] : escaped_characters[known];
        if (known != escape_letters.npos) ++i;
    }
    return out;
}
inline std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const std::size_t known = escaped_characters.find(c);
        if (known != escaped_characters.npos) out += '\\';
        out += known == escaped_characters.npos ? c : escape_letters[known];
    }
    return out;
}

}  // namespace beamheap::present::lex
