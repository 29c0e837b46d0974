// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/function_words.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "analyses/base/sum.hpp"

namespace beamheap::analyses {
namespace {

// Makes one row of those from `first` on that are of the same function or place.
void add_up(std::vector<FunctionWords>& rows, std::size_t first) {
    const auto key = [](const FunctionWords& row) { return std::tuple(index_of(row.function), row.place); };
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, rows.end(), [&key](const FunctionWords& a, const FunctionWords& b) { return key(a) < key(b); });
    auto kept = begin;
    for (auto row = begin; row != rows.end(); ++row) {
        if (row != begin && key(*row) == key(*std::prev(kept))) {
            std::prev(kept)->frames += row->frames;
            std::prev(kept)->words = saturating_add(std::prev(kept)->words, row->words);
        } else {
            *kept++ = *row;
        }
    }
    rows.erase(kept, rows.end());
}

}  // namespace

std::vector<FunctionWords> function_words(const Snapshot& snapshot, const std::vector<HeapStats::FramesOf>& frames_of,
                                          const std::vector<bool>& wanted, bool per_process) {
    std::vector<FunctionWords> all;
    std::size_t
        first = 0,
        most = 4096;  // rows that may stand for one another begin at `first`; without `per_process` at most so many
    for (const HeapStats::FramesOf& each : frames_of) {
        if (!wanted[index_of(each.process)]) continue;
        if (per_process && !all.empty() && all.back().process != each.process) first = all.size();
        const auto frames = snapshot.stacks[snapshot[each.process].stack];
        for (const PlaceWords& charged : each.places) {
            FunctionWords& row = all.emplace_back();
            const bool frame = charged.frame < frames.size();
            row.process = per_process ? each.process : ProcId::none;
            row.function = frame ? frames[charged.frame].function : FunctionId::none;
            row.place = frame ? 0 : std::max(charged.frame, PlaceWords::dictionary);
            row.frames = frame ? 1 : 0;
            row.words = charged.words;
        }
        if (!per_process && all.size() < most) continue;
        add_up(all, first);
        most = std::max(most, 2 * all.size());
    }
    add_up(all, first);
    const auto name = [&snapshot](const FunctionWords& row) {
        const Function f = row.function == FunctionId::none ? Function{} : snapshot.functions[row.function];
        return std::tuple(row.function == FunctionId::none, snapshot.text(f.module), snapshot.text(f.name), f.arity);
    };
    std::stable_sort(all.begin(), all.end(), [&name](const FunctionWords& a, const FunctionWords& b) {
        if (a.words != b.words) return a.words > b.words;
        return a.process != b.process ? index_of(a.process) < index_of(b.process) : name(a) < name(b);
    });
    return all;
}

}  // namespace beamheap::analyses
