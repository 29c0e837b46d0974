// SPDX-License-Identifier: Apache-2.0
#include "present/waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "erlang/erlang_syntax.hpp"
#include "present/table_cells.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

using analyses::WaitEdge;
using analyses::WaitFanIn;
using analyses::Waits;
using analyses::WaitTarget;

constexpr std::size_t most_shown = 64;  // processes of one chain or cycle that are drawn

// The registered name of a process of this node, the node of one of another, or the name that was called.
std::string target_name(const Names& names, const WaitTarget& target) {
    const Snapshot& s = names.snapshot();
    if (target.process != ProcId::none) return names.bare(s[target.process].name);
    if (target.pid.has() && target.pid.node != 0) return names.bare(s.node_name(target.pid.node));
    return names.bare(target.name);
}

// What a process without a name runs: its label, or what it was started as. As programs read it: the label's term.
std::string target_runs(const Names& names, ProcId id) {
    if (id == ProcId::none) return {};
    const Process& process = names.snapshot()[id];
    if (process.name != TextId::none) return {};
    if (process.label != TextId::none) return printed_text(names.snapshot().text(process.label), names.syntax());
    return names.function(analyses::first_call(process));
}

// How people are told of who waits and who is waited for: by a name, or else by what it runs; of alike processes by
// what they were started as, whatever each is called; of a port by its driver or program.
class Told {
public:
    explicit Told(const Names& names) : names_(names) {
        const Snapshot& s = names.snapshot();
        for (const Port& port : s.ports) ports_.emplace(port.port, &port);
    }
    std::string operator()(const WaitTarget& target, std::uint64_t alike = 1) const {
        if (target.port.has()) return bare_text(driver(target.port), names_.syntax());
        std::string name = target_name(names_, target);
        if (!name.empty() || target.process == ProcId::none) return name;
        const Process& process = names_.snapshot()[target.process];
        if (process.label == TextId::none) return target_runs(names_, target.process);
        return alike > 1 ? names_.function(analyses::first_call(process)) : names_.label(process.label);
    }
    std::string operator()(ProcId id, std::uint64_t alike = 1) const { return (*this)(of(id), alike); }
    /// What rows are put together by: unnamed processes by what they were started as, ports by what is behind them;
    /// all others are a kind of their own.
    std::string kind(const WaitTarget& target) const {
        if (target.port.has()) return "port " + driver(target.port);
        if (target.process == ProcId::none) return wait_target(names_, target);
        const Process& process = names_.snapshot()[target.process];
        if (process.name != TextId::none) return names_.pid(process.pid);
        return fmt::format("process {}", index_of(analyses::first_call(process)));
    }
    std::string kind(ProcId id) const { return kind(of(id)); }

private:
    static WaitTarget of(ProcId id) {
        WaitTarget self;
        self.process = id;
        return self;
    }
    std::string driver(const PortName& name) const {
        const auto at = ports_.find(name);
        return at == ports_.end() ? std::string() : analyses::program_name(names_.snapshot().text(at->second->driver));
    }
    Names names_;
    std::map<PortName, const Port*> ports_;
};

// The line of the code that called what blocks: the frame below the youngest one of that function.
std::string asked_at(const Names& names, const WaitEdge& edge) {
    const Snapshot& s = names.snapshot();
    const std::span<const Frame> frames = s.stacks[s[edge.waiter].stack];
    for (std::size_t i = 0; i + 1 < frames.size(); ++i)
        if (frames[i].function == edge.function) return names.place(frames[i + 1]);
    return {};
}

std::string times(std::string what, std::uint64_t count) {
    return count < 2 ? what : fmt::format("{} \u00d7{}", what, grouped(count));
}

// Rows of which `kind` says the same, from least_alike on, as one: the place of the first, and how many.
template <class Item, class Kind>
std::vector<std::pair<const Item*, std::uint64_t>> fold_rows(const std::vector<Item>& items, std::uint64_t least,
                                                             Kind&& kind) {
    using Key = decltype(kind(items.front()));
    std::map<Key, std::uint64_t> sizes;
    for (const Item& item : items) ++sizes[kind(item)];
    std::map<Key, bool> shown;
    std::vector<std::pair<const Item*, std::uint64_t>> rows;
    for (const Item& item : items) {
        const std::uint64_t size = sizes[kind(item)];
        if (size < least) rows.emplace_back(&item, 1);
        else if (shown.try_emplace(kind(item), true).second) rows.emplace_back(&item, size);
    }
    return rows;
}

// The rows whose waiters wait for several. All of them may wait for one, who has a name then, and not only a kind.
template <class Kind>
std::set<const WaitEdge*> of_several_targets(const Names& names, const analyses::Waits& waits,
                                             const std::vector<std::pair<const WaitEdge*, std::uint64_t>>& rows,
                                             Kind&& kind) {
    std::map<decltype(kind(waits.edges.front())), std::set<std::string>> targets;
    for (const WaitEdge& edge : waits.edges)
        if (auto& those = targets[kind(edge)]; those.size() < 2) those.insert(wait_target(names, edge.target));
    std::set<const WaitEdge*> several;
    for (const auto& [edge, count] : rows)
        if (count > 1 && targets[kind(*edge)].size() > 1) several.insert(edge);
    return several;
}

