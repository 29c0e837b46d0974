// SPDX-License-Identifier: Apache-2.0
// idle-garbage: idle processes keep heaps full of garbage.
//
// Theory: idle_heaps.hpp. What a full collection would free is what is allocated less what is live, for which it leaves
// room to grow: twice the live words are counted as kept. Handshakes, requests and start-up work leave such heaps in
// connections and workers; hibernation or a low fullsweep_after gives them back.
//
// A collection leaves no heap of which a quarter and less is used, unless it was to be no smaller (min_heap_size): the
// collector shrinks it (erl_gc.c of OTP 17 to 29). So alike heaps of which hardly anything is used, with no old ones
// beside them, are as large as the program, or +hms, asked for, and no collection frees a word.
//
// What funs have captured is in no crash dump: where most of those that were looked into have such funs, it is not said
// that a collection frees what is not seen.
//
// Garbage of a few that rest grows no further and goes with their next collection. It is to be feared where they are
// many, as each further one costs as much; where they keep binaries by it; where one of their kind works and leaves
// more of it; and where the node died for want of memory.
//
// Thresholds: a group of idle processes whose heaps are at least 8 MiB and a tenth of the node's memory, of which a
// collection would free at least half, and at least a tenth of the node's memory; three tenths,
// and 64 MiB, are high. Less than 96 MiB of fewer than ten, with no cause to fear it, are told as info.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "analyses/base/allocated_words.hpp"
#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/facts/catalogue/table_rows.hpp"
#include "analyses/memory/idle_heaps.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"
#include "model/whole.hpp"

