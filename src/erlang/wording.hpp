// SPDX-License-Identifier: Apache-2.0
// Words of a row with places for what the names of its pattern stand for.
//
//     "port {Port:term 20} of {Name} is in use[: {Text:message 60}|: nobody says why]"
//
//     {Name}               a name or number as itself, without quotes; a text; any other term as it is printed
//     {Name:term 20}       a term, printed in the reader's language, at most about 20 bytes (120)
//     {Name:message 60}    a text in one line of at most 60 bytes (100); `vm`, `name`: the same, as what it is redacted
//     {Name:text}          a text as it is
//     {Name:number}        a number above 0
//     {Name:atoms 4}       so many atoms of a list, "a, b, c, d and 12 more"
//     {Name:library}       what the loader of native libraries said
//     {M:F/Args}           a function: M and F are names of the pattern, or words with a small letter; Args is a
//                          number, or a list or a name that stands for the arguments or for how many they are
//     [...|...]            the first of these whose places can be filled; nothing where none can
//
// How a place is filled is known above this layer; here stands what the compiler holds it against.
#pragma once

#include <string_view>

#include "erlang/ours.hpp"
#include "erlang/pattern.hpp"

namespace beamheap::erlang {

class Wording {
public:
    consteval Wording(const char* literal) : words_(literal) {
        bool place = false, choice = false;
        for (const char c : words_.text()) {
            if ((c == '{' && place) || (c == '}' && !place)) throw "a { or } has no other";
            if ((c == '[' && choice) || (c == ']' && !choice)) throw "a [ or ] has no other";
            if (c == '{' || c == '}') place = c == '{';
            if (!place && (c == '[' || c == ']')) choice = c == '[';
        }
        if (place || choice) throw "a { or [ is not closed";
        // Anything else, as a tuple of Erlang's, would be a place that nothing fills.
        const std::string_view text = words_.text();
        for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
            const std::string_view inside = text.substr(at + 1, text.find('}', at) - at - 1);
            const bool named = !inside.empty() && inside[0] >= 'A' && inside[0] <= 'Z';
            if (inside.find_first_of(", ") < inside.find(':')) throw "a place has one name";
            if (!named && inside.find('/') == inside.npos) throw "a place has no name of the pattern";
        }
    }
    constexpr Ours words() const { return words_; }

    /// Whether all names in its places are names of the pattern.
    constexpr bool fits(const Pattern& pattern) const {
        const std::string_view text = words_.text();
        for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
            const std::string_view place = text.substr(at + 1, text.find('}', at) - at - 1);
            const std::size_t colon = place.find(':'), slash = place.find('/');
            if (!known(pattern, place.substr(0, colon))) return false;
            if (slash == place.npos) continue;
            if (!known(pattern, place.substr(colon + 1, slash - colon - 1)) || !known(pattern, place.substr(slash + 1)))
                return false;
        }
        return true;
    }

private:
    static constexpr bool known(const Pattern& pattern, std::string_view word) {
        return word.empty() || word[0] < 'A' || word[0] > 'Z' || pattern.has(word);
    }
    Ours words_;
};

}  // namespace beamheap::erlang
