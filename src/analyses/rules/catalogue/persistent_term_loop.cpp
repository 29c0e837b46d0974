// SPDX-License-Identifier: Apache-2.0
// persistent-term-loop: persistent terms are replaced again and again.
//
// Theory. persistent_term:put/2 copies the whole table of keys, and when a term is replaced or erased, every process of
// the node is looked through for what it still has of the old one, and has that copied to its heap. It is made for what
// changes once in a long while. Who writes a counter or a cache there keeps all schedulers at that: the node is slow
// everywhere, and nothing of it is in a process that anybody knows. The scans are ordered by one process of the VM,
// erts_literal_area_collector, whose reductions count them; it has hardly any where terms are replaced seldom.
//
// Thresholds: it is at work, or somebody is in persistent_term:put/2 or erase/1, and it has done a fifth of all work
// and a million reductions (ten million where nobody is in them): medium. Half of all work and ten million: high.
#include <algorithm>
#include <string_view>

#include "analyses/facts/catalogue/multitudes.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/functions.hpp"

namespace beamheap::analyses::rule {
namespace persistent_term_loop_rule {
namespace {

using erlang::FunctionRole;

constexpr std::uint64_t least_reductions = 1'000'000, many_reductions = 10'000'000;
constexpr double least_percent = 20, many_percent = 50;

// The VM starts it before all else, so that it is among the first.
ProcId collector(const Snapshot& s) {
    for (std::uint32_t i = 0; i < s.processes.size() && i < 100; ++i)
        if (has_role(s, s.processes[i].initial_call, FunctionRole::frees_literals)) return ProcId{i};
    return ProcId::none;
}

// Whether it waits for answers of processes that are to look through their heaps: it has a list of those.
bool asks(const Facts& facts, ProcId collector) {
    return std::ranges::any_of(facts.get<Multitudes>().all, [&](const Multitude& each) {
        return each.owner == collector && each.of == Multitude::Of::elements;
    });
}

struct Writers {
    std::vector<ProcId> processes;
    FunctionId function = FunctionId::none;  // that the first of them has called
};

// Those that are in a function that changes persistent terms, or have called one as a trap shows.
Writers writers(const Snapshot& s) {
    Writers found;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const FunctionId function = s.processes[i].current_function;
        if (!has_role(s, function, FunctionRole::writes_persistent_terms)) continue;
        if (found.processes.empty()) found.function = function;
        found.processes.push_back(ProcId{i});
    }
    return found;
}

// For whom the first of them writes: the frame behind.
FunctionId caller_of_writer(const Snapshot& s, ProcId writer) {
    for (const Frame& frame : s.stacks[s[writer].stack])
        if (frame.function != FunctionId::none && !has_role(s, frame.function, FunctionRole::of_persistent_terms) &&
            frame.function != s[writer].current_function)
            return frame.function;
    return FunctionId::none;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const ProcId id = collector(s);
    if (id == ProcId::none) return;
    const Count done = s[id].reductions;
    const double percent = percent_of(done, facts.get<Totals>().reductions.value()).value_or(0);
    if (done.value_or(0) < least_reductions || percent < least_percent) return;
    const Writers found = writers(s);
    const bool at_work = s[id].state != ProcessState::waiting || s[id].msgq_len.value_or(0) != 0 || asks(facts, id);
    // Loading and dropping code makes it work, too: nobody who writes is seen then.
    if (found.processes.empty() && (!at_work || *done < many_reductions)) return;
    Finding finding;
    finding.severity =
        *done >= many_reductions && percent >= many_percent ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::node, Ours("persistent terms")};
    finding.count = found.processes.size();
    finding.percent = percent;
    finding.confidence = Confidence::estimate;
    finding.title.say("Persistent terms are replaced again and again, {} of all work", Percent{percent});
    if (!found.processes.empty()) {
        const ProcId writer = found.processes.front();
        finding.title.say(": {} in {}",
                          found.processes.size() == 1 ? sentence("{} is", writer)
                                                      : sentence("{} are", processes(found.processes.size())),
                          found.function);
        if (const FunctionId caller = caller_of_writer(s, writer); caller != FunctionId::none)
            finding.title.say(", called by {}", caller);
        finding.process = writer;
        finding.pid = s[writer].pid;
        finding.name = s[writer].name;
    }
    finding.evidence = {
        figure("reductions of the VM's collector of old terms", done, AmountUnit::count),
        figure("reductions of all processes", facts.get<Totals>().reductions.value(), AmountUnit::count),
        figure("processes that are looked through each time", s.processes.size(), AmountUnit::count),
        figure("processes that are writing one", found.processes.size(), AmountUnit::count)};
    if (s.node.persistent_terms.has())
        finding.evidence.push_back(figure("persistent terms", s.node.persistent_terms, AmountUnit::count));
    if (!found.processes.empty()) add_stack(facts, found.processes.front(), finding);
    finding.advise(
        "Keep what changes often in ETS (`read_concurrency`), or in `atomics` and `counters`; write a persistent term "
        "only when its value has changed, and many as one term.");
    if (!found.processes.empty())
        finding.advise("Look at who writes: {}", Command{"proc", s[found.processes.front()].pid});
    else
        finding.advise(
            "Find who writes, on a living node: `erlang:trace(all, true, [call])` and "
            "`erlang:trace_pattern({persistent_term, put, 2}, true)`.");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace persistent_term_loop_rule

Rule persistent_term_loop() { return {"persistent-term-loop", 53, persistent_term_loop_rule::run}; }

}  // namespace beamheap::analyses::rule
