#include "present/diff.hpp"

#include "present/findings.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"

namespace beamheap::present {

Table growth_table(std::span<const analyses::Growth> rows) {
    using Row = const analyses::Growth*;
    std::vector<ColumnOf<Row>> columns{
        {{.name = "what",
          .title = "WHAT",
          .doc = "process, process_group, stack, ets_table, atom_family, port_driver, timer_receiver, memory or total"},
         [](Row g) { return Value(analyses::name_of(g->what)); }},
        {{.name = "key", .title = "KEY", .doc = "which one, without pids", .content = Content::name},
         [](Row g) { return Value(g->key); }},
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
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "growth, of what there was before"},
         [](Row g) {
             if (!g->percent) return Value();
             return *g->percent < 0 ? Value(0.0 - std::get<double>(cells::percent(-*g->percent).data()))
                                    : cells::percent(*g->percent);
         }},
    };
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
    std::vector<ColumnOf<Row>> columns{
        {{.name = "change", .title = "CHANGE", .doc = "new, kept or gone"},
         [](Row f) { return Value(analyses::name_of(f->change)); }},
        {{.name = "rule", .title = "RULE", .doc = "what it was found by"},
         [](Row f) { return Value(f->finding->rule); }},
        {{.name = "severity", .title = "SEVERITY", .doc = "critical, high, medium or info"},
         [](Row f) { return Value(analyses::name_of(f->finding->severity)); }},
        {{.name = "title", .title = "TITLE", .doc = "the finding in a sentence"},
         [names](Row f) { return Value(spell(names(f), f->finding->title)); }},
        {{.name = "subject",
          .title = "SUBJECT",
          .doc = "what it is about, without pids",
          .wide = true},
         [names](Row f) { return Value(subject_text(names(f).snapshot(), *f->finding)); }},
        {{.name = "fingerprint", .title = "FINGERPRINT", .doc = "the same in another input", .wide = true},
         [](Row f) { return Value(f->finding->fingerprint); }},
    };
    std::vector<Row> each;
    for (const analyses::ChangedFinding& finding : findings) each.push_back(&finding);
    return table_of(std::move(columns), std::move(each), "no findings");
}

}  // namespace beamheap::present
