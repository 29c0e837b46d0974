// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <numeric>

#include "erlang/erlang_syntax.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::present {
namespace {

using namespace cells;

std::vector<std::size_t> all_rows(std::size_t count) {
    std::vector<std::size_t> rows(count);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return rows;
}

template <class Row>
std::vector<const Row*> pointers(const std::vector<Row>& rows) {
    std::vector<const Row*> out;
    out.reserve(rows.size());
    for (const Row& row : rows) out.push_back(&row);
    return out;
}

Array pid_array(const Names& names, const std::vector<Pid>& pids) {
    Array out;
    for (const Pid& each : pids) out.push_back(pid(names, each));
    return out;
}

Value owner_name(const Names& names, const Pid& owner) {
    return bare(names, analyses::owner_of(names.snapshot(), owner).name);
}

// Whose a row is: by the registered name, or by what people call it.
template <class Row, class PidOf>
ColumnOf<Row> called_column(Column column, const Names& names, const Identify& identify, PidOf pid_of) {
    column.content = Content::name;
    if (!identify) return {std::move(column), [=](const Row& r) { return owner_name(names, pid_of(r)); }};
    column.content = Content::term;  // or its label
    column.end_tells = true;
    return {std::move(column), [=](const Row& r) {
                const ProcId id = names.snapshot().find(pid_of(r));
                if (id == ProcId::none) return Value();
                identify(id);
                return called(names, id);
            }};
}

Value measured(double value) { return value < 0 ? Value() : Value(value); }

// Who gets a timer's message: a process, or whoever has a name then.
template <class Row, class PidOf, class NameOf>
ColumnOf<Row> receiver_column(const Names& names, const Identify& identify, PidOf pid_of, NameOf name_of) {
    ColumnOf<Row> process = called_column<Row>(
        {.name = "receiver_name", .title = "RECEIVER", .doc = "its name", .least = 14}, names, identify, pid_of);
    Column column = process.column;
    return {std::move(column), [=](const Row& r) {
                const TextId name = name_of(r);
                return name != TextId::none ? bare(names, name) : process.get(process.closure.get(), &r);
            }};
}

std::string_view name_of(Scheduler::Kind kind) {
    switch (kind) {
        case Scheduler::Kind::normal: return "normal";
        case Scheduler::Kind::dirty_cpu: return "dirty_cpu";
        case Scheduler::Kind::dirty_io: return "dirty_io";
        case Scheduler::Kind::dirty_cpu_queue: return "dirty_cpu_queue";
        case Scheduler::Kind::dirty_io_queue: break;
    }
    return "dirty_io_queue";
}

std::string_view name_of(DistNode::Kind kind) {
    switch (kind) {
        case DistNode::Kind::visible: return "visible";
        case DistNode::Kind::hidden: return "hidden";
        case DistNode::Kind::not_connected: break;
    }
    return "not_connected";
}

}  // namespace

