// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/waits.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analyses/processes/frame_marks.hpp"
#include "analyses/processes/named_waits.hpp"
#include "analyses/processes/senders.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses {
namespace {

using erlang::HeldUpFunction;
using erlang::waiting_functions;
using erlang::WaitingFunction;

const WaitingFunction* find_waiting(const Snapshot& snapshot, FunctionId id) {
    if (id == FunctionId::none) return nullptr;
    const Function& function = snapshot.functions[id];
    const std::string_view module = snapshot.text(function.module);
    const std::string_view name = snapshot.text(function.name);
    for (const WaitingFunction& row : waiting_functions)
        if (row.function == name && row.module == module) return &row;
    return nullptr;
}

bool matches(const Snapshot& snapshot, FunctionId id, std::span<const HeldUpFunction> functions) {
    const std::string_view module = snapshot.text(snapshot.functions[id].module);
    const std::string_view name = snapshot.text(snapshot.functions[id].name);
    return std::ranges::any_of(functions, [&](const HeldUpFunction& row) {
        return row.module == module && (row.prefix ? name.starts_with(row.function) : name == row.function);
    });
}

// The outcome of looking for the one that a process waits for.
struct Found {
    WaitTarget target;
    std::string_view via;
    Confidence confidence = Confidence::exact;
};

class Finder {
public:
    explicit Finder(const Snapshot& snapshot)
        : s_(snapshot),
          rows_(snapshot.functions.size(), unknown_row),
          by_hand_(snapshot.functions.size(), std::int8_t{-1}) {
        first_slot_.assign(s_.processes.size(), no_slot);
        for (std::size_t i = s_.slots.size(); i-- > 0;)
            if (const std::size_t process = index_of(s_.slots[i].process); process < first_slot_.size())
                first_slot_[process] = static_cast<std::uint32_t>(i);
        for (const DistNode& node : s_.nodes)
            for (const Pid& asking : node.spawning) asked_.emplace(asking, node.name);
        find_only_peer_to_come();
        for (const Port& port : s_.ports)
            if (s_.text(port.kind) == "external process") programs_.emplace(port.port, port.connected);
    }

    std::optional<WaitEdge> find(ProcId id) {
        const Process& process = s_[id];
        if (process.state != ProcessState::waiting && process.state != ProcessState::suspended &&
            process.state != ProcessState::runnable)
            return std::nullopt;
        const WaitingFunction* row = row_of(process.current_function);
        if (row == nullptr) return std::nullopt;
        const auto found = target(id, process, *row);
        if (!found || found->target.process == id) return std::nullopt;
        return WaitEdge{id, found->target, call(process), found->via, found->confidence, infinite(id)};
    }

    /// Whom a process may wait for in code of its own: whoever its youngest frame names, where that is one process. It
    /// does wait (`via` is "monitor") where that frame holds the reference of a monitor, and goes on behind the
    /// receive.
    std::optional<WaitEdge> by_hand(ProcId id) {
        const Process& process = s_[id];
        if (process.state != ProcessState::waiting || process.current_function == FunctionId::none ||
            !written_by_hand(process.current_function))
            return std::nullopt;
        ProcId found = ProcId::none;
        bool monitored = false;
        for (const StackSlot& slot : slots(id)) {
            ProcId named = ProcId::none;
            if (slot.kind == StackSlot::Kind::pid) named = s_.find(slot.pid);
            if (slot.kind == StackSlot::Kind::reference)
                for (const Link& link : links(process))
                    if (link.kind == LinkKind::monitors && slot.ref == link.ref)
                        named = of_link(link, process.pid).process;
            if (named == ProcId::none || named == id) continue;
            // A monitor is on the one that is asked; pids may stand there for other reasons, too.
            if (slot.kind == StackSlot::Kind::reference) {
                found = named;
                monitored = waits_on_behalf(s_, process) != FunctionId::none;
                break;
            }
            if (found != ProcId::none && found != named) return std::nullopt;
            found = named;
        }
        if (found == ProcId::none) return std::nullopt;
        const std::string_view via = monitored ? "monitor" : "by_hand";
        return WaitEdge{id, of_pid(s_[found].pid), process.current_function, via, Confidence::estimate, infinite(id)};
    }

