// SPDX-License-Identifier: Apache-2.0
// Regular expressions of queries, which may come from somebody who is not trusted: no expression takes more than the
// length of the text times its own.
//
// Theory. Thompson's construction: an expression becomes a program of steps for a machine that is at many steps at once
// (Thompson, Regular Expression Search Algorithm, CACM 1968). Each character moves all of them on, none twice, so that
// there is nothing to go back to.
//
// What is known: . [] [^] ( ) | ^ $ * + ? {m} {m,} {m,n}, \d \w \s \D \W \S \b \B, \n \t \r and a backslash before what
// is no letter, and (?i) at the beginning, by which ASCII's letters of both cases are the same. It is found anywhere in
// a text, as `grep -E` has it; characters are those of UTF-8, and bytes that are none of it stand for themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"

namespace beamheap::sql {

class RegularExpression {
public:
    /// Errors (usage): what of it can't be read; one that would be more than `most_steps` steps.
    static Result<RegularExpression> compile(std::string_view text);
    static constexpr std::size_t most_steps = 10'000;

    /// Whether it fits a part of the text; nothing where `late` said meanwhile that there is no time left.
    std::optional<bool> found_in(std::string_view text, const std::function<bool()>& late) const;

    enum class Kind : std::uint8_t { characters, split, jump, text_begin, text_end, word_edge, within_word, match };
    struct Step {
        Kind kind;
        std::int32_t one = 1, other = 1;  ///< split, jump: how far it is to what comes next; characters: which set
    };
    struct Set {
        std::vector<std::pair<char32_t, char32_t>> ranges;
        bool all_but = false;
        bool has(char32_t character) const;
    };

private:
    std::vector<Step> steps_;
    std::vector<Set> sets_;
    bool both_cases_ = false;
};

/// The character at `at`, which is moved behind it; a byte that begins none is one by itself.
char32_t next_character(std::string_view text, std::size_t& at);
/// Of ASCII's letters.
char32_t lower_case(char32_t character);

}  // namespace beamheap::sql
