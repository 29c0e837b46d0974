#include "present/waits.hpp"

#include <fmt/format.h>

#include "analyses/base/erlang_syntax.hpp"
#include "present/table_cells.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

using analyses::WaitEdge;
using analyses::WaitFanIn;
using analyses::Waits;
using analyses::WaitTarget;

constexpr std::size_t most_shown = 64;  // processes of one chain or cycle that are drawn

std::string target_name(const Names& names, const WaitTarget& target) {
    const Snapshot& s = names.snapshot();
    if (target.process != ProcId::none) {
        const Process& process = s[target.process];
        if (const std::string name = names.bare(process.name); !name.empty()) return name;
        // What it belongs to, its nearest named ancestor, is nobody's name.
        if (std::string called = names.called(process); !called.empty()) return called;
        return process.initial_call == FunctionId::none ? std::string() : names.function(process.initial_call);
    }
    if (target.pid.has() && target.pid.node != 0) return names.bare(s.node_name(target.pid.node));
    return names.bare(target.name);
}

Value name_or_null(std::string text) { return text.empty() ? Value() : Value(std::move(text)); }

// "lager_event <0.79.0>"
std::string drawn(const Names& names, ProcId id) { return names.process(names.snapshot()[id]); }

}  // namespace

std::string wait_target(const Names& names, const WaitTarget& target) {
    if (target.pid.has()) return names.pid(target.pid);
    if (target.port.has()) return analyses::port_text(target.port);
    const std::string_view name = names.snapshot().text(target.name);
    const std::string_view node = names.snapshot().text(target.node);
    if (target.node == TextId::none) return atom_text(name, names.syntax());
    return fmt::format("{{{},{}}}", atom_text(name, names.syntax()), atom_text(node, names.syntax()));
}

Table wait_edge_table(const Names& names, const Waits& waits) {
    using Row = const WaitEdge*;
    const Snapshot& s = names.snapshot();
    std::vector<ColumnOf<Row>> columns{
        {{.name = "waiter", .title = "WAITER", .doc = "the process that waits"},
         [names, &s](Row e) { return cells::pid(names, s[e->waiter].pid); }},
        {{.name = "waiter_name", .title = "NAME", .doc = "its name, label or initial call", .content = Content::name},
         [names](Row e) {
             WaitTarget self;
             self.process = e->waiter;
             return name_or_null(target_name(names, self));
         }},
        {{.name = "target",
          .title = "WAITS FOR",
          .doc = "a pid, a port, or a name on another node",
          .content = Content::name},
         [names](Row e) { return Value(wait_target(names, e->target)); }},
        {{.name = "target_name",
          .title = "NAME",
          .doc = "its name; of a process of another node, that node",
          .content = Content::name},
         [names](Row e) { return name_or_null(target_name(names, e->target)); }},
        {{.name = "function", .title = "IN", .doc = "the call that is blocked", .content = Content::name},
         [names](Row e) { return cells::function(names, e->function); }},
        {{.name = "infinite", .title = "FOREVER", .doc = "the call is known to have no timeout", .wide = true},
         [](Row e) { return Value(e->infinite); }},
        {{.name = "via",
          .title = "SEEN BY",
          .doc = "monitor: its reference stands in the frame; pid, name, port: the frame holds it; only_monitor: it "
                 "holds no other; distribution: it is suspended, and one connection is full; terminal: standard output takes "
                 "nothing"},
         [](Row e) { return Value(e->via); }},
        {{.name = "confidence", .title = "CONFIDENCE", .doc = "exact or estimate"},
         [](Row e) { return Value(analyses::name_of(e->confidence)); }},
    };
    std::vector<Row> rows;
    for (const WaitEdge& edge : waits.edges) rows.push_back(&edge);
    return table_of(std::move(columns), std::move(rows), "nobody waits for anybody");
}