Value name_or_null(std::string text) { return text.empty() ? Value() : Value(std::move(text)); }

// "lager_event <0.79.0>"
std::string drawn(const Names& names, ProcId id) { return names.process(names.snapshot()[id]); }

}  // namespace

std::string wait_target(const Names& names, const WaitTarget& target) {
    if (target.pid.has()) return names.pid(target.pid);
    if (target.port.has()) return port_text(target.port);
    const std::string_view name = names.snapshot().text(target.name);
    const std::string_view node = names.snapshot().text(target.node);
    if (target.node == TextId::none) return atom_text(name, names.syntax());
    return fmt::format("{{{},{}}}", atom_text(name, names.syntax()), atom_text(node, names.syntax()));
}

Table wait_edge_table(const Names& names, const Waits& waits) {
    using Row = const WaitEdge*;
    const Snapshot& s = names.snapshot();
    Columns<Row> columns{
        {{.name = "waiter", .title = "WAITER", .doc = "the process that waits"},
         [names, &s](Row e) { return cells::pid(names, s[e->waiter].pid); }},
        {{.name = "waiter_name", .title = "WAITER NAME", .doc = "its registered name", .content = Content::name},
         [names, &s](Row e) { return cells::bare(names, s[e->waiter].name); }},
        {{.name = "waiter_runs",
          .title = "WAITER RUNS",
          .doc = "of one without a name: its label, or what it was started as",
          .content = Content::term},
         [names](Row e) { return name_or_null(target_runs(names, e->waiter)); }},
        {{.name = "target",
          .title = "WAITED FOR",
          .doc = "a pid, a port, or a name on another node",
          .content = Content::name},
         [names](Row e) { return Value(wait_target(names, e->target)); }},
        {{.name = "target_name",
          .title = "TARGET NAME",
          .doc = "its name; of a process of another node, that node",
          .content = Content::name},
         [names](Row e) { return name_or_null(target_name(names, e->target)); }},
        {{.name = "target_runs",
          .title = "TARGET RUNS",
          .doc = "of one without a name: its label, or what it was started as",
          .content = Content::term},
         [names](Row e) { return name_or_null(target_runs(names, e->target.process)); }},
        {{.name = "function", .title = "FUNCTION", .doc = "the call that is blocked", .content = Content::name},
         [names](Row e) { return cells::function(names, e->function); }},
        {{.name = "asked_at",
          .title = "ASKED AT",
          .doc = "file and line of the call, in the code that makes it",
          .content = Content::name,
          .wide = true},
         [names](Row e) { return cells::text(asked_at(names, *e)); }},
        {{.name = "infinite",
          .title = "FOREVER",
          .holds = Holds::flag,
          .doc = "the call is known to have no timeout",
          .wide = true},
         [](Row e) { return Value(e->infinite); }},
        {{.name = "via",
          .title = "VIA",
          .doc = "monitor: its reference stands in the frame; pid, name, port: the frame holds it; only_monitor: it "
                 "holds no other; distribution: it is suspended, and one connection is full; terminal: standard output "
                 "takes nothing"},
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
    Columns<Row> columns{
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
        {{.name = "runs",
          .title = "RUNS",
          .doc = "of one without a name: its label, or what it was started as",
          .content = Content::term},
         [names](Row f) { return name_or_null(target_runs(names, f->target.process)); }},
        {{.name = "waiters", .title = "WAITERS", .unit = Unit::count, .doc = "processes that wait for it"},
         [](Row f) { return Value(f->waiters); }},
        {{.name = "reaching",
          .title = "IN ALL",
          .unit = Unit::count,
          .doc = "with those that wait for one of its waiters, and so on"},
         [](Row f) { return Value(f->reaching); }},
        {{.name = "current_function",
          .title = "CURRENT FUNCTION",
          .doc = "where it is itself",
          .content = Content::name},
         [names, process](Row f) {
             const Process* p = process(f);
             return p == nullptr ? Value() : cells::function(names, p->current_function);
         }},
        {{.name = "msgq_len", .title = "MSGQ", .unit = Unit::count, .doc = "messages in its queue"},
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
    std::ranges::stable_sort(rows, [](Row a, Row b) { return a->reaching > b->reaching; });
    return table_of(std::move(columns), std::move(rows), "");
}

Table wait_fan_in_for_people(const Names& names, const Waits& waits, std::uint64_t least_alike) {
    using Row = std::pair<const WaitFanIn*, std::uint64_t>;
    const Snapshot& s = names.snapshot();
    std::vector<WaitFanIn> sorted = waits.fan_in;
    std::ranges::stable_sort(sorted, [](const WaitFanIn& a, const WaitFanIn& b) { return a.reaching > b.reaching; });
    const auto held = std::make_shared<const std::vector<WaitFanIn>>(std::move(sorted));
    const auto told = std::make_shared<const Told>(names);
    std::vector<Row> rows = fold_rows(*held, least_alike, [&](const WaitFanIn& f) {
        return std::tuple(told->kind(f.target), f.waiters, f.reaching,
                          f.target.process == ProcId::none ? FunctionId::none : s[f.target.process].current_function);
    });
    const auto process = [&s](const Row& f) {
        return f.first->target.process == ProcId::none ? nullptr : &s[f.first->target.process];
    };
    Columns<Row> columns{
        {{.name = "target",
          .title = "PID",
          .doc = "a pid, a port, or a name on another node",
          .content = Content::name},
         [names](const Row& f) { return Value(wait_target(names, f.first->target)); }},
        {{.name = "name",
          .title = "WAITED FOR",
          .doc = "its name, or what it runs",
          .content = Content::term,
          .end_tells = true},
         [told, held](const Row& f) { return name_or_null(times((*told)(f.first->target, f.second), f.second)); }},
        {{.name = "waiters", .title = "WAITERS", .unit = Unit::count, .doc = "processes that wait for it"},
         [](const Row& f) { return Value(f.first->waiters * f.second); }},
        {{.name = "reaching",
          .title = "IN ALL",
          .unit = Unit::count,
          .doc = "with those that wait for one of its waiters, and so on"},
         [](const Row& f) { return Value(f.first->reaching * f.second); }},
        {{.name = "msgq_len", .title = "MSGQ", .unit = Unit::count, .doc = "messages in its queue", .lesser = 1},
         [process](const Row& f) {
             return f.second == 1 && process(f) != nullptr ? Value(process(f)->msgq_len) : Value();
         }},
        {{.name = "current_function",
          .title = "CURRENT FUNCTION",
          .doc = "where it is itself",
          .content = Content::name},
         [names, process](const Row& f) {
             return process(f) == nullptr ? Value() : cells::function(names, process(f)->current_function);
         }},
        {{.name = "waits_for",
          .title = "WAITS FOR",
          .doc = "whom it waits for itself",
          .content = Content::term,
          .lesser = 2},
         [told, &waits](const Row& f) {
             const WaitEdge* edge =
                 f.first->target.process == ProcId::none ? nullptr : waits.edge(f.first->target.process);
             return edge == nullptr ? Value() : Value((*told)(edge->target, f.second));
         }},
    };
    return table_of(std::move(columns), std::move(rows), "");
}

Table wait_edges_for_people(const Names& names, const Waits& waits, std::uint64_t least_alike) {
    using Row = std::pair<const WaitEdge*, std::uint64_t>;
    const Snapshot& s = names.snapshot();
    const auto told = std::make_shared<const Told>(names);
    const auto kind = [&](const WaitEdge& e) {
        return std::tuple(told->kind(e.waiter), told->kind(e.target), e.function, e.via, e.confidence);
    };
    std::vector<Row> rows = fold_rows(waits.edges, least_alike, kind);
    const auto several =
        std::make_shared<const std::set<const WaitEdge*>>(of_several_targets(names, waits, rows, kind));
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.second > b.second; });
    const bool any_place = std::ranges::any_of(rows, [&](const Row& e) { return !asked_at(names, *e.first).empty(); });
    Columns<Row> columns{
        {{.name = "waiter", .title = "PID", .doc = "the process that waits"},
         [names, &s](const Row& e) { return cells::pid(names, s[e.first->waiter].pid); }},
        {{.name = "waiter_name",
          .title = "WAITER",
          .doc = "its name, or what it runs",
          .content = Content::term,
          .end_tells = true,
          .least = 14},
         [told](const Row& e) { return name_or_null(times((*told)(e.first->waiter, e.second), e.second)); }},
        {{.name = "target",
          .title = "PID",
          .doc = "a pid, a port, or a name on another node",
          .content = Content::name},
         [names](const Row& e) { return Value(wait_target(names, e.first->target)); }},
        {{.name = "target_name",
          .title = "WAITS FOR",
          .doc = "its name, or what it runs",
          .content = Content::term,
          .end_tells = true,
          .least = 14},
         [told, several](const Row& e) {
             return name_or_null((*told)(e.first->target, several->contains(e.first) ? e.second : 1));
         }},
        {{.name = "function",
          .title = "FUNCTION",
          .doc = "the call that is blocked",
          .content = Content::name,
          .least = 16},
         [names](const Row& e) { return cells::function(names, e.first->function); }},
        {{.name = "asked_at",
          .title = "ASKED AT",
          .doc = "file and line of the call, in the code that makes it",
          .content = Content::name,
          .wide = !any_place,
          .lesser = 3},
         [names](const Row& e) { return cells::text(asked_at(names, *e.first)); }},
        {{.name = "via", .title = "VIA", .doc = "how the edge is known", .lesser = 2},
         [](const Row& e) { return Value(e.first->via); }},
        {{.name = "confidence", .title = "CONFIDENCE", .doc = "exact or estimate", .lesser = 1},
         [](const Row& e) { return Value(analyses::name_of(e.first->confidence)); }},
    };
    return table_of(std::move(columns), std::move(rows), "nobody waits for anybody");
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
