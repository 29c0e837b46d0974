// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/copies.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
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
constexpr std::size_t most_sizes = 8;

bool is_on_heap(const Element& term) {
    return term.kind == ElementKind::object && term.id.space == ObjectId::Space::heap;
}

// The elements of a part: those of a list are its items, whose cells are no terms of their own.
template <class Look>
void for_elements(TermSource& terms, const Element& part, const Look& look) {
    Element at = part;
    for (std::size_t looked = 0; looked < most_elements_of_part;) {
        const bool is_list = terms.graph().kind(at.id.number) == TermKind::cons;
        ElementCursor cursor = terms.elements(at.id);
        Element element, last;
        bool any = false;
        for (; looked < most_elements_of_part && terms.next(cursor, element); ++looked) {
            if (any) look(last);
            last = element;
            any = true;
        }
        if (!any) return;
        if (!is_list || !is_on_heap(last) || terms.graph().kind(last.id.number) != TermKind::cons) {
            look(last);
            return;
        }
        at = last;
    }
}

}  // namespace

void CommonParts::add(TermSource& terms, TermMeasures& measures, std::span<const Element> sample) {
    Sample& added = samples_.emplace_back();
    added.terms = &terms;
    auto& parts = added.parts;
    std::uint64_t all = 0;
    for (const Element& term : sample)
        if (is_on_heap(term))
            if (const Count words = measures.flat_words(term); words.has()) {
                all = saturating_add(all, *words);
                parts.emplace_back(*words, term);
            }
    const std::uint64_t least = std::max(least_words, all / least_share);
    std::erase_if(parts, [&](const auto& each) { return each.first < least; });
    for (std::size_t looked = 0; looked < parts.size() && parts.size() < most_parts_of_sample; ++looked)
        for_elements(terms, Element(parts[looked].second), [&](const Element& element) {
            if (parts.size() >= most_parts_of_sample || !is_on_heap(element)) return;
            if (const Count size = measures.flat_words(element); size.value_or(0) >= least)
                parts.emplace_back(*size, element);
        });
}

bool CommonParts::has(std::size_t sample, const CommonPart& part) const {
    if (sample >= samples_.size()) return false;
    return std::ranges::any_of(samples_[sample].parts, [&](const auto& each) {
        return each.first == part.words &&
               term_digest(*samples_[sample].terms, each.second, most_objects_of_part) == part.digest;
    });
}

// Whether enough of the samples have parts of this size that begin with the same.
bool CommonParts::begin_alike(std::uint64_t words, std::size_t of, std::size_t least) const {
    std::map<std::uint64_t, std::set<std::size_t>> found;
    for (std::size_t i = 0; i < of; ++i)
        for (const auto& [size, term] : samples_[i].parts)
            if (size == words)
                if (const auto digest = beginning_digest(*samples_[i].terms, term)) found[*digest].insert(i);
    return std::ranges::any_of(found, [&](const auto& each) { return each.second.size() >= least; });
}

// What most of the samples have of this size; given up where too few can still have the same.
std::optional<CommonPart> CommonParts::of_size(std::uint64_t words, std::size_t of, std::size_t least) const {
    struct Same {
        std::vector<std::size_t> samples;
        std::set<std::uint64_t> addresses;  // equal ones are shared
        std::pair<TermSource*, Element> first;
    };
    std::map<std::uint64_t, Same> found;
    std::size_t most = 0;
    for (std::size_t i = 0; i < of && most + (of - i) >= least; ++i)
        for (const auto& [size, term] : samples_[i].parts) {
            if (size != words) continue;
            const auto digest = term_digest(*samples_[i].terms, term, most_objects_of_part);
            if (!digest) continue;
            Same& same = found[*digest];
            if (same.samples.empty()) same.first = {samples_[i].terms, term};
            if (same.samples.empty() || same.samples.back() != i) same.samples.push_back(i);
            same.addresses.insert(term.address);
            most = std::max(most, same.samples.size());
        }
    for (auto& [digest, same] : found)
        if (same.samples.size() >= least && same.addresses.size() >= least)
            return CommonPart{digest, words, shape_in_words(*same.first.first, same.first.second),
                              std::move(same.samples)};
    return std::nullopt;
}

std::optional<CommonPart> CommonParts::best(std::size_t of) const {
    of = std::min(of, samples_.size());
    const std::size_t least = std::max(least_with_it, (of * 3 + 3) / 4);
    std::map<std::uint64_t, std::size_t, std::greater<>> sizes;
    for (std::size_t i = 0; i < of; ++i) {
        std::set<std::uint64_t> own;
        for (const auto& [words, term] : samples_[i].parts) own.insert(words);
        for (const std::uint64_t words : own) ++sizes[words];
    }
    std::size_t left = most_sizes;
    for (const auto& [words, samples] : sizes) {
        if (samples < least) continue;
        if (left-- == 0) break;
        if (!begin_alike(words, of, least)) continue;
        if (auto found = of_size(words, of, least)) return found;
    }
    return std::nullopt;
}

}  // namespace beamheap::analyses
