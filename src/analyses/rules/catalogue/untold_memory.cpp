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
// Thresholds: a quarter of the node's memory and 32 MiB is medium, half of it and 64 MiB high. The carriers of all
// schedulers together are not counted: only blocks that are in use.
#include "analyses/base/sum.hpp"
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

// What the VM says of its tables of other nodes: each entry has more than these count beside it.
std::uint64_t tables_of_nodes(const Ledger& ledger) {
    std::uint64_t found = 0;
    for (const LedgerRow& row : ledger.rows)
        if (row.area == LedgerArea::vm && (row.owner.pattern == "dist_table" || row.owner.pattern == "node_table"))
            found = saturating_add(found, row.bytes);
    return found;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Ledger& ledger = facts.get<Ledger>();
    const std::uint64_t untold = ledger.untold_bytes(LedgerArea::vm);
    const double percent = percent_of(untold, node_bytes(facts)).value_or(0);
    if (untold < least_bytes || percent < medium_percent) return;
    Finding finding;
    finding.severity =
        percent >= high_percent && untold >= high_bytes ? FindingSeverity::high : FindingSeverity::medium;
    finding.bytes = untold;
    finding.percent = percent;
    const std::uint64_t of_nodes = tables_of_nodes(ledger);
    const bool nodes = of_nodes >= untold / nodes_part;
    const bool arrays = !nodes && ledger.untold_allocator == holds_arrays;
    if (ledger.untold_allocator.empty()) finding.subject = {SubjectKind::node, Ours("untold memory")};
    else finding.subject = {SubjectKind::allocator, sentence("{}", of_vm(ledger.untold_allocator))};
    finding.title.say("{} ({} of the node's memory) belong to no process, table, binary or module", bytes(untold),
                      Percent{percent});
    if (nodes)
        finding.title.say(
            "; like the {} of dist_table and node_table it is most likely of other nodes whose names this one has met",
            bytes(of_nodes));
    else if (arrays) finding.title.say(": most likely arrays of atomics or counters, which lie in std_alloc");
    else if (!ledger.untold_allocator.empty())
        finding.title.say("; most of it lies in {}", of_vm(ledger.untold_allocator));
    finding.confidence = Confidence::estimate;
    finding.evidence = {figure("in use, and nothing in the input says by whom", untold, AmountUnit::bytes)};
    if (!ledger.untold_allocator.empty())
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
