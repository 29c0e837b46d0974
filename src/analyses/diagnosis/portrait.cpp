// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/portrait.hpp"

#include <algorithm>

#include "analyses/base/sum.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses {
namespace {

const Scheduler* scheduler_that_it_holds(const Snapshot& snapshot, ProcId process) {
    const auto at = std::ranges::find_if(snapshot.schedulers, [&](const Scheduler& each) {
        return each.held && each.current_process == snapshot[process].pid;
    });
    return at == snapshot.schedulers.end() ? nullptr : &*at;
}

constexpr double least_percent = 5;  // of what is live, for a part of it to be told
constexpr std::uint64_t least_words = 1'000;

// "my_cart <0.9.0> is a gen_server of shop_cart, started by shop_sup <0.8.0>."
Sentence kind(const Snapshot& s, ProcId id, const SupervisionTree& tree, const Accumulation& heap) {
    const Process& process = s[id];
    const FunctionId call =
        process.real_initial_call != FunctionId::none ? process.real_initial_call : process.initial_call;
    Sentence text = sentence("{}", id);
    if (heap.state) text.say(" is {}", loop_in_words(*heap.state));
    else if (call != FunctionId::none) text.say(" is a process of {}", call);
    else text.say(" is a process");
    const TreeNode& node = tree[id];
    if (node.parent != ProcId::none)
        text.say(", {} {}", tree[node.parent].supervisor ? Ours("supervised by") : Ours("started by"), node.parent);
    else if (process.parent.has() && process.parent.number != 0)
        text.say(", started by {}, which is gone", process.parent);
    return text.say("."), text;
}

Sentence waiting(const Snapshot& snapshot, ProcId id, const Waits& waits) {
    Sentence text;
    if (const WaitEdge* edge = waits.edge(id))
        text.say("It waits in {} for {}.", edge->function, rule::target_text(snapshot, edge->target));
    if (const WaitFanIn* fan = waits.fan_in_of(id)) {
        if (!text.empty()) text.say(" ");
        text.say("{} for it", Counted{fan->waiters, "process waits", "processes wait"});
        if (fan->reaching > fan->waiters)
            text.say(", {} if one counts those who wait for these", Amount{fan->reaching});
        text.say(".");
    }
    return text;
}

Sentence memory(const Snapshot& s, ProcId process, const Accumulation& heap, TermSource& terms) {
    const auto bytes = [&](std::uint64_t words) {
        return Amount{saturating_multiply(words, s.source.word_size), AmountUnit::bytes};
    };
    const bool large = !heap.what.empty() && heap.percent >= least_percent && heap.words >= least_words;
    Sentence text;
    if (heap.state && heap.state->term.kind != ElementKind::missing && heap.state->term.kind != ElementKind::unknown) {
        const RecordScope scope(s, process, terms, heap.state);
        text.say("Its {} is {}", heap.state->several() ? Ours("list of handlers") : Ours("State"),
                 shape_in_words(terms, heap.state->term, {&scope, scope.module()}));
        const bool all = large && heap.term.kind == heap.state->term.kind && heap.term.id == heap.state->term.id;
        if (all)
            return text.say(", {} of what is live on its heap ({}).", Percent{heap.percent}, bytes(heap.words)), text;
        text.say(".");
    }
    if (large) {
        if (!text.empty()) text.say(" ");
        text.say("Of what is live on its heap, {} ({}) is {}: {}.", Percent{heap.percent}, bytes(heap.words),
                 heap.where, heap.what);
    }
    return text;
}

// "It holds scheduler 2 in write() on standard output, a pipe."
Sentence holding(const Snapshot& snapshot, ProcId process) {
    const Scheduler* row = scheduler_that_it_holds(snapshot, process);
    if (row == nullptr) return {};
    return sentence("It holds {}scheduler {} in {}, which has not come back.",
                    row->kind == Scheduler::Kind::normal ? Ours("") : Ours("dirty "),
                    Amount{row->id, AmountUnit::plain}, call_that_holds(snapshot, *row->held));
}

}  // namespace

StackId stack_of(const Snapshot& snapshot, ProcId process) {
    if (snapshot[process].stack != StackId::none) return snapshot[process].stack;
    const Scheduler* held = scheduler_that_it_holds(snapshot, process);
    return held == nullptr ? StackId::none : held->stack;
}

std::vector<Sentence> portrait(const Snapshot& snapshot, ProcId process, const Waits& waits,
                               const SupervisionTree& tree, const Accumulation& heap, TermSource& terms) {
    std::vector<Sentence> sentences;
    for (Sentence& each : std::vector<Sentence>{kind(snapshot, process, tree, heap), waiting(snapshot, process, waits),
                                                holding(snapshot, process), memory(snapshot, process, heap, terms)})
        if (!each.empty()) sentences.push_back(std::move(each));
    return sentences;
}

}  // namespace beamheap::analyses