    /// The program whose answer a process waits for in code of its own: the only port that its youngest frame names,
    /// where it has started that and goes on when it has the answer.
    std::optional<WaitEdge> program(ProcId id) {
        const Process& process = s_[id];
        if (programs_.empty() || process.state != ProcessState::waiting ||
            process.current_function == FunctionId::none || !written_by_hand(process.current_function))
            return std::nullopt;
        PortName found;
        for (const StackSlot& slot : slots(id)) {
            if (slot.kind != StackSlot::Kind::port) continue;
            if (found.has() && found != slot.port) return std::nullopt;
            found = slot.port;
        }
        const auto owner = found.has() ? programs_.find(found) : programs_.end();
        if (owner == programs_.end() || owner->second != process.pid ||
            waits_on_behalf(s_, process) == FunctionId::none)
            return std::nullopt;
        WaitTarget target;
        target.port = found;
        return WaitEdge{id, target, process.current_function, "by_hand", Confidence::estimate, infinite(id)};
    }

    /// The call that a stack is in: behind the receive, the youngest function of a module that callers know.
    FunctionId call(const Process& process) const {
        for (const Frame& frame : s_.stacks[process.stack]) {
            if (frame.function == FunctionId::none) break;
            const std::string_view module = s_.text(s_.functions[frame.function].module);
            if (erlang::has_role(module, erlang::ModuleRole::calling)) return frame.function;
            if (!has_role(module, erlang::FunctionRole::within_call) && frame.function != process.current_function)
                break;
        }
        return process.current_function;
    }

private:
    static constexpr std::uint32_t no_slot = 0xFFFFFFFFu;
    static constexpr std::int16_t unknown_row = -2, no_row = -1;

    const WaitingFunction* row_of(FunctionId function) {
        if (function == FunctionId::none) return nullptr;
        std::int16_t& known = rows_[index_of(function)];
        if (known == unknown_row) {
            const WaitingFunction* row = find_waiting(s_, function);
            known = row == nullptr ? no_row : static_cast<std::int16_t>(row - waiting_functions.data());
        }
        return known == no_row ? nullptr : &waiting_functions[static_cast<std::size_t>(known)];
    }

    bool written_by_hand(FunctionId function) {
        std::int8_t& known = by_hand_[index_of(function)];
        if (known < 0) known = slots_for_waits(s_, function) == SlotsWanted::whom_it_names ? 1 : 0;
        return known != 0;
    }

    std::span<const StackSlot> slots(ProcId id) const {
        const std::uint32_t first = first_slot_[index_of(id)];
        if (first == no_slot) return {};
        std::size_t end = first;
        while (end < s_.slots.size() && s_.slots[end].process == id) ++end;
        return std::span(s_.slots).subspan(first, end - first);
    }
    std::span<const Link> links(const Process& process) const {
        return std::span(s_.links).subspan(process.link_range.first, process.link_range.count);
    }

    bool infinite(ProcId id) const {
        for (const StackSlot& slot : slots(id))
            if (slot.kind == StackSlot::Kind::atom && slot.frame <= 1 && s_.text(slot.atom) == "infinity") return true;
        return false;
    }

    WaitTarget of_pid(const Pid& pid) const {
        WaitTarget target;
        target.pid = pid;
        target.process = s_.find(pid);
        if (target.process != ProcId::none) target.name = s_[target.process].name;
        return target;
    }
    // A dump names the node that a new process was asked of in that node's own section, not with the monitor; of a node
    // to which a connection is only being set up, it just says that somebody has asked it ("Error: Got
    // links/monitors"). So where there is one such node alone, it is the one.
    void find_only_peer_to_come() {
        std::size_t count = 0;
        for (const DistNode& node : s_.nodes)
            if (node.kind == DistNode::Kind::not_connected && node.error != TextId::none && node.spawning.empty()) {
                ++count;
                to_come_ = node.name;
            }
        if (count != 1) to_come_ = TextId::none;
    }
    TextId asked_node(const Link& link, const Pid& asking) const {
        if (link.node != TextId::none) return link.node;
        const auto found = asked_.find(asking);
        return found == asked_.end() ? to_come_ : found->second;
    }
    Confidence surely(const WaitTarget& target) const {
        return target.node != TextId::none && target.node == to_come_ ? Confidence::estimate : Confidence::exact;
    }
    WaitTarget of_link(const Link& link, const Pid& asking) const {
        if (link.pid.has()) return of_pid(link.pid);
        WaitTarget target;
        if (link.name != TextId::none && s_.text(link.name) == "pending")
            if (const TextId node = asked_node(link, asking); node != TextId::none) {
                target.node = node;
                return target;
            }
        target.port = link.port;
        target.name = link.name;
        target.node = link.node;
        if (link.name == TextId::none) return target;
        // {Name, Node} of this very node is a process of the table.
        const bool here = link.node == TextId::none || link.node == s_.node.name;
        const ProcId process = here ? s_.find_registered(s_.text(link.name)) : ProcId::none;
        return process == ProcId::none ? target : of_pid(s_[process].pid);
    }

