// SPDX-License-Identifier: Apache-2.0
// runaway-recursion: a process whose memory is its stack.
//
// Theory: recursion.hpp. The remedy is another one than that of a large heap: nothing is kept that could be bounded or
// streamed, a function calls itself where it should have ended. Which one is told by its frames, and how deep it is;
// the frame below the circle says who began it. A body-recursive function over a long list is the harmless kind: its
// stack is as long as the list, which is why less than 64 MiB is only medium.
//
// Where the input has no stack of the one that was refused memory, the size of its heap, on which nothing is, tells it.
//
// Where what calls itself is what starts an application behind those that it needs, they need each other
// (application_circle.hpp): that is no recursion of the program's own, and its end is in a file.
//
// Thresholds: a stack of 8 MiB (1 MiB of the one that was refused memory) that is most of what the process holds.
// Critical where the VM was refused memory for this process, high from 64 MiB and half of the memory of all processes.
#include <algorithm>

#include "analyses/facts/catalogue/application_circle.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/recursion.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace runaway_recursion_rule {
namespace {

constexpr std::uint64_t high_bytes = 64u << 20;
constexpr double high_percent = 50;
constexpr std::size_t most_findings = 3;

// "scenario:sum/1", "a:f/1, a:g/1 and a:h/1".
Sentence functions_text(const Recursion& recursion) {
    Sentence text = sentence("{}", recursion.function);
    for (std::size_t i = 1; i < recursion.circle.size(); ++i) {
        text.add(i + 1 == recursion.circle.size() ? Ours(" and ") : Ours(", "));
        text.add(recursion.circle[i]);
    }
    return text;
}

Finding finding_of(const Facts& facts, ProcId id, const Recursion& found) {
    const Process& process = facts.snapshot()[id];
    const std::uint64_t stack = saturating_multiply(found.stack_words, facts.snapshot().source.word_size);
    const bool refused = facts.get<Slogan>().kind == SloganKind::out_of_memory && facts.get<Death>().process == id;
    const auto percent = percent_of(stack, all_process_bytes(facts));
    const bool high = stack >= high_bytes && percent.value_or(100) >= high_percent;
    Finding finding;
    about(facts, id, finding);
    finding.severity = refused ? FindingSeverity::critical : high ? FindingSeverity::high : FindingSeverity::medium;
    finding.bytes = stack;
    finding.percent = percent;
    if (found.calls != 0) finding.count = found.calls;
    finding.title.add(refused || high ? Ours("Runaway recursion") : Ours("Deep recursion"));
    if (found.function != FunctionId::none) finding.title.say(" in {}", functions_text(found));
    if (found.by_sizes) finding.confidence = Confidence::estimate;
    finding.title.say(": {}", id);
    if (found.calls != 0) finding.title.say(" is {} deep", Counted{found.calls, "call", "calls"});
    finding.title.say("{} {} of stack", found.calls != 0 ? Ours(", with") : Ours(" has"), bytes(stack));
    if (found.heap_words.value_or(0) != 0)
        finding.title.say(" over {} of heap", Counted{*found.heap_words, "word", "words"});
    if (refused && facts.get<Slogan>().refused_bytes.has())
        finding.title.say(", and was refused {} more", bytes(*facts.get<Slogan>().refused_bytes));
    finding.evidence = {figure("its stack", found.stack_words, AmountUnit::words),
                        figure("its heaps beside the stack", found.heap_words, AmountUnit::words),
                        figure("its memory", process_bytes(facts, process), AmountUnit::bytes)};
    if (found.calls != 0) finding.evidence.push_back(figure("frames of that function", found.calls, AmountUnit::count));
    if (found.begun_by != FunctionId::none)
        finding.evidence.push_back(fact("called from", sentence("{}", found.begun_by)));
    finding.advise(found.by_sizes ? Form<1>("See what is known of it: {}")
                                  : Form<1>("See with which arguments it calls itself: {}"),
                   Command{"proc", process.pid});
    finding.advise(
        "Find the end that it misses: a value that no clause stops at (a negative number, an improper list, a circle "
        "in the data). More memory only makes it last longer.");
    finding.advise(
        "Where the depth is that of a long list, make the call a tail call with an accumulator, so that no frame "
        "stays.");
    finding.advise(
        "As a fuse: `process_flag(max_heap_size, ...)`, which counts the stack, too, kills the process instead of the "
        "node.");
    return finding;
}

// "Applications shop and till need each other": no recursion of the program's own.
Finding circle_of(const Facts& facts, const ApplicationCircle& circle) {
    const Process& process = facts.snapshot()[circle.process];
    Finding finding;
    about(facts, circle.process, finding);
    finding.severity = FindingSeverity::critical;
    finding.bytes = saturating_multiply(process.stack_words.value_or(0), facts.snapshot().source.word_size);
    finding.count = circle.calls;
    if (circle.names.empty()) finding.title.say("Applications need each other");
    else if (circle.names.size() == 1) finding.title.say("Application {} needs itself", Atom{circle.names[0], false});
    else {
        std::vector<Sentence> names;
        for (const std::string& name : circle.names) names.push_back(sentence("{}", Atom{name, false}));
        const Sentence last = names.back();
        names.pop_back();
        finding.title.say("Applications {} and {} need each other", joined(names, ", "), last);
    }
    finding.title.say(", and their start never ends: {} is {} deep in {}", circle.process,
                      Counted{circle.calls, "call", "calls"}, circle.function);
    finding.evidence = {figure("its stack", process.stack_words, AmountUnit::words),
                        figure("frames of that function", circle.calls, AmountUnit::count)};
    finding.advise(
        "Take one of them out of the other's `applications` in its .app file (or .app.src, mix.exs): what both need "
        "belongs into a third.");
    finding.advise("See in which order it starts them: {}", Command{"proc", process.pid});
    return finding;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const std::vector<ProcId> everybody = all_processes(facts.snapshot());
    std::vector<ProcId> deepest = largest(facts.snapshot(), everybody, &Process::stack_words, most_findings);
    // The stack of the one that was refused memory may be known by the size of its heap alone.
    if (const ProcId died = facts.get<Death>().process;
        died != ProcId::none && std::ranges::find(deepest, died) == deepest.end())
        deepest.push_back(died);
    const ApplicationCircle& circle = facts.get<ApplicationCircle>();
    if (circle.process != ProcId::none) findings.push_back(circle_of(facts, circle));
    for (const ProcId id : deepest)
        if (const auto found = fills_its_stack(facts, id); found && id != circle.process)
            findings.push_back(finding_of(facts, id, *found));
}

}  // namespace
}  // namespace runaway_recursion_rule

Rule runaway_recursion() { return {"runaway-recursion", 75, runaway_recursion_rule::run}; }

}  // namespace beamheap::analyses::rule
