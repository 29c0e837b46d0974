#include "present/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyses/rules/rules.hpp"
#include "present/table_cells.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

using analyses::Evidence;
using analyses::EvidenceUnit;
using analyses::Finding;

std::string_view unit_name(EvidenceUnit unit) {
    switch (unit) {
        case EvidenceUnit::none: return "";
        case EvidenceUnit::count: return "count";
        case EvidenceUnit::bytes: return "bytes";
        case EvidenceUnit::words: return "words";
        case EvidenceUnit::percent: return "percent";
        case EvidenceUnit::milliseconds: break;
    }
    return "milliseconds";
}

// A whole number as one: what machines compare.
Value number_value(double number) {
    if (number >= 0 && number < 9007199254740992.0 && std::floor(number) == number)
        return static_cast<std::uint64_t>(number);
    return number;
}

Value evidence_value(const Evidence& evidence) {
    const std::string_view unit = unit_name(evidence.unit);
    return Object{{"name", evidence.name},
                  {"value", evidence.number ? number_value(*evidence.number) : Value(evidence.text)},
                  {"unit", unit.empty() ? Value() : Value(unit)},
                  {"confidence", analyses::name_of(evidence.confidence)}};
}

std::string number_text(const Evidence& evidence) {
    const double number = *evidence.number;
    const auto whole = number < 0 ? 0 : number >= 1.8e19 ? ~0ull : static_cast<std::uint64_t>(number);
    switch (evidence.unit) {
        case EvidenceUnit::bytes: return human_bytes(whole);
        case EvidenceUnit::words: return grouped(whole) + " words";
        case EvidenceUnit::percent: return human_percent(number);
        case EvidenceUnit::milliseconds: return human_duration(whole);
        case EvidenceUnit::none:
        case EvidenceUnit::count: break;
    }
    return std::floor(number) == number ? grouped(whole) : fmt::format("{:.2f}", number);
}

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

}  // namespace

std::string evidence_line(const Evidence& evidence) {
    std::string line = evidence.name + ": " + (evidence.number ? number_text(evidence) : evidence.text);
    if (evidence.confidence == analyses::Confidence::lower_bound) line += " (at least)";
    if (evidence.confidence == analyses::Confidence::estimate) line += " (estimate)";
    return line;
}

std::vector<std::string> verdict(const Names& names, std::span<const Finding> findings) {
    if (findings.empty() || findings.front().severity == analyses::FindingSeverity::info) return {};
    std::string sentence = names.prose(findings.front().title);
    if (!sentence.ends_with('.')) sentence += '.';
    return {std::move(sentence)};
}

Member finding_member(const Names& names, const Finding& finding, bool said) {
    Array lines;
    if (!said) lines.emplace_back(names.prose(finding.title));
    for (const Evidence& evidence : finding.evidence) lines.emplace_back("  " + names.prose(evidence_line(evidence)));
    const std::string& path = names.snapshot().source.path;
    for (const std::string& step : finding.next_steps) lines.emplace_back("  -> " + step_for(names.prose(step), path));
    return {.key = {},
            .title = fmt::format("{}: {}", analyses::name_of(finding.severity), finding.rule),
            .body = Value(std::move(lines)),
            .in_json = false,
            .prose = true,
            .content = Content::message};
}

Array nothing_found() {
    std::string looked;
    for (const analyses::Rule& rule : analyses::rules())
        looked += fmt::format("{}{}", looked.empty() ? "" : ", ", rule.id);
    return {Value(fmt::format("Nothing found; looked for {}.", looked))};
}

bool says(std::span<const Finding> findings, const std::string& step) {
    const auto has = [&](const Finding& f) { return std::ranges::find(f.next_steps, step) != f.next_steps.end(); };
    return std::ranges::any_of(findings, has);
}

std::string step_for(std::string step, std::string_view path) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+=:@,%";
    constexpr std::string_view placeholder = " DUMP";
    std::string input = " ";
    if (!path.empty() && path.find_first_not_of(plain) == path.npos) {
        input += path;
    } else {
        input += '\'';
        for (const char c : path) c == '\'' ? input += "'\\''" : input += c;
        input += '\'';
    }
    std::size_t at = step.find(placeholder);
    while (at != step.npos) {
        const std::size_t end = at + placeholder.size();
        const bool whole = end == step.size() || std::string_view(" ;.,)").find(step[end]) != std::string_view::npos;
        if (whole) step.replace(at, placeholder.size(), input);
        at = step.find(placeholder, whole ? at + input.size() : end);
    }
    return step;
}

Table finding_table(const Names& names, std::span<const Finding> findings) {
    using Row = const Finding*;
    const std::string path = names.snapshot().source.path;
    std::vector<ColumnOf<Row>> columns{
        {{.name = "rule", .title = "RULE", .doc = "what it was found by"}, [](Row f) { return Value(f->rule); }},
        {{.name = "severity", .title = "SEVERITY", .doc = "critical, high, medium or info"},
         [](Row f) { return Value(analyses::name_of(f->severity)); }},
        {{.name = "title", .title = "TITLE", .doc = "the finding in a sentence", .content = Content::message},
         [](Row f) { return Value(f->title); }},
        {{.name = "subject", .title = "SUBJECT", .doc = "what it is about, without pids", .content = Content::name},
         [](Row f) { return Value(f->subject.text); }},
        {{.name = "subject_kind", .title = "KIND", .doc = "what kind of thing that is", .wide = true},
         [](Row f) { return Value(analyses::name_of(f->subject.kind)); }},
        {{.name = "pid", .title = "PID", .doc = "the process that it is about"},
         [names](Row f) { return cells::pid(names, f->pid); }},
        {{.name = "name", .title = "NAME", .doc = "its registered name", .content = Content::name},
         [](Row f) { return text_or_null(f->name); }},
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
          .wide = true},
         [](Row f) { return Value(f->fingerprint); }},
        {{.name = "evidence",
          .title = "EVIDENCE",
          .doc = "figures that prove it",
          .content = Content::message,
          .wide = true},
         [](Row f) {
             Array all;
             for (const Evidence& each : f->evidence) all.push_back(evidence_value(each));
             return Value(std::move(all));
         }},
        {{.name = "next_steps", .title = "NEXT STEPS", .doc = "what to do", .content = Content::message, .wide = true},
         [path](Row f) {
             Array all;
             for (const std::string& step : f->next_steps) all.emplace_back(step_for(step, path));
             return Value(std::move(all));
         }},
    };
    std::vector<Row> rows;
    for (const Finding& finding : findings) rows.push_back(&finding);
    return table_of(std::move(columns), std::move(rows), "nothing found");
}

}  // namespace beamheap::present
