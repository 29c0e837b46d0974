// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/histogram.hpp"

#include <algorithm>

#include "analyses/heaps/live_garbage.hpp"

namespace beamheap::analyses {

template <class Wanted>
void Histogram::add_some(const Census& census, Wanted wanted) {
    census.each(wanted, [this](TermKind kind, const Census::Sum& sum) {
        count_[static_cast<std::size_t>(kind)] += sum.objects;
        words_[static_cast<std::size_t>(kind)] += sum.words;
    });
}

void Histogram::add(const Census& census) {
    add_some(census, [](std::uint8_t, bool) { return true; });
}

void Histogram::add_garbage(const Census& census) {
    add_some(census, [](std::uint8_t mark, bool) { return mark == Reach::by_garbage; });
}

void Histogram::add(const Histogram& other) {
    for (std::size_t i = 0; i < term_kinds; ++i) {
        count_[i] += other.count_[i];
        words_[i] += other.words_[i];
    }
}

std::vector<KindShare> Histogram::rows() const {
    std::vector<KindShare> rows;
    for (std::size_t i = 0; i < term_kinds; ++i)
        if (count_[i] != 0) rows.push_back({static_cast<TermKind>(i), count_[i], words_[i]});
    std::stable_sort(rows.begin(), rows.end(),
                     [](const KindShare& a, const KindShare& b) { return a.words > b.words; });
    return rows;
}

}  // namespace beamheap::analyses
