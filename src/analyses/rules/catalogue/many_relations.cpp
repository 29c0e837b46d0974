// SPDX-License-Identifier: Apache-2.0
// many-relations: a process with very many monitors or links.
//
// Theory: processes/relations.hpp. Many monitors on one target from one process are a leak: each request made one, and
// nobody took it back; when the target ends, as many messages come at once. Many on different targets are as many as
// the system has of them and are told with less weight, those of supervisors not at all.
//
// Thresholds: 10,000 monitors on one target are medium, 100,000 high. 50,000 links or monitors of a process that is no
// supervisor are medium.
#include <algorithm>

#include "analyses/processes/relations.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/modules.hpp"

namespace beamheap::analyses::rule {
namespace many_relations_rule {
namespace {

constexpr std::uint64_t least_to_one = 10'000, many_to_one = 100'000;
constexpr std::uint64_t least_in_all = 50'000;
constexpr std::size_t most_findings = 3;

bool supervises(const Facts& facts, const Process& process) {
    const Snapshot& s = facts.snapshot();
    for (const FunctionId function : {process.real_initial_call, process.initial_call}) {
        if (erlang::is_called_supervisor(module_of(s, function))) return true;
    }
    return false;
}

// The server of the module timer monitors for each repeated timer who has set it, or the process that it is:
// many-timers tells those.
bool are_timers(const Snapshot& s, const Relations& row) {
    return s.text(s[row.process].name) == "timer_server" &&
           std::ranges::any_of(timer_crowds(s, least_to_one), [&](const TimersOfOne& each) {
               return each.process == row.process || each.repeated != 0;
           });
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::size_t left = most_findings;
    for (const Relations& row : relation_crowds(s, least_to_one)) {
        const Process& process = s[row.process];
        const bool leak = row.to_one >= least_to_one;
        const bool many = (row.links >= least_in_all || row.monitors >= least_in_all) && !supervises(facts, process);
        if ((!leak && !many) || are_timers(s, row)) continue;
        if (left-- == 0) break;
        const bool links = !leak && row.links > row.monitors;
        const Count heap =
            words_to_bytes(process.heap_words + Count(process.old_heap_words.value_or(0)), s.source.word_size);
        const Count outside = process.memory_bytes - heap;
        Finding finding;
        about(facts, row.process, finding);
        finding.severity = row.to_one >= many_to_one ? FindingSeverity::high : FindingSeverity::medium;
        finding.count = leak ? row.to_one : links ? row.links : row.monitors;
        finding.bytes = outside;
        if (leak)
            finding.title.say("{} holds {} on {}", row.process, Counted{row.to_one, "monitor", "monitors"},
                              link_text(row.target));
        else if (links) finding.title.say("{} is linked to {} others", row.process, number(row.links));
        else finding.title.say("{} holds {} on others", row.process, Counted{row.monitors, "monitor", "monitors"});
        if (outside.has()) finding.title.say("; {} of its memory are on no heap", bytes(*outside));
        finding.evidence = {figure("monitors that it holds", row.monitors, AmountUnit::count),
                            figure("of them on the same one", row.to_one, AmountUnit::count),
                            figure("links", row.links, AmountUnit::count),
                            figure("its memory", process_bytes(facts, process), AmountUnit::bytes),
                            figure("of it outside its heaps", outside, AmountUnit::bytes)};
        add_stack(facts, row.process, finding);
        if (leak && s.text(process.name) == "timer_server")
            finding.advise(
                "Each is a repeated timer of the module `timer` for that process (`timer:send_interval`, "
                "`timer:apply_interval`) that nobody has cancelled: `timer:cancel/1`, or one `erlang:send_after/3` at "
                "a time.");
        else if (leak)
            finding.advise(
                "Take each monitor back when its request is done: `erlang:demonitor/2` with [flush]; or monitor the "
                "target once.");
        else finding.advise("Look whether all of them are still needed: {}", Command{"proc", process.pid});
        finding.advise(
            "When one side ends, each of them becomes a message or a signal at once: expect as long a queue.");
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace many_relations_rule

Rule many_relations() { return {"many-relations", 78, many_relations_rule::run}; }

}  // namespace beamheap::analyses::rule
