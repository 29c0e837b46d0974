// binaries: binaries outside the heaps, who holds them, and what slices of them pin.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyses/memory/binary_holders.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/processes/process_columns.hpp"
#include "cli/commands.hpp"
#include "analyses/diagnosis/heap_stats.hpp"
#include "analyses/diagnosis/unreferenced.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/tables_terms.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

using analyses::BinaryHolder;
using analyses::BinaryHolders;
using present::Array;
using present::ColumnOf;
using present::Object;
using present::Unit;
using present::Value;

constexpr std::size_t shown_holders = 10;

present::Table binary_table(const present::Names& names, const analyses::BinaryReport& report) {
    const Snapshot& snapshot = names.snapshot();
    const auto processes = [&snapshot, &report](const BinaryHolders& b, auto what) {
        Array shown;
        for (const BinaryHolder& holder : report.holders_of(b)) {
            if (holder.kind != BinaryHolder::Kind::process || shown.size() == shown_holders) break;
            shown.push_back(what(snapshot[holder.process()]));
        }
        return Value(std::move(shown));
    };
    const auto stored = [&snapshot, &report](const BinaryHolders& b) {
        Array tables;
        for (const BinaryHolder& holder : report.holders_of(b)) {
            if (tables.size() == shown_holders) break;
            if (holder.kind == BinaryHolder::Kind::table) {
                const EtsTable& table = snapshot.ets[holder.index];
                tables.emplace_back(snapshot.text(table.name != TextId::none ? table.name : table.id));
            } else if (holder.kind == BinaryHolder::Kind::persistent_terms) {
                tables.emplace_back("persistent_term");
            }
        }
        return Value(std::move(tables));
    };
    std::vector<ColumnOf<BinaryHolders>> columns{
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
          .doc = "bytes that no reference shows and that are kept all the same"},
         [](const BinaryHolders& b) { return Value(b.pinned_bytes); }},
        {{.name = "holders",
          .title = "HOLDERS",
          .unit = Unit::count,
          .doc = "processes, ETS tables and persistent terms that refer to it"},
         [](const BinaryHolders& b) { return Value(b.holders); }},
        {{.name = "references",
          .title = "REFERENCES",
          .unit = Unit::count,
          .doc = "heap objects that do",
          .wide = true},
         [](const BinaryHolders& b) { return Value(b.references); }},
        {{.name = "pids", .title = "PIDS", .doc = "the processes, at most ten"},
         [names, processes](const BinaryHolders& b) {
             return processes(b, [&names](const Process& p) { return present::cells::pid(names, p.pid); });
         }},
        {{.name = "names",
          .title = "NAMES",
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
          .doc = "ETS tables, at most ten, and \"persistent_term\"; only core images tell",
          .content = present::Content::name},
         stored},
    };
    return present::table_of(std::move(columns), report.binaries, "nothing refers to a binary outside the heaps");
}

/// A process whose virtual binary heap says that it holds more than the input lists: up to OTP 26 a dump does not show
/// the binary behind a slice that nothing else refers to. BinVHeap counts words of whole binaries, since the last
/// garbage collection of a generation also of dead references.
struct Hidden {
    ProcId process = ProcId::none;
    std::uint64_t slices = 0;
    std::uint64_t seen_bytes = 0;
    std::uint64_t vheap_bytes = 0;
    std::uint64_t hidden_bytes = 0;
};

std::vector<Hidden> hidden_binaries(const Artifact& artifact, const std::vector<analyses::BinaryHold>& holds) {
    const Snapshot& snapshot = artifact.snapshot();
    std::vector<Hidden> found;
    for (std::size_t i = 0; i < holds.size();) {
        Hidden row;
        row.process = holds[i].process;
        std::map<std::uint64_t, std::uint64_t> known;  // a copied slice counts with its own size
        for (; i < holds.size() && holds[i].process == row.process; ++i) {
            const analyses::BinaryHold& hold = holds[i];
            if (hold.named) {
                const std::uint64_t size = std::min(artifact.binary_bytes(hold.address).value_or(hold.size), hold.size);
                std::uint64_t& most = known[hold.address];
                most = std::max(most, size);
            } else {
                ++row.slices;
                row.seen_bytes += hold.size;
            }
        }
        if (row.slices == 0) continue;
        const Process& process = snapshot[row.process];
        const Count words = analyses::virtual_heap_words(process);
        if (!words.has()) continue;
        std::uint64_t listed = 0;
        for (const auto& [address, bytes] : known) listed = analyses::saturating_add(listed, bytes);
        row.vheap_bytes = analyses::saturating_multiply(*words, snapshot.source.word_size);
        row.hidden_bytes = row.vheap_bytes > listed ? row.vheap_bytes - listed : 0;
        if (row.hidden_bytes > row.seen_bytes) found.push_back(row);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Hidden& a, const Hidden& b) { return a.hidden_bytes > b.hidden_bytes; });
    return found;
}

present::Table hidden_table(const present::Names& names, std::vector<Hidden> rows) {
    std::vector<ColumnOf<Hidden>> columns{
        {{.name = "pid", .title = "PID", .doc = "the process"},
         [&names](const Hidden& h) { return present::cells::pid(names, names.snapshot()[h.process].pid); }},
        {{.name = "name", .title = "NAME", .doc = "registered name", .content = present::Content::name},
         [&names](const Hidden& h) { return present::cells::bare(names, names.snapshot()[h.process].name); }},
        {{.name = "slices", .title = "SLICES", .unit = Unit::count, .doc = "slices whose binary is not listed"},
         [](const Hidden& h) { return Value(h.slices); }},
        {{.name = "seen_bytes", .title = "SEEN", .unit = Unit::bytes, .doc = "bytes that these slices show"},
         [](const Hidden& h) { return Value(h.seen_bytes); }},
        {{.name = "vheap_bytes", .title = "VIRTUAL HEAP", .unit = Unit::bytes, .doc = "BinVHeap and OldBinVHeap"},
         [](const Hidden& h) { return Value(h.vheap_bytes); }},
        {{.name = "hidden_bytes",
          .title = "HIDDEN up to",
          .unit = Unit::bytes,
          .doc = "of that, not explained by listed binaries: an estimate, dead references count too"},
         [](const Hidden& h) { return Value(h.hidden_bytes); }},
    };
    return present::table_of(std::move(columns), std::move(rows), {});
}

