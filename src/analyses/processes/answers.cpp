// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/answers.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyses/base/sum.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses {
namespace {

Amount in_bytes(std::uint64_t value) { return {value, AmountUnit::bytes}; }

Counted processes_of(std::uint64_t count) { return {count, "process", "processes"}; }

// ", 3.1 MiB (69 %)": a share below one percent is no news.
Sentence with_share(Count part, Count whole) {
    Sentence text = sentence("{}", in_bytes(*part));
    const auto share = percent_of(part, whole);
    if (share && *share >= 1 && part != whole) text.say(" ({})", Percent{*share});
    return text;
}

bool waits_for_answer(const Snapshot& snapshot, FunctionId id) {
    if (id == FunctionId::none) return false;
    const Function& function = snapshot.functions[id];
    return std::ranges::any_of(erlang::waiting_functions, [&](const erlang::WaitingFunction& row) {
        return !row.rests && row.module == snapshot.text(function.module) &&
               row.function == snapshot.text(function.name);
    });
}

// The figure of a column with its unit: "59 messages", "1.9 GiB", "12,345 words".
Sentence figure_of(const ProcessColumn& column, std::uint64_t value) {
    if (column.name == "msgq_len") return sentence("{}", Counted{value, "message", "messages"});
    switch (column.measure) {
        case Measure::bytes: return sentence("{}", in_bytes(value));
        case Measure::words: return sentence("{}", Amount{value, AmountUnit::words});
        case Measure::count:
        case Measure::none: break;
    }
    return sentence("{}", Amount{value});
}

// "msgq_len" -> its queue, "live_words" -> "live words".
Sentence measure_of(const ProcessColumn& column) {
    if (column.name == "msgq_len") return Ours("the longest queue");
    if (column.name == "memory_bytes") return Ours("most memory");
    if (column.name == "refc_bytes") return Ours("most bytes in binaries");
    std::string words(column.name);
    if (words.ends_with("_words")) words.resize(words.size() - std::string_view("_words").size());
    std::ranges::replace(words, '_', ' ');
    return sentence("most {}", InputText{std::move(words), InputText::Holds::vm});
}

struct Most {
    ProcId process = ProcId::none;
    std::uint64_t figure = 0;
    Sum all;
};
template <class Figure>
Most most_of(const Snapshot& snapshot, std::span<const ProcId> processes, Figure figure) {
    Most most;
    for (const ProcId id : processes) {
        const Count value = figure(snapshot[id]);
        most.all.add(value);
        if (value.value_or(0) <= most.figure) continue;
        most.figure = *value;
        most.process = id;
    }
    return most;
}

// A table's or port's owner: "orders <0.99.0>"; of one that is gone, that.
Sentence owner_text(const Owner& owner) {
    if (owner.alive()) return sentence("{}", owner.process);
    return sentence("{}, which is gone", owner.pid);
}

}  // namespace

// A process by its name or its pid alone: what one without a name runs is not known before its stack has been read.
static Sentence who(const Snapshot& snapshot, ProcId id) {
    return snapshot[id].name != TextId::none ? sentence("{}", id) : sentence("{}", snapshot[id].pid);
}

Sentence processes_answer(const Snapshot& snapshot, std::span<const ProcId> processes, const ProcessColumn* by) {
    Sentence text = sentence("{}", processes_of(processes.size()));
    if (processes.empty()) return text;
    if (by != nullptr && by->is_figure()) {
        const Most most = most_of(snapshot, processes, [by](const Process& each) { return by->figure(each); });
        if (most.process != ProcId::none) {
            text.say(": {} has {}, {}", who(snapshot, most.process), measure_of(*by), figure_of(*by, most.figure));
            if (by->name == "memory_bytes")
                if (const auto share = percent_of(Count(most.figure), most.all.value()); share && *share >= 1)
                    text.say(" ({} of what all have)", Percent{*share});
            return text;
        }
        if (by->name != "msgq_len") return text;
        if (most.all.known() != 0) text.say(", no messages in their queues");
    }
    const Most largest = most_of(snapshot, processes,
                                 [&](const Process& each) { return process_bytes(each, snapshot.source.word_size); });
    if (largest.process == ProcId::none) return text;
    return text.say("; the largest, {}, has {}", who(snapshot, largest.process),
                    with_share(Count(largest.figure), largest.all.value()));
}

