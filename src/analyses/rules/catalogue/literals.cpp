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
// literal_alloc are what is counted: what lies free in its carriers belongs to allocator-loss. Literals have an area of
// a fixed size (erl_mmap.c, +MIscs): a node that was refused memory of it has filled that, which is critical.
#include <algorithm>

#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/node_figures.hpp"
#include "analyses/facts/catalogue/persistent_keys.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace literals_rule {
namespace {

constexpr double medium_percent = 25;
constexpr double high_percent = 50;
constexpr std::uint64_t least_bytes = std::uint64_t{8} << 20;
constexpr std::uint64_t high_bytes = std::uint64_t{64} << 20;

// "The 12 with keys {geo, ranges, integer} hold 75.3 MiB": of those that hold most, where that is much.
void say_keys(const Facts& facts, std::uint64_t used, Finding& finding) {
    constexpr std::uint64_t much = 5;  // a fifth
    const auto& families = facts.get<PersistentKeys>().families;
    if (families.empty()) return;
    const PersistentFamily& most = families.front();
    const std::uint64_t held = saturating_multiply(most.words, facts.snapshot().source.word_size);
    if (held < used / much) return;
    if (most.keys == 1) finding.behind.say("The persistent term of key {} holds {}", most.form, bytes(held));
    else finding.behind.say("The {} with keys {} hold {}", number(most.keys), most.form, bytes(held));
    finding.evidence.push_back(figure("of them, in values of these keys", held, AmountUnit::bytes));
    if (most.keys > 1)
        finding.advise(
            "Put the new value under the old key, or erase the old key (`persistent_term:erase/1`): a key that nobody "
            "asks for any more keeps its value as well.");
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const AllocatorReport& report = facts.get<AllocatorReport>();
    const auto literals = std::ranges::find_if(
        report.types, [&](const AllocatorUse& use) { return s.text(use.name) == "literal_alloc"; });
    if (literals == report.types.end()) return;
    const Count used = literals->block_bytes;
    const double percent = percent_of(used, node_bytes(facts)).value_or(0);
    if (used.value_or(0) < least_bytes || percent < medium_percent) return;

    Finding finding;
    const Slogan& slogan = facts.get<Slogan>();
    const bool full = slogan.kind == SloganKind::out_of_memory && slogan.allocator == "literal_alloc";
    finding.severity = full                                             ? FindingSeverity::critical
                       : percent >= high_percent && *used >= high_bytes ? FindingSeverity::high
                                                                        : FindingSeverity::medium;
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
    if (full) {
        finding.title.say("; their area is full");
        finding.advise("The area's size is set at the start: +MIscs, in MiB (1024 unless it is given).");
    }
    say_keys(facts, *used, finding);
    finding.evidence.push_back(figure("blocks of literal_alloc", used, AmountUnit::bytes));
    finding.evidence.push_back(figure("the node", node_bytes(facts), AmountUnit::bytes));
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
