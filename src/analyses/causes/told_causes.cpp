// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/told_causes.hpp"

#include <algorithm>

#include "analyses/causes/given_up.hpp"
#include "analyses/causes/wordings.hpp"
#include "erlang/causes.hpp"
#include "erlang/error_words.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"
#include "erlang/usual_causes.hpp"

namespace beamheap::analyses {
namespace {

// More than a node has time to say.
constexpr std::size_t most_events = 200;

// An error of the operating system and nothing else: not what could not be written or reached, nor by whose code.
// Standard output that is full or closed ends the node's own `user` so, whatever the node died of.
bool is_bare(const ToldCause& told) {
    const Failure& failure = told.failure;
    const auto of_output = [](std::string_view child) {
        return erlang::has_role(child, erlang::RegisteredRole::prints);
    };
    const bool by_io =
        !failure.stack.empty() && erlang::has_role(failure.stack.front().module, erlang::FunctionRole::writes_output);
    const bool written = told.cause.kind == CauseKind::no_file || (told.cause.kind == CauseKind::no_output && !by_io);
    return written && TermReader::is_atom(failure.reason) && failure.application.empty() && told.cause.where.empty() &&
           std::ranges::all_of(failure.children, of_output);
}

int rank(const ToldCause& told) {
    if (is_bare(told) || told.cause.follows) return 1;
    switch (told.cause.kind) {
        case CauseKind::none: return 0;
        case CauseKind::unknown: return 1;
        case CauseKind::message:
        case CauseKind::bad_value:
        case CauseKind::bad_return:
        case CauseKind::timeout: return 2;
        case CauseKind::no_output: return 3;
        default: return 4;
    }
}

bool better(const ToldCause& a, const ToldCause& b) {
    if (rank(a) != rank(b)) return rank(a) > rank(b);
    return a.failure.weight() > b.failure.weight();
}

// Whether the slogan's own reason says it all: nothing of it is left out, and it is not the word for an end that
// something else brought about. A report of another process is not asked then: other processes end, too.
bool is_decisive(const ToldCause& told) {
    const Failure& failure = told.failure;
    if (failure.words || failure.weight() <= 0 || is_bare(told) || told.cause.follows) return false;
    switch (told.cause.kind) {
        case CauseKind::none:
        case CauseKind::not_registered:  // whoever had the name may have ended of what a report tells
        case CauseKind::no_output:
        case CauseKind::timeout:
        case CauseKind::stopped: return false;
        default: break;
    }
    // A cause that is known by its form, or of a call that init made. What kernel's own processes say while they go
    // down follows from something else.
    constexpr int known = 4;
    const auto of_init = [](const LogFrame& frame) {
        return erlang::has_role(frame.module, erlang::FunctionRole::of_init);
    };
    // A tagged term of the application's own making is its reason, too; a bare word may be anybody's, and a pair that
    // was not taken apart is of supervisors whose reasons were cut.
    const auto tag = TermReader(*failure.term).begin_of(failure.reason);
    const bool own_words = tag && TermReader::is_atom(tag->first) && !TermReader::is(tag->first, "shutdown");
    return failure.is_whole() && (rank(told) == known || own_words || std::ranges::any_of(failure.stack, of_init));
}

// Whether an event is about the same reason: it may tell more of the way to it.
bool is_same(const ToldCause& a, const ToldCause& b) {
    const auto name = [](const Failure& failure) {
        const Element& reason = failure.reason;
        if (TermReader::is_atom(reason)) return reason.text;
        const auto begin = TermReader(*failure.term).begin_of(reason);
        return begin && TermReader::is_atom(begin->first) ? begin->first.text : std::string_view{};
    };
    if (name(a.failure) != name(b.failure)) return false;
    const std::vector<LogFrame>&mine = a.failure.stack, &other = b.failure.stack;
    if (mine.empty()) return true;
    return !other.empty() && mine.front().module == other.front().module &&
           mine.front().function == other.front().function;
}

// Ends that follow from others, and reports that are not about an end.
bool tells_an_end(const LogEvent& event) {
    return event.reason.kind != ElementKind::unknown && event.reason_term != nullptr && event.level != LogLevel::debug;
}

ToldCause told_by(const Snapshot& snapshot, const LogEvent& event, std::span<const LogEvent> events,
                  bool had_run = false) {
    ToldCause told{failure_of(event.reason_term, event.reason, event.stack), {}, &event};
    told.failure.exited = told.failure.exited || had_run;
    if (event.kind == LogKind::supervisor_report && told.failure.children.empty() && TermReader::is_atom(event.subject))
        told.failure.children.emplace_back(event.subject.text);
    if (event.kind == LogKind::application_end && told.failure.application.empty() &&
        TermReader::is_atom(event.subject))
        told.failure.application = event.subject.text;
    told.cause = cause_of(snapshot, told.failure, events);
    return told;
}

// Where nobody gives a reason: a text about an error that was on its way to a device. What the program itself had to
// say is told whole; of a format with arguments only these say it.
std::optional<ToldCause> told_by_output(std::span<const LogEvent> events) {
    constexpr std::size_t longest = 4'096, shown = 110;
    for (const LogEvent& event : events) {
        if (event.kind != LogKind::output || event.format.kind == ElementKind::unknown || !event.args.empty()) continue;
        const auto text = TermReader(*event.term).text(event.format, longest);
        if (!text || !erlang::has_error_word(*text)) continue;
        ToldCause told{{}, {}, &event};
        told.failure.term = event.term;
        told.failure.reason = event.format;
        told.failure.words = true;
        told.cause.kind = CauseKind::message;
        told.cause.what =
            sentence("it was about to print: {}", InputText{one_line(*text, shown), InputText::Holds::message});
        told.cause.hints.push_back(
            Sentence("The text was on its way to the node's output: its log may have what came before."));
        return told;
    }
    return std::nullopt;
}

// An application that had run ended with its top supervisor, which gives no reason but that it gave up.
bool is_given_up(const ToldCause& told) {
    return told.failure.exited && TermReader::is(told.failure.reason, "shutdown");
}

// Of such an application: what is told of the child that its supervisor gave up for, else nothing. What ends a child in
// order, or kills it, is why, too.
std::optional<ToldCause> told_of_child(const Snapshot& snapshot, const ToldCause& of_slogan, const GivenUp& given,
                                       std::span<const LogEvent> events) {
    std::optional<ToldCause> best;
    for (const LogEvent& event : events) {
        if (!given.is_about(event) || !tells_an_end(event) || &event == given.report) continue;
        ToldCause told = told_by(snapshot, event, events, true);
        if (!best || better(told, *best)) best = std::move(told);
    }
    if (!best) return std::nullopt;
    best->failure.application = of_slogan.failure.application;
    if (best->failure.children.empty() && TermReader::is_atom(given.report->subject))
        best->failure.children.emplace_back(given.report->subject.text);
    return best;
}

}  // namespace

std::optional<ToldCause> told_cause(const Snapshot& snapshot, std::string_view slogan_reason,
                                    std::span<const LogEvent> events, bool had_run, std::string_view application) {
    std::optional<ToldCause> best;
    if (!slogan_reason.empty()) {
        best = ToldCause{failure_of_printed(slogan_reason), {}, nullptr};
        best->failure.exited = best->failure.exited || had_run;
        best->failure.leaves_out = snapshot.node.slogan.starts_with(erlang::boot_words_of_25);
        best->cause = cause_of(snapshot, best->failure, events);
    }
    const std::optional<ToldCause> of_slogan = best;
    const bool decisive = of_slogan && is_decisive(*of_slogan);
    const bool gave_up = of_slogan && is_given_up(*of_slogan);
    if (gave_up)
        if (const auto given = given_up(events, application))
            if (auto told = told_of_child(snapshot, *of_slogan, *given, events)) return told;
    // Newest first: the earliest of equals is the last that is as good.
    for (const LogEvent& event : events.first(std::min(events.size(), most_events))) {
        if (!tells_an_end(event) || (gave_up && goes_on(snapshot, event))) continue;
        ToldCause told = told_by(snapshot, event, events);
        if (told.failure.weight() <= 0) continue;  // "killed": what else ended is the cause
        const bool slogan_tells = best && best->event == nullptr;
        if (decisive && !is_same(*of_slogan, told)) continue;
        if (!best || better(told, *best) || (!slogan_tells && !better(*best, told))) best = std::move(told);
    }
    if (best && best->cause.kind == CauseKind::none) best.reset();
    if (best && is_given_up(*best))
        if (const Ours* usual = erlang::usual_cause_of(application)) best->cause.hints.emplace_back(*usual);
    // The crash report of an application's master does not name the application; the one about its end does.
    if (best && best->failure.application.empty())
        for (const LogEvent& event : events.first(std::min(events.size(), most_events)))
            if (event.kind == LogKind::application_end && tells_an_end(event))
                if (const ToldCause told = told_by(snapshot, event, events);
                    is_same(told, *best) && told.failure.children == best->failure.children) {
                    best->failure.application = told.failure.application;
                    break;
                }
    return best ? std::move(best) : told_by_output(events.first(std::min(events.size(), most_events)));
}

}  // namespace beamheap::analyses
