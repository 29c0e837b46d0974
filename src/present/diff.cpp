// SPDX-License-Identifier: Apache-2.0
#include "present/diff.hpp"

#include <algorithm>

#include "present/findings.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"

namespace beamheap::present {

namespace {

// A name as it is registered, or a kind of process: a function or a label, as Erlang writes them.
std::string name_or_kind(std::string_view key, Syntax syntax) {
    return key.find_first_of(":{\"") == key.npos ? bare_text(key, syntax) : printed_text(key, syntax);
}

}  // namespace

std::string key_text(const analyses::Growth& row, Syntax syntax) {
    using analyses::GrowthOf;
    if (syntax == Syntax::erlang) return row.key;
    switch (row.what) {
        case GrowthOf::process:
            if (row.key.starts_with('<')) return printed_text(row.key, syntax);
            [[fallthrough]];
        case GrowthOf::atom_family: return bare_text(row.key, syntax);
        case GrowthOf::process_group:
        case GrowthOf::stack: return row.key.starts_with('(') ? row.key : printed_text(row.key, syntax);
        case GrowthOf::ets_table: {
            constexpr std::string_view of = " of ";
            const std::size_t at = row.key.rfind(of);
            if (at == row.key.npos) return bare_text(row.key, syntax);
            return bare_text(row.key.substr(0, at), syntax) + std::string(of) +
                   name_or_kind(row.key.substr(at + of.size()), syntax);
        }
        case GrowthOf::timer_receiver: {
            const std::size_t at = row.key.find(' ');
            if (at == row.key.npos) return name_or_kind(row.key, syntax);
            return name_or_kind(row.key.substr(0, at), syntax) + ' ' + printed_text(row.key.substr(at + 1), syntax);
        }
        case GrowthOf::port_driver:
        case GrowthOf::memory:
        case GrowthOf::total: break;
    }
    return row.key;
}

Table growth_table(std::span<const analyses::Growth> rows, Syntax syntax) {
    using Row = const analyses::Growth*;
    Columns<Row> columns{
        {{.name = "what",
          .title = "WHAT",
          .doc = "process, process_group, stack, ets_table, atom_family, port_driver, timer_receiver, memory or total"},
         [](Row g) { return Value(analyses::name_of(g->what)); }},
        {{.name = "key", .title = "KEY", .doc = "which one, without pids", .content = Content::name},
         [syntax](Row g) { return Value(key_text(*g, syntax)); }},
        {{.name = "measure", .title = "OF IT", .doc = "what of it was measured"},
         [](Row g) { return Value(g->measure); }},
        {{.name = "unit", .title = "UNIT", .doc = "bytes, or a count", .wide = true},
         [](Row g) { return Value(g->bytes ? "bytes" : "count"); }},
        {{.name = "before", .title = "BEFORE", .unit = Unit::count, .doc = "in the first input", .unit_by = "unit"},
         [](Row g) { return Value(g->before); }},
        {{.name = "after", .title = "AFTER", .unit = Unit::count, .doc = "in the second input", .unit_by = "unit"},
         [](Row g) { return Value(g->after); }},
        {{.name = "delta", .title = "GROWTH", .unit = Unit::count, .doc = "after less before", .unit_by = "unit"},
         [](Row g) { return g->delta ? Value(*g->delta) : Value(); }},
        {{.name = "percent",
          .title = "%",
          .unit = Unit::percent,
          .doc = "growth, of what there was before",
          .lesser = 1},
         [](Row g) {
             if (!g->percent) return Value();
             return *g->percent < 0 ? Value(0.0 - std::get<double>(cells::percent(-*g->percent).data()))
                                    : cells::percent(*g->percent);
         }},
        {{.name = "per_minute",
          .title = "PER MINUTE",
          .unit = Unit::count,
          .doc = "growth as a rate, between two moments of one running VM; null of other inputs",
          .wide = std::ranges::none_of(rows, [](const analyses::Growth& g) { return g.per_minute.has_value(); }),
          .unit_by = "unit"},
         [](Row g) { return g->per_minute ? Value(*g->per_minute) : Value(); }},
    };
    if (std::ranges::any_of(rows, [](const analyses::Growth& g) { return !g.between.empty(); })) {
        columns.append({
            {{.name = "between", .title = "BETWEEN", .doc = "in the inputs between them, in their order", .wide = true},
             [](Row g) {
                 Array figures;
                 for (const Count figure : g->between) figures.emplace_back(figure);
                 return Value(std::move(figures));
             }},
            {{.name = "steady",
              .title = "STEADY",
              .holds = Holds::flag,
              .doc = "more in each input than in the one before"},
             [](Row g) { return Value(g->steady); }},
        });
    }
    std::vector<Row> each;
    for (const analyses::Growth& row : rows) each.push_back(&row);
    return table_of(std::move(columns), std::move(each), "nothing changed");
}

Table changed_finding_table(const Names& before, const Names& after,
                            std::span<const analyses::ChangedFinding> findings) {
    using Row = const analyses::ChangedFinding*;
    const auto names = [before, after](Row f) -> const Names& {
        return f->change == analyses::FindingChange::gone ? before : after;
    };
    Columns<Row> columns{
        {{.name = "change", .title = "CHANGE", .doc = "new, kept or gone"},
         [](Row f) { return Value(analyses::name_of(f->change)); }},
        {{.name = "rule", .title = "RULE", .doc = "what it was found by"},
         [](Row f) { return Value(f->finding->rule); }},
        {{.name = "severity", .title = "SEVERITY", .doc = "critical, high, medium or info"},
         [](Row f) { return Value(analyses::name_of(f->finding->severity)); }},
        {{.name = "title", .title = "TITLE", .doc = "the finding in a sentence", .wraps = true},
         [names](Row f) { return Value(spell(names(f), f->finding->title)); }},
        {{.name = "subject", .title = "SUBJECT", .doc = "what it is about, without pids", .wide = true},
         [names](Row f) { return Value(subject_text(names(f).snapshot(), *f->finding)); }},
        {{.name = "fingerprint",
          .title = "FINGERPRINT",
          .doc = "the same in another input",
          .content = Content::fingerprint,
          .wide = true},
         [](Row f) { return Value(f->finding->fingerprint); }},
    };
    std::vector<Row> each;
    for (const analyses::ChangedFinding& finding : findings) each.push_back(&finding);
    return table_of(std::move(columns), std::move(each), "no findings");
}

}  // namespace beamheap::present