Sentence stacks_answer(const Snapshot& snapshot, const ProcessGroups& groups) {
    std::map<FunctionId, std::uint64_t> in;
    std::uint64_t all = 0, known = 0, waiting = 0;
    FunctionId most = FunctionId::none, most_waited = FunctionId::none;
    for (const ProcessGroup& group : groups.groups) {
        all += group.count;
        const std::span<const Frame> frames = snapshot.stacks[group.stack];
        if (frames.empty()) continue;
        known += group.count;
        in[frames.front().function] += group.count;
    }
    if (known == 0) return Ours("No process has a stack in this input.");
    for (const auto& [function, count] : in) {
        if (most == FunctionId::none || count > in[most]) most = function;
        if (!waits_for_answer(snapshot, function)) continue;
        waiting += count;
        if (most_waited == FunctionId::none || count > in[most_waited]) most_waited = function;
    }
    Sentence text;
    if (in[most] == 1 && all > 1) text = sentence("Each of {} is in another function", processes_of(all));
    else
        text = sentence("{} of {} ({}) {} in {}", Amount{in[most]}, processes_of(all),
                        Percent{100.0 * static_cast<double>(in[most]) / static_cast<double>(all)},
                        in[most] == 1 ? Ours("is") : Ours("are"), most);
    if (most == most_waited) text.say(", which waits for an answer");
    else if (waiting == 1) text.say("; 1 waits for an answer, in {}", most_waited);
    else if (waiting != 0)
        text.say("; {} wait for an answer, {} in {}", Amount{waiting},
                 in[most_waited] == waiting ? Ours("all") : Ours("most"), most_waited);
    if (known < all) text.say("; of {} there is no stack", Amount{all - known});
    return text.say(".");
}

Sentence tree_answer(const SupervisionTree& tree, ProcId top) {
    if (tree.nodes.empty()) return Ours("No process in this input.");
    if (top != ProcId::none) {
        const TreeNode& node = tree[top];
        Sentence text = sentence("{} and what it started: {}", top, processes_of(node.processes));
        if (const Count bytes = node.memory_bytes.value(); bytes.has()) text.say(", {}", in_bytes(*bytes));
        if (node.msgq_len.value().value_or(0) != 0)
            text.say(", {} in queues", Counted{*node.msgq_len.value(), "message", "messages"});
        return text.say(".");
    }
    ProcId widest = ProcId::none;
    std::uint64_t supervisors = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        supervisors += tree.nodes[i].supervisor ? 1 : 0;
        if (widest == ProcId::none || tree.nodes[i].children > tree[widest].children) widest = static_cast<ProcId>(i);
    }
    Sentence text = sentence("{}", processes_of(tree.nodes.size()));
    if (supervisors != 0) text.say(", {} of them supervisors", Amount{supervisors});
    if (tree[widest].children > 1)
        text.say("; {} has most directly below it, {}", widest, Amount{tree[widest].children});
    if (!tree.orphans.empty())
        text.say("; {} of them outlived the process that started {}", Amount{tree.orphans.size()},
                 tree.orphans.size() == 1 ? Ours("it") : Ours("them"));
    return text.say(".");
}

static void say_dead_owners(Sentence& text, std::uint64_t count) {
    if (count != 0) text.say("; {} {} no living owner", Amount{count}, count == 1 ? Ours("has") : Ours("have"));
}

Sentence ets_answer(const Snapshot& snapshot, const EtsReport& report) {
    if (report.tables.empty()) return Ours("No ETS table in this input.");
    Sentence text = sentence("{}", Counted{report.tables.size(), "table", "tables"});
    const Count bytes = report.bytes.value();
    if (bytes.has()) text.say(", {}", in_bytes(*bytes));
    const EtsUse& largest = report.tables.front();
    if (largest.bytes.has() && report.tables.size() > 1)
        text.say("; the largest, {} of {}, has {}", Name{snapshot.ets[largest.table].name}, owner_text(largest.owner),
                 with_share(largest.bytes, bytes));
    else if (largest.bytes.has())
        text.say(": {} of {}", Name{snapshot.ets[largest.table].name}, owner_text(largest.owner));
    say_dead_owners(text, report.dead_owners);
    return text.say(".");
}

