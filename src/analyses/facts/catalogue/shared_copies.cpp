// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/shared_copies.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "analyses/base/sum.hpp"
#include "analyses/heaps/copies.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_samples_of_copies = 5, most_parents = 3;
constexpr std::uint64_t least_of_copies = 50;           // processes
constexpr std::uint64_t least_copied_bytes = 4u << 20;  // on the heaps of these
constexpr std::uint64_t largest_sample = 50'000;        // words
constexpr std::uint64_t largest_parent = 500'000;
constexpr std::uint64_t least_copied_part = 4;  // of the memory of processes: a quarter

// What its heaps hold, in words; 0 where it can't be one of many copies.
std::uint64_t copyable_words(const Process& process) {
    const std::uint64_t used = used_words(process).value_or(0);
    return used >= CommonParts::least_words && used <= largest_sample ? used : 0;
}

std::vector<ProcId> parents_of_samples(const Snapshot& s, const std::vector<ProcId>& samples) {
    std::vector<ProcId> parents;
    for (const ProcId id : samples) {
        const ProcId parent = s[id].parent.has() ? s.find(s[id].parent) : ProcId::none;
        if (parent == ProcId::none || parents.size() == most_parents) continue;
        if (used_words(s[parent]).value_or(largest_parent) >= largest_parent) continue;
        if (std::ranges::find(parents, parent) == parents.end() && std::ranges::find(samples, parent) == samples.end())
            parents.push_back(parent);
    }
    return parents;
}

}  // namespace

std::vector<ProcId> copy_samples(const Snapshot& s) {
    std::uint64_t words = 0, many = 0, all = 0;
    for (const Process& process : s.processes) {
        all = saturating_add(all, process.memory_bytes.value_or(0));
        const std::uint64_t held = copyable_words(process);
        many += held != 0;
        words = saturating_add(words, held);
    }
    const std::uint64_t held = saturating_multiply(words, s.source.word_size);
    if (many < least_of_copies || held < least_copied_bytes || held < all / least_copied_part) return {};
    std::vector<ProcId> found;
    std::uint64_t passed = 0;
    for (std::uint32_t i = 0; i < s.processes.size() && found.size() < most_samples_of_copies; ++i) {
        const std::uint64_t words_of_it = copyable_words(s.processes[i]);
        if (words_of_it == 0) continue;
        passed = saturating_add(passed, words_of_it);
        if (passed >= words / most_samples_of_copies * found.size() + words / (2 * most_samples_of_copies))
            found.push_back(ProcId{i});
    }
    return found;
}

Result<SharedCopies> find_fact(FactOf<SharedCopies>, const Facts& facts, Artifact& artifact) {
    const Snapshot& s = facts.snapshot();
    const std::vector<ProcId> samples = copy_samples(s);
    if (samples.empty()) return SharedCopies{};
    CommonParts parts;
    std::vector<std::unique_ptr<TermSource>> sources;
    // Literals, which all of them refer to, are measured once, with the first.
    std::optional<TermMeasures> of_first;
    const auto look_at = [&](ProcId id) {
        auto terms = artifact.terms(id);
        std::vector<Element> roots;
        if (!terms) return parts.skip();
        TermSource& source = *sources.emplace_back(std::move(*terms));
        for (std::size_t i = 0; i < source.graph().roots().size(); ++i) roots.push_back(source.root(i));
        if (of_first) {
            TermMeasures measures(source, &*of_first);
            parts.add(source, measures, roots);
            return;
        }
        of_first.emplace(source);
        parts.add(source, *of_first, roots);
    };
    for (const ProcId id : samples) look_at(id);
    SharedCopies found;
    found.looked = samples.size();
    auto common = parts.best(samples.size());
    if (!common) return found;
    found.words = common->words;
    found.what = common->what;
    found.same = common->samples.size();
    found.example = samples[common->samples.front()];
    const std::vector<ProcId> parents = parents_of_samples(s, samples);
    for (const ProcId id : parents) look_at(id);
    for (std::size_t i = 0; i < parents.size() && found.original == ProcId::none; ++i)
        if (parts.has(samples.size() + i, *common)) found.original = parents[i];
    std::map<FunctionId, std::uint64_t> kinds;
    std::uint64_t words = 0;
    for (const std::size_t sample : common->samples) kinds.try_emplace(first_call(s[samples[sample]]), 0);
    for (const Process& process : s.processes) {
        const auto kind = kinds.find(first_call(process));
        const std::uint64_t used = used_words(process).value_or(0);
        // Its size is flat: what it has twice within itself, or of literals, is less on a heap.
        if (kind == kinds.end() || used < found.words / 2) continue;
        ++kind->second;
        ++found.processes;
        words = saturating_add(words, std::min(used, found.words));
    }
    found.bytes = saturating_multiply(words, s.source.word_size);
    std::vector<std::pair<std::uint64_t, FunctionId>> sorted;
    for (const auto& [kind, count] : kinds)
        if (kind != FunctionId::none) sorted.emplace_back(count, kind);
    std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& each) { return each.first; });
    for (const auto& [count, kind] : sorted) found.kinds.push_back(kind);
    return found;
}

namespace fact {
void shared_copies(FactNeeds& needs) {
    needs.plan.labels = true;
    needs.terms_of([](const Snapshot& s) {
        std::vector<ProcId> whose = copy_samples(s);
        const std::vector<ProcId> parents = parents_of_samples(s, whose);
        whose.insert(whose.end(), parents.begin(), parents.end());
        return whose;
    });
}
}  // namespace fact

}  // namespace beamheap::analyses
