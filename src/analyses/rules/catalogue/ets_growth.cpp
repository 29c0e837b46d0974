// ets-growth: one ETS table, or one owner's tables, are a large part of the node.
//
// Theory. ETS tables live outside of the heaps: no garbage collection touches them, and an object stays until somebody
// deletes it or the owner ends. So a table without a way to delete grows until the node ends, and whoever looks at
// processes alone sees nothing. A second form is tables that are made and forgotten: thousands of them by one owner,
// each small.
//
// Thresholds: a table with a quarter of the node's memory and 4 MiB is medium, with half of it and 64 MiB high. One owner with 100
// tables that are half of all is medium, with 1,000 tables high. What a table holds by intent (a cache, a configured
// store) is found as well: how much it is, is a fact; whether it should be, the reader knows.
#include <algorithm>

#include "analyses/processes/inventory.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr double medium_percent = 25;
constexpr double high_percent = 50;
constexpr std::uint64_t least_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t high_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t many_tables = 100;
constexpr std::uint64_t very_many_tables = 1000;
constexpr std::size_t most_findings = 3;

Sentence owner_text(const Owner& owner) {
    return owner.alive() ? sentence("{}", owner.process) : sentence("{}, which is gone", owner.pid);
}

void large_table(const RuleInput& input, const EtsUse& use, const EtsReport& report, double percent,
                 std::vector<Finding>& findings) {
    const Snapshot& s = input.snapshot;
    const EtsTable& table = s.ets[use.table];
    const Name name{table.name != TextId::none ? table.name : table.id};
    Finding finding;
    finding.severity =
        percent >= high_percent && *use.bytes >= high_bytes ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::table, sentence("{}", name)};
    finding.process = use.owner.process;
    finding.pid = use.owner.pid;
    finding.name = use.owner.name;
    finding.count = table.objects;
    finding.bytes = use.bytes;
    finding.percent = percent;
    finding.title.say("ETS table {} holds {}", name, bytes(*use.bytes));
    if (table.objects.has()) finding.title.say(" in {}", Counted{*table.objects, "object", "objects"});
    finding.title.say(": {} of the node's memory; its owner is {}", Percent{percent}, owner_text(use.owner));
    finding.evidence.push_back(figure("the table", use.bytes, AmountUnit::bytes));
    if (table.objects.has()) finding.evidence.push_back(figure("objects", table.objects, AmountUnit::count));
    finding.evidence.push_back(figure("all tables", report.bytes.value(), AmountUnit::bytes));
    finding.evidence.push_back(figure("the node", node_bytes(input), AmountUnit::bytes));
    if (table.type != TextId::none) finding.evidence.push_back(fact("type", sentence("{}", of_vm(s.text(table.type)))));
    if (use.owner.alive()) finding.evidence.push_back(fact("its owner", doing(input, use.owner.process)));
    finding.advise(
        "Look for what deletes from it: an entry that nobody deletes stays until its owner ends. Give entries a time to "
        "live, or bound the table.");
    finding.advise("Watch ets:info(Table, memory) and size; words times the word size are the bytes told here.");
    finding.advise("See all tables and owners: `beamheap ets DUMP`");
    findings.push_back(std::move(finding));
}

void many_of_one(const RuleInput& input, const EtsOwner& owner, std::uint64_t all, std::vector<Finding>& findings) {
    Finding finding;
    if (owner.owner.alive())
        about(input, owner.owner.process, finding);
    else
        finding.pid = owner.owner.pid;
    finding.severity = owner.tables >= very_many_tables ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::table,
                       owner.owner.alive() ? sentence("tables of {}", process_subject(input, owner.owner.process))
                                           : Sentence(Ours("tables of a process that is gone"))};
    finding.count = owner.tables;
    finding.bytes = owner.bytes.value();
    finding.percent = *percent_of(owner.tables, all);
    finding.title.say("{} of {} ETS tables ({}) belong to {}", number(owner.tables), number(all),
                      Percent{*finding.percent}, owner_text(owner.owner));
    finding.evidence = {figure("tables of this owner", owner.tables, AmountUnit::count),
                        figure("memory in them", owner.bytes.value(), AmountUnit::bytes),
                        figure("objects in them", owner.objects.value(), AmountUnit::count)};
    finding.advise(
        "Look for where it makes a table for every request or session, and delete it with what it was made for, or use "
        "one table with a longer key.");
    finding.advise("See owners and tables: `beamheap ets DUMP`");
    findings.push_back(std::move(finding));
}

// Tables that mnesia makes for each transaction and deletes with it, which are as many as there are transactions.
std::uint64_t transactions_stores(const Snapshot& s, const EtsReport& report, const EtsOwner& owner) {
    return static_cast<std::uint64_t>(std::ranges::count_if(report.tables, [&](const EtsUse& use) {
        return use.owner.pid == owner.owner.pid && s.text(s.ets[use.table].name) == "mnesia_trans_store";
    }));
}

void run(const RuleInput& input, std::vector<Finding>& findings) {
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
    if (most == report.owners.end()) return;
    const std::uint64_t stores = transactions_stores(input.snapshot, report, *most);
    if (most->tables - stores >= many_tables && (most->tables - stores) * 2 >= all)
        many_of_one(input, *most, all, findings);
}

}  // namespace

Rule ets_growth() { return {"ets-growth", 140, run}; }

}  // namespace beamheap::analyses::rule
