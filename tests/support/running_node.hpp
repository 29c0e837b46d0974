// SPDX-License-Identifier: Apache-2.0
// A node made by hand whose processes wait: in calls, for ports, for locks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "present/spelling.hpp"
#include "support/made_findings.hpp"
#include "support/made_snapshot.hpp"

namespace beamheap::test {

struct Running : MadeSnapshot {
    void at(Process& p, const std::vector<FunctionId>& frames) {
        p.current_function = frames.front();
        p.stack = stack(frames);
        p.memory_bytes = 1000;
    }
    void idle(std::uint32_t number, std::string_view name = {}) {
        at(process(number, name), {function("gen_server", "loop", 7)});
    }
    void links_to(const std::vector<Link>& all) {
        s.processes.back().link_range = {static_cast<std::uint32_t>(s.links.size()),
                                         static_cast<std::uint32_t>(all.size())};
        s.links.insert(s.links.end(), all.begin(), all.end());
    }
    // In gen:do_call/4 with a monitor on `target`, without a timeout, as the only kind of caller.
    void caller(std::uint32_t number, const Link& target) {
        Process& p = process(number);
        at(p, {function("gen", "do_call", 4), function("gen_server", "call", 3), function("my", "work", 1)});
        p.real_initial_call = function("my", "work", 1);
        Link link = target;
        link.kind = LinkKind::monitors;
        link.ref = {1, 2, number};
        links_to({link});
        holds(link.ref);
        holds("infinity");
    }
    void caller(std::uint32_t number, std::uint32_t target) {
        Link link;
        link.pid = {0, target, 0};
        caller(number, link);
    }
    // A writer that waits for the answer of a port's driver.
    Process& writer(std::uint32_t number, std::uint64_t port) {
        Process& p = process(number);
        at(p, {function("prim_inet", "send", 4), function("my_conn", "write", 2)});
        StackSlot held;
        held.kind = StackSlot::Kind::port;
        held.port.number = port;
        hold(held);
        return p;
    }
    Port& port(std::uint64_t number, std::string_view flags, std::string_view state = "CONNECTED") {
        Port port;
        port.port.number = number;
        port.task_flags = text(flags);
        port.state = text(state);
        port.kind = text("linked-in driver");
        port.driver = text("tcp_inet");
        port.queue_bytes = 1000;
        s.ports.push_back(port);
        return s.ports.back();
    }
    std::vector<analyses::Finding> findings() { return findings_of(s); }
    const analyses::Finding* find(const std::vector<analyses::Finding>& all, std::string_view rule) {
        return first_of(all, rule);
    }
    std::string title(const analyses::Finding& finding) { return present::plain_text(s, finding.title); }
};

}  // namespace beamheap::test