    std::optional<Found> target(ProcId id, const Process& process, const WaitingFunction& row) const {
        const std::span<const StackSlot> held = slots(id);
        const std::span<const Link> all = links(process);
        if (row.target == WaitingFunction::each) return first_monitored(all, process);
        const Link* only = nullptr;
        std::size_t monitors = 0;
        for (const Link& link : all) {
            if (link.kind != LinkKind::monitors) continue;
            ++monitors;
            only = &link;
            const auto proves = [&](const StackSlot& slot) {
                return slot.kind == StackSlot::Kind::reference && slot.words >= 3 && slot.frame <= 1 &&
                       slot.ref == link.ref;
            };
            if (std::ranges::any_of(held, proves)) {
                const WaitTarget asked = of_link(link, process.pid);
                return Found{asked, "monitor", surely(asked)};
            }
        }
        if (row.target == WaitingFunction::child) return only_child(all, process);
        // The frame knows: the only pid, or port, in the youngest frame, or in the one that called it.
        const StackSlot* named = nullptr;
        const bool callers = row.target == WaitingFunction::callers_pid;
        for (const StackSlot& slot : held) {
            const bool fits = row.target == WaitingFunction::pid || callers ? slot.kind == StackSlot::Kind::pid
                              : row.target == WaitingFunction::port         ? slot.kind == StackSlot::Kind::port
                                                                            : false;
            if (!fits || slot.frame != (callers ? 1 : 0) || slot.pid == process.pid) continue;
            if (named != nullptr && (named->pid != slot.pid || named->port != slot.port)) return std::nullopt;
            named = &slot;
        }
        if (named != nullptr && named->kind == StackSlot::Kind::pid)
            return Found{of_pid(named->pid), "pid", Confidence::estimate};
        if (named != nullptr) {
            WaitTarget port;
            port.port = named->port;
            return Found{port, "port", Confidence::estimate};
        }
        if (row.target == WaitingFunction::by_name) {
            const ProcId known = s_.find_registered(row.name);
            if (known == ProcId::none) return std::nullopt;
            return Found{of_pid(s_[known].pid), "name", Confidence::estimate};
        }
        if (row.target != WaitingFunction::monitored) return std::nullopt;
        if (monitors == 1) return Found{of_link(*only, process.pid), "only_monitor", Confidence::estimate};
        return by_callers_frame(held, all, process);
    }

    std::optional<Found> first_monitored(std::span<const Link> all, const Process& process) const {
        for (const Link& link : all)
            if (link.kind == LinkKind::monitors && link.pid.has() && link.pid != process.parent &&
                s_.find(link.pid) != ProcId::none)
                return Found{of_pid(link.pid), "monitor", Confidence::estimate};
        return std::nullopt;
    }

    std::optional<Found> only_child(std::span<const Link> all, const Process& process) const {
        std::optional<Found> found;
        for (const Link& link : all) {
            const ProcId other = link.kind == LinkKind::link && link.pid.has() ? s_.find(link.pid) : ProcId::none;
            if (other == ProcId::none || s_[other].parent != process.pid) continue;
            if (found) return std::nullopt;
            found = Found{of_pid(link.pid), "child", Confidence::estimate};
        }
        return found;
    }

    // The frame of the function that called gen:call/4 holds the server's name or pid where it is still needed there
    // (for the exit reason). Where the process holds several monitors, it must be on one of them.
    std::optional<Found> by_callers_frame(std::span<const StackSlot> held, std::span<const Link> all,
                                          const Process& process) const {
        std::optional<Found> found;
        for (const StackSlot& slot : held) {
            if (slot.frame > 1) continue;
            WaitTarget target;
            if (slot.kind == StackSlot::Kind::pid && slot.pid != process.pid) {
                target = of_pid(slot.pid);
            } else if (slot.kind == StackSlot::Kind::atom) {
                const ProcId known = s_.find_registered(s_.text(slot.atom));
                if (known == ProcId::none) continue;
                target = of_pid(s_[known].pid);
            } else {
                continue;
            }
            const auto on_it = [&](const Link& link) {
                return link.kind == LinkKind::monitors && of_link(link, process.pid) == target;
            };
            if (!std::ranges::any_of(all, on_it)) continue;
            if (found && !(found->target == target)) return std::nullopt;
            const bool pid = slot.kind == StackSlot::Kind::pid;
            found = Found{target, pid ? "pid" : "name", Confidence::estimate};
        }
        return found;
    }

