// SPDX-License-Identifier: Apache-2.0
// Snapshots made by hand, for the tests of what stands above the formats.
#pragma once

#include <string_view>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::test {

/// Adds rows one by one; seal() when all are there.
struct MadeSnapshot {
    Snapshot s;

    TextId text(std::string_view t) { return t.empty() ? TextId::none : s.texts.intern(t); }
    FunctionId function(std::string_view module, std::string_view name, std::uint32_t arity) {
        return s.functions.intern({text(module), text(name), arity});
    }
    /// A process <0.number.serial>, not registered where name is empty.
    Process& process(std::uint32_t number, std::string_view name = {}, std::uint32_t parent = Pid::none_number,
                     std::uint32_t serial = 0) {
        Process p;
        p.pid = {0, number, serial};
        if (parent != Pid::none_number) p.parent = {0, parent, 0};
        p.name = text(name);
        p.msgq_len = 0;
        p.state = ProcessState::waiting;
        s.processes.push_back(p);
        s.index_process(static_cast<ProcId>(s.processes.size() - 1));
        return s.processes.back();
    }
    /// Links of the process added last. Call it once for each process.
    void links(const std::vector<std::uint32_t>& numbers) {
        Process& p = s.processes.back();
        p.link_range = {static_cast<std::uint32_t>(s.links.size()), static_cast<std::uint32_t>(numbers.size())};
        p.links = static_cast<std::uint32_t>(numbers.size());
        for (const std::uint32_t number : numbers) {
            Link link;
            link.pid = {0, number, 0};
            s.links.push_back(link);
        }
    }
    StackId stack(const std::vector<FunctionId>& functions, std::uint32_t offset = 0) {
        std::vector<Frame> frames;
        for (const FunctionId f : functions) frames.push_back({f, offset, 0, TextId::none});
        return s.stacks.intern(frames);
    }
    /// A process with 1,000 bytes of memory that waits in the first of these functions, called by the others.
    Process& at(std::uint32_t number, const std::vector<FunctionId>& frames, std::string_view name = {}) {
        Process& p = process(number, name);
        p.current_function = frames.front();
        p.stack = stack(frames);
        p.memory_bytes = 1000;
        return p;
    }
    /// A server at rest.
    Process& idle(std::uint32_t number, std::string_view name = {}) {
        return at(number, {function("gen_server", "loop", 7)}, name);
    }
    /// A process that waits, within a call of a gen_server's, for `target`, which it monitors.
    Process& waiter(std::uint32_t number, std::uint32_t target) {
        Process& p = process(number);
        p.current_function = function("gen", "do_call", 4);
        p.stack = stack({p.current_function, function("gen_server", "call", 3), function("my", "work", 1)});
        p.link_range = {static_cast<std::uint32_t>(s.links.size()), 1};
        Link link;
        link.kind = LinkKind::monitors;
        link.pid = {0, target, 0};
        link.ref = {1, 2, number};
        s.links.push_back(link);
        return p;
    }
    /// Slots of the process added last: the reference of a monitor, an atom.
    void holds(const decltype(Link::ref)& reference) {
        StackSlot held;
        held.kind = StackSlot::Kind::reference;
        held.words = 3;
        held.ref = reference;
        hold(held);
    }
    void holds(std::string_view atom) {
        StackSlot held;
        held.kind = StackSlot::Kind::atom;
        held.atom = text(atom);
        hold(held);
    }
    void hold(StackSlot held) {
        held.process = static_cast<ProcId>(s.processes.size() - 1);
        s.slots.push_back(held);
    }
    Snapshot& seal() {
        s.seal();
        return s;
    }
};

/// Pids' numbers of a selection: easy to compare.
inline std::vector<std::uint32_t> numbers(const Snapshot& s, const std::vector<ProcId>& ids) {
    std::vector<std::uint32_t> result;
    for (const ProcId id : ids) result.push_back(s[id].pid.number);
    return result;
}

}  // namespace beamheap::test
