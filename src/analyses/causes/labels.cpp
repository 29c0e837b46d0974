// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/labels.hpp"

#include <memory>
#include <string>

#include "analyses/causes/wordings.hpp"
#include "erlang/labels.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

std::optional<Sentence> known_label(std::string_view label) {
    if (!label.starts_with('{')) return std::nullopt;  // all that are known are tuples
    const std::shared_ptr<OwnedTerm> term = parse_term(label);
    for (const erlang::LabelRow& row : erlang::label_rows())
        if (const erlang::Match match = row.label.match(*term, term->term()))
            if (Sentence words = said(row.words, match, term); !words.empty()) return words;
    return std::nullopt;
}

Sentence label_in_words(std::string_view label) {
    if (std::optional<Sentence> known = known_label(label)) return std::move(*known);
    return sentence("{}", InputText{std::string(label), InputText::Holds::term});
}

}  // namespace beamheap::analyses
