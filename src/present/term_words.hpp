// SPDX-License-Identifier: Apache-2.0
// Small words that terms are printed with: numbers, the places that a catch leads to, pairs of maps in their order.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "erlang/term_walks.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

template <std::integral Number>
void append_decimal(std::string& out, Number value) {
    std::array<char, 24> digits{};
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

/// In capitals, without a prefix.
inline void append_hexadecimal(std::string& out, std::uint64_t value) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    for (const char* p = digits.data(); p != end; ++p) out += *p >= 'a' ? static_cast<char>(*p - 'a' + 'A') : *p;
}

/// "proc_lib:init_p/5 + 12", as the language has it; what is no such place as it is.
inline void append_catch_place(std::string& out, std::string_view place, Syntax syntax) {
    const std::size_t arity = place.find('/');
    const std::size_t colon = place.rfind(':', arity);
    const std::size_t end = arity == place.npos ? arity : place.find_first_not_of("0123456789", arity + 1);
    if (syntax != Syntax::elixir || colon == place.npos || arity == place.npos || arity + 1 == place.size()) {
        out += place;
        return;
    }
    const auto unquoted = [](std::string_view atom) {
        if (atom.size() > 1 && atom.front() == '\'' && atom.back() == '\'') atom = atom.substr(1, atom.size() - 2);
        return atom;
    };
    std::uint32_t arguments = 0;
    for (std::size_t i = arity + 1; i < std::min(end, place.size()); ++i)
        arguments = arguments * 10 + static_cast<std::uint32_t>(place[i] - '0');
    out += function_text(unquoted(place.substr(0, colon)), unquoted(place.substr(colon + 1, arity - colon - 1)),
                         arguments, Syntax::elixir);
    if (end != place.npos) out += place.substr(end);
}

/// Pairs of a map, of which every key is a small integer or an atom, in term order: numbers, then atoms by their names.
inline void sort_pairs(std::vector<Pair>& pairs) {
    std::ranges::stable_sort(pairs, [](const Pair& a, const Pair& b) {
        if (a.key.kind != b.key.kind) return a.key.kind == ElementKind::small;
        return a.key.kind == ElementKind::small ? a.key.number < b.key.number : a.key.text < b.key.text;
    });
}

}  // namespace beamheap::present
