// SPDX-License-Identifier: Apache-2.0
// binaries: binaries outside the heaps, who holds them, and what slices of them pin.
#include <algorithm>
#include <iterator>
#include <span>

#include "analyses/base/sum.hpp"
#include "analyses/facts/heap_reports.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/facts/unreferenced.hpp"
#include "cli/frame/commands.hpp"
#include "present/spelling.hpp"
#include "present/tables_heaps.hpp"

namespace beamheap::cli {
namespace {

using analyses::BinaryHolder;
using analyses::BinaryHolders;
using analyses::HiddenBinaries;
using present::Object;
using present::Value;

// How many processes have garbage that alone keeps a binary.
std::uint64_t processes_of_garbage(const analyses::BinaryReport& report) {
    std::vector<BinaryHolder> found;
    for (const BinaryHolders& each : report.binaries)
        if (each.references == 0) std::ranges::copy(report.holders_of(each), std::back_inserter(found));
    std::ranges::sort(found);
    return static_cast<std::uint64_t>(std::unique(found.begin(), found.end()) - found.begin());
}

// What the numbers say; `stored` is empty where nobody looked into tables.
void lead(present::Document& document, const analyses::BinaryReport& report, const Count& node_bytes,
          const std::optional<StoredBinaries>& stored, std::uint64_t garbage_processes, bool all_garbage, bool live,
          const std::optional<analyses::UnheldBinaries>& unheld) {
    using analyses::Counted;
    using analyses::Ours;
    const auto say = [&document](const analyses::Sentence& sentence) {
        document.lead.push_back(present::spell(sentence));
    };
    const auto bytes = [](std::uint64_t value) { return analyses::Amount{value, analyses::AmountUnit::bytes}; };
    const std::size_t referred = report.binaries.size() - report.garbage;
    // Where most of it is nobody's, that is the answer.
    if (unheld && !unheld->groups.empty() && unheld->bytes > node_bytes.value_or(0) / 2 &&
        unheld->bytes > report.bytes) {
        const analyses::UnheldGroup& most = unheld->groups.front();
        say(analyses::sentence(
            "{} of binaries are buffers of drivers or native code, to which no term refers; {} in {} of {}.",
            bytes(unheld->bytes), bytes(most.bytes), Counted{most.blocks, "block", "blocks"}, bytes(most.block_bytes)));
    }
    if (report.binaries.empty()) say(Ours("Nothing refers to a binary outside the heaps."));
    else if (referred == 0) say(Ours("No term refers to a binary outside the heaps."));
    else if (!live && report.garbage == 0 && report.unknown >= referred)
        say(analyses::sentence("{} that something refers to, whose size the input does not have.",
                               Counted{referred, "binary", "binaries"}));
    else
        say(analyses::sentence("{} that something refers to, {} in total; slices show {} of them and pin {}.",
                               Counted{referred, "binary", "binaries"}, bytes(report.bytes), bytes(report.seen_bytes),
                               bytes(report.pinned_bytes)));
    if (report.garbage != 0)
        say(analyses::sentence("{}{}, {}, wait for {} to collect the garbage that refers to them.",
                               referred == 0 ? Ours("") : Ours("Besides, "),
                               Counted{report.garbage, "binary", "binaries"}, bytes(report.garbage_bytes),
                               Counted{garbage_processes, "process", "processes"}));
    if (const std::uint64_t known = analyses::saturating_add(report.bytes, report.garbage_bytes);
        node_bytes.has() && *node_bytes > known)
        say(analyses::sentence("The node held {} in binaries: the rest is in {}{}.", bytes(*node_bytes),
                               stored ? Ours("") : Ours("ETS, in "),
                               all_garbage ? Ours("drivers or native code") : Ours("drivers, or garbage")));
    if (stored && stored->compressed_tables != 0)
        say(analyses::sentence("{} not looked into.",
                               Counted{stored->compressed_tables, "compressed table was", "compressed tables were"}));
    if (report.unknown != 0 && live)
        say(analyses::sentence("{} freed while the VM was read: their size is not known.",
                               Counted{report.unknown, "binary was", "binaries were"}));
    else if (report.unknown != 0)
        say(analyses::sentence(
            "Of {} the input has slices only, not the size: up to OTP 26 a dump leaves out a binary that only a slice "
            "refers to.",
            Counted{report.unknown, "binary", "binaries"}));
}

}  // namespace

static Status cmd_binaries(const Context& context) {
    analyses::HeapStats stats(context.options().threads, {.binaries = true});
    LoadPlan plan{analyses::need::binaries};
    BH_CHECK(context.plan_for_selector(plan));
    const analyses::HeapStats* const gathered = context.gathered();
    if (gathered == nullptr) stats.demand(plan);
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    if (gathered == nullptr) stats.store(*artifact);
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const std::vector<bool> wanted, context.wanted(snapshot));