    const Snapshot& s_;
    std::vector<std::int16_t> rows_;         // by FunctionId
    std::vector<std::int8_t> by_hand_;       // by FunctionId; -1: not asked yet
    std::vector<std::uint32_t> first_slot_;  // by ProcId
    TextId to_come_ = TextId::none;          // the only node that was asked while its connection is being set up
    std::map<Pid, TextId> asked_;            // who has asked another node for a new process, and which
    std::map<PortName, Pid> programs_;       // external programs, and who has started each
};

// Calls that programs have written by hand: those that monitor whom they ask; of others, as many as there are requests
// in the queue of whom they ask, one more or less, and at least half of that; a queue that is longer has other senders.
void add_by_hand(const Snapshot& s, Finder& finder, Waits& waits) {
    std::vector<WaitEdge> candidates;
    std::vector<std::uint64_t> asked(s.processes.size());
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        if (waits.edge_of[i] != Waits::no_edge) continue;
        const auto edge = finder.by_hand(ProcId{i});
        if (!edge) continue;
        if (edge->via == "monitor") {
            waits.edge_of[i] = static_cast<std::uint32_t>(waits.edges.size());
            waits.edges.push_back(*edge);
        } else {
            candidates.push_back(*edge);
            ++asked[index_of(edge->target.process)];
        }
    }
    for (const WaitEdge& edge : candidates) {
        const std::uint64_t callers = asked[index_of(edge.target.process)];
        const std::uint64_t requests = s[edge.target.process].msgq_len.value_or(0);
        if (requests == 0 || requests * 2 < callers || requests > callers * 2) continue;
        waits.edge_of[index_of(edge.waiter)] = static_cast<std::uint32_t>(waits.edges.size());
        waits.edges.push_back(edge);
    }
    add_named(s, candidates, waits);
}

// Those who have started a program and wait for what it says.
void add_programs(const Snapshot& s, Finder& finder, Waits& waits) {
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        if (waits.edge_of[i] != Waits::no_edge) continue;
        if (const auto edge = finder.program(ProcId{i})) {
            waits.edge_of[i] = static_cast<std::uint32_t>(waits.edges.size());
            waits.edges.push_back(*edge);
        }
    }
}

// Processes that are suspended until a port takes more.
void add_suspended(const Snapshot& s, const Finder& finder, Waits& waits) {
    for (const Port& port : s.ports)
        for (const Pid& pid : port.suspended) {
            const ProcId waiter = s.find(pid);
            if (waiter == ProcId::none || waits.edge_of[index_of(waiter)] != Waits::no_edge) continue;
            WaitEdge edge;
            edge.waiter = waiter;
            edge.target.port = port.port;
            edge.target.name = port.name;
            edge.function = finder.call(s[waiter]);
            edge.via = "port";
            edge.infinite = true;
            waits.edge_of[index_of(waiter)] = static_cast<std::uint32_t>(waits.edges.size());
            waits.edges.push_back(edge);
        }
}

// Who answers others only when somebody else is done, and is idle meanwhile.
void add_edge(const Snapshot& s, ProcId from, ProcId to, std::string_view via, Waits& waits) {
    WaitEdge edge = estimated_edge(s, from, to, via);
    edge.infinite = true;
    waits.edge_of[index_of(from)] = static_cast<std::uint32_t>(waits.edges.size());
    waits.edges.push_back(edge);
}

