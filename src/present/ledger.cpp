// SPDX-License-Identifier: Apache-2.0
#include "present/ledger.hpp"

#include <algorithm>

#include "present/spelling.hpp"
#include "present/table_cells.hpp"

namespace beamheap::present {

using namespace cells;

namespace {

// Shares of the VM's total, which add up to it; what stands beside it is none of these.
std::optional<double> share_of(const analyses::Ledger& ledger, analyses::LedgerArea area, std::uint64_t bytes) {
    if (area > analyses::LedgerArea::vm) return std::nullopt;
    return analyses::percent_of(bytes, std::max(ledger.told_bytes, ledger.total_bytes.value_or(0)));
}

}  // namespace

Table ledger_area_table(const analyses::Ledger& ledger) {
    using Row = analyses::LedgerArea;
    std::vector<Row> rows;
    for (std::size_t i = 0; i < analyses::ledger_areas; ++i)
        if (ledger.area_bytes[i] != 0) rows.push_back(static_cast<Row>(i));
    std::ranges::stable_sort(rows, [&](Row a, Row b) {
        const bool within_a = a <= Row::vm, within_b = b <= Row::vm;
        return within_a != within_b ? within_a : ledger.bytes_of(a) > ledger.bytes_of(b);
    });
    const analyses::Ledger* of = &ledger;
    Columns<Row> columns{
        {{.name = "area",
          .title = "AREA",
          .doc = "kind of memory; carriers: free in them; outside: in none. Both stand beside the VM's own total"},
         [](const Row& r) { return Value(analyses::name_of(r)); }},
        {{.name = "bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "sum of its rows"},
         [of](const Row& r) { return Value(of->bytes_of(r)); }},
        {{.name = "percent",
          .title = "%",
          .unit = Unit::percent,
          .doc = "of the VM's total; of carriers and outside: of all that is told"},
         [of](const Row& r) { return percent(share_of(*of, r, of->bytes_of(r))); }},
    };
    return table_of(std::move(columns), std::move(rows), "the input tells of no memory");
}

Table ledger_table(const Names& names, const analyses::Ledger& ledger) {
    using Row = const analyses::LedgerRow*;
    const analyses::Ledger* of = &ledger;
    std::vector<Row> rows;
    rows.reserve(ledger.rows.size());
    for (const analyses::LedgerRow& row : ledger.rows) rows.push_back(&row);
    Columns<Row> columns{
        {{.name = "area", .title = "AREA", .doc = "kind of memory"},
         [](const Row& r) { return Value(analyses::name_of(r->area)); }},
        {{.name = "owner_kind",
          .title = "KIND",
          .doc = "process processes table modules atoms ports vm; null: nobody that the input names",
          .lesser = 2},
         [](const Row& r) { return text(analyses::name_of(r->owner.kind)); }},
        {{.name = "owner",
          .title = "OWNER",
          .doc = "whose it is: a process, what processes were started as, a name, or the form of many names",
          .least = 20},
         [names](const Row& r) {
             const analyses::Sentence owner = analyses::owner_text(r->owner);
             return owner.empty() ? Value() : Value(spell(names, owner));
         }},
        {{.name = "item",
          .title = "ITEM",
          .doc = "what it has there: live garbage terms (live or not) stack unused messages structure links monitors "
                 "beside_heaps timers binaries "
                 "shared_binaries queue objects block_headers code persistent_terms atoms table free native untold"},
         [](const Row& r) { return Value(analyses::name_of(r->item)); }},
        {{.name = "count",
          .title = "COUNT",
          .unit = Unit::count,
          .doc = "processes, tables, modules, binaries, ... of the row; null: not known, or nothing that is counted"},
         [](const Row& r) { return r->count == 0 ? Value() : Value(r->count); }},
        {{.name = "bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "memory; rows add up to sum_bytes"},
         [](const Row& r) { return Value(r->bytes); }},
        {{.name = "percent",
          .title = "%",
          .unit = Unit::percent,
          .doc = "of the VM's total; of carriers and outside: of all that is told"},
         [of](const Row& r) { return percent(share_of(*of, r->area, r->bytes)); }},
        {{.name = "confidence", .title = "CONFIDENCE", .doc = "exact, lower_bound or estimate", .lesser = 1},
         [](const Row& r) { return Value(analyses::name_of(r->sure)); }},
        {{.name = "pid", .title = "PID", .doc = "the process, or the one owner of the tables", .wide = true},
         [names](const Row& r) {
             return r->owner.process == ProcId::none ? Value() : pid(names, names.snapshot()[r->owner.process].pid);
         }},
    };
    return table_of(std::move(columns), std::move(rows), "the input tells of no memory");
}

}  // namespace beamheap::present