Table port_table(const Names& names, const Identify& identify) {
    const Snapshot& s = names.snapshot();
    using Row = std::size_t;
    Columns<Row> columns{
        {{.name = "port", .title = "PORT", .doc = "the port"},
         [&s](const Row& r) { return text(port_text(s.ports[r].port)); }},
        {{.name = "name", .title = "NAME", .doc = "registered name", .content = Content::name, .wide = true},
         [=, &s](const Row& r) { return bare(names, s.ports[r].name); }},
        {{.name = "owner", .title = "PID", .doc = "connected process"},
         [=, &s](const Row& r) { return pid(names, s.ports[r].connected); }},
        called_column<Row>({.name = "owner_name", .title = "OWNER", .doc = "its registered name"}, names, identify,
                           [&s](const Row& r) { return s.ports[r].connected; }),
        {{.name = "kind", .title = "KIND", .doc = "linked-in driver, external process, file", .lesser = 3},
         [=, &s](const Row& r) { return raw(names, s.ports[r].kind); }},
        {{.name = "driver",
          .title = "DRIVER",
          .doc = "driver, command line or file",
          .content = Content::message,
          .end_tells = true},
         [=, &s](const Row& r) { return raw(names, s.ports[r].driver); }},
        {{.name = "state", .title = "STATE", .doc = "flags as the VM prints them", .wide = true},
         [=, &s](const Row& r) { return raw(names, s.ports[r].state); }},
        {{.name = "task_flags", .title = "TASK FLAGS", .doc = "flags as the VM prints them", .wide = true},
         [=, &s](const Row& r) { return raw(names, s.ports[r].task_flags); }},
        {{.name = "slot", .title = "SLOT", .unit = Unit::count, .doc = "index in the port table", .wide = true},
         [&s](const Row& r) { return Value(s.ports[r].slot); }},
        {{.name = "input_bytes",
          .title = "IN",
          .unit = Unit::bytes,
          .doc = "read since it was opened, as the VM counts it: nothing of what a socket receives",
          .lesser = 2},
         [&s](const Row& r) { return Value(s.ports[r].input_bytes); }},
        {{.name = "output_bytes",
          .title = "OUT",
          .unit = Unit::bytes,
          .doc = "written since it was opened",
          .lesser = 1},
         [&s](const Row& r) { return Value(s.ports[r].output_bytes); }},
        {{.name = "queue_bytes", .title = "QUEUED", .unit = Unit::bytes, .doc = "waiting to be written"},
         [&s](const Row& r) { return Value(s.ports[r].queue_bytes); }},
        {{.name = "links", .title = "LINKS", .holds = Holds::texts, .doc = "linked processes", .wide = true},
         [=, &s](const Row& r) { return Value(pid_array(names, s.ports[r].links)); }},
        {{.name = "monitors",
          .title = "MONITORS",
          .holds = Holds::texts,
          .doc = "processes that monitor it",
          .wide = true},
         [=, &s](const Row& r) { return Value(pid_array(names, s.ports[r].monitors)); }},
        {{.name = "suspended",
          .title = "SUSPENDED",
          .holds = Holds::texts,
          .doc = "processes that wait because it is busy",
          .wide = true},
         [=, &s](const Row& r) { return Value(pid_array(names, s.ports[r].suspended)); }},
        {{.name = "data",
          .title = "DATA",
          .doc = "port data as the VM prints it",
          .content = Content::term,
          .wide = true},
         [=, &s](const Row& r) { return raw(names, s.ports[r].data); }},
    };
    std::vector<Row> rows = all_rows(s.ports.size());
    std::ranges::stable_sort(rows, std::ranges::greater(), [&s](Row r) { return s.ports[r].queue_bytes.value_or(0); });
    return table_of(std::move(columns), std::move(rows), "no port");
}

Table port_group_table(const Names& names, const analyses::PortReport& report) {
    const Snapshot& s = names.snapshot();
    using Row = const analyses::PortGroup*;
    Columns<Row> columns{
        {{.name = "driver", .title = "DRIVER", .doc = "driver or program", .content = Content::message},
         [](const Row& g) { return text(g->driver); }},
        {{.name = "owner_group",
          .title = "OWNERS",
          .doc = "group of the connected processes",
          .content = Content::term},
         [=](const Row& g) { return text(names.group(g->owner)); }},
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "ports"},
         [](const Row& g) { return Value(g->count); }},
        {{.name = "input_bytes", .title = "IN", .unit = Unit::bytes, .doc = "sum", .lesser = 2},
         [](const Row& g) { return sum(g->input_bytes); }},
        {{.name = "output_bytes", .title = "OUT", .unit = Unit::bytes, .doc = "sum", .lesser = 1},
         [](const Row& g) { return sum(g->output_bytes); }},
        {{.name = "queue_bytes", .title = "QUEUED", .unit = Unit::bytes, .doc = "sum"},
         [](const Row& g) { return sum(g->queue_bytes); }},
        {{.name = "suspended",
          .title = "SUSPENDED",
          .unit = Unit::count,
          .doc = "processes that wait because a port is busy"},
         [](const Row& g) { return Value(g->suspended); }},
        {{.name = "example_port", .title = "EXAMPLE", .doc = "one of them", .lesser = 3},
         [&s](const Row& g) { return text(port_text(s.ports[g->example].port)); }},
    };
    return table_of(std::move(columns), pointers(report.groups), "no port");
}