Sentence ports_answer(const Snapshot& snapshot, const PortReport& report) {
    if (snapshot.ports.empty()) return Ours("No port in this input.");
    Sentence text = sentence("{}", Counted{snapshot.ports.size(), "port", "ports"});
    std::uint64_t waiting = 0;
    for (const BusyPort& port : report.busy) waiting += port.suspended.size();
    const Port* longest = nullptr;
    for (const Port& port : snapshot.ports)
        if (port.queue_bytes.value_or(0) > (longest == nullptr ? 0 : longest->queue_bytes.value_or(0))) longest = &port;
    if (waiting != 0) {
        const BusyPort& busy = report.busy.front();
        const Port& port = snapshot.ports[busy.port];
        text.say("; {} {} to write, {} to {} of {}", processes_of(waiting), waiting == 1 ? Ours("waits") : Ours("wait"),
                 Amount{busy.suspended.size()}, port.port, AnyProcess{port.connected});
        if (port.queue_bytes.value_or(0) != 0) text.say(", which has {} queued", in_bytes(*port.queue_bytes));
    } else if (longest != nullptr) {
        text.say("; {} of {} has the longest queue, {}", longest->port, AnyProcess{longest->connected},
                 with_share(longest->queue_bytes, report.queue_bytes.value()));
    } else if (const PortGroup& most = report.groups.front(); most.count > 1) {
        text.say("; {} of them are {}", Amount{most.count}, InputText{most.driver, InputText::Holds::message});
        if (report.queue_bytes.known() != 0) text.say("; nothing waits to be written");
    } else if (report.queue_bytes.known() != 0) {
        text.say("; nothing waits to be written");
    }
    say_dead_owners(text, report.dead_owners);
    return text.say(".");
}

Sentence timers_answer(const Snapshot& snapshot, const TimerReport& report) {
    if (snapshot.timers.empty()) return Ours("No timer in this input.");
    Sentence text = sentence("{}", Counted{snapshot.timers.size(), "timer", "timers"});
    const TimerGroup& most = report.groups.front();
    const Sentence receiver = most.receiver.alive()                ? sentence("{}", most.receiver.process)
                              : most.receiver_name != TextId::none ? sentence("{}", Name{most.receiver_name})
                                                                   : sentence("{}", most.receiver.pid);
    if (snapshot.timers.size() == 1) text.say(" for {}", receiver);
    else if (most.count > 1) text.say("; {} of them are for {}", Amount{most.count}, receiver);
    Count soonest;
    for (const Timer& timer : snapshot.timers)
        if (timer.left_ms.has() && (!soonest.has() || *timer.left_ms < *soonest)) soonest = timer.left_ms;
    if (soonest.has()) {
        if (*soonest == 0) text.say("; {} due", snapshot.timers.size() == 1 ? Ours("it is") : Ours("the first is"));
        else
            text.say("; {} due in {}", snapshot.timers.size() == 1 ? Ours("it is") : Ours("the first is"),
                     Amount{*soonest, AmountUnit::milliseconds});
    }
    if (report.dead_receivers != 0)
        text.say("; {} {} for nobody who lives", Amount{report.dead_receivers},
                 report.dead_receivers == 1 ? Ours("is") : Ours("are"));
    return text.say(".");
}

Sentence modules_answer(const Snapshot& snapshot, const ModuleReport& report) {
    if (report.modules == 0) return Ours("No module in this input.");
    Sentence text = sentence("{}", Counted{report.modules, "module", "modules"});
    const Count bytes = report.current_bytes.value();
    if (bytes.has()) text.say(", {} of code", in_bytes(*bytes));
    if (!report.largest.empty()) {
        const Module& largest = snapshot.modules[report.largest.front()];
        if (largest.current_bytes.has())
            text.say("; the largest, {}, has {}", Name{largest.name}, with_share(largest.current_bytes, bytes));
    }
    if (report.with_old_code == 0) return text.say(".");
    const Name most{snapshot.modules[report.most_old_code].name};
    const Amount old = in_bytes(report.old_bytes.value().value_or(0));
    if (report.with_old_code == 1) text.say("; {} also has old code, {}", most, old);
    else text.say("; {} also have old code, {}, {} most of it", Amount{report.with_old_code}, old, most);
    return text.say(".");
}

