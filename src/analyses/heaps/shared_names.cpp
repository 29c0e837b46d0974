// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/shared_names.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/base/allocated_words.hpp"
#include "analyses/processes/waits.hpp"
#include "erlang/erlang_syntax.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t least_alike = 20;                // who wait in one function, of
constexpr std::size_t part_of_all = 5;                 // a fifth of all processes
constexpr std::size_t most_read = 12, least_read = 4;  // of them
constexpr std::uint64_t largest_read = 20'000;         // words of the heap of one that is read
constexpr std::uint32_t frames_read = 2;

constexpr std::array<std::string_view, 14> words_for_anything{"ok",       "error",    "true",    "false", "undefined",
                                                              "nil",      "infinity", "normal",  "none",  "timeout",
                                                              "continue", "reply",    "noreply", "stop"};

// Some of those who wait in each function in which many do, from all over the table.
std::vector<bool> chosen(const Snapshot& s) {
    std::vector<std::uint64_t> waiting(s.functions.size()), met(s.functions.size()), taken(s.functions.size());
    const auto counts = [&](const Process& process) {
        return process.state == ProcessState::waiting && process.current_function != FunctionId::none &&
               allocated_words(process) <= largest_read;
    };
    for (const Process& process : s.processes)
        if (counts(process)) ++waiting[index_of(process.current_function)];
    const auto is_crowd = [&](std::size_t i) {
        return waiting[i] >= least_alike && waiting[i] * part_of_all >= s.processes.size() &&
               !is_idle_function(s, FunctionId{static_cast<std::uint32_t>(i)});
    };
    std::vector<bool> crowds(s.functions.size());
    bool any = false;
    for (std::size_t i = 0; i < crowds.size(); ++i) any |= crowds[i] = is_crowd(i);
    if (!any) return {};
    std::vector<bool> found(s.processes.size());
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const Process& process = s.processes[i];
        if (!counts(process) || !crowds[index_of(process.current_function)]) continue;
        const std::size_t function = index_of(process.current_function);
        if (met[function]++ * most_read < taken[function] * waiting[function]) continue;
        ++taken[function];
        found[i] = true;
    }
    return found;
}

using Names = std::pair<std::set<Pid>, std::set<std::string>>;  // pids, and atoms

Names names_in(TermSource& terms) {
    Names found;
    const RootList& roots = terms.graph().roots();
    for (std::size_t i = 0; i < roots.size(); ++i) {
        if (roots[i].kind != RootKind::stack || roots[i].frame >= frames_read) continue;
        const Element term = terms.root(i);
        if (term.kind == ElementKind::pid && term.pid.node == 0) found.first.insert(term.pid);
        if (term.kind == ElementKind::atom &&
            std::ranges::find(words_for_anything, term.text) == words_for_anything.end())
            found.second.emplace(term.text);
    }
    return found;
}

template <class T>
void keep_common(std::set<T>& names, const std::set<T>& others) {
    std::erase_if(names, [&](const T& each) { return !others.contains(each); });
}

// Whom, or what, all of them name; nothing where that is nobody, or several.
bool tell(const Snapshot& s, const Names& common, SharedName& found) {
    std::set<ProcId> processes;
    for (const Pid& pid : common.first)
        if (const ProcId id = s.find(pid); id != ProcId::none) processes.insert(id);
    std::vector<std::string> others;
    for (const std::string& atom : common.second) {
        const ProcId named = s.find_registered(atom);
        if (named != ProcId::none) processes.insert(named);
        else if (std::ranges::none_of(s.modules, [&](const Module& module) { return s.text(module.name) == atom; }))
            others.push_back(atom);
    }
    if (processes.size() == 1) found.process = *processes.begin();
    if (!processes.empty()) return processes.size() == 1;
    if (others.size() != 1) return false;
    found.atom = parse_term(atom_text(others.front()));
    return true;
}

}  // namespace

bool MayNameAlike::operator()(const Snapshot& s, ProcId process) {
    if (!std::exchange(known_, true)) chosen_ = chosen(s);
    return index_of(process) < chosen_.size() && chosen_[index_of(process)];
}

std::vector<SharedName> shared_names(Artifact& artifact) {
    const Snapshot& s = artifact.snapshot();
    std::vector<SharedName> found;
    const std::vector<bool> read = chosen(s);
    std::map<std::pair<FunctionId, FunctionId>, std::vector<ProcId>> places;
    for (std::uint32_t i = 0; i < read.size(); ++i) {
        if (!read[i]) continue;
        const FunctionId caller = waits_on_behalf(s, s.processes[i]);
        if (caller != FunctionId::none) places[{s.processes[i].current_function, caller}].push_back(ProcId{i});
    }
    for (const auto& [place, members] : places) {
        if (members.size() < least_read) continue;
        Names common;
        bool all = true;
        for (std::size_t i = 0; i < members.size() && all; ++i) {
            const auto terms = artifact.terms(members[i]);
            all = static_cast<bool>(terms);
            if (!all) break;
            const Names here = names_in(**terms);
            if (i == 0) common = here;
            keep_common(common.first, here.first);
            keep_common(common.second, here.second);
            all = !common.first.empty() || !common.second.empty();
        }
        SharedName name;
        name.function = place.first;
        name.caller = place.second;
        if (all && tell(s, common, name)) found.push_back(std::move(name));
    }
    return found;
}

}  // namespace beamheap::analyses
