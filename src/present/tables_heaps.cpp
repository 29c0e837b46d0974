// SPDX-License-Identifier: Apache-2.0
#include "present/tables_heaps.hpp"

#include <span>
#include <utility>

#include "analyses/base/sum.hpp"
#include "present/table_cells.hpp"
#include "present/tables_terms.hpp"

namespace beamheap::present {
namespace {

using analyses::BinaryHolder;
using analyses::BinaryHolders;
using analyses::FunctionWords;
using analyses::HiddenBinaries;
using analyses::PlaceWords;

std::string_view place_name(std::uint32_t place) {
    return place == PlaceWords::dictionary ? "(dictionary)" : place == PlaceWords::messages ? "(messages)" : "(other)";
}

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

}  // namespace

Table binary_table(const Names& names, const std::shared_ptr<analyses::BinaryReport>& report) {
    const bool knows_garbage = names.snapshot().source.kind.format != InputFormat::crash_dump;
    const auto processes = [snapshot = &names.snapshot(), report](const BinaryHolders& b, auto what) {
        Array shown;
        for (const BinaryHolder& holder : report->holders_of(b)) {
            if (holder.kind != BinaryHolder::Kind::process || shown.size() == shown_holders) break;
            shown.push_back(what((*snapshot)[holder.process()]));
        }
        return Value(std::move(shown));
    };
    Columns<BinaryHolders> columns{
        {{.name = "address", .title = "ADDRESS", .doc = "of the VM's Binary, as references name it"},
         [](const BinaryHolders& b) { return TermView::address_value(b.address); }},
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
        {{.name = "pids", .title = "PIDS", .holds = Holds::texts, .doc = "the processes, at most ten"},
         [names, processes](const BinaryHolders& b) {
             return processes(b, [&names](const Process& p) { return cells::pid(names, p.pid); });
         }},
        {{.name = "names",
          .title = "PROCESSES",
          .holds = Holds::texts,
          .doc = "what each of these processes is called: its name, else its label, else its $initial_call",
          .content = Content::name},
         [names, processes](const BinaryHolders& b) {
             return processes(b, [&names](const Process& p) {
                 const std::string name = names.called(p);
                 return name.empty() ? Value() : Value(name);
             });
         }},
        {{.name = "stored_in",
          .title = "STORED IN",
          .holds = Holds::texts,
          .doc = "ETS tables, at most ten, and \"persistent_term\"; only core images tell",
          .content = Content::name,
          .lesser = 1},
         [snapshot = &names.snapshot(), report](const BinaryHolders& b) {
             return stored_in(*snapshot, report->holders_of(b));
         }},
    };
    return table_of(std::move(columns), std::move(report->binaries), "nothing refers to a binary outside the heaps");
}

Table hidden_table(const Names& names, std::vector<HiddenBinaries> rows) {
    Columns<HiddenBinaries> columns{
        {{.name = "pid", .title = "PID", .doc = "the process"},
         [&names](const HiddenBinaries& h) { return cells::pid(names, names.snapshot()[h.process].pid); }},
        {{.name = "name", .title = "PROCESS", .doc = "registered name", .content = Content::name},
         [&names](const HiddenBinaries& h) { return cells::bare(names, names.snapshot()[h.process].name); }},
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
    return table_of(std::move(columns), std::move(rows), {});
}

Table unheld_table(std::vector<analyses::UnheldGroup> groups) {
    using analyses::UnheldGroup;
    Columns<UnheldGroup> columns{
        {{.name = "block_bytes", .title = "EACH", .unit = Unit::bytes, .doc = "size of a block"},
         [](const UnheldGroup& g) { return Value(g.block_bytes); }},
        {{.name = "blocks", .title = "BLOCKS", .unit = Unit::count, .doc = "blocks of this size"},
         [](const UnheldGroup& g) { return Value(g.blocks); }},
        {{.name = "bytes", .title = "TOGETHER", .unit = Unit::bytes, .doc = "all of them"},
         [](const UnheldGroup& g) { return Value(g.bytes); }},
    };
    return table_of(std::move(columns), std::move(groups), "something refers to every block");
}

Table profile_table(const Names& names, std::vector<FunctionWords> rows, std::uint64_t total, bool per_process) {
    const Snapshot& s = names.snapshot();
    const auto part = [&names, &s](const FunctionWords& r, int which) {
        if (r.function == FunctionId::none) return which == 0 ? Value(place_name(r.place)) : Value();
        const Function& f = s.functions[r.function];
        if (which == 2) return Value(f.arity);
        return cells::bare(names, which == 0 ? f.module : f.name);
    };
    Columns<FunctionWords> columns;
    if (per_process)
        columns.add({{.name = "pid", .title = "PID", .doc = "the process"},
                     [&names, &s](const FunctionWords& r) { return cells::pid(names, s[r.process].pid); }});
    const Columns<FunctionWords> rest{
        {{.name = "module", .title = "MODULE", .doc = "or (dictionary), (messages), (other)", .content = Content::name},
         [=](const FunctionWords& r) { return part(r, 0); }},
        {{.name = "function", .title = "FUNCTION", .doc = "whose frame holds the words", .content = Content::name},
         [=](const FunctionWords& r) { return part(r, 1); }},
        {{.name = "arity", .title = "ARITY", .unit = Unit::count, .doc = "of the function"},
         [=](const FunctionWords& r) { return part(r, 2); }},
        {{.name = "frames", .title = "FRAMES", .unit = Unit::count, .doc = "frames of it that hold words", .lesser = 1},
         [](const FunctionWords& r) { return r.function == FunctionId::none ? Value() : Value(r.frames); }},
        {{.name = "words", .title = "WORDS", .unit = Unit::words, .doc = "live words charged to it"},
         [](const FunctionWords& r) { return Value(r.words); }},
        {{.name = "words_per_frame", .title = "PER FRAME", .unit = Unit::words, .doc = "words / frames", .lesser = 2},
         [](const FunctionWords& r) { return r.frames == 0 ? Value() : Value(r.words / r.frames); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of all live words that were selected"},
         [=](const FunctionWords& r) { return cells::percent(analyses::percent_of(Count(r.words), Count(total))); }},
    };
    columns.insert(columns.end(), rest.begin(), rest.end());
    return table_of(std::move(columns), std::move(rows), "no live words");
}

}  // namespace beamheap::present
