// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/labels.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "analyses/causes/wordings.hpp"
#include "erlang/identities.hpp"
#include "erlang/labels.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

std::optional<Sentence> known_label(std::string_view label) {
    if (!label.starts_with('{')) return std::nullopt;  // all that are known are tuples
    const std::shared_ptr<OwnedTerm> term = parse_term(label);
    std::optional<Sentence> told;
    const auto tell = [&](const auto& row) {
        const erlang::Match match = row.label.match(*term, term->term());
        if (!match) return false;
        Sentence words = said(row.words, match, term);
        if (words.empty()) return false;
        told = std::move(words);
        return true;
    };
    // A library's own label, then what beamheap has concluded.
    if (std::ranges::any_of(erlang::label_rows(), tell) || std::ranges::any_of(erlang::identity_rows(), tell) ||
        std::ranges::any_of(erlang::member_keepers(), tell))
        return told;
    return std::nullopt;
}

Sentence label_in_words(std::string_view label) {
    if (std::optional<Sentence> known = known_label(label)) return std::move(*known);
    return sentence("{}", InputText{std::string(label), InputText::Holds::term});
}

}  // namespace beamheap::analyses
