// SPDX-License-Identifier: Apache-2.0
// waits: who waits for whom.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/facts/needs.hpp"
#include "analyses/heaps/unanswered.hpp"
#include "analyses/processes/waits.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/frame/commands.hpp"
#include "present/spelling.hpp"
#include "present/units.hpp"
#include "present/waits.hpp"

namespace beamheap::cli {
namespace {

using analyses::Counted;
using analyses::Sentence;
using analyses::sentence;

// For each process whether following whom it waits for leads to `end`. O(processes): what is known of one holds for all
// that lead to it, and a cycle without `end` leads nowhere.
std::vector<bool> leading_to(const analyses::Waits& waits, ProcId end) {
    enum : std::uint8_t { unknown, no, yes };
    std::vector<std::uint8_t> known(waits.edge_of.size(), unknown);
    known[index_of(end)] = yes;
    std::vector<ProcId> way;
    for (const analyses::WaitEdge& edge : waits.edges) {
        way.clear();
        ProcId at = edge.waiter;
        while (at != ProcId::none && known[index_of(at)] == unknown) {
            known[index_of(at)] = no;
            way.push_back(at);
            const analyses::WaitEdge* next = waits.edge(at);
            at = next == nullptr ? ProcId::none : next->target.process;
        }
        const std::uint8_t found = at == ProcId::none ? std::uint8_t{no} : known[index_of(at)];
        for (const ProcId each : way) known[index_of(each)] = found;
    }
    std::vector<bool> leads(known.size());
    for (std::size_t i = 0; i < known.size(); ++i) leads[i] = known[i] == yes;
    return leads;
}

// What is told of one process: the way from it to the end, and everybody who waits for it, directly or not.
analyses::Waits about(const analyses::Waits& waits, ProcId process) {
    analyses::Waits part;
    std::vector<ProcId> way;
    std::vector<bool> shown = leading_to(waits, process);
    std::vector<bool> on_way(shown.size());
    for (ProcId at = process; at != ProcId::none && !on_way[index_of(at)];) {
        on_way[index_of(at)] = shown[index_of(at)] = true;
        way.push_back(at);
        const analyses::WaitEdge* edge = waits.edge(at);
        at = edge == nullptr ? ProcId::none : edge->target.process;
    }
    part.edge_of.assign(waits.edge_of.size(), analyses::Waits::no_edge);
    for (const analyses::WaitEdge& edge : waits.edges) {
        if (!shown[index_of(edge.waiter)]) continue;
        part.edge_of[index_of(edge.waiter)] = static_cast<std::uint32_t>(part.edges.size());
        part.edges.push_back(edge);
    }
    const analyses::WaitEdge* const last = waits.edge(way.back());
    for (const analyses::WaitFanIn& fan : waits.fan_in)
        if ((last != nullptr && last->target == fan.target) ||
            (fan.target.process != ProcId::none && shown[index_of(fan.target.process)]))
            part.fan_in.push_back(fan);
    for (const std::vector<ProcId>& cycle : waits.cycles)
        if (std::ranges::find(cycle, process) != cycle.end()) part.cycles.push_back(cycle);
    if (way.size() > 2) part.chains.push_back(std::move(way));
    return part;
}

// Whom somebody waits for.
Sentence target(const analyses::WaitTarget& target) {
    if (target.process != ProcId::none) return sentence("{}", target.process);
    if (target.pid.has()) return sentence("{}", analyses::AnyProcess{target.pid});
    if (target.port.has()) return sentence("{}", target.port);
    return sentence("{}", analyses::Name{target.name});
}

Sentence of_node(const Snapshot& snapshot, const analyses::Waits& waits) {
    const Counted all{snapshot.processes.size(), "process", "processes"};
    if (waits.edges.empty()) return sentence("None of {} waits for another.", all);
    const std::uint64_t waiting = waits.edges.size();
    Sentence text = sentence("{} of {} {} for somebody", analyses::Amount{waiting}, all,
                             waiting == 1 ? analyses::Ours("waits") : analyses::Ours("wait"));
    const auto most = std::ranges::max_element(waits.fan_in, {}, &analyses::WaitFanIn::reaching);
    if (most != waits.fan_in.end()) {
        const std::uint64_t reaching = most->reaching;
        const auto for_port = [](const analyses::WaitFanIn& fan) { return fan.target.port.has(); };
        if (reaching == 1 && waiting > 1)
            text.say(", each for another{}",
                     std::ranges::all_of(waits.fan_in, for_port) ? analyses::Ours(" port") : analyses::Ours(""));
        else if (reaching == waiting)
            text.say("{}{}", reaching == 1 ? analyses::Ours(": for ") : analyses::Ours(", all for "),
                     target(most->target));
        else text.say(": {} for {}", analyses::Amount{reaching}, target(most->target));
    }
    if (!waits.cycles.empty())
        text.say("; {}", Counted{waits.cycles.size(), "deadlock of those who wait for each other",
                                 "deadlocks of those who wait for each other"});
    return text.say(".");
}

Sentence of_process(const Snapshot& snapshot, const analyses::Waits& waits, ProcId process) {
    Sentence text = sentence("{} ", process);
    if (const analyses::WaitEdge* edge = waits.edge(process)) {
        text.say("waits in {} for ", edge->function);
        text.add(target(edge->target));
    } else {
        text.say("waits for nobody");
        if (const FunctionId in = snapshot[process].current_function; in != FunctionId::none)
            text.say("; it is in {}", in);
    }
    const analyses::WaitFanIn* fan = waits.fan_in_of(process);
    if (fan == nullptr) return text.say("; nobody waits for it."), text;
    text.say("; {} for it", Counted{fan->waiters, "process waits", "processes wait"});
    if (fan->reaching > fan->waiters) text.say(", {} with those who wait for these", analyses::Amount{fan->reaching});
    return text.say("."), text;
}

}  // namespace

static Status cmd_waits(const Context& context) {
    LoadPlan plan{analyses::need::waits | analyses::need::terms};
    plan.terms_of = analyses::MayBeAsked();
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    analyses::Waits waits = *context.waits(*artifact);
    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    if (context.options().inputs.size() > 1) {
        BH_TRY(const ProcId process, analyses::resolve(snapshot, context.argument(1)));
        document.lead.push_back(present::spell(names, of_process(snapshot, waits, process)));
        waits = about(waits, process);
    } else {
        document.lead.push_back(present::spell(names, of_node(snapshot, waits)));
    }
    std::vector<present::Member>& members = document.members;
    const auto for_people = [&members](std::string title, auto body, bool shown) {
        members.push_back({.key = {},
                           .title = std::move(title),
                           .body = std::move(body),
                           .in_text = shown,
                           .in_json = false,
                           .content = present::Content::name});
    };
    // Who asks for columns or an order gets the rows as programs do.
    const bool plain = !context.options().columns.empty() || !context.options().sort.empty();
    const std::uint64_t least = context.folds() ? least_alike : waits.edges.size() + 1;
    for_people("Deadlocks", present::Value(present::wait_cycle_lines(names, waits)), !waits.cycles.empty());
    for_people("Waited for by most", present::wait_fan_in_for_people(names, waits, least),
               !plain && !waits.fan_in.empty());
    members.push_back({.key = "fan_in",
                       .title = "Waited for by most",
                       .body = present::wait_fan_in_table(names, waits),
                       .in_text = plain && !waits.fan_in.empty()});
    for_people("Longest chains", present::Value(present::wait_chain_lines(names, waits)), !waits.chains.empty());
    for_people("Blocked calls", present::wait_edges_for_people(names, waits, least), !plain);
    members.push_back(
        {.key = "edges", .title = "Blocked calls", .body = present::wait_edge_table(names, waits), .in_text = plain});
    members.push_back({.key = "cycles",
                       .body = present::Value(present::wait_cycles(names, waits)),
                       .in_text = false,
                       .content = present::Content::name});
    document.primary = "edges";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(waits){
    .name = "waits",
    .arguments = {argument::input, optional(argument::process)},
    .options = "--no-fold",
    .summary = "who waits for whom: blocked calls, fan-in, chains and deadlocks",
    .details =
        "An edge is exact where the monitor of the call is found in the caller's stack, or in a port's list of who "
        "waits;\n"
        "otherwise it is concluded from the frame (estimate). --format dot draws all edges for GraphViz.\n"
        "Of one process where PID is given: whom it waits for, to the end, and who waits for it.",
    .examples =
        "waits erl_crash.dump\nwaits erl_crash.dump lager_event\n"
        "waits erl_crash.dump --format dot | dot -Tsvg > waits.svg",
    .run = &cmd_waits,
};

}  // namespace beamheap::cli