Table wait_fan_in_table(const Names& names, const Waits& waits) {
    using Row = const WaitFanIn*;
    const Snapshot& s = names.snapshot();
    const auto process = [&s](Row f) { return f->target.process == ProcId::none ? nullptr : &s[f->target.process]; };
    std::vector<ColumnOf<Row>> columns{
        {{.name = "target",
          .title = "WAITED FOR",
          .doc = "a pid, a port, or a name on another node",
          .content = Content::name},
         [names](Row f) { return Value(wait_target(names, f->target)); }},
        {{.name = "name",
          .title = "NAME",
          .doc = "its name; of a process of another node, that node",
          .content = Content::name},
         [names](Row f) { return name_or_null(target_name(names, f->target)); }},
        {{.name = "waiters", .title = "WAITERS", .unit = Unit::count, .doc = "processes that wait for it"},
         [](Row f) { return Value(f->waiters); }},
        {{.name = "reaching",
          .title = "IN ALL",
          .unit = Unit::count,
          .doc = "with those that wait for one of its waiters, and so on"},
         [](Row f) { return Value(f->reaching); }},
        {{.name = "current_function", .title = "IS IN", .doc = "where it is itself", .content = Content::name},
         [names, process](Row f) {
             const Process* p = process(f);
             return p == nullptr ? Value() : cells::function(names, p->current_function);
         }},
        {{.name = "msgq_len", .title = "QUEUE", .unit = Unit::count, .doc = "messages in its queue"},
         [process](Row f) {
             const Process* p = process(f);
             return p == nullptr ? Value() : Value(p->msgq_len);
         }},
        {{.name = "waits_for", .title = "WAITS FOR", .doc = "whom it waits for itself", .content = Content::name},
         [names, &waits](Row f) {
             const WaitEdge* edge = f->target.process == ProcId::none ? nullptr : waits.edge(f->target.process);
             return edge == nullptr ? Value() : Value(wait_target(names, edge->target));
         }},
    };
    std::vector<Row> rows;
    for (const WaitFanIn& fan : waits.fan_in) rows.push_back(&fan);
    return table_of(std::move(columns), std::move(rows), "");
}

Array wait_cycles(const Names& names, const Waits& waits) {
    Array cycles;
    for (const std::vector<ProcId>& cycle : waits.cycles) {
        Array pids;
        for (const ProcId id : cycle) pids.push_back(cells::pid(names, names.snapshot()[id].pid));
        cycles.emplace_back(std::move(pids));
    }
    return cycles;
}

Array wait_chain_lines(const Names& names, const Waits& waits) {
    Array lines;
    for (const std::vector<ProcId>& chain : waits.chains) {
        std::string line;
        for (std::size_t i = 0; i < chain.size(); ++i) {
            if (i != 0) line += " -> ";
            if (i + 1 < chain.size() && i + 2 > most_shown) {
                line += fmt::format("{} more", grouped(chain.size() - 1 - i));
                i = chain.size() - 2;
                continue;
            }
            line += drawn(names, chain[i]);
        }
        const Process& last = names.snapshot()[chain.back()];
        if (const std::string in = names.function(last.current_function); !in.empty()) line += ", which is in " + in;
        lines.emplace_back(std::move(line));
    }
    return lines;
}

Array wait_cycle_lines(const Names& names, const Waits& waits) {
    Array lines;
    for (const std::vector<ProcId>& cycle : waits.cycles) {
        std::string line;
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            if (i == most_shown) {
                line += fmt::format("{} more -> ", grouped(cycle.size() - i));
                break;
            }
            const WaitEdge* edge = waits.edge(cycle[i]);
            line += fmt::format("{} -[{}{}]-> ", drawn(names, cycle[i]), names.function(edge->function),
                                edge->infinite ? ", no timeout" : "");
        }
        lines.emplace_back(line + drawn(names, cycle.front()));
    }
    return lines;
}

}  // namespace beamheap::present
