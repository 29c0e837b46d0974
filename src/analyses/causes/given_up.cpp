// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/given_up.hpp"

#include <algorithm>

#include "analyses/logs/log_forms.hpp"
#include "erlang/crash_reports.hpp"

namespace beamheap::analyses {
namespace {

bool is_last_word(const LogEvent& event) {
    return event.kind == LogKind::supervisor_report && TermReader::is(event.reason, erlang::restarted_too_often);
}

std::string words_of(const LogEvent& event, const Element& term) {
    if (TermReader::is_atom(term)) return std::string(term.text);
    const TermReader terms(*event.term);
    if (auto text = terms.text(term, 200)) return *std::move(text);
    std::string words;
    for (const Element& part : terms.tuple(term))
        words +=
            (TermReader::is_atom(part) ? std::string(part.text) : std::to_string(terms.number(part).value_or(0))) + ',';
    return words;
}

bool is_same_child(const LogEvent& a, const LogEvent& b) {
    return a.kind == LogKind::supervisor_report && b.kind == LogKind::supervisor_report && a.name == b.name &&
           words_of(a, a.subject) == words_of(b, b.subject);
}

// Whether an application other than this ended next after a report.
bool is_of_another(std::span<const LogEvent> events, const LogEvent& report, std::string_view application) {
    const LogEvent* next = nullptr;
    for (const LogEvent& event : events)
        if (event.kind == LogKind::application_end && TermReader::is_atom(event.subject) && event.order != 0 &&
            event.order >= report.order)
            next = &event;
    return next != nullptr && next->subject.text != application;
}

// Of a child that ended in order: the supervisor that it is, and that gave up before.
const LogEvent* within(std::span<const LogEvent> events, const LogEvent& outer) {
    const auto end = std::ranges::find_if(
        events, [&](const LogEvent& event) { return is_same_child(event, outer) && !is_last_word(event); });
    if (end == events.end() || !is_orderly(TermReader(*end->reason_term), end->reason)) return nullptr;
    for (const LogEvent& event : events)
        if (is_last_word(event) && event.name != outer.name && event.order <= outer.order) return &event;
    return nullptr;
}

}  // namespace

bool GivenUp::is_about(const LogEvent& event) const {
    if (event.kind == LogKind::supervisor_report) return is_same_child(event, *report);
    return (event.pid.has() && event.pid == report->pid) ||
           (TermReader::is_atom(report->subject) && event.name == report->subject.text);
}

std::optional<GivenUp> given_up(std::span<const LogEvent> events, std::string_view application) {
    constexpr int most_layers = 8;
    const auto last = std::ranges::find_if(events, is_last_word);
    if (last == events.end() || is_of_another(events, *last, application)) return std::nullopt;
    GivenUp found{&*last, 0};
    for (int i = 0; i < most_layers; ++i) {
        const LogEvent* inner = within(events, *found.report);
        if (inner == nullptr) break;
        found.report = inner;
    }
    found.ends = static_cast<std::size_t>(std::ranges::count_if(
        events, [&](const LogEvent& event) { return is_same_child(event, *found.report) && !is_last_word(event); }));
    return found;
}

bool goes_on(const Snapshot& snapshot, const LogEvent& event) {
    return !event.name.empty() && snapshot.find_registered(event.name) != ProcId::none;
}

}  // namespace beamheap::analyses
