// SPDX-License-Identifier: Apache-2.0
// untold-memory: much of what the node uses belongs to nobody whom the input names.
//
// Theory. What the VM counts as its own (erlang:memory(system)) is more than its tables: whatever is allocated for code
// in C, and is no heap, binary, table of ETS or module, is in there, without a name. In a node at rest that is a few
// megabytes. Arrays of atomics and counters (atomics:new/2, counters:new/2) are the only such memory of which a program
// in Erlang can get any amount: they are blocks of std_alloc, each held by the references to it, which may stand in any
// heap or table, and freed with the last of them (erl_bif_atomics.c, erl_bif_counters.c, erl_alloc.types). Other
// memory of that kind (compiled regular expressions, zlib, blocks of NIFs that use malloc through drivers) lies in
// std_alloc, driver_alloc or outside.
//
// A node that has met very many others has entries of them in std_alloc, too, of which dist_table and node_table tell
// a part.
//
// What driver_alloc has is asked of the same: memory that NIFs and drivers get by enif_alloc and driver_alloc, such as
// zlib's. Rows with references, or with pids of other nodes, and processes that are alike and hold references each, are
// who may have them; a crash dump tells neither rows nor which references are of resources, so there it is a guess.
//
// Thresholds: a quarter of the node's memory and 32 MiB is medium, half of it and 64 MiB high. The carriers of all
// schedulers together are not counted: only blocks that are in use.
#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/table_rows.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace untold_memory_rule {
namespace {

constexpr double medium_percent = 25;
constexpr double high_percent = 50;
constexpr std::uint64_t least_bytes = std::uint64_t{32} << 20;
constexpr std::uint64_t high_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t nodes_part = 4;  // of what is untold, in the tables of nodes
constexpr std::string_view holds_arrays = "std_alloc";
constexpr std::string_view holds_native = "driver_alloc";
constexpr std::uint64_t least_for_each = 1024;

// What the VM says of its tables of other nodes: each entry has more than these count beside it.
std::uint64_t tables_of_nodes(const Ledger& ledger) {
    std::uint64_t found = 0;
    for (const LedgerRow& row : ledger.rows)
        if (row.area == LedgerArea::vm && (row.owner.pattern == "dist_table" || row.owner.pattern == "node_table"))
            found = saturating_add(found, row.bytes);
    return found;
}

// What native code has got through the VM: resources of NIFs and data of drivers.
std::uint64_t of_native_code(const Ledger& ledger) {
    std::uint64_t found = 0;
    for (const LedgerRow& row : ledger.rows)
        if (row.area == LedgerArea::vm && row.owner.pattern == holds_native) found = saturating_add(found, row.bytes);
    return found;
}

// "500 processes of ws:loop/2 hold 2 references each, 270 KiB of it for each process": of those that are most
// like one another, where each has one.
bool say_who_refers(const Facts& facts, std::uint64_t bytes_of_it, Finding& finding) {
    const auto& alike = facts.get<Suspects>().alike;
    const Snapshot& s = facts.snapshot();
    std::uint64_t references = 0;
    std::size_t with = 0;
    for (const ProcId id : alike)
        if (const TermFacts* const seen = facts.get<SuspectTerms>().of(id); seen != nullptr && seen->references != 0) {
            ++with;
            if (references == 0) references = seen->references;
        }
    if (alike.empty() || with * 2 < alike.size() || first_call(s[alike.front()]) == FunctionId::none) return false;
    const FunctionId kind = first_call(s[alike.front()]);
    const auto count = static_cast<std::uint64_t>(
        std::ranges::count_if(s.processes, [&](const Process& each) { return first_call(each) == kind; }));
    if (bytes_of_it / count < least_for_each) return false;
    finding.behind.say("{} of {} hold {} each, {} of it for each process", processes(count), kind,
                       Counted{references, "reference", "references"}, bytes(bytes_of_it / count));
    finding.evidence.push_back(
        fact("one of those that hold references", sentence("{}", alike.front()), Confidence::estimate));
    finding.advise("See what keeps the references in one of them: {}", Command{"heap", s[alike.front()].pid});
    return true;
}

bool rows_of_other_nodes(const Facts& facts) {
    const RowsOfTable& rows = facts.get<CandidateRows>().rows;
    return rows.all(rows.of_other_nodes);
}

// The table whose rows may refer to it.
void say_table(const Facts& facts, std::uint64_t bytes_of_it, bool nodes, Finding& finding) {
    const RowsOfTable& rows = facts.get<CandidateRows>().rows;
    const Sentence table = candidate_table(facts, bytes_of_it, rows.looked == 0);
    if (table.empty()) return;
    const std::uint64_t with = nodes ? rows.of_other_nodes : rows.references;
    if (rows.looked != 0 && !rows.all(with)) return;
    if (rows.looked == 0) finding.behind.say("Rows may refer to it: {}", table);
    else if (nodes) finding.behind.say("Pids of other nodes stand in rows: {}", table);
    else finding.behind.say("References stand in rows: {}", table);
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Ledger& ledger = facts.get<Ledger>();
    const std::uint64_t native_bytes = of_native_code(ledger);
    const std::uint64_t nobodys = ledger.untold_bytes(LedgerArea::vm);
    const bool native = native_bytes > nobodys;
    const std::uint64_t of_nodes = tables_of_nodes(ledger);
    const bool nodes =
        !native && (of_nodes >= nobodys / nodes_part || (nobodys >= least_bytes && rows_of_other_nodes(facts)));
    const std::uint64_t untold = native ? native_bytes : nodes ? saturating_add(nobodys, of_nodes) : nobodys;
    const double percent = percent_of(untold, node_bytes(facts)).value_or(0);
    if (untold < least_bytes || percent < medium_percent) return;
    Finding finding;
    finding.severity =
        percent >= high_percent && untold >= high_bytes ? FindingSeverity::high : FindingSeverity::medium;
    finding.bytes = untold;
    finding.percent = percent;
    const bool arrays = !native && !nodes && ledger.untold_allocator == holds_arrays;
    if (native) finding.subject = {SubjectKind::allocator, sentence("{}", of_vm(holds_native))};
    else if (ledger.untold_allocator.empty()) finding.subject = {SubjectKind::node, Ours("untold memory")};
    else finding.subject = {SubjectKind::allocator, sentence("{}", of_vm(ledger.untold_allocator))};
    if (nodes)
        finding.title.say(
            "{} ({} of the node's memory) are entries of other nodes whose names this one has met, and the tables of "
            "these",
            bytes(untold), Percent{percent});
    else if (native)
        finding.title.say(
            "{} ({} of the node's memory) are of native code, which has them by driver_alloc: resources of NIFs such "
            "as zlib streams, or data of drivers",
            bytes(untold), Percent{percent});
    else if (arrays)
        finding.title.say(
            "{} ({} of the node's memory) belong to no process, table, binary or module: most likely arrays of atomics "
            "or counters, which lie in std_alloc",
            bytes(untold), Percent{percent});
    else {
        finding.title.say("{} ({} of the node's memory) belong to no process, table, binary or module", bytes(untold),
                          Percent{percent});
        if (!ledger.untold_allocator.empty())
            finding.title.say("; most of it lies in {}", of_vm(ledger.untold_allocator));
    }
    finding.confidence = Confidence::estimate;
    finding.evidence = {
        figure(native ? Ours("blocks of driver_alloc") : Ours("in use, and nothing in the input says by whom"), untold,
               AmountUnit::bytes)};
    const bool told = native && say_who_refers(facts, untold, finding);
    if (!told && (native || nodes || arrays)) say_table(facts, untold, nodes, finding);
    if (!native && !ledger.untold_allocator.empty())
        finding.evidence.push_back(figure(sentence("of it in blocks of {}, at most", of_vm(ledger.untold_allocator)),
                                          ledger.untold_allocator_bytes, AmountUnit::bytes));
    finding.evidence.push_back(figure("the node", node_bytes(facts), AmountUnit::bytes));
    if (nodes)
        finding.advise(
            "An entry is kept for each node that a pid, port or reference of is left anywhere: give tools that connect "
            "again and again (remote shells, command lines) fixed names, and look for who keeps their pids.");
    if (arrays)
        finding.advise(
            "Look for `atomics:new/2` and `counters:new/2`: an array lives as long as anybody has its reference, so "
            "one for each client or window that is kept in a table stays until its row is deleted. See the tables: "
            "`beamheap ets DUMP`");
    finding.advise(
        "Look for native code (NIFs, drivers, ports' data) that allocates and does not free; memory that it takes from "
        "the system itself is in no figure of the VM's.");
    finding.advise(
        "See which allocator has it: `beamheap alloc DUMP`; and what is told of the rest: `beamheap ledger DUMP`");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace untold_memory_rule

Rule untold_memory() { return {"untold-memory", 146, untold_memory_rule::run}; }

}  // namespace beamheap::analyses::rule
