// SPDX-License-Identifier: Apache-2.0
#include "present/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "analyses/rules/rules.hpp"
#include "model/whole.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

using analyses::AmountUnit;
using analyses::Evidence;
using analyses::Finding;

std::string_view unit_name(AmountUnit unit) {
    switch (unit) {
        case AmountUnit::none: return "";
        case AmountUnit::plain:
        case AmountUnit::address:
        case AmountUnit::count: return "count";
        case AmountUnit::bytes: return "bytes";
        case AmountUnit::words: return "words";
        case AmountUnit::percent: return "percent";
        case AmountUnit::milliseconds: break;
    }
    return "milliseconds";
}

// A whole number as one: what machines compare.
Value number_value(double number) {
    if (number >= 0 && number < 9007199254740992.0 && std::floor(number) == number)
        return static_cast<std::uint64_t>(number);
    return number;
}

Value evidence_value(const Names& names, const Evidence& evidence) {
    const std::string_view unit = unit_name(evidence.unit);
    return Object{{"name", spell(names, evidence.name)},
                  {"value", evidence.number ? number_value(*evidence.number) : Value(spell(names, evidence.text))},
                  {"unit", unit.empty() ? Value() : Value(unit)},
                  {"confidence", analyses::name_of(evidence.confidence)}};
}

std::string number_text(const Evidence& evidence) {
    const double number = *evidence.number;
    const std::uint64_t rounded = whole(number);
    switch (evidence.unit) {
        case AmountUnit::bytes: return human_bytes(rounded);
        case AmountUnit::words: return grouped(rounded) + " words";
        case AmountUnit::percent: return human_percent(number);
        case AmountUnit::milliseconds: return human_duration(rounded);
        case AmountUnit::none:
        case AmountUnit::plain:
        case AmountUnit::address:
        case AmountUnit::count: break;
    }
    return std::floor(number) == number ? grouped(rounded) : fmt::format("{:.2f}", number);
}

}  // namespace

Text evidence_line(const Names& names, const Evidence& evidence) {
    Text line = spell(names, evidence.name).add(": ");
    if (evidence.number) line.add(number_text(evidence));
    else line.add(spell(names, evidence.text));
    if (evidence.confidence == analyses::Confidence::lower_bound) line.add(" (at least)");
    if (evidence.confidence == analyses::Confidence::estimate) line.add(" (estimate)");
    return line;
}

Text subject_text(const Snapshot& snapshot, const Finding& finding) {
    return spell(Names(snapshot, Syntax::erlang), finding.subject.text);
}

Member finding_member(const Names& names, const Finding& finding, bool said, std::size_t most_evidence,
                      std::size_t most_steps) {
    Array lines;
    if (!said) lines.emplace_back(spell(names, finding.title));
    for (const Evidence& evidence : finding.evidence) {
        // The answer that began with its title has said that as well.
        if (said && !finding.behind.empty() && evidence.text == finding.behind) continue;
        if (most_evidence-- == 0) break;
        lines.emplace_back(Text{}.add("  ").add(evidence_line(names, evidence)));
    }
    const auto steps = std::span(finding.next_steps).first(std::min(most_steps, finding.next_steps.size()));
    for (const analyses::Sentence& step : steps) lines.emplace_back(Text{}.add("  -> ").add(spell(names, step)));
    return {.key = {},
            .title = fmt::format("{}: {}", analyses::name_of(finding.severity), finding.rule),
            .body = Value(std::move(lines)),
            .in_json = false,
            .prose = true,
            .kept = steps.size()};
}

Member short_finding_member(const Names& names, const Finding& finding) {
    Array lines{Value(spell(names, finding.title))};
    if (!finding.next_steps.empty())
        lines.emplace_back(Text{}.add("  -> ").add(spell(names, finding.next_steps.front())));
    return {.key = {},
            .title = fmt::format("{}: {}", analyses::name_of(finding.severity), finding.rule),
            .body = Value(std::move(lines)),
            .in_json = false,
            .prose = true};
}

Array nothing_found() {
    const std::size_t rules = analyses::rules().size();
    return {Value(fmt::format("No finding by any of {} rules. What they look for: beamheap explain", rules))};
}

Table finding_table(const Names& names, std::span<const Finding> findings) {
    using Row = const Finding*;
    Columns<Row> columns{
        {{.name = "rule", .title = "RULE", .doc = "what it was found by"}, [](Row f) { return Value(f->rule); }},
        {{.name = "severity", .title = "SEVERITY", .doc = "critical, high, medium or info"},
         [](Row f) { return Value(analyses::name_of(f->severity)); }},
        {{.name = "title", .title = "TITLE", .doc = "the finding in a sentence", .wraps = true},
         [names](Row f) { return Value(spell(names, f->title)); }},
        {{.name = "title_parts",
          .title = "TITLE PARTS",
          .doc = "that sentence part by part: words, figures, processes, functions, names, terms",
          .wide = true},
         [names](Row f) { return Value(sentence_parts(names, f->title)); }},
        {{.name = "subject", .title = "SUBJECT", .doc = "what it is about, without pids"},
         [names](Row f) { return Value(subject_text(names.snapshot(), *f)); }},
        {{.name = "subject_kind", .title = "KIND", .doc = "what kind of thing that is", .wide = true},
         [](Row f) { return Value(analyses::name_of(f->subject.kind)); }},
        {{.name = "pid", .title = "PID", .doc = "the process that it is about"},
         [names](Row f) { return cells::pid(names, f->pid); }},
        {{.name = "name", .title = "PROCESS", .doc = "its registered name", .content = Content::name},
         [names](Row f) { return cells::bare(names, f->name); }},
        {{.name = "role", .title = "ROLE", .doc = "cause, or victim of another", .wide = true},
         [](Row f) { return Value(analyses::name_of(f->role)); }},
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "of what the title counts"},
         [](Row f) { return Value(f->count); }},
        {{.name = "bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "memory that it is about"},
         [](Row f) { return Value(f->bytes); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "the share that the title gives"},
         [](Row f) { return cells::percent(f->percent); }},
        {{.name = "confidence", .title = "CONFIDENCE", .doc = "exact, lower_bound or estimate", .wide = true},
         [](Row f) { return Value(analyses::name_of(f->confidence)); }},
        {{.name = "fingerprint",
          .title = "FINGERPRINT",
          .doc = "the same for the same thing in another dump",
          .content = Content::fingerprint,
          .wide = true},
         [](Row f) { return Value(f->fingerprint); }},
        {{.name = "evidence", .title = "EVIDENCE", .doc = "figures that prove it", .wide = true},
         [names](Row f) {
             Array all;
             for (const Evidence& each : f->evidence) all.push_back(evidence_value(names, each));
             return Value(std::move(all));
         }},
        {{.name = "next_steps", .title = "NEXT STEPS", .holds = Holds::texts, .doc = "what to do", .wide = true},
         [names](Row f) {
             Array all;
             for (const analyses::Sentence& step : f->next_steps) all.emplace_back(spell(names, step));
             return Value(std::move(all));
         }},
    };
    std::vector<Row> rows;
    for (const Finding& finding : findings) rows.push_back(&finding);
    return table_of(std::move(columns), std::move(rows), "nothing found");
}

}  // namespace beamheap::present
