// ets-growth: one ETS table, or one owner's tables, are a large part of the node.
//
// Theory. ETS tables live outside of the heaps: no garbage collection touches them, and an object stays until somebody
// deletes it or the owner ends. So a table without a way to delete grows until the node ends, and whoever looks at
// processes alone sees nothing. A second form is tables that are made and forgotten: thousands of them by one owner,
// each small.
//
// Thresholds: a table with a quarter of the node's memory and 4 MiB is medium, with half of it high. One owner with 100
// tables that are half of all is medium, with 1,000 tables high. What a table holds by intent (a cache, a configured
// store) is found as well: how much it is, is a fact; whether it should be, the reader knows.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/processes/inventory.hpp"
#include "analyses/base/erlang_syntax.hpp"
#include "analyses/rules/rule_list.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr double medium_percent = 25;
constexpr double high_percent = 50;
constexpr std::uint64_t least_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t many_tables = 100;
constexpr std::uint64_t very_many_tables = 1000;
constexpr std::size_t most_findings = 3;

std::string owner_text(const RuleInput& input, const Owner& owner) {
    return owner.alive() ? process_text(input, owner.process) : pid_text(owner.pid) + ", which is gone";
}

void large_table(const RuleInput& input, const EtsUse& use, const EtsReport& report, double percent,
                 Findings& findings) {
    const Snapshot& s = input.snapshot;
    const EtsTable& table = s.ets[use.table];
    const std::string name(s.text(table.name != TextId::none ? table.name : table.id));
    Finding finding;
    finding.severity = percent >= high_percent ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::table, name};
    finding.process = use.owner.process;
    finding.pid = use.owner.pid;
    if (use.owner.name != TextId::none) finding.name = s.text(use.owner.name);
    finding.count = table.objects;
    finding.bytes = use.bytes;
    finding.percent = percent;
    finding.title = fmt::format(
        "ETS table {} holds {}{}: {} of the node's memory; its owner is {}", name, human_bytes(*use.bytes),
        table.objects.has() ? fmt::format(" in {}", counted(*table.objects, "object", "objects")) : std::string(),
        human_percent(percent), owner_text(input, use.owner));
    finding.evidence.push_back(figure("the table", use.bytes, EvidenceUnit::bytes));
    if (table.objects.has()) finding.evidence.push_back(figure("objects", table.objects, EvidenceUnit::count));
    finding.evidence.push_back(figure("all tables", report.bytes.value(), EvidenceUnit::bytes));
    finding.evidence.push_back(figure("the node", node_bytes(input), EvidenceUnit::bytes));
    if (table.type != TextId::none) finding.evidence.push_back(fact("type", std::string(s.text(table.type))));
    if (use.owner.alive()) finding.evidence.push_back(fact("its owner", doing(input, use.owner.process)));
    finding.next_steps = {
        "Look for what deletes from it: an entry that nobody deletes stays until its owner ends. Give entries a time "
        "to "
        "live, or bound the table.",
        "Watch ets:info(Table, memory) and size; words times the word size are the bytes told here.",
        "See all tables and owners: beamheap ets DUMP"};
    findings.push_back(std::move(finding));
}

void many_of_one(const RuleInput& input, const EtsOwner& owner, std::uint64_t all, Findings& findings) {
    Finding finding;
    if (owner.owner.alive())
        about(input, owner.owner.process, finding);
    else
        finding.pid = owner.owner.pid;
    finding.severity = owner.tables >= very_many_tables ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::table,
                       "tables of " + (owner.owner.alive() ? process_subject(input, owner.owner.process)
                                                           : std::string("a process that is gone"))};
    finding.count = owner.tables;
    finding.bytes = owner.bytes.value();
    finding.percent = *percent_of(owner.tables, all);
    finding.title = fmt::format("{} of {} ETS tables ({}) belong to {}", grouped(owner.tables), grouped(all),
                                human_percent(*finding.percent), owner_text(input, owner.owner));
    finding.evidence = {figure("tables of this owner", owner.tables, EvidenceUnit::count),
                        figure("memory in them", owner.bytes.value(), EvidenceUnit::bytes),
                        figure("objects in them", owner.objects.value(), EvidenceUnit::count)};
    finding.next_steps = {
        "Look for where it makes a table for every request or session, and delete it with what it was "
        "made for, or use one table with a longer key.",
        "See owners and tables: beamheap ets DUMP"};
    findings.push_back(std::move(finding));
}

}  // namespace

void ets_growth(const RuleInput& input, Findings& findings) {
    const EtsReport report = ets_tables(input.snapshot);
    const Count node = node_bytes(input);
    std::size_t left = most_findings;
    for (const EtsUse& use : report.tables) {
        const auto percent = percent_of(use.bytes, node);
        if (left == 0 || use.bytes.value_or(0) < least_bytes || percent.value_or(0) < medium_percent) break;
        large_table(input, use, report, *percent, findings);
        --left;
    }
    const auto most = std::ranges::max_element(report.owners, {}, &EtsOwner::tables);
    const std::uint64_t all = report.tables.size();
    if (most != report.owners.end() && most->tables >= many_tables && most->tables * 2 >= all)
        many_of_one(input, *most, all, findings);
}

}  // namespace beamheap::analyses::rule