namespace beamheap::analyses::rule {
namespace idle_garbage_rule {
namespace {

constexpr double least_garbage_percent = 50;
constexpr double medium_percent = 10;
constexpr std::uint64_t high_bytes = 64u << 20;
constexpr double high_percent = 30;
constexpr std::size_t least_of_one_size = 2;
constexpr std::size_t many_processes = 10;
constexpr std::uint64_t many_binaries = 8u << 20;
constexpr std::uint64_t least_rows = 1'000, least_copied = 1u << 20;  // of a table

struct Sample {
    std::uint64_t heaps = 0, allocated = 0, freed = 0, garbage = 0, live = 0;  // words
};

// What is live in it, where its heap was decoded, or its terms were looked into as those of who has most.
Count live_words(const Facts& facts, ProcId id) {
    const Process& process = facts.snapshot()[id];
    if (process.has_heap && process.live_words.has()) return process.live_words;
    const TermFacts* const seen = facts.get<SuspectTerms>().of(id);
    return seen == nullptr ? Count() : seen->live_words;
}

// Whether funs of half of them have captured what the input leaves out: that is live, and looks like garbage.
bool may_hold_captures(const Facts& facts, const std::vector<ProcId>& looked) {
    const auto hides = [&](ProcId id) {
        const TermFacts* const seen = facts.get<SuspectTerms>().of(id);
        return facts.snapshot()[id].hidden_captures != 0 || (seen != nullptr && seen->hides_captures);
    };
    return static_cast<std::size_t>(std::ranges::count_if(looked, hides)) * 2 >= looked.size();
}

std::vector<ProcId> looked_into(const Facts& facts, const IdleGroup& group) {
    std::vector<ProcId> looked;
    std::ranges::copy_if(group.members, std::back_inserter(looked),
                         [&](ProcId id) { return live_words(facts, id).has(); });
    return looked;
}

Sample measure(const Facts& facts, const std::vector<ProcId>& looked) {
    Sample sample;
    for (const ProcId id : looked) {
        const Process& process = facts.snapshot()[id];
        const std::uint64_t live = live_words(facts, id).value_or(0);
        const std::uint64_t allocated = allocated_words(process);
        const std::uint64_t kept = std::min(allocated, saturating_multiply(live, 2));
        ++sample.heaps;
        sample.allocated += allocated;
        sample.freed += allocated - kept;
        sample.live += live;
        sample.garbage += process.garbage_words.value_or(0);
    }
    return sample;
}

// Nine in ten of their words are unused, in young heaps of one size.
bool as_large_as_asked_for(const Snapshot& s, const IdleGroup& group) {
    const auto first = s[group.members.front()].heap_words;
    return first.has() && group.members.size() >= least_of_one_size &&
           std::ranges::all_of(group.members, [&](ProcId id) {
               const Process& process = s[id];
               const std::uint64_t allocated = allocated_words(process);
               return process.heap_words == first && process.old_heap_words.value_or(0) == 0 &&
                      used_words(process).value_or(allocated) <= allocated / 10;
           });
}

FunctionId kind_of(const Facts& facts, const IdleGroup& group) {
    const Process& first = facts.snapshot()[group.members.front()];
    const bool alike = std::ranges::all_of(
        group.members, [&](ProcId id) { return facts.snapshot()[id].real_initial_call == first.real_initial_call; });
    return alike && first.real_initial_call != FunctionId::none ? first.real_initial_call : group.initial_call;
}

// Where one of the same kind works now, and the program has a table with many rows, of which a copy is less than what
// one of them keeps: whoever reads all of it has copied all of it each time.
void say_copied_table(const Facts& facts, const IdleGroup& group, std::uint64_t each, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const auto most = facts.get<MostObjects>().table;
    if (!most || group.members.size() < least_of_one_size || s.ets[*most].name == TextId::none) return;
    const EtsReport report = ets_tables(s);
    const auto use = std::ranges::find(report.tables, *most, &EtsUse::table);
    const std::uint64_t objects = s.ets[*most].objects.value_or(0);
    if (use == report.tables.end() || objects < least_rows || use->bytes.value_or(0) < least_copied ||
        use->bytes.value_or(0) > each)
        return;
    const FunctionId kind = first_call(s[group.members.front()]);
    for (const ProcId id : all_processes(s)) {
        if (first_call(s[id]) != kind || s[id].state == ProcessState::waiting ||
            s[id].current_function == FunctionId::none)
            continue;
        finding.behind.say(
            "{} of the same kind {}, and table {} has {} ({}): most likely each reads all of them, and "
            "copies them each time",
            id, doing(facts, id), Name{s.ets[*most].name}, Counted{objects, "object", "objects"}, bytes(*use->bytes));
        finding.advise("Look at what fills that table, and for what deletes from it: `beamheap ets DUMP`");
        return;
    }
}

bool keeps_binaries(const Snapshot& s, const IdleGroup& group) {
    std::uint64_t words = 0;
    for (const ProcId id : group.members) words = saturating_add(words, virtual_heap_words(s[id]).value_or(0));
    return saturating_multiply(words, s.source.word_size) >= many_binaries;
}

FindingSeverity severity(const Facts& facts, const IdleGroup& group, std::uint64_t freed, double percent_of_node,
                         bool goes_on) {
    const bool feared = goes_on || group.members.size() >= many_processes ||
                        facts.get<Slogan>().kind == SloganKind::out_of_memory ||
                        keeps_binaries(facts.snapshot(), group);
    if (!feared && freed < little_garbage_bytes) return FindingSeverity::info;
    return percent_of_node >= high_percent && freed >= high_bytes ? FindingSeverity::high : FindingSeverity::medium;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const Count total = node_bytes(facts).has() ? node_bytes(facts) : all_process_bytes(facts);
    for (IdleGroup& all_of_it : idle_groups(s)) {
        const std::vector<ProcId> looked = looked_into(facts, all_of_it);
        const IdleGroup group = stood_for(s, std::move(all_of_it), looked);
        const Sample sample = measure(facts, looked);
        if (group.members.empty() || sample.allocated == 0) continue;
        const double ratio = static_cast<double>(sample.freed) / static_cast<double>(sample.allocated);
        const auto freed = whole(ratio * static_cast<double>(group.heap_bytes));
        const auto of_node = percent_of(freed, total);
        if (100 * ratio < least_garbage_percent || of_node.value_or(0) < medium_percent) continue;
        const bool all = sample.heaps == group.members.size();
        Finding finding;
        const FunctionId kind = kind_of(facts, group);
        if (group.members.size() == 1) about(facts, group.members.front(), finding);
        else finding.subject = {SubjectKind::group, sentence("{}", kind)};
        finding.count = group.members.size();
        finding.bytes = freed;
        finding.percent = of_node;
        finding.confidence = Confidence::estimate;
        if (group.members.size() == 1) finding.title.say("{} keeps", group.members.front());
        else
            finding.title.say("{} idle processes ({}, in {}) keep", number(group.members.size()), kind,
                              group.current_function);
        const bool asked_for = as_large_as_asked_for(s, group);
        const bool captures = !asked_for && may_hold_captures(facts, looked);
        if (asked_for)
            finding.title.say(
                " heaps of {} ({} of the node's memory), all as large and hardly used: most likely their min_heap_size",
                bytes(group.heap_bytes), Percent{percent_of(group.heap_bytes, total).value_or(0)});
        else if (captures)
            finding.title.say(
                " heaps of {}, of which {} ({} of the node's memory) are garbage, or what their funs have captured, "
                "which a crash dump leaves out",
                bytes(group.heap_bytes), bytes(freed), Percent{*of_node});
        else
            finding.title.say(" heaps of {}; a collection would free {} ({} of the node's memory)",
                              bytes(group.heap_bytes), bytes(freed), Percent{*of_node});
        finding.evidence.push_back(figure("heaps, as allocated", group.heap_bytes, AmountUnit::bytes));
        finding.evidence.push_back(figure("of them, heaps that were looked into", sample.heaps, AmountUnit::count));
        finding.evidence.push_back(figure("live in those", sample.live, AmountUnit::words));
        finding.evidence.push_back(figure("garbage in those", sample.garbage, AmountUnit::words));
        finding.evidence.push_back(figure("allocated in those", sample.allocated, AmountUnit::words));
        if (!asked_for) say_copied_table(facts, group, freed / group.members.size(), finding);
        finding.severity = severity(facts, group, freed, *of_node, !finding.behind.empty());
        if (asked_for)
            finding.advise(
                "No collection makes a heap smaller than the min_heap_size of the process (spawn options, "
                "`process_flag/2`) or of the node (`+hms`): leave it out for processes that are many and keep little.");
        if (captures)
            finding.advise(
                "A fun takes with it all variables that it names, and each process that is given it has a copy: match "
                "out what it needs before. See which funs one of them has, and their modules: {}",
                Command{"proc", s[group.members.front()].pid});
        finding.advise(
            "Let them hibernate when idle: hibernate_after of gen_server, gen_statem and ssl, or "
            "`erlang:hibernate/3`.");
        finding.advise(
            "Or sweep the old heap more often: {fullsweep_after, 20} in spawn options, or ERL_FULLSWEEP_AFTER for "
            "all.");
        finding.advise("Look at one of them: {}", Command{"proc", s[group.members.front()].pid});
        if (!all) finding.advise("For exact figures of all of them: `beamheap analyze DUMP --full`");
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace idle_garbage_rule

Rule idle_garbage() { return {"idle-garbage", 100, idle_garbage_rule::run}; }

}  // namespace beamheap::analyses::rule