// The code server, when the only -on_load function that runs has not returned: whoever wants that module is answered
// then. It runs in a process of its own, in a fun of the code server's (code_server.erl, handle_on_load and
// schedule_on_load).
void add_loading(const Snapshot& s, Waits& waits) {
    const ProcId server = s.find_registered(erlang::code_server);
    if (server == ProcId::none || waits.edge(server) != nullptr || s[server].state != ProcessState::waiting) return;
    if (std::ranges::none_of(waits.edges, [&](const WaitEdge& edge) { return edge.target.process == server; })) return;
    const std::vector<std::uint8_t> loads = marks_of_stacks(s, [&](FunctionId id) {
        return s.text(s.functions[id].module) == erlang::code_server &&
               s.text(s.functions[id].name).find("on_load/") != std::string_view::npos;
    });
    ProcId found = ProcId::none;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        if (mark_of(loads, s.processes[i]) == 0 || ProcId{i} == server) continue;
        if (found != ProcId::none) return;
        found = ProcId{i};
    }
    if (found != ProcId::none) add_edge(s, server, found, "on_load", waits);
}

// The server of standard output, when the one that writes for it is held up by who reads it.
void add_terminal(const Snapshot& s, Waits& waits) {
    const ProcId server = s.find_registered(erlang::terminal_server);
    if (server == ProcId::none || waits.edge(server) != nullptr || s[server].state != ProcessState::waiting) return;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const FunctionId in = s.processes[i].current_function;
        if (in == FunctionId::none || !matches(s, in, std::span(&erlang::terminal_write, 1))) continue;
        add_edge(s, server, ProcId{i}, "terminal", waits);
        return;
    }
}

// A group leader that is the master of an application hands on what is printed to its own leader, in the end the server
// of standard output, which answers in its place: who waits for the one waits for the other.
void add_printed(const Snapshot& s, Waits& waits) {
    const ProcId server = s.find_registered(erlang::terminal_server);
    if (server == ProcId::none || waits.edge(server) == nullptr) return;
    std::vector<ProcId> masters;
    for (const WaitEdge& edge : waits.edges) {
        const ProcId leader = edge.target.process;
        if (leader == ProcId::none || leader == server || waits.edge(leader) != nullptr) continue;
        if (edge.function == FunctionId::none || s.text(s.functions[edge.function].module) != erlang::printing)
            continue;
        const FunctionId in = s[leader].current_function;
        if (in != FunctionId::none && matches(s, in, std::span(&erlang::hands_on_output, 1))) masters.push_back(leader);
    }
    for (const ProcId master : masters)
        if (waits.edge(master) == nullptr) add_edge(s, master, server, "terminal", waits);
}

// The only connection to another node that takes no more, by the name of that node; none: there are several, or none.
TextId only_busy_connection(const Snapshot& s) {
    TextId found = TextId::none;
    for (const DistNode& node : s.nodes) {
        const Port* const port = connection_to(s, node);
        if (port == nullptr || !is_busy(s, *port)) continue;
        if (found != TextId::none) return TextId::none;
        found = node.name;
    }
    return found;
}

// Processes that are suspended until a connection to another node takes more.
void add_distribution(const Snapshot& s, Waits& waits) {
    std::vector<bool> holds_up(s.functions.size());
    bool any = false;
    for (std::uint32_t i = 0; i < s.functions.size(); ++i) any |= holds_up[i] = sends_to_nodes(s, FunctionId{i});
    if (!any) return;
    const TextId node = only_busy_connection(s);
    if (node == TextId::none) return;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const Process& process = s.processes[i];
        if (process.state != ProcessState::suspended || waits.edge_of[i] != Waits::no_edge ||
            process.current_function == FunctionId::none || !holds_up[index_of(process.current_function)])
            continue;
        WaitEdge edge;
        edge.waiter = ProcId{i};
        edge.target.node = node;
        edge.function = process.current_function;
        edge.via = "distribution";
        edge.confidence = Confidence::estimate;
        edge.infinite = true;
        waits.edge_of[i] = static_cast<std::uint32_t>(waits.edges.size());
        waits.edges.push_back(edge);
    }
}

auto target_key(const WaitTarget& t) { return std::tuple(t.pid, t.port, index_of(t.node), index_of(t.name)); }

void add_fan_in(Waits& waits) {
    waits.by_target.resize(waits.edges.size());
    for (std::uint32_t i = 0; i < waits.by_target.size(); ++i) waits.by_target[i] = i;
    const auto key = [&](std::uint32_t edge) { return target_key(waits.edges[edge].target); };
    std::ranges::stable_sort(waits.by_target, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::uint32_t i = 0; i < waits.by_target.size(); ++i) {
        if (i == 0 || key(waits.by_target[i]) != key(waits.by_target[i - 1]))
            waits.fan_in.push_back({waits.edges[waits.by_target[i]].target, i, 0, 0});
        ++waits.fan_in.back().waiters;
    }
}

