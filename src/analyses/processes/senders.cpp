// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/senders.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "erlang/modules.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses {
FunctionId caller_of(const Snapshot& s, const Process& process) {
    for (const Frame& frame : s.stacks[process.stack]) {
        if (frame.function == FunctionId::none) break;
        const std::string_view module = s.text(s.functions[frame.function].module);
        if (!erlang::has_role(module, erlang::ModuleRole::of_ports)) return frame.function;
    }
    return FunctionId::none;
}

namespace {

bool sends_for_others(const Snapshot& s, const Process& process) {
    for (const Frame& frame : s.stacks[process.stack])
        if (frame.function != FunctionId::none && s.text(s.functions[frame.function].module) == erlang::tls_sender)
            return true;
    return false;
}

// One who waits for each process, where somebody does.
std::map<ProcId, ProcId> waiters(const Waits& waits) {
    std::map<ProcId, ProcId> found;
    for (const WaitEdge& edge : waits.edges)
        if (edge.target.process != ProcId::none) found.emplace(edge.target.process, edge.waiter);
    return found;
}

bool in_socket_send(const Snapshot& s, const Process& process) {
    if (process.state != ProcessState::waiting || process.current_function == FunctionId::none) return false;
    const Function& function = s.functions[process.current_function];
    return s.text(function.module) == erlang::socket_send.module &&
           s.text(function.name).starts_with(erlang::socket_send.function);
}

}  // namespace

bool is_busy(const Snapshot& snapshot, const Port& port) {
    if (!port.suspended.empty()) return true;
    if (port.task_flags == TextId::none) return false;
    const std::string_view flags = snapshot.text(port.task_flags);
    for (std::size_t at = 0; at < flags.size();) {
        const std::size_t end = std::min(flags.find('|', at), flags.size());
        const std::string_view flag = flags.substr(at, end - at);
        if (flag == "BUSY_PORT" || flag == "BUSY_Q") return true;
        at = end + 1;
    }
    return false;
}

bool is_connection(const Snapshot& snapshot, const Port& port) {
    return snapshot.text(port.state).find("DISTR") != std::string_view::npos;
}

const Port* connection_to(const Snapshot& snapshot, const DistNode& node) {
    constexpr std::string_view before = "#Port<", after = ">";
    std::string_view name = snapshot.text(node.controller);
    if (!name.starts_with(before) || !name.ends_with(after)) return nullptr;
    name = name.substr(before.size(), name.size() - before.size() - after.size());
    const std::size_t dot = name.find('.');
    if (dot == name.npos) return nullptr;
    PortName port;
    const auto number = [](std::string_view digits, auto& value) {
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return error == std::errc{} && end == digits.data() + digits.size();
    };
    if (!number(name.substr(0, dot), port.node) || !number(name.substr(dot + 1), port.number)) return nullptr;
    const auto found = std::ranges::find(snapshot.ports, port, &Port::port);
    return found == snapshot.ports.end() ? nullptr : &*found;
}

std::vector<HeldSender> held_senders(const Snapshot& s, const Waits& waits) {
    std::map<PortName, std::size_t> by_name;
    for (std::size_t i = 0; i < s.ports.size(); ++i) by_name.emplace(s.ports[i].port, i);
    std::optional<std::map<ProcId, ProcId>> asked;
    std::vector<HeldSender> found;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const Process& process = s.processes[i];
        HeldSender sender{ProcId{i}, {}, process.current_function, {}};
        if (const WaitEdge* edge = waits.edge(ProcId{i}); edge != nullptr && edge->target.port.has()) {
            const auto port = by_name.find(edge->target.port);
            if (port == by_name.end() || !is_busy(s, s.ports[port->second]) || is_connection(s, s.ports[port->second]))
                continue;
            sender.port = port->second;
            sender.function = edge->function;
        } else if (!in_socket_send(s, process)) {
            continue;
        }
        sender.caller = caller_of(s, process);
        if (sends_for_others(s, process)) {
            if (!asked) asked = waiters(waits);
            if (const auto by = asked->find(sender.process); by != asked->end())
                sender.caller = caller_of(s, s[by->second]);
        }
        found.push_back(sender);
    }
    return found;
}

}  // namespace beamheap::analyses