present::Table unheld_table(std::vector<analyses::UnheldGroup> groups) {
    using analyses::UnheldGroup;
    std::vector<ColumnOf<UnheldGroup>> columns{
        {{.name = "block_bytes", .title = "EACH", .unit = Unit::bytes, .doc = "size of a block"},
         [](const UnheldGroup& g) { return Value(g.block_bytes); }},
        {{.name = "blocks", .title = "BLOCKS", .unit = Unit::count, .doc = "blocks of this size"},
         [](const UnheldGroup& g) { return Value(g.blocks); }},
        {{.name = "bytes", .title = "TOGETHER", .unit = Unit::bytes, .doc = "all of them"},
         [](const UnheldGroup& g) { return Value(g.bytes); }},
    };
    return present::table_of(std::move(columns), std::move(groups), "something refers to every block");
}

}  // namespace

static Status cmd_binaries(const Context& context) {
    analyses::HeapStats stats(context.options().threads, {.binaries = true});
    LoadPlan plan;
    plan.tables = plan.labels = true;
    BH_CHECK(context.plan_for_selector(plan));
    stats.demand(plan);
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    stats.store(*artifact);
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const std::vector<ProcId> selected, context.selected(snapshot));
    std::vector<bool> wanted(snapshot.processes.size());
    for (const ProcId id : selected) wanted[index_of(id)] = true;

    std::vector<analyses::BinaryReference> references;
    std::vector<analyses::BinaryHold> holds;
    for (const analyses::BinaryHold& hold : stats.binaries()) {
        if (!wanted[index_of(hold.process)]) continue;
        references.push_back({hold.address, hold.offset, hold.size, hold.process});
        holds.push_back(hold);
    }
    // Whether whole tables are asked for: --procs picks processes.
    std::optional<StoredBinaries> stored(std::in_place);
    if (context.options().procs.empty()) {
        BH_TRY(stored, if_held(artifact->stored_binaries()));
    }
    if (stored) {
        using Kind = BinaryHolder::Kind;
        for (const StoredBinary& each : stored->references) {
            const bool table = each.table != StoredBinary::persistent_term;
            references.push_back({each.address, each.offset, each.size,
                                  BinaryHolder(table ? Kind::table : Kind::persistent_terms, table ? each.table : 0)});
        }
    }
    const analyses::BinaryReport report = analyses::binary_holders(
        std::move(references), [&](std::uint64_t address) { return artifact->binary_bytes(address); });
    const present::Names names = context.names(snapshot);
    std::vector<Hidden> hidden = hidden_binaries(*artifact, holds);

    present::Document document = context.document(snapshot);
    const Count all = snapshot.memory_bytes("binary");
    using analyses::Counted;
    using analyses::Ours;
    const auto say = [&document](const analyses::Sentence& sentence) {
        document.lead.push_back(present::spell(sentence));
    };
    const auto bytes = [](std::uint64_t value) { return analyses::Amount{value, analyses::AmountUnit::bytes}; };
    say(analyses::sentence("{} that something refers to, {} in total; slices show {} of them and pin {}.",
                           Counted{report.binaries.size(), "binary", "binaries"}, bytes(report.bytes),
                           bytes(report.seen_bytes), bytes(report.pinned_bytes)));
    if (all.has() && *all > report.bytes)
        say(analyses::sentence("The node held {} in binaries: the rest is in {}drivers, or garbage.", bytes(*all),
                               stored ? Ours("") : Ours("ETS, in ")));
    if (stored && stored->compressed_tables != 0)
        say(analyses::sentence("{} not looked into.", Counted{stored->compressed_tables, "compressed table was",
                                                             "compressed tables were"}));
    if (report.unknown != 0)
        say(analyses::sentence(
            "Of {} the input has slices only, not the size: up to OTP 26 a dump leaves out a binary that only a slice "
            "refers to.",
            Counted{report.unknown, "binary", "binaries"}));
    document.members.push_back({.key = "rows", .body = binary_table(names, report)});
    document.members.push_back({.key = "totals",
                                .body = Value(Object{{"bytes", report.bytes},
                                                     {"seen_bytes", report.seen_bytes},
                                                     {"pinned_bytes", report.pinned_bytes},
                                                     {"binaries", report.binaries.size()},
                                                     {"unlisted", report.unknown},
                                                     {"node_bytes", all}}),
                                .in_text = false});
    const bool any = !hidden.empty();
    document.members.push_back({.key = "hidden",
                                .title = "Processes that hold more than the input lists",
                                .body = hidden_table(names, std::move(hidden)),
                                .in_text = any});
    std::vector<std::uint64_t> referenced;
    for (const analyses::BinaryHold& hold : stats.binaries()) referenced.push_back(hold.address);
    BH_TRY(const auto unheld, analyses::unheld_binaries(*artifact, std::move(referenced)));
    if (unheld)
        document.members.push_back({.key = "unheld",
                                    .title = "Blocks that nothing refers to: buffers of drivers, native code, garbage",
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
