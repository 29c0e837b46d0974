// SPDX-License-Identifier: Apache-2.0
// binaries: binaries outside the heaps, who holds them, and what slices of them pin.
#include <algorithm>
#include <iterator>
#include <span>

#include "analyses/base/sum.hpp"
#include "analyses/facts/heap_stats.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/facts/unreferenced.hpp"
#include "analyses/memory/binary_holders.hpp"
#include "analyses/memory/hidden_binaries.hpp"
#include "cli/frame/commands.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/tables_terms.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

using analyses::BinaryHolder;
using analyses::BinaryHolders;
using analyses::HiddenBinaries;
using present::Array;
using present::Columns;
using present::Object;
using present::Unit;
using present::Value;

constexpr std::size_t shown_holders = 10;

Value stored_in(const Snapshot& snapshot, std::span<const BinaryHolder> holders) {
    Array tables;
    for (const BinaryHolder& holder : holders) {
        if (tables.size() == shown_holders) break;
        if (holder.kind == BinaryHolder::Kind::table) {
            const EtsTable& table = snapshot.ets[holder.index];
            tables.emplace_back(snapshot.text(table.name != TextId::none ? table.name : table.id));
        } else if (holder.kind == BinaryHolder::Kind::persistent_terms) {
            tables.emplace_back("persistent_term");
        }
    }
    return Value(std::move(tables));
}

// Takes the rows of `report`, whose holders must stay.
present::Table binary_table(const present::Names& names, analyses::BinaryReport& report, bool knows_garbage) {
    const auto processes = [snapshot = &names.snapshot(), &report](const BinaryHolders& b, auto what) {
        Array shown;
        for (const BinaryHolder& holder : report.holders_of(b)) {
            if (holder.kind != BinaryHolder::Kind::process || shown.size() == shown_holders) break;
            shown.push_back(what((*snapshot)[holder.process()]));
        }
        return Value(std::move(shown));
    };
    Columns<BinaryHolders> columns{
        {{.name = "address", .title = "ADDRESS", .doc = "of the VM's Binary, as references name it"},
         [](const BinaryHolders& b) { return present::TermView::address_value(b.address); }},
        {{.name = "bytes",
          .title = "BYTES",
          .unit = Unit::bytes,
          .doc = "its size; null where the input lists only slices of it"},
         [](const BinaryHolders& b) { return Value(b.bytes); }},
        {{.name = "seen_bytes", .title = "SEEN", .unit = Unit::bytes, .doc = "bytes that some reference shows"},
         [](const BinaryHolders& b) { return Value(b.seen_bytes); }},
        {{.name = "pinned_bytes",
          .title = "PINNED",
          .unit = Unit::bytes,
          .doc = "bytes that no reference shows and that are kept all the same; null where only garbage refers to it"},
         [](const BinaryHolders& b) { return Value(b.pinned_bytes); }},
        {{.name = "holders",
          .title = "HOLDERS",
          .unit = Unit::count,
          .doc = "processes, ETS tables and persistent terms that refer to it, garbage of processes included"},
         [](const BinaryHolders& b) { return Value(b.holders); }},
        {{.name = "garbage_holders",
          .title = "BY GARBAGE",
          .unit = Unit::count,
          .doc =
              "of these, processes in which garbage alone keeps it, until they collect it; null of a dump, which has "
              "no garbage",
          .wide = !knows_garbage,
          .lesser = 2},
         [knows_garbage](const BinaryHolders& b) { return knows_garbage ? Value(b.garbage_holders) : Value(); }},
        {{.name = "references",
          .title = "REFERENCES",
          .unit = Unit::count,
          .doc = "heap objects that do, garbage aside",
          .wide = true},
         [](const BinaryHolders& b) { return Value(b.references); }},
        {{.name = "pids", .title = "PIDS", .holds = present::Holds::texts, .doc = "the processes, at most ten"},
         [names, processes](const BinaryHolders& b) {
             return processes(b, [&names](const Process& p) { return present::cells::pid(names, p.pid); });
         }},
        {{.name = "names",
          .title = "PROCESSES",
          .holds = present::Holds::texts,
          .doc = "what each of these processes is called: its name, else its label, else its $initial_call",
          .content = present::Content::name},
         [names, processes](const BinaryHolders& b) {
             return processes(b, [&names](const Process& p) {
                 const std::string name = names.called(p);
                 return name.empty() ? Value() : Value(name);
             });
         }},
        {{.name = "stored_in",
          .title = "STORED IN",
          .holds = present::Holds::texts,
          .doc = "ETS tables, at most ten, and \"persistent_term\"; only core images tell",
          .content = present::Content::name,
          .lesser = 1},
         [snapshot = &names.snapshot(), &report](const BinaryHolders& b) {
             return stored_in(*snapshot, report.holders_of(b));
         }},
    };
    return present::table_of(std::move(columns), std::move(report.binaries),
                             "nothing refers to a binary outside the heaps");
}

