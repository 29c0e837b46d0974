#include "analyses/diagnosis/function_words.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/base/sum.hpp"

namespace beamheap::analyses {

std::vector<FunctionWords> function_words(const Snapshot& snapshot, const std::vector<HeapStats::FramesOf>& frames_of,
                                          const std::vector<bool>& wanted, bool per_process) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, FunctionWords> rows;
    for (const HeapStats::FramesOf& each : frames_of) {
        if (!wanted[index_of(each.process)]) continue;
        const auto frames = snapshot.stacks[snapshot[each.process].stack];
        const ProcId process = per_process ? each.process : ProcId::none;
        for (const PlaceWords& charged : each.places) {
            const bool frame = charged.frame < frames.size();
            const FunctionId function = frame ? frames[charged.frame].function : FunctionId::none;
            const std::uint32_t place = frame ? 0 : std::max(charged.frame, PlaceWords::dictionary);
            FunctionWords& row = rows[{index_of(process), index_of(function), place}];
            row.process = process;
            row.function = function;
            row.place = place;
            row.frames += frame ? 1 : 0;
            row.words = saturating_add(row.words, charged.words);
        }
    }
    std::vector<FunctionWords> all;
    for (const auto& [key, row] : rows) all.push_back(row);
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
