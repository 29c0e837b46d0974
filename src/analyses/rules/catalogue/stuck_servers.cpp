// SPDX-License-Identifier: Apache-2.0
// stuck-servers: many processes of one kind are stuck in the same place, each with a few who wait for it.
//
// Theory. Whatever is slow outside of the node holds up as many processes as ask for it, each in the same function of a
// library: the connections of a pool to a database that does not answer, workers that wait for a program which does not
// end. Whoever needs one of them waits for that one, so that no single process is waited for by many, and nothing
// stands out. Counted by where the chains of calls end, it does: so many of one kind, in one function, and all behind
// them.
//
// Thresholds: two or more such ends, none with half of those who wait; ten who wait that are 5 % of all processes, or
// 100, are medium. One in five of all processes is high where two wait for each: a request or two that take their time
// are work. Servers that are idle have put their answers off (clients of a database that keep the questions it has not
// answered): two callers for each, and one in five of all processes, are medium; one caller each is what reading from a
// connection looks like. Programs that were started (os:cmd/1, or a receive of one's own that has the port), requests
// of HTTP, questions to name servers and connections that nobody takes are told in the same way, also where nobody
// waits for those who wait for them; that is medium. So are those whom a log handler holds up: logger calls handlers in
// the process that logs. One in five is high.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyses/base/links_of.hpp"
#include "analyses/processes/frame_marks.hpp"
#include "analyses/processes/senders.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/servers.hpp"

namespace beamheap::analyses::rule {
namespace stuck_servers_rule {
namespace {

using erlang::FunctionRole;

constexpr std::size_t most_findings = 2;
constexpr std::uint64_t least_each = 2;  // who wait for each, on average, where it is more than work

// What is at the ends of chains.
enum class What : std::uint8_t {
    stuck,     // processes that are stuck in a function
    idle,      // servers that have put their answers off
    programs,  // processes that wait for programs which they have started
    outside,   // processes that wait for what they have asked of the world outside, which no monitor tells of whom
    tasks,     // tasks of Elixir that have not come to their end; somebody awaits each, or all of some
    logging,   // processes that a log handler holds up, not by a call
};

using Outside = erlang::OutsideCall;

// Where chains of calls end: processes of one kind in one function.
struct Place {
    What what = What::stuck;
    const Outside* outside = nullptr;
    std::vector<ProcId> ends;
    std::vector<ProcId> behind;
    std::uint64_t most_behind = 0;  // of those behind one of the ends
    bool themselves() const {
        return what != What::stuck && what != What::idle && what != What::tasks;
    }  // the ends wait, too
};

// A bit for each of them.
std::uint8_t outside_of(const Snapshot& s, FunctionId id) {
    const Function& function = s.functions[id];
    const auto outsides = erlang::outside_calls();
    for (std::size_t i = 0; i < outsides.size(); ++i)
        if (s.text(function.module) == outsides[i].module &&
            (outsides[i].function.empty() || s.text(function.name) == outsides[i].function))
            return static_cast<std::uint8_t>(1u << i);
    return 0;
}

// Who waits for which of them, alone or by way of a process of the library's.
class OutsideWaits {
public:
    explicit OutsideWaits(const Snapshot& s)
        : s_(s), marks_(marks_of_stacks(s, [&](FunctionId id) { return outside_of(s, id); })) {}

    const Outside* of(const Process& process) const {
        if (process.state != ProcessState::waiting || process.current_function == FunctionId::none) return nullptr;
        if (process.current_function != last_) {  // neighbours are often in one function
            last_ = process.current_function;
            mark_of_last_ = outside_of(s_, last_);
        }
        const unsigned found = mark_of(marks_, process) | mark_of_last_;
        return found == 0 ? nullptr : &erlang::outside_calls()[static_cast<std::size_t>(std::countr_zero(found))];
    }

private:
    const Snapshot& s_;
    std::vector<std::uint8_t> marks_;
    mutable FunctionId last_ = FunctionId::none;
    mutable std::uint8_t mark_of_last_ = 0;
};

// The function of a handler that logger has called in a process (logger_backend.erl); none: there is no such.
FunctionId handler_of(const Snapshot& s, const Process& process) {
    FunctionId above = process.current_function;
    for (const Frame& frame : s.stacks[process.stack]) {
        if (frame.function == FunctionId::none) break;
        if (has_role(s, frame.function, FunctionRole::calls_log_handlers)) return above;
        above = frame.function;
    }
    return FunctionId::none;
}

// Ports of programs that the node has started and that are not full, which slow-socket tells.
std::set<PortName> ports_of_programs(const Snapshot& s) {
    std::set<PortName> found;
    for (const Port& port : s.ports)
        if (s.text(port.kind) == "external process" && !is_busy(s, port)) found.insert(port.port);
    return found;
}

// Where chains of calls end, by ProcId: none where they lead around or out of the node.
class Ends {
public:
    Ends(const Facts& facts, const OutsideWaits& outside)
        : facts_(facts),
          outside_(outside),
          programs_(ports_of_programs(facts.snapshot())),
          end_(facts.snapshot().processes.size(), unknown) {}