present::Table hidden_table(const present::Names& names, std::vector<HiddenBinaries> rows) {
    Columns<HiddenBinaries> columns{
        {{.name = "pid", .title = "PID", .doc = "the process"},
         [&names](const HiddenBinaries& h) { return present::cells::pid(names, names.snapshot()[h.process].pid); }},
        {{.name = "name", .title = "PROCESS", .doc = "registered name", .content = present::Content::name},
         [&names](const HiddenBinaries& h) { return present::cells::bare(names, names.snapshot()[h.process].name); }},
        {{.name = "slices", .title = "SLICES", .unit = Unit::count, .doc = "slices whose binary is not listed"},
         [](const HiddenBinaries& h) { return Value(h.slices); }},
        {{.name = "seen_bytes", .title = "SEEN", .unit = Unit::bytes, .doc = "bytes that these slices show"},
         [](const HiddenBinaries& h) { return Value(h.seen_bytes); }},
        {{.name = "vheap_bytes", .title = "VIRTUAL HEAP", .unit = Unit::bytes, .doc = "BinVHeap and OldBinVHeap"},
         [](const HiddenBinaries& h) { return Value(h.vheap_bytes); }},
        {{.name = "hidden_bytes",
          .title = "HIDDEN up to",
          .unit = Unit::bytes,
          .doc = "of that, not explained by listed binaries: an estimate, dead references count too"},
         [](const HiddenBinaries& h) { return Value(h.hidden_bytes); }},
    };
    return present::table_of(std::move(columns), std::move(rows), {});
}

present::Table unheld_table(std::vector<analyses::UnheldGroup> groups) {
    using analyses::UnheldGroup;
    Columns<UnheldGroup> columns{
        {{.name = "block_bytes", .title = "EACH", .unit = Unit::bytes, .doc = "size of a block"},
         [](const UnheldGroup& g) { return Value(g.block_bytes); }},
        {{.name = "blocks", .title = "BLOCKS", .unit = Unit::count, .doc = "blocks of this size"},
         [](const UnheldGroup& g) { return Value(g.blocks); }},
        {{.name = "bytes", .title = "TOGETHER", .unit = Unit::bytes, .doc = "all of them"},
         [](const UnheldGroup& g) { return Value(g.bytes); }},
    };
    return present::table_of(std::move(columns), std::move(groups), "something refers to every block");
}

// What the tables and persistent terms of an image refer to, in the form of references from heaps.
void add_stored(const StoredBinaries& stored, std::vector<analyses::BinaryReference>& references) {
    using Kind = BinaryHolder::Kind;
    for (const StoredBinary& each : stored.references) {
        const bool table = each.table != StoredBinary::persistent_term;
        references.push_back({each.address, each.offset, each.size,
                              BinaryHolder(table ? Kind::table : Kind::persistent_terms, table ? each.table : 0)});
    }
}

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
          const std::optional<StoredBinaries>& stored, std::uint64_t garbage_processes, bool all_garbage) {
    using analyses::Counted;
    using analyses::Ours;
    const auto say = [&document](const analyses::Sentence& sentence) {
        document.lead.push_back(present::spell(sentence));
    };
    const auto bytes = [](std::uint64_t value) { return analyses::Amount{value, analyses::AmountUnit::bytes}; };
    const std::size_t referred = report.binaries.size() - report.garbage;
    if (report.binaries.empty()) say(Ours("Nothing refers to a binary outside the heaps."));
    else if (referred == 0) say(Ours("No term refers to a binary outside the heaps."));
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
    if (report.unknown != 0)
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
    const std::span<const analyses::HeldBinary> all_held = heaps.binaries();
    std::vector<std::uint64_t> referenced;
    referenced.reserve(all_held.size() + heaps.garbage_binaries().size());
    for (const analyses::HeldBinary& each : all_held) referenced.push_back(each.reference.address);
    for (const analyses::HeldBinary& each : heaps.garbage_binaries()) referenced.push_back(each.reference.address);
    const bool of_all = context.options().procs.empty();
    std::vector<analyses::HeldBinary> chosen;
    if (!of_all)
        std::ranges::copy_if(all_held, std::back_inserter(chosen), [&wanted](const analyses::HeldBinary& each) {
            return wanted[index_of(each.reference.holder.process())];
        });
    const std::span<const analyses::HeldBinary> held = of_all ? all_held : chosen;
    std::vector<analyses::BinaryReference> references;
    references.reserve(held.size());
    for (const analyses::HeldBinary& each : held) references.push_back(each.reference);
    for (const analyses::HeldBinary& each : heaps.garbage_binaries())
        if (wanted[index_of(each.reference.holder.process())]) references.push_back(each.reference);
    // Whether whole tables are asked for: --procs picks processes.
    std::optional<StoredBinaries> stored(std::in_place);
    if (of_all) {
        BH_TRY(stored, if_held(artifact->stored_binaries()));
    }
    if (stored) add_stored(*stored, references);
    const auto size_of = [&](std::uint64_t address) { return artifact->binary_bytes(address); };
    analyses::BinaryReport report = analyses::binary_holders(std::move(references), size_of);
    const std::size_t binaries = report.binaries.size() - report.garbage;
    const bool knows_garbage = snapshot.source.kind.format != InputFormat::crash_dump;
    std::vector<HiddenBinaries> hidden = analyses::hidden_binaries(snapshot, held, size_of);
    std::ranges::stable_sort(hidden, std::ranges::greater(), &HiddenBinaries::hidden_bytes);

    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    const Count all = snapshot.memory_bytes("binary");
    lead(document, report, all, stored, processes_of_garbage(report), knows_garbage && !snapshot.source.live);
    document.members.push_back({.key = "rows", .body = binary_table(names, report, knows_garbage)});
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
                                .body = hidden_table(names, std::move(hidden)),
                                .in_text = any});
    BH_TRY(const auto unheld, analyses::unheld_binaries(*artifact, std::move(referenced)));
    if (unheld)
        document.members.push_back({.key = "unheld",
                                    .title = "Blocks that nothing refers to: buffers of drivers, native code",
                                    .body = unheld_table(unheld->groups)});
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