Sentence nodes_answer(const Snapshot& snapshot, const NodeReport& report) {
    const std::uint64_t connected = report.visible + report.hidden;
    if (connected + report.not_connected == 0)
        return snapshot.node.distributed.value_or(false) ? Ours("The node was distributed and knew no other node.")
                                                         : Ours("The node was not distributed.");
    Sentence text = connected == 0 ? Sentence(Ours("Connected to no node"))
                                   : sentence("Connected to {}", Counted{connected, "node", "nodes"});
    if (report.hidden != 0) text.say(", {} of them hidden", Amount{report.hidden});
    if (report.not_connected != 0) {
        text.say("; {} more {} known", Amount{report.not_connected},
                 report.not_connected == 1 ? Ours("was") : Ours("were"));
        const auto lost = std::ranges::find_if(snapshot.nodes, [](const DistNode& node) {
            return node.kind == DistNode::Kind::not_connected && node.name != TextId::none;
        });
        if (report.not_connected == 1 && lost != snapshot.nodes.end()) text.say(", {}", Name{lost->name});
    }
    const std::uint64_t relations = report.remote_links + report.remote_monitors + report.remote_monitored_by;
    if (relations != 0) text.say("; {} across nodes", Counted{relations, "link or monitor", "links and monitors"});
    return text.say(".");
}

Sentence call_that_holds(const Snapshot& snapshot, const SchedulerHold& held) {
    return sentence("{}", InputText{std::string(snapshot.text(held.in)), InputText::Holds::message});
}

Sentence schedulers_answer(const Snapshot& snapshot, const SchedulerReport& report) {
    if (snapshot.schedulers.empty()) return Ours("No scheduler in this input: releases before 18 don't write them.");
    Sentence text =
        sentence("{} of {} worked", Amount{report.busy_normal}, Counted{report.normal, "scheduler", "schedulers"});
    const auto dirty = [&text](std::uint64_t busy, std::uint64_t all, Ours kind) {
        if (busy != 0) text.say(", {} of {} {}", Amount{busy}, Amount{all}, kind);
    };
    dirty(report.busy_dirty_cpu, report.dirty_cpu, "dirty ones for the CPU");
    dirty(report.busy_dirty_io, report.dirty_io, "dirty ones for I/O");
    const auto held =
        std::ranges::find_if(snapshot.schedulers, [](const Scheduler& each) { return each.held.has_value(); });
    if (held != snapshot.schedulers.end())
        text.say("; scheduler {} is held by {} in {}", Amount{held->id, AmountUnit::plain},
                 AnyProcess{held->current_process}, call_that_holds(snapshot, *held->held));
    const Count queued = report.queued.value();
    if (queued.value_or(0) != 0) {
        text.say("; {} waited to run", Counted{*queued, "process or port", "processes and ports"});
        if (report.longest && snapshot.schedulers[*report.longest].id != 0)
            text.say(", {} for scheduler {}",
                     report.longest_queue == *queued ? Sentence(Ours("all"))
                                                     : sentence("{} of them", Amount{report.longest_queue}),
                     Amount{snapshot.schedulers[*report.longest].id, AmountUnit::plain});
    } else if (queued.has()) {
        text.say("; nobody waited to run");
    }
    if (report.crashed != 0)
        text.say("; the VM could not write {} in full", Counted{report.crashed, "of them", "of them"});
    return text.say(".");
}

Sentence idle_schedulers(const SchedulerReport& report) {
    if (report.idle_dirty == 0) return {};
    return sentence("{} had nothing to do.", Counted{report.idle_dirty, "dirty scheduler", "dirty schedulers"});
}

}  // namespace beamheap::analyses
