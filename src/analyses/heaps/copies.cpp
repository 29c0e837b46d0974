// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/copies.hpp"

#include <algorithm>
#include <utility>

#include "analyses/base/sum.hpp"
#include "analyses/heaps/term_digest.hpp"
#include "analyses/heaps/term_shape.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_parts_of_sample = 64;
constexpr std::uint64_t most_objects_of_part = 20'000;
constexpr std::size_t most_elements_of_part = 256;
constexpr std::size_t least_with_it = 4;

bool is_on_heap(const Element& term) {
    return term.kind == ElementKind::object && term.id.space == ObjectId::Space::heap;
}

// The elements of a part: those of a list are its items, whose cells are no terms of their own.
template <class Look>
void for_elements(TermSource& terms, const Element& part, const Look& look) {
    Element at = part;
    for (std::size_t looked = 0; looked < most_elements_of_part;) {
        const bool is_list = terms.head(at.id).kind == TermKind::cons;
        ElementCursor cursor = terms.elements(at.id);
        Element element, last;
        bool any = false;
        for (; looked < most_elements_of_part && terms.next(cursor, element); ++looked) {
            if (any) look(last);
            last = element;
            any = true;
        }
        if (!any) return;
        if (!is_list || !is_on_heap(last) || terms.head(last.id).kind != TermKind::cons) {
            look(last);
            return;
        }
        at = last;
    }
}

}  // namespace

void CommonParts::add(TermSource& terms, TermMeasures& measures, std::span<const Element> sample) {
    const std::size_t number = samples_++;
    std::vector<std::pair<std::uint64_t, Element>> left;
    std::uint64_t all = 0;
    for (const Element& term : sample)
        if (is_on_heap(term))
            if (const Count words = measures.flat_words(term); words.has()) {
                all = saturating_add(all, *words);
                left.emplace_back(*words, term);
            }
    const std::uint64_t least = std::max(least_words, all / least_share);
    const auto is_small = [&](const auto& each) { return each.first < least; };
    std::erase_if(left, is_small);
    for (std::size_t looked = 0; looked < left.size() && looked < most_parts_of_sample; ++looked) {
        const auto [words, term] = left[looked];
        if (const auto digest = term_digest(terms, term, most_objects_of_part)) {
            Part& part = parts_[*digest];
            if (part.what.empty()) {
                part.words = words;
                part.what = shape_in_words(terms, term);
            }
            if (part.samples.empty() || part.samples.back() != number) {
                part.samples.push_back(number);
                part.addresses.push_back(term.address);
            }
        }
        if (left.size() >= most_parts_of_sample) continue;
        for_elements(terms, term, [&](const Element& element) {
            if (left.size() >= most_parts_of_sample || !is_on_heap(element)) return;
            if (const Count size = measures.flat_words(element); size.value_or(0) >= least)
                left.emplace_back(*size, element);
        });
    }
}

bool CommonParts::has(std::size_t sample, std::uint64_t digest) const {
    const auto part = parts_.find(digest);
    return part != parts_.end() && std::ranges::find(part->second.samples, sample) != part->second.samples.end();
}

std::optional<CommonPart> CommonParts::best(std::size_t of) const {
    std::optional<CommonPart> found;
    for (const auto& [digest, part] : parts_) {
        std::vector<std::size_t> samples;
        std::vector<std::uint64_t> addresses;
        for (std::size_t i = 0; i < part.samples.size(); ++i) {
            if (part.samples[i] >= of) continue;
            samples.push_back(part.samples[i]);
            addresses.push_back(part.addresses[i]);
        }
        std::ranges::sort(addresses);
        const auto different =
            static_cast<std::size_t>(std::unique(addresses.begin(), addresses.end()) - addresses.begin());
        if (different < least_with_it || different * 4 < of * 3 || (found && found->words >= part.words)) continue;
        found = CommonPart{digest, part.words, part.what, std::move(samples)};
    }
    return found;
}

}  // namespace beamheap::analyses