Table ets_table(const Names& names, const analyses::EtsReport& report, const Identify& identify) {
    const Snapshot& s = names.snapshot();
    using Row = const analyses::EtsUse*;
    const auto of = [&s](const Row& r) -> const EtsTable& { return s.ets[r->table]; };
    Columns<Row> columns{
        {{.name = "name", .title = "TABLE", .doc = "table's name", .content = Content::name},
         [=](const Row& r) { return bare(names, of(r).name); }},
        {{.name = "owner", .title = "PID", .doc = "owning process"},
         [=](const Row& r) { return pid(names, of(r).owner); }},
        called_column<Row>({.name = "owner_name", .title = "OWNER", .doc = "its registered name"}, names, identify,
                           [](const Row& r) { return r->owner.pid; }),
        {{.name = "type", .title = "TYPE", .doc = "set ordered_set bag duplicate_bag", .lesser = 1},
         [=](const Row& r) { return raw(names, of(r).type); }},
        {{.name = "protection", .title = "PROTECTION", .doc = "public protected private", .lesser = 2},
         [=](const Row& r) { return raw(names, of(r).protection); }},
        {{.name = "objects", .title = "OBJECTS", .unit = Unit::count, .doc = "objects in it"},
         [=](const Row& r) { return Value(of(r).objects); }},
        {{.name = "words",
          .title = "WORDS",
          .unit = Unit::words,
          .doc = "ets:info(memory), without off-heap binaries",
          .wide = true},
         [=](const Row& r) { return Value(of(r).words); }},
        {{.name = "bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "the same in bytes"},
         [](const Row& r) { return Value(r->bytes); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of all tables' bytes"},
         [](const Row& r) { return percent(r->percent); }},
        {{.name = "id", .title = "ID", .doc = "table identifier", .content = Content::name, .wide = true},
         [=](const Row& r) { return bare(names, of(r).id); }},
        {{.name = "owner_alive",
          .title = "OWNER ALIVE",
          .holds = Holds::flag,
          .doc = "the owner is in the process table",
          .wide = true},
         [](const Row& r) { return Value(r->owner.alive()); }},
        {{.name = "buckets", .title = "BUCKETS", .unit = Unit::count, .doc = "of the hash table", .wide = true},
         [=](const Row& r) { return Value(of(r).buckets); }},
        {{.name = "chain_avg", .title = "CHAIN AVG", .holds = Holds::real, .doc = "average chain length", .wide = true},
         [=](const Row& r) { return measured(of(r).chain_avg); }},
        {{.name = "chain_max", .title = "CHAIN MAX", .unit = Unit::count, .doc = "longest chain", .wide = true},
         [=](const Row& r) { return Value(of(r).chain_max); }},
        {{.name = "chain_std_dev",
          .title = "CHAIN DEV",
          .holds = Holds::real,
          .doc = "standard deviation of chain lengths",
          .wide = true},
         [=](const Row& r) { return measured(of(r).chain_std_dev); }},
        {{.name = "chain_expected_std_dev",
          .title = "EXPECTED DEV",
          .holds = Holds::real,
          .doc = "with a perfect hash",
          .wide = true},
         [=](const Row& r) { return measured(of(r).chain_expected_std_dev); }},
        {{.name = "fixed",
          .title = "FIXED",
          .unit = Unit::count,
          .doc = "deleted objects that it keeps, since a process has it fixed",
          .wide = true},
         [=](const Row& r) { return Value(of(r).fixed); }},
        {{.name = "compressed", .title = "COMPRESSED", .holds = Holds::flag, .doc = "option compressed", .wide = true},
         [=](const Row& r) { return flag(of(r).compressed); }},
        {{.name = "write_concurrency", .title = "WRITE CONC", .doc = "option", .wide = true},
         [=](const Row& r) { return raw(names, of(r).write_concurrency); }},
        {{.name = "read_concurrency", .title = "READ CONC", .doc = "option", .wide = true},
         [=](const Row& r) { return raw(names, of(r).read_concurrency); }},
    };
    return table_of(std::move(columns), pointers(report.tables), "no table");
}

Table ets_owner_table(const Names& names, const analyses::EtsReport& report, const Identify& identify) {
    using Row = const analyses::EtsOwner*;
    Columns<Row> columns{
        {{.name = "owner", .title = "PID", .doc = "owning process"},
         [=](const Row& r) { return pid(names, r->owner.pid); }},
        called_column<Row>({.name = "owner_name", .title = "OWNER", .doc = "its registered name"}, names, identify,
                           [](const Row& r) { return r->owner.pid; }),
        {{.name = "owner_alive",
          .title = "OWNER ALIVE",
          .holds = Holds::flag,
          .doc = "the owner is in the process table"},
         [](const Row& r) { return Value(r->owner.alive()); }},
        {{.name = "tables", .title = "TABLES", .unit = Unit::count, .doc = "tables"},
         [](const Row& r) { return Value(r->tables); }},
        {{.name = "objects", .title = "OBJECTS", .unit = Unit::count, .doc = "sum"},
         [](const Row& r) { return sum(r->objects); }},
        {{.name = "bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "sum"},
         [](const Row& r) { return sum(r->bytes); }},
    };
    return table_of(std::move(columns), pointers(report.owners), "no table");
}

Table timer_table(const Names& names, const Identify& identify) {
    const Snapshot& s = names.snapshot();
    using Row = std::size_t;
    Columns<Row> columns{
        {{.name = "receiver", .title = "PID", .doc = "process that gets the message"},
         [=, &s](const Row& r) { return pid(names, s.timers[r].receiver); }},
        receiver_column<Row>(
            names, identify, [&s](const Row& r) { return s.timers[r].receiver; },
            [&s](const Row& r) { return s.timers[r].receiver_name; }),
        {{.name = "left_ms", .title = "LEFT", .unit = Unit::milliseconds, .doc = "until it fires; 0: it is due"},
         [&s](const Row& r) { return Value(s.timers[r].left_ms); }},
        {{.name = "message", .title = "MESSAGE", .doc = "as the VM printed it", .content = Content::term},
         [=, &s](const Row& r) { return printed(names, s.timers[r].message); }},
    };
    std::vector<Row> rows = all_rows(s.timers.size());
    std::ranges::stable_sort(rows, {}, [&s](Row r) { return s.timers[r].left_ms.value_or(~std::uint64_t{0}); });
    return table_of(std::move(columns), std::move(rows), "no timer");
}

Table timer_group_table(const Names& names, const analyses::TimerReport& report, const Identify& identify) {
    using Row = const analyses::TimerGroup*;
    Columns<Row> columns{
        {{.name = "receiver", .title = "PID", .doc = "process that gets the messages"},
         [=](const Row& r) { return pid(names, r->receiver.pid); }},
        receiver_column<Row>(
            names, identify, [](const Row& r) { return r->receiver.pid; },
            [](const Row& r) { return r->receiver_name; }),
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "timers"},
         [](const Row& r) { return Value(r->count); }},
        {{.name = "shape", .title = "SHAPE", .doc = "shape of their messages", .content = Content::term},
         [=](const Row& r) { return text(printed_text(r->shape, names.syntax())); }},
        {{.name = "soonest_ms", .title = "SOONEST", .unit = Unit::milliseconds, .doc = "until the first fires"},
         [](const Row& r) { return Value(r->soonest_ms); }},
        {{.name = "latest_ms",
          .title = "LATEST",
          .unit = Unit::milliseconds,
          .doc = "until the last fires",
          .lesser = 1},
         [](const Row& r) { return Value(r->latest_ms); }},
    };
    return table_of(std::move(columns), pointers(report.groups), "no timer");
}

// How many wait to run there; who asks by priority asks for more than people do.
static Columns<std::size_t> scheduler_queues(const Snapshot& s) {
    using Row = std::size_t;
    const auto queue = [&s](std::size_t priority) {
        return [&s, priority](const Row& r) { return Value(s.schedulers[r].run_queue[priority]); };
    };
    return {
        {{.name = "run_queue",
          .title = "QUEUE",
          .unit = Unit::count,
          .doc = "processes and port tasks that wait to run there; the next five say which"},
         [&s](const Row& r) { return Value(analyses::queued(s.schedulers[r])); }},
        {{.name = "run_queue_max",
          .title = "MAX QUEUE",
          .unit = Unit::count,
          .doc = "processes waiting to run, priority max",
          .wide = true},
         queue(0)},
        {{.name = "run_queue_high", .title = "HIGH QUEUE", .unit = Unit::count, .doc = "priority high", .wide = true},
         queue(1)},
        {{.name = "run_queue_normal",
          .title = "NORMAL QUEUE",
          .unit = Unit::count,
          .doc = "priority normal",
          .wide = true},
         queue(2)},
        {{.name = "run_queue_low", .title = "LOW QUEUE", .unit = Unit::count, .doc = "priority low", .wide = true},
         queue(3)},
        {{.name = "run_queue_port", .title = "PORT QUEUE", .unit = Unit::count, .doc = "port tasks", .wide = true},
         queue(4)},
    };
}

// Flags of a scheduler, which few ask for.
static Columns<std::size_t> scheduler_flags(const Names& names) {
    using Row = std::size_t;
    const Snapshot& s = names.snapshot();
    return {
        {{.name = "sleep_flags", .title = "SLEEP FLAGS", .doc = "flags as the VM prints them", .wide = true},
         [=, &s](const Row& r) { return raw(names, s.schedulers[r].sleep_flags); }},
        {{.name = "aux_work", .title = "AUX WORK", .doc = "flags as the VM prints them", .wide = true},
         [=, &s](const Row& r) { return raw(names, s.schedulers[r].aux_work); }},
        {{.name = "run_queue_flags", .title = "QUEUE FLAGS", .doc = "flags as the VM prints them", .wide = true},
         [=, &s](const Row& r) { return raw(names, s.schedulers[r].run_queue_flags); }},
        {{.name = "process_internal_state",
          .title = "INTERNAL STATE",
          .doc = "flags as the VM prints them",
          .wide = true},
         [=, &s](const Row& r) { return raw(names, s.schedulers[r].process_internal_state); }},
        {{.name = "crashed",
          .title = "CRASHED",
          .holds = Holds::flag,
          .doc = "the VM faulted while it wrote this",
          .wide = true},
         [&s](const Row& r) { return Value(s.schedulers[r].crashed); }},
    };
}

Table scheduler_table(const Names& names, Places places, const Identify& identify,
                      std::optional<std::vector<std::size_t>> only) {
    const Snapshot& s = names.snapshot();
    using Row = std::size_t;
    Columns<Row> columns{
        {{.name = "id",
          .title = "ID",
          .holds = Holds::integer,
          .doc = "scheduler number; null for a run queue that is shared"},
         [&s](const Row& r) { return s.schedulers[r].id == 0 ? Value() : Value(s.schedulers[r].id); }},
        {{.name = "kind", .title = "KIND", .doc = "normal dirty_cpu dirty_io, or the dirty schedulers' run queues"},
         [&s](const Row& r) { return Value(name_of(s.schedulers[r].kind)); }},
        {{.name = "current_process", .title = "PID", .doc = "that it was running"},
         [=, &s](const Row& r) { return pid(names, s.schedulers[r].current_process); }},
        called_column<Row>({.name = "current_process_name", .title = "PROCESS", .doc = "its registered name"}, names,
                           identify, [&s](const Row& r) { return s.schedulers[r].current_process; }),
        {{.name = "process_state", .title = "STATE", .doc = "of that process, at the instant of the crash"},
         [&s](const Row& r) {
             const ProcessState state = s.schedulers[r].process_state;
             return state == ProcessState::unknown ? Value() : Value(beamheap::name_of(state));
         }},
        {{.name = "held_in",
          .title = "HELD IN",
          .doc = "of a running VM: the call of the system in which its thread sleeps with that process in hand",
          .content = Content::message},
         [=, &s](const Row& r) { return s.schedulers[r].held ? raw(names, s.schedulers[r].held->in) : Value(); }},
        {{.name = "current_port", .title = "PORT", .doc = "that it was running"},
         [&s](const Row& r) { return text(port_text(s.schedulers[r].current_port)); }},
    };
    std::ranges::move(scheduler_queues(s), std::back_inserter(columns));
    std::ranges::move(scheduler_flags(names), std::back_inserter(columns));
    columns.append({
        {{.name = "stack",
          .title = "STACK",
          .holds = Holds::texts,
          .doc = "of the current process at the instant of the crash",
          .content = Content::name,
          .below = true},
         [=, &s](const Row& r) {
             Array functions;
             for (const Frame& frame : s.stacks[s.schedulers[r].stack])
                 functions.push_back(places == Places::apart ? function(names, frame.function)
                                                             : text(names.function_at(frame)));
             return Value(std::move(functions));
         }},
        {{.name = "places",
          .title = "PLACES",
          .holds = Holds::texts,
          .doc = "of the frames, file and line; null where that is not known",
          .content = Content::name,
          .wide = true},
         [=, &s](const Row& r) {
             Array lines;
             for (const Frame& frame : s.stacks[s.schedulers[r].stack]) lines.push_back(frame_place(names, frame));
             return Value(std::move(lines));
         }},
    });
    return table_of(std::move(columns), only ? std::move(*only) : all_rows(s.schedulers.size()),
                    "no scheduler in this input (releases before 18 don't write them)");
}

Table node_table(const Names& names) {
    const Snapshot& s = names.snapshot();
    using Row = std::size_t;
    Columns<Row> columns{
        {{.name = "name", .title = "NODE", .doc = "peer", .content = Content::name, .best = 40},
         [=, &s](const Row& r) { return raw(names, s.nodes[r].name); }},
        {{.name = "kind", .title = "KIND", .doc = "visible hidden not_connected"},
         [&s](const Row& r) { return Value(name_of(s.nodes[r].kind)); }},
        {{.name = "channel",
          .title = "CHANNEL",
          .unit = Unit::identifier,
          .doc = "first number of its pids",
          .lesser = 2},
         [&s](const Row& r) { return Value(s.nodes[r].channel); }},
        {{.name = "controller", .title = "CONTROLLER", .doc = "port or process of the connection", .lesser = 1},
         [=, &s](const Row& r) { return raw(names, s.nodes[r].controller); }},
        {{.name = "creation", .title = "CREATION", .doc = "as the VM prints it", .wide = true},
         [=, &s](const Row& r) { return raw(names, s.nodes[r].creation); }},
        {{.name = "remote_links", .title = "LINKS", .unit = Unit::count, .doc = "links across the connection"},
         [&s](const Row& r) { return Value(s.nodes[r].remote_links); }},
        {{.name = "remote_monitors", .title = "MONITORS", .unit = Unit::count, .doc = "monitors on its processes"},
         [&s](const Row& r) { return Value(s.nodes[r].remote_monitors); }},
        {{.name = "remote_monitored_by",
          .title = "MONITORED BY",
          .unit = Unit::count,
          .doc = "monitors from its processes",
          .lesser = 1},
         [&s](const Row& r) { return Value(s.nodes[r].remote_monitored_by); }},
        {{.name = "error", .title = "ERROR", .doc = "as the VM prints it", .content = Content::message, .wide = true},
         [=, &s](const Row& r) { return raw(names, s.nodes[r].error); }},
    };
    return table_of(std::move(columns), all_rows(s.nodes.size()),
                    s.node.distributed.value_or(false) ? "no other node known" : "the node was not distributed");
}

Table module_table(const Names& names, const analyses::ModuleReport& report, std::vector<ModuleCode> code) {
    const Snapshot& s = names.snapshot();
    using Row = std::size_t;
    Columns<Row> columns{
        {{.name = "name", .title = "MODULE", .doc = "module", .content = Content::name},
         [=, &s](const Row& r) { return text(atom_text(s.text(s.modules[r].name), names.syntax())); }},
        {{.name = "current_bytes", .title = "CURRENT", .unit = Unit::bytes, .doc = "code and literals"},
         [&s](const Row& r) { return Value(s.modules[r].current_bytes); }},
        {{.name = "old_bytes", .title = "OLD", .unit = Unit::bytes, .doc = "of old code that is still loaded"},
         [&s](const Row& r) { return Value(s.modules[r].old_bytes); }},
        {{.name = "code",
          .title = "CODE",
          .doc = "of the file that was found (--code): same differs unproved newer unreadable, or not there",
          .wide = code.empty()},
         [code](const Row& r) { return code.empty() ? Value() : Value(name_of(code[r].match)); }},
        {{.name = "code_file",
          .title = "FILE",
          .doc = "where it was found",
          .content = Content::name,
          .wide = code.empty()},
         [code](const Row& r) { return code.empty() ? Value() : text(code[r].file); }},
    };
    return table_of(std::move(columns), report.largest, "no module in this input");
}

}  // namespace beamheap::present