ProcId next_of(const Waits& waits, ProcId process) {
    const WaitEdge* edge = waits.edge(process);
    return edge == nullptr ? ProcId::none : edge->target.process;
}

// How many processes lead to each one: leaves first, as many steps as there are edges; what is left are cycles.
struct Reach {
    std::vector<std::uint64_t> count;     // by ProcId, without itself
    std::vector<std::uint32_t> height;    // of the longest chain that ends at it
    std::vector<ProcId> longest;          // the waiter on that chain
    std::vector<std::uint32_t> incoming;  // edges that were not followed yet: more than 0 on cycles alone
};

Reach reach(const Snapshot& s, const Waits& waits) {
    Reach r;
    r.count.resize(s.processes.size());
    r.height.resize(s.processes.size());
    r.longest.resize(s.processes.size(), ProcId::none);
    r.incoming.resize(s.processes.size());
    for (const WaitEdge& edge : waits.edges)
        if (edge.target.process != ProcId::none) ++r.incoming[index_of(edge.target.process)];
    std::vector<ProcId> ready;
    for (const WaitEdge& edge : waits.edges)
        if (r.incoming[index_of(edge.waiter)] == 0) ready.push_back(edge.waiter);
    while (!ready.empty()) {
        const ProcId waiter = ready.back();
        ready.pop_back();
        const ProcId to = next_of(waits, waiter);
        if (to == ProcId::none) continue;
        const std::uint32_t w = index_of(waiter), t = index_of(to);
        r.count[t] += r.count[w] + 1;
        if (r.height[w] + 1 > r.height[t]) {
            r.height[t] = r.height[w] + 1;
            r.longest[t] = waiter;
        }
        if (--r.incoming[t] == 0) ready.push_back(to);
    }
    return r;
}

