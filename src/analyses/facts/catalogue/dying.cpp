// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/dying.hpp"

#include <algorithm>
#include <memory>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/logs/log_forms.hpp"
#include "analyses/processes/frame_marks.hpp"
#include "analyses/processes/process_columns.hpp"
#include "erlang/crash_reports.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_reporting = 8;
constexpr std::size_t objects_around = 5'000;  // of the terms around the reporting function, breadth first
constexpr std::uint32_t younger_frames = 40;   // than that of the reporting function: of the loggers that it has called
constexpr std::uint64_t largest_reporting = 64'000'000;  // words

bool reports_crashes(const Snapshot& s, FunctionId id) {
    const Function& function = s.functions[id];
    return std::ranges::any_of(erlang::crash_reporters, [&](const erlang::CrashReporter& row) {
        return row.module == s.text(function.module) && row.function == s.text(function.name);
    });
}

// [{M, F, Arity or Arguments, Location} | _]
bool is_stacktrace(TermReader& reader, const Element& term) {
    const std::vector<Element> first = reader.list(term, 1);
    if (first.empty()) return false;
    const std::vector<Element> call = reader.tuple(first[0], 4);
    return !call.empty() && TermReader::is_atom(call[0]) && TermReader::is_atom(call[1]) && reader.is_list(call[3]);
}

// Of {Reason, Stack}, or {Class, Reason, Stack} of proc_lib's report, the place of the reason, behind which its stack
// is; nothing: it is neither.
std::optional<std::size_t> reason_of_crash(TermReader& reader, const std::vector<Element>& parts) {
    if (parts.size() == 2 && is_stacktrace(reader, parts[1])) return 0;
    if (parts.size() == 3 && TermReader::is_one_of(parts[0], {"error", "exit", "throw"}) &&
        is_stacktrace(reader, parts[2]))
        return 1;
    return std::nullopt;
}

// What it crashed of: in the frames of the reporting function, of those that it was called by, and of the loggers.
std::optional<Failure> failure_around(TermSource& terms, std::uint32_t reporter) {
    TermReader reader(terms);
    const RootList& roots = terms.graph().roots();
    std::vector<Element> left;
    for (std::size_t i = roots.size(); i-- > 0;)  // the oldest frames first
        if (roots[i].kind == RootKind::stack && roots[i].frame + younger_frames >= reporter &&
            left.size() < objects_around)
            left.push_back(terms.root(i));
    for (std::size_t i = 0; i < left.size() && i < objects_around; ++i) {
        if (left[i].kind != ElementKind::object) continue;
        if (const auto at = reason_of_crash(reader, reader.tuple(left[i]))) {
            std::shared_ptr<OwnedTerm> copy = copy_term(terms, left[i]);
            TermReader copied(*copy);
            const std::vector<Element> crash = copied.tuple(copy->term());
            return failure_of(copy, crash[*at], frames_of(copied, crash[*at + 1]));
        }
        ElementCursor cursor = terms.elements(left[i].id);
        for (Element element; left.size() < objects_around && terms.next(cursor, element);) left.push_back(element);
    }
    return std::nullopt;
}

void add_reporting(const Facts& facts, Dying& dying) {
    const Snapshot& s = facts.snapshot();
    const std::vector<std::uint8_t> marks = marks_of_stacks(s, [&](FunctionId id) { return reports_crashes(s, id); });
    for (const ProcId id : all_processes(s)) {
        if (mark_of(marks, s[id]) == 0) continue;
        const std::span<const Frame> frames = s.stacks[s[id].stack];
        std::uint32_t at = 0;  // the oldest of them
        for (std::uint32_t i = 0; i < frames.size(); ++i)
            if (frames[i].function != FunctionId::none && reports_crashes(s, frames[i].function)) at = i;
        CrashReporting row;
        row.process = id;
        row.reporter = frames[at].function;
        if (Artifact* const artifact = facts.artifact(); artifact != nullptr &&
                                                         dying.reporting.size() < most_reporting &&
                                                         allocated_words(s[id]) <= largest_reporting)
            if (const auto terms = artifact->terms(id)) row.failure = failure_around(**terms, at);
        dying.reporting.push_back(std::move(row));
    }
    std::ranges::stable_sort(dying.reporting, std::ranges::greater(), [&](const CrashReporting& row) {
        return process_bytes(s[row.process], s.source.word_size).value_or(0);
    });
}

void add_exiting(const Snapshot& s, Dying& dying) {
    for (const ProcId id : all_processes(s))
        if (s[id].state == ProcessState::exiting) dying.exiting.push_back(id);
    if (dying.exiting.empty()) return;
    std::ranges::stable_sort(dying.exiting, std::ranges::greater(),
                             [&](ProcId id) { return process_bytes(s[id], s.source.word_size).value_or(0); });
    const Count all = s.memory_bytes("ets");
    if (!all.has()) return;
    std::uint64_t listed = 0;
    for (const EtsTable& table : s.ets)
        listed = saturating_add(listed, words_to_bytes(table.words, s.source.word_size).value_or(0));
    dying.untold_table_bytes = *all - std::min(*all, listed);
}

}  // namespace

bool Dying::reports(ProcId process) const {
    return std::ranges::find(reporting, process, &CrashReporting::process) != reporting.end();
}

Result<Dying> find_fact(FactOf<Dying>, const Facts& facts) {
    Dying dying;
    add_reporting(facts, dying);
    add_exiting(facts.snapshot(), dying);
    return dying;
}

namespace fact {
void dying(FactNeeds& needs) {
    needs.plan.tables = needs.plan.stacks = true;
    // Of a stream those that format, of which some may report: their frames are not known yet.
    needs.whose_terms.emplace_back([](const Snapshot& s, ProcId id) {
        if (s[id].current_function == FunctionId::none || s[id].state == ProcessState::waiting) return false;
        const std::string_view module = s.text(s.functions[s[id].current_function].module);
        return std::ranges::any_of(erlang::formatting_modules,
                                   [&](std::string_view begin) { return module.starts_with(begin); });
    });
}
}  // namespace fact

}  // namespace beamheap::analyses
