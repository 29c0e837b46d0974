// SPDX-License-Identifier: Apache-2.0
// ledger: every megabyte of the node by its owner, top down.
#include "analyses/facts/heap_reports.hpp"
#include "analyses/facts/needs.hpp"
#include "cli/frame/commands.hpp"
#include "present/ledger.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {
namespace {

// What the rows are held against, and where they differ from it.
void lead(present::Document& document, const analyses::Ledger& ledger) {
    const auto bytes = [](std::uint64_t value) { return analyses::Amount{value, analyses::AmountUnit::bytes}; };
    const auto say = [&document](const analyses::Sentence& sentence) {
        if (!sentence.empty()) document.lead.push_back(present::spell(sentence));
    };
    if (!ledger.total_bytes.has())
        say(analyses::Ours("The input has no total to hold this against: sums are lower bounds."));
    if (ledger.excess_bytes != 0)
        say(analyses::sentence("Rows are {} more than the VM's total: its figures are of several instants, or damaged.",
                               bytes(ledger.excess_bytes)));
    const std::uint64_t beside = ledger.sum_bytes - ledger.told_bytes;
    if (beside != 0) say(analyses::sentence("Beside that the VM has {} of the system.", bytes(beside)));
}

}  // namespace

static Status cmd_ledger(const Context& context) {
    analyses::HeapStats stats(context.options().threads, {.binaries = true});
    LoadPlan plan{analyses::need::ledger};
    const analyses::HeapStats* const gathered = context.gathered();
    if (gathered == nullptr) stats.demand(plan);
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    if (gathered == nullptr) stats.store(*artifact);
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const analyses::Ledger ledger, analyses::node_ledger(*artifact, gathered == nullptr ? stats : *gathered));
    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    if (const analyses::Sentence place = analyses::largest_place(ledger).text; !place.empty())
        document.lead.push_back(present::spell(names, place));
    lead(document, ledger);
    document.members.push_back({.key = "areas", .title = "Areas", .body = present::ledger_area_table(ledger)});
    document.members.push_back({.key = "rows", .title = "Owners", .body = present::ledger_table(names, ledger)});
    document.members.push_back({.key = "totals",
                                .body = present::Value(present::Object{{"memory_total_bytes", ledger.total_bytes},
                                                                       {"told_bytes", ledger.told_bytes},
                                                                       {"excess_bytes", ledger.excess_bytes},
                                                                       {"sum_bytes", ledger.sum_bytes}}),
                                .in_text = false});
    document.primary = "rows";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(ledger){
    .name = "ledger",
    .arguments = {argument::input},
    .summary = "every megabyte of the node by its owner: rows add up to the total",
    .details =
        "Areas are as large as the VM says, rows are what its tables tell of them, and the rows without an owner are\n"
        "what these leave. Names that differ in numbers alone are one owner (template_<int>), processes without a "
        "name are\n"
        "one by what they were started as. `SELECT owner, sum(bytes) FROM ledger GROUP BY area, owner` is the ledger "
        "by owner.",
    .examples = "ledger erl_crash.dump\nledger erl_crash.dump --format csv\nledger core.4711 -n 0",
    .run = &cmd_ledger,
};

}  // namespace beamheap::cli