void add_cycles(const Snapshot& s, Waits& waits, Reach& r) {
    std::vector<bool> seen(s.processes.size());
    for (const WaitEdge& edge : waits.edges) {
        if (r.incoming[index_of(edge.waiter)] == 0 || seen[index_of(edge.waiter)]) continue;
        std::vector<ProcId> cycle;
        std::uint64_t behind = 0;
        for (ProcId at = edge.waiter; !seen[index_of(at)]; at = next_of(waits, at)) {
            seen[index_of(at)] = true;
            behind += r.count[index_of(at)] + 1;
            cycle.push_back(at);
        }
        for (const ProcId each : cycle) r.count[index_of(each)] = behind - 1;
        const auto smallest = std::ranges::min_element(cycle, {}, [&](ProcId id) { return s[id].pid; });
        std::rotate(cycle.begin(), smallest, cycle.end());
        waits.cycles.push_back(std::move(cycle));
    }
    std::ranges::stable_sort(waits.cycles, [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

void add_chains(const Waits& all, const Reach& r, std::vector<std::vector<ProcId>>& chains) {
    for (std::uint32_t i = 0; i < r.height.size(); ++i) {
        if (r.height[i] < 2 || all.edge_of[i] != Waits::no_edge) continue;
        std::vector<ProcId> chain;
        for (ProcId at = ProcId{i}; at != ProcId::none; at = r.longest[index_of(at)]) chain.push_back(at);
        std::ranges::reverse(chain);
        chains.push_back(std::move(chain));
    }
    std::ranges::stable_sort(chains, [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

// What follows from the edges.
void add_sums(const Snapshot& snapshot, Waits& waits) {
    add_fan_in(waits);
    Reach r = reach(snapshot, waits);
    add_cycles(snapshot, waits, r);
    add_chains(waits, r, waits.chains);
    for (WaitFanIn& fan : waits.fan_in)
        fan.reaching = fan.target.process == ProcId::none ? fan.waiters : r.count[index_of(fan.target.process)];
    for (WaitFanIn& fan : waits.fan_in)
        if (fan.target.process == ProcId::none)
            for (const std::uint32_t edge : waits.waiters_of(fan))
                fan.reaching += r.count[index_of(waits.edges[edge].waiter)];
    std::ranges::stable_sort(waits.fan_in, [](const WaitFanIn& a, const WaitFanIn& b) {
        return a.waiters != b.waiters ? a.waiters > b.waiters : a.reaching > b.reaching;
    });
}

}  // namespace

bool is_waiting_function(const Snapshot& snapshot, FunctionId function) {
    return find_waiting(snapshot, function) != nullptr;
}

FunctionId waits_on_behalf(const Snapshot& s, const Process& process) {
    if (process.stack == StackId::none) return FunctionId::none;
    for (const Frame& frame : s.stacks[process.stack]) {
        if (frame.function == process.current_function) continue;
        if (frame.function == FunctionId::none) break;
        const Function& by = s.functions[frame.function];
        const std::string_view module = s.text(by.module);
        const bool loops = std::ranges::any_of(erlang::idle_callers, [&](const erlang::IdleFunction& row) {
            return row.module == module && row.function == s.text(by.name);
        });
        return loops || has_role(module, erlang::FunctionRole::waits_for_itself) ? FunctionId::none : frame.function;
    }
    return FunctionId::none;
}

bool is_idle_function(const Snapshot& snapshot, FunctionId function) {
    const std::string_view module = snapshot.text(snapshot.functions[function].module);
    const std::string_view name = snapshot.text(snapshot.functions[function].name);
    return std::ranges::any_of(erlang::idle_functions, [&](const erlang::IdleFunction& row) {
        return row.module == module && row.function == name;
    });
}

bool sends_to_nodes(const Snapshot& snapshot, FunctionId function) {
    return matches(snapshot, function, erlang::distribution_sends);
}

SlotsWanted slots_for_waits(const Snapshot& snapshot, FunctionId function) {
    if (is_waiting_function(snapshot, function)) return SlotsWanted::all;
    return is_idle_function(snapshot, function) ? SlotsWanted::none : SlotsWanted::whom_it_names;
}

TextId node_of(const Snapshot& snapshot, const WaitTarget& target) {
    if (target.node != TextId::none) return target.node;
    return target.pid.has() && target.pid.node != 0 ? snapshot.node_name(target.pid.node) : TextId::none;
}

ProcId end_of_chain(const Waits& waits, ProcId process) {
    for (std::size_t steps = 0; steps <= waits.edges.size() && process != ProcId::none; ++steps) {
        const WaitEdge* edge = waits.edge(process);
        if (edge == nullptr) return process;
        process = edge->target.process;
    }
    return ProcId::none;
}

const WaitFanIn* Waits::fan_in_of(ProcId process) const {
    for (const WaitFanIn& fan : fan_in)
        if (fan.target.process == process) return &fan;
    return nullptr;
}

Waits waits(const Snapshot& snapshot) {
    Waits waits;
    waits.edge_of.assign(snapshot.processes.size(), Waits::no_edge);
    Finder finder(snapshot);
    for (std::uint32_t i = 0; i < snapshot.processes.size(); ++i)
        if (const auto edge = finder.find(ProcId{i})) {
            waits.edge_of[i] = static_cast<std::uint32_t>(waits.edges.size());
            waits.edges.push_back(*edge);
        }
    add_suspended(snapshot, finder, waits);
    add_distribution(snapshot, waits);
    add_terminal(snapshot, waits);
    add_printed(snapshot, waits);
    add_loading(snapshot, waits);
    add_by_hand(snapshot, finder, waits);
    add_programs(snapshot, finder, waits);
    add_sums(snapshot, waits);
    return waits;
}

WaitEdge estimated_edge(const Snapshot& s, ProcId from, ProcId to, std::string_view via) {
    WaitEdge edge;
    edge.waiter = from;
    edge.target.process = to;
    edge.target.pid = s[to].pid;
    edge.target.name = s[to].name;
    edge.function = s[from].current_function;
    edge.via = via;
    edge.confidence = Confidence::estimate;
    return edge;
}

void add_edges(const Snapshot& snapshot, std::span<const WaitEdge> edges, Waits& waits) {
    if (edges.empty()) return;
    waits.edges.insert(waits.edges.end(), edges.begin(), edges.end());
    std::ranges::stable_sort(waits.edges, {}, [](const WaitEdge& edge) { return index_of(edge.waiter); });
    waits.edge_of.assign(snapshot.processes.size(), Waits::no_edge);
    for (std::uint32_t i = 0; i < waits.edges.size(); ++i) waits.edge_of[index_of(waits.edges[i].waiter)] = i;
    waits.by_target.clear();
    waits.fan_in.clear();
    waits.cycles.clear();
    waits.chains.clear();
    add_sums(snapshot, waits);
}

}  // namespace beamheap::analyses
