// SPDX-License-Identifier: Apache-2.0
// literals: persistent terms, or the constants of generated modules, are a large part of the node.
//
// Theory. What persistent_term:put/2 keeps and the constants of loaded modules are literals: one copy for all
// processes, in memory of their own (literal_alloc) that belongs to no heap, so that reading them copies nothing. No
// collection touches them: a persistent term stays until it is erased, a constant until its module is purged. Who keeps
// sessions there, or compiles a module for each template or configuration and loads it, has a leak that no process
// shows, and that erlang:memory/0 counts as system alone.
//
// Thresholds: a quarter of the node's memory and 8 MiB is medium, half of it and 64 MiB high. The blocks of
// literal_alloc are what is counted: what lies free in its carriers belongs to allocator-loss.
#include <algorithm>

#include "analyses/memory/allocators.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace literals_rule {
namespace {

constexpr double medium_percent = 25;
constexpr double high_percent = 50;
constexpr std::uint64_t least_bytes = std::uint64_t{8} << 20;
constexpr std::uint64_t high_bytes = std::uint64_t{64} << 20;

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const AllocatorReport report = allocators(s);
    const auto literals = std::ranges::find_if(
        report.types, [&](const AllocatorUse& use) { return s.text(use.name) == "literal_alloc"; });
    if (literals == report.types.end()) return;
    const Count used = literals->block_bytes;
    const double percent = percent_of(used, node_bytes(facts)).value_or(0);
    if (used.value_or(0) < least_bytes || percent < medium_percent) return;

    Finding finding;
    finding.severity = percent >= high_percent && *used >= high_bytes ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::allocator, sentence("{}", of_vm(s.text(literals->name)))};
    finding.count = s.node.persistent_terms;
    finding.bytes = used;
    finding.percent = percent;
    finding.title.say("Literals take {} ({} of the node's memory): ", bytes(*used), Percent{percent});
    if (s.node.persistent_terms.has())
        finding.title.say("{}", Counted{*s.node.persistent_terms, "persistent term", "persistent terms"});
    else finding.title.say("persistent terms");
    if (s.modules.empty()) finding.title.say(", and the constants of modules");
    else finding.title.say(", and the constants of {}", Counted{s.modules.size(), "module", "modules"});
    finding.evidence = {figure("blocks of literal_alloc", used, AmountUnit::bytes),
                        figure("the node", node_bytes(facts), AmountUnit::bytes)};
    if (s.node.persistent_terms.has())
        finding.evidence.push_back(figure("persistent terms", s.node.persistent_terms, AmountUnit::count));
    if (!s.modules.empty()) finding.evidence.push_back(figure("modules", s.modules.size(), AmountUnit::count));
    if (s.node.current_code_bytes.has())
        finding.evidence.push_back(figure("their code", s.node.current_code_bytes, AmountUnit::bytes));
    finding.advise(
        "Find what is kept in persistent_term: it is for what seldom changes and is bounded. What comes and goes "
        "(sessions, caches) belongs in ETS. On a living node: persistent_term:info(), persistent_term:get().");
    finding.advise("Or modules that are made while the node runs, each with its constants: `beamheap modules DUMP`");
    finding.advise("See the memory of literal_alloc beside that of the others: `beamheap alloc DUMP`");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace literals_rule

Rule literals() { return {"literals", 145, literals_rule::run}; }

}  // namespace beamheap::analyses::rule