    bool waits_for_program(ProcId process) const {
        const WaitEdge* edge = facts_.get<Waits>().edge(process);
        return edge != nullptr && edge->target.port.has() && programs_.contains(edge->target.port);
    }

    ProcId of(ProcId first) {
        std::vector<ProcId> way;
        ProcId at = first, end = ProcId::none;
        for (;;) {
            std::uint32_t& known = end_[index_of(at)];
            if (known != unknown) {
                end = ProcId{known};
                break;
            }
            known = index_of(ProcId::none);  // of a cycle, until something better is known
            way.push_back(at);
            const WaitEdge* edge = facts_.get<Waits>().edge(at);
            if (edge == nullptr || waits_for_program(at) || outside_.of(facts_.snapshot()[at]) != nullptr) {
                end = at;
                break;
            }
            if (edge->target.process == ProcId::none) break;
            at = edge->target.process;
        }
        for (const ProcId id : way) end_[index_of(id)] = index_of(end);
        return end;
    }

private:
    static constexpr std::uint32_t unknown = 0xFFFFFFFEu;
    const Facts& facts_;
    const OutsideWaits& outside_;
    std::set<PortName> programs_;
    std::vector<std::uint32_t> end_;
};

bool may_be_stuck(const Facts& facts, ProcId end) {
    const Process& process = facts.snapshot()[end];
    return process.state == ProcessState::waiting && process.current_function != FunctionId::none;
}

std::vector<Place> places(const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    std::map<std::uint32_t, std::vector<ProcId>> behind;  // by the end of the chain
    const OutsideWaits asks(s);
    Ends ends(facts, asks);
    for (const WaitEdge& edge : facts.get<Waits>().edges) {
        const ProcId end = ends.of(edge.waiter);
        if (end == ProcId::none || !may_be_stuck(facts, end) || starts_block(facts, end)) continue;
        std::vector<ProcId>& waiters = behind[index_of(end)];
        if (end != edge.waiter) waiters.push_back(edge.waiter);
    }
    constexpr std::uint8_t logs = 1, task = 2;
    const std::vector<std::uint8_t> marks = marks_of_stacks(s, [&](FunctionId id) {
        if (has_role(s, id, FunctionRole::calls_log_handlers)) return logs;
        return has_role(s, id, FunctionRole::replies_as_task) ? task : std::uint8_t{0};
    });
    const auto has = [&](std::uint32_t i, std::uint8_t mark) {
        return (mark_of(marks, s.processes[i]) & mark) != 0 && may_be_stuck(facts, ProcId{i});
    };
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        if (facts.get<Waits>().edge(ProcId{i}) == nullptr &&
            (asks.of(s.processes[i]) != nullptr || has(i, logs | task)))
            behind.try_emplace(i);
    constexpr std::uint32_t no_function = 0xFFFFFFF0u;  // nor that of who has none
    std::map<std::pair<std::uint32_t, std::uint32_t>, Place> found;
    for (auto& [end, waiters] : behind) {
        const Process& process = s.processes[end];
        const FunctionId handler = has(end, logs) ? handler_of(s, process) : FunctionId::none;
        const FunctionId kind = handler == FunctionId::none ? first_call(process) : handler;  // whoever logs
        // What is asked of the world outside is one story, wherever in the library each of them is.
        const Outside* const outside = asks.of(process);
        Place& place = outside == nullptr
                           ? found[{index_of(kind), index_of(process.current_function)}]
                           : found[{no_function, static_cast<std::uint32_t>(outside - erlang::outside_calls().data())}];
        place.ends.push_back(ProcId{end});
        place.what = ends.waits_for_program(ProcId{end}) ? What::programs
                     : handler != FunctionId::none       ? What::logging
                     : outside != nullptr                ? What::outside
                     : has(end, task)                    ? What::tasks
                     : idle(facts, ProcId{end})          ? What::idle
                                                         : What::stuck;
        place.outside = outside;
        place.most_behind = std::max(place.most_behind, std::uint64_t{waiters.size()});
        place.behind.insert(place.behind.end(), waiters.begin(), waiters.end());
    }
    std::vector<Place> all;
    for (auto& [key, place] : found) all.push_back(std::move(place));
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const Place& each) { return each.ends.size() + each.behind.size(); });
    return all;
}

// Who wait: those behind the ends, and, for programs and requests, the ends themselves.
std::uint64_t waiting(const Place& place) { return place.behind.size() + (place.themselves() ? place.ends.size() : 0); }

bool is_told(const Facts& facts, const Place& place) {
    const std::uint64_t count = waiting(place);
    if (place.ends.size() < 2 || count < crowd::least || place.most_behind * 2 > count) return false;
    const double percent = percent_of(count, std::uint64_t{facts.snapshot().processes.size()}).value_or(0);
    if (place.what == What::idle) return count >= least_each * place.ends.size() && percent >= crowd::high_percent;
    return count >= crowd::many || percent >= crowd::least_percent;
}

void advise(const Facts& facts, const Place& place, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    finding.advise("Look at one of them: {}", Command{"proc", s[place.ends.front()].pid});
    if (place.what == What::logging) {
        finding.advise(
            "A handler of logger works in the process that logs: let it hand events to a process of its own that drops "
            "what is too much (logger_olp does), or remove it: `logger:remove_handler/1`.");
    } else if (place.what == What::outside) {
        finding.next_steps.emplace_back(place.outside->advice);
        finding.advise("See whom they ask: `beamheap ports DUMP`");
    } else if (place.what == What::programs) {
        finding.advise(
            "See which programs these are, and which of them still run: `beamheap ports DUMP`, and `ps` on the "
            "machine.");
        finding.advise("Give a program a bound on its time (`timeout 30 ...`), and bound how many may run at once.");
    } else {
        finding.advise(
            "Look at what they all wait for: where it is the other side of a connection (a database, another service), "
            "it does not answer; give requests a timeout.");
        finding.advise("See who waits for which of them: `beamheap waits DUMP`");
    }
}

// Who wants what they all wait for: not the loop of a behaviour, which calls any callback.
FunctionId asker(const Facts& facts, const Place& place) {
    const Snapshot& s = facts.snapshot();
    const Process& example = s[place.ends.front()];
    if (place.what == What::logging) return handler_of(s, example);
    const FunctionId caller = caller_of(s, example);
    if (place.what != What::programs || (caller != FunctionId::none && caller != example.current_function))
        return caller;
    const FunctionId by_hand = waits_on_behalf(s, example);
    return by_hand != FunctionId::none && has_role(s, by_hand, FunctionRole::of_behaviours) ? FunctionId::none
                                                                                            : by_hand;
}

// What program one of them waits for, and what has passed between the two.
void add_program(const Facts& facts, const Place& place, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const WaitEdge* const edge = facts.get<Waits>().edge(place.ends.front());
    const auto port = edge == nullptr ? s.ports.end() : std::ranges::find(s.ports, edge->target.port, &Port::port);
    if (port == s.ports.end()) return;
    finding.evidence.push_back(fact("its program", port_words(s, *port)));
    if (port->output_bytes.has())
        finding.evidence.push_back(figure("was sent to that", port->output_bytes, AmountUnit::bytes));
    if (port->input_bytes.has())
        finding.evidence.push_back(figure("has come from it", port->input_bytes, AmountUnit::bytes));
}

// Whether each of them has a socket, or a process of its own that has one: what it waits for is at the other end.
bool has_sockets(const Snapshot& s, std::span<const ProcId> ends) {
    std::set<Pid> owners;
    for (const Port& port : s.ports)
        if (port.connected.has() && erlang::is_driver_of_sockets(s.text(port.driver))) owners.insert(port.connected);
    return !owners.empty() && std::ranges::all_of(ends, [&](ProcId end) {
        const Process& process = s[end];
        return owners.contains(process.pid) || std::ranges::any_of(links_of(s, process), [&](const Link& link) {
                   return link.kind == LinkKind::link && link.pid != process.parent && owners.contains(link.pid);
               });
    });
}

// Whether the function that it sits in says so itself: prim_inet:recv0/3.
bool reads_itself(const Snapshot& s, const Process& process) {
    return erlang::has_role(module_of(s, process.current_function), erlang::ModuleRole::of_ports);
}

Finding finding_of(const Facts& facts, const Place& place) {
    const Snapshot& s = facts.snapshot();
    const ProcId example = place.ends.front();
    const std::uint64_t count = waiting(place);
    const double percent = percent_of(count, std::uint64_t{s.processes.size()}).value_or(0);
    Finding finding;
    const bool queued = place.what == What::logging || ((place.what == What::stuck || place.what == What::outside) &&
                                                        place.behind.size() >= least_each * place.ends.size());
    finding.severity = queued && percent >= crowd::high_percent ? FindingSeverity::high : FindingSeverity::medium;
    finding.of_waiting = true;
    const FunctionId kind = first_call(s[example]);
    finding.subject = {SubjectKind::group,
                       sentence("{}", kind == FunctionId::none ? s[example].current_function : kind)};
    finding.count = count;
    finding.percent = percent;
    if (place.themselves())
        finding.title.say("{} of {} processes ({}) wait", number(count), number(s.processes.size()), Percent{percent});
    else
        finding.title.say("{} of {} processes ({}) wait for {}{}", number(count), number(s.processes.size()),
                          Percent{percent}, number(place.ends.size()),
                          place.what == What::tasks ? Ours(" tasks") : Ours(""));
    const bool any = kind == FunctionId::none || has_role(s, kind, FunctionRole::begins_funs);
    if (!any && !place.themselves()) finding.title.say(" of {}", kind);
    if (place.what == What::logging) finding.title.say(" for a log handler");
    if (place.what == What::outside) finding.title.say(" for {}", Sentence(place.outside->what));
    if (place.what == What::programs)
        finding.title.say(" for {} that they have started", Counted{place.ends.size(), "program", "programs"});
    const FunctionId caller = asker(facts, place);
    if (const std::uint64_t unsent = place.what == What::idle ? unsent_by_each(s, place.ends) : 0; unsent != 0)
        finding.title.say("; these are all idle in {}, and have {} in connections that nobody reads at the other ends",
                          s[example].current_function, bytes(unsent));
    else if (place.what == What::idle)
        finding.title.say("; these are all idle in {}, their answers put off", s[example].current_function);
    else
        finding.title.say(place.themselves() ? Form<1>("; they sit in {}") : Form<1>("; these all sit in {}"),
                          s[example].current_function);
    const bool begins = has_role(s, caller, FunctionRole::begins_processes);
    if (place.what != What::idle && caller != FunctionId::none && !begins && caller != s[example].current_function)
        finding.title.say(", called by {}", caller);
    if (place.what == What::stuck && !reads_itself(s, s[example]) && has_sockets(s, place.ends))
        finding.title.add(Ours(", each with a socket of its own"));
    Sum memory, queues;
    for (const ProcId id : place.behind) memory.add(process_bytes(facts, s[id]));
    for (const ProcId id : place.ends) {
        memory.add(process_bytes(facts, s[id]));
        queues.add(s[id].msgq_len);
    }
    finding.bytes = memory.value();
    finding.confidence = Confidence::estimate;
    finding.evidence = {figure("processes that are stuck in the same place", place.ends.size(), AmountUnit::count),
                        figure("processes that wait for those", place.behind.size(), AmountUnit::count),
                        figure("messages in their queues", queues.value(), AmountUnit::count),
                        figure("memory that all of them hold", memory.value(), AmountUnit::bytes),
                        fact("one of them", sentence("{}", example))};
    add_stack(facts, example, finding);
    if (place.what == What::programs) add_program(facts, place, finding);
    finding.members = place.ends;
    finding.members.insert(finding.members.end(), place.behind.begin(), place.behind.end());
    advise(facts, place, finding);
    return finding;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    std::size_t told = 0;
    for (const Place& place : places(facts)) {
        if (!is_told(facts, place)) continue;
        findings.push_back(finding_of(facts, place));
        if (++told == most_findings) break;
    }
}

}  // namespace
}  // namespace stuck_servers_rule

Rule stuck_servers() { return {"stuck-servers", 49, stuck_servers_rule::run}; }

}  // namespace beamheap::analyses::rule
