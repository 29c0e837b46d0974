// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/state_names.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analyses/heaps/loop_state.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "erlang/behaviours.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t least_crowd = 48, samples_each = 16, least_looked = 8, most_crowds = 4;
constexpr std::uint64_t largest_machine = 100'000;  // words

bool rests_as_machine(const Snapshot& s, const Process& process) {
    const erlang::LoopKind kind = erlang::loop_of(module_of(s, process.current_function));
    return kind == erlang::LoopKind::state_machine || kind == erlang::LoopKind::old_state_machine;
}

// Some of each of the largest crowds with one parent; what they were started as is not known before their labels are.
std::vector<ProcId> sampled_machines(const Snapshot& s) {
    if (s.processes.size() < least_crowd) return {};
    std::map<FunctionId, bool> machines;
    std::map<std::pair<Pid, FunctionId>, std::vector<ProcId>> crowds;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const Process& process = s.processes[i];
        if (process.current_function == FunctionId::none || used_words(process).value_or(0) > largest_machine) continue;
        const auto [known, is_new] = machines.try_emplace(process.current_function, false);
        if (is_new) known->second = rests_as_machine(s, process);
        if (known->second) crowds[{process.parent, process.current_function}].push_back(ProcId{i});
    }
    std::vector<const std::vector<ProcId>*> large;
    for (const auto& [key, members] : crowds)
        if (members.size() >= least_crowd) large.push_back(&members);
    std::ranges::stable_sort(large, std::ranges::greater(), [](const auto* each) { return each->size(); });
    if (large.size() > most_crowds) large.resize(most_crowds);
    std::vector<ProcId> found;
    for (const auto* members : large)
        for (std::size_t i = 0; i < samples_each; ++i) found.push_back((*members)[i * members->size() / samples_each]);
    return found;
}

}  // namespace

const StateOfKind* StateNames::of(FunctionId kind) const {
    const auto found = std::ranges::find(all, kind, &StateOfKind::kind);
    if (kind == FunctionId::none || found == all.end() || found->looked < least_looked) return nullptr;
    return found->in_it * 4 < found->looked * 3 ? nullptr : &*found;
}

Result<StateNames> find_fact(FactOf<StateNames>, const Facts& facts, Artifact& artifact) {
    const Snapshot& s = facts.snapshot();
    std::map<FunctionId, std::map<std::string, std::uint64_t>> counts;
    for (const ProcId id : sampled_machines(s)) {
        const auto terms = artifact.terms(id);
        if (!terms) continue;
        const auto state = loop_state(s, id, **terms);
        if (!state || !TermReader::is_atom(state->state_name)) continue;
        ++counts[first_call(s[id])][std::string(state->state_name.text)];
    }
    StateNames found;
    for (const auto& [kind, names] : counts) {
        StateOfKind& row = found.all.emplace_back();
        row.kind = kind;
        for (const auto& [name, count] : names) {
            row.looked += count;
            if (count > row.in_it) row.in_it = count, row.name = name;
        }
    }
    return found;
}

namespace fact {
void state_names(FactNeeds& needs) {
    needs.plan.labels = true;
    needs.terms_of(sampled_machines);
}
}  // namespace fact

}  // namespace beamheap::analyses