    const analyses::HeapStats& heaps = gathered == nullptr ? stats : *gathered;
    const std::span<const analyses::HeldBinary> all_held = heaps.binaries(), all_garbage = heaps.garbage_binaries();
    std::vector<std::uint64_t> referenced;
    referenced.reserve(all_held.size() + all_garbage.size());
    for (const analyses::HeldBinary& each : all_held) referenced.push_back(each.reference.address);
    for (const analyses::HeldBinary& each : all_garbage) referenced.push_back(each.reference.address);
    const bool of_all = context.options().procs.empty();
    std::vector<analyses::HeldBinary> chosen, chosen_garbage;
    const auto is_wanted = [&wanted](const analyses::HeldBinary& each) {
        return wanted[index_of(each.reference.holder.process())];
    };
    if (!of_all) {
        std::ranges::copy_if(all_held, std::back_inserter(chosen), is_wanted);
        std::ranges::copy_if(all_garbage, std::back_inserter(chosen_garbage), is_wanted);
    }
    const std::span<const analyses::HeldBinary> held = of_all ? all_held : chosen,
                                                garbage = of_all ? all_garbage : chosen_garbage;
    // Whether whole tables are asked for: --procs picks processes.
    BH_TRY(analyses::NodeBinaries found, analyses::node_binaries(*artifact, held, garbage, of_all));
    const auto kept = std::make_shared<analyses::BinaryReport>(std::move(found.report));
    const analyses::BinaryReport& report = *kept;
    const auto size_of = [&](std::uint64_t address) { return artifact->binary_bytes(address); };
    const std::size_t binaries = report.binaries.size() - report.garbage;
    const bool knows_garbage = snapshot.source.kind.format != InputFormat::crash_dump;
    std::vector<HiddenBinaries> hidden = analyses::hidden_binaries(snapshot, held, size_of);
    std::ranges::stable_sort(hidden, std::ranges::greater(), &HiddenBinaries::hidden_bytes);

    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    const Count all = snapshot.memory_bytes("binary");
    BH_TRY(const auto unheld, analyses::unheld_binaries(*artifact, std::move(referenced)));
    const bool live = snapshot.source.live.has_value();
    lead(document, report, all, found.stored, processes_of_garbage(report), knows_garbage && !live, live, unheld);
    document.members.push_back({.key = "rows", .body = present::binary_table(names, kept)});
    document.members.push_back(
        {.key = "totals",
         .body = Value(Object{{"bytes", report.bytes},
                              {"seen_bytes", report.seen_bytes},
                              {"pinned_bytes", report.pinned_bytes},
                              {"binaries", binaries},
                              {"unlisted", report.unknown},
                              {"garbage_binaries", knows_garbage ? Count(report.garbage) : Count()},
                              {"garbage_bytes", knows_garbage ? Count(report.garbage_bytes) : Count()},
                              {"node_bytes", all}}),
         .in_text = false});
    const bool any = !hidden.empty();
    document.members.push_back({.key = "hidden",
                                .title = "Processes that hold more than the input lists",
                                .body = present::hidden_table(names, std::move(hidden)),
                                .in_text = any});
    if (unheld)
        document.members.push_back({.key = "unheld",
                                    .title = "Blocks that nothing refers to: buffers of drivers, native code",
                                    .body = present::unheld_table(unheld->groups)});
    document.primary = "rows";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(binaries){
    .name = "binaries",
    .arguments = {argument::input},
    .options = "--procs",
    .summary = "binaries outside the heaps: who holds them, and what slices pin",
    .details = "A slice keeps all of its binary: PINNED bytes are those that nobody sees.",
    .examples = "binaries erl_crash.dump -n 10\nbinaries erl_crash.dump --sort pinned_bytes",
    .run = &cmd_binaries,
};

}  // namespace beamheap::cli
