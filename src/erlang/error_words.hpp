// SPDX-License-Identifier: Apache-2.0
// Whether a text, or what stands around it in a reason, is about something that went wrong.
//
// A reason may hold any text: what a program worked on, or words for people that say why it stopped. The latter stand
// under a tag or key that names an error ({config_error, "..."}, #{message => "..."}), or have one of the words that
// such texts are made of.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace beamheap::erlang {

/// Parts of the names of tags and keys.
inline constexpr std::array error_tags = std::to_array<std::string_view>(
    {"abort",     "alert",  "bad",       "cannot",     "crash",   "denied",      "error",
     "exception", "exit",   "fail",      "halt",       "illegal", "invalid",     "message",
     "missing",   "msg",    "no_",       "not_",       "reason",  "refused",     "rejected",
     "stop",      "unable", "undefined", "unexpected", "unknown", "unsupported", "wrong"});
/// Words, in small letters; each stands alone in the text.
inline constexpr std::array error_words = std::to_array<std::string_view>(
    {"abort",    "aborted",    "aborting",     "already",   "bad",        "can't",    "cannot",  "couldn't",
     "crashed",  "denied",     "didn't",       "does",      "doesn't",    "error",    "errors",  "exception",
     "exceeded", "exit",       "expected",     "expired",   "fail",       "failed",   "failure", "fatal",
     "illegal",  "impossible", "incompatible", "invalid",   "isn't",      "mismatch", "misses",  "missing",
     "must",     "no",         "not",          "refused",   "required",   "requires", "stopped", "stopping",
     "timeout",  "timed",      "unable",       "undefined", "unexpected", "unknown",  "unless",  "unsupported",
     "violated", "violation",  "without",      "won't",     "wrong"});

/// Tags of Erlang's own exceptions, behind which any value may stand.
inline constexpr std::array tags_of_values = std::to_array<std::string_view>(
    {"badarity", "badfun", "badkey", "badmap", "badmatch", "badrecord", "bad_filter", "bad_generator"});

constexpr bool is_error_tag(std::string_view name) {
    return std::ranges::find(tags_of_values, name) == tags_of_values.end() &&
           std::ranges::any_of(error_tags, [name](std::string_view part) { return name.find(part) != name.npos; });
}

/// Whether a text shows a call of io:put_chars/3 that failed, as Elixir or Erlang print it in a stack; the name may be
/// cut.
constexpr bool tells_failed_write(std::string_view text) {
    return text.find(":io.put_") != text.npos || text.find("io:put_") != text.npos;
}

constexpr bool has_error_word(std::string_view text) {
    constexpr auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    constexpr auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\''; };
    for (std::size_t at = 0; at < text.size();) {
        if (!letter(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && letter(text[end])) ++end;
        const std::string_view word = text.substr(at, end - at);
        if (std::ranges::any_of(error_words,
                                [&](std::string_view known) { return std::ranges::equal(word, known, {}, small); }))
            return true;
        at = end;
    }
    return false;
}

/// A text without the colours of a terminal (ESC [ ... m), which programs put around what they print.
inline std::string without_colours(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text.substr(at, 2) != "\x1b[") {
            plain += text[at];
            continue;
        }
        ++at;
        while (at + 1 < text.size() && !(text[at + 1] >= '@' && text[at + 1] <= '~')) ++at;
        ++at;
    }
    return plain;
}

}  // namespace beamheap::erlang
