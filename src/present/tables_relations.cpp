// SPDX-License-Identifier: Apache-2.0
#include "present/tables_relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "analyses/base/printed_time.hpp"
#include "beamheap_version.hpp"
#include "erlang/erlang_syntax.hpp"
#include "present/describe.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::present {
namespace {

using namespace cells;

/// An entry of one of the lists of a process.
struct Entry {
    ProcId process = ProcId::none;
    std::uint32_t place = 0;
};

std::string_view kind_of_link(LinkKind kind) {
    switch (kind) {
        case LinkKind::link: return "link";
        case LinkKind::monitors: return "monitors";
        case LinkKind::monitored_by: return "monitored_by";
        case LinkKind::node_monitor: return "node_monitor";
        case LinkKind::resource: return "resource";
        case LinkKind::suspends: return "suspends";
        case LinkKind::suspended_by: break;
    }
    return "suspended_by";
}

// A pid, else a port, else a name; of something on another node that is known by name, {name,node}.
std::string linked_to(const Names& names, const Link& link) {
    if (link.pid.has()) return names.pid(link.pid);
    if (link.port.has()) return port_text(link.port);
    const auto atom = [&names](TextId id) { return atom_text(names.snapshot().text(id), names.syntax()); };
    if (link.node == TextId::none) return link.name == TextId::none ? std::string() : names.bare(link.name);
    return link.name == TextId::none ? atom(link.node) : fmt::format("{{{},{}}}", atom(link.name), atom(link.node));
}

}  // namespace

Table all_frames_table(const Names& names) {
    const Snapshot& s = names.snapshot();
    std::vector<Entry> rows;
    for (std::uint32_t id = 0; id < s.processes.size(); ++id) {
        if (s.processes[id].stack == StackId::none) continue;
        const auto frames = static_cast<std::uint32_t>(s.stacks[s.processes[id].stack].size());
        for (std::uint32_t depth = 0; depth < frames; ++depth) rows.push_back({static_cast<ProcId>(id), depth});
    }
    const auto frame = [&s](const Entry& e) -> const Frame& { return s.stacks[s[e.process].stack][e.place]; };
    Columns<Entry> columns{
        {{.name = "pid", .title = "PID", .doc = "whose stack it is on"},
         [names, &s](const Entry& e) { return pid(names, s[e.process].pid); }},
        {{.name = "depth", .title = "#", .unit = Unit::count, .doc = "0 is the youngest frame"},
         [](const Entry& e) { return Value(e.place); }},
        {{.name = "function", .title = "FUNCTION", .doc = "that waits to go on", .content = Content::name},
         [=](const Entry& e) { return function(names, frame(e).function); }},
        {{.name = "module", .title = "MODULE", .doc = "of the function", .content = Content::name},
         [=, &s](const Entry& e) {
             const FunctionId id = frame(e).function;
             return id == FunctionId::none ? Value() : bare(names, s.functions[id].module);
         }},
        {{.name = "offset", .title = "OFFSET", .unit = Unit::count, .doc = "bytes into its code"},
         [=](const Entry& e) { return Value(frame(e).offset); }},
        {{.name = "file", .title = "FILE", .doc = "source file", .content = Content::name},
         [=](const Entry& e) { return frame_file(names, frame(e)); }},
        {{.name = "line", .title = "LINE", .unit = Unit::count, .doc = "source line"},
         [=](const Entry& e) { return frame_line(names, frame(e)); }},
        {{.name = "line_certainty", .title = "CERTAINTY", .doc = Label::of(line_certainty_doc)},
         [=](const Entry& e) { return line_certainty(names, frame(e)); }},
        {{.name = "source_place", .title = "AT", .doc = "file and line, or lines", .content = Content::name},
         [=](const Entry& e) { return frame_place(names, frame(e)); }},
    };
    return table_of(std::move(columns), std::move(rows), "no stack in this input");
}

Table link_table(const Names& names) {
    const Snapshot& s = names.snapshot();
    std::vector<Entry> rows;
    for (std::uint32_t id = 0; id < s.processes.size(); ++id)
        for (std::uint32_t i = 0; i < s.processes[id].link_range.count; ++i)
            rows.push_back({static_cast<ProcId>(id), s.processes[id].link_range.first + i});
    Columns<Entry> columns{
        {{.name = "pid", .title = "PID", .doc = "the process"},
         [names, &s](const Entry& e) { return pid(names, s[e.process].pid); }},
        {{.name = "kind",
          .title = "KIND",
          .doc = "link monitors monitored_by node_monitor resource suspends suspended_by"},
         [&s](const Entry& e) { return Value(kind_of_link(s.links[e.place].kind)); }},
        {{.name = "target",
          .title = "TARGET",
          .doc = "the other one: a pid, a port, or a name",
          .content = Content::name},
         [names, &s](const Entry& e) { return text(linked_to(names, s.links[e.place])); }},
        {{.name = "remote", .title = "REMOTE", .holds = Holds::flag, .doc = "the other one is on another node"},
         [&s](const Entry& e) {
             const Link& link = s.links[e.place];
             return Value((link.pid.has() && !link.pid.local()) || link.node != TextId::none);
         }},
    };
    return table_of(std::move(columns), std::move(rows), "no links");
}

Table memory_table(const Names& names) {
    const Snapshot& s = names.snapshot();
    std::vector<std::size_t> rows(s.memory.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    Columns<std::size_t> columns{
        {{.name = "name", .title = "NAME", .doc = "total processes processes_used system atom binary code ets"},
         [names, &s](const std::size_t& i) { return raw(names, s.memory[i].name); }},
        {{.name = "bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "as erlang:memory() would say"},
         [&s](const std::size_t& i) { return Value(s.memory[i].bytes); }},
    };
    return table_of(std::move(columns), std::move(rows), "the input does not tell");
}

Table binary_reference_table(const Names& names, std::span<const analyses::HeldBinary> references) {
    using Row = const analyses::HeldBinary*;
    const Snapshot& s = names.snapshot();
    std::vector<Row> rows;
    for (const analyses::HeldBinary& each : references) rows.push_back(&each);
    Columns<Row> columns{
        {{.name = "address", .title = "ADDRESS", .doc = "of the binary, as in table binary"},
         [](const Row& r) { return TermView::address_value(r->reference.address); }},
        {{.name = "pid", .title = "PID", .doc = "whose heap refers to it"},
         [names, &s](const Row& r) { return pid(names, s[r->reference.holder.process()].pid); }},
        {{.name = "offset_bytes",
          .title = "OFFSET",
          .unit = Unit::bytes,
          .doc = "the first byte that the reference shows"},
         [](const Row& r) { return Value(r->reference.offset); }},
        {{.name = "seen_bytes", .title = "SEEN", .unit = Unit::bytes, .doc = "how many it shows"},
         [](const Row& r) { return Value(r->reference.size); }},
        {{.name = "listed",
          .title = "LISTED",
          .holds = Holds::flag,
          .doc = "the input has the binary itself, not this slice of it alone"},
         [](const Row& r) { return Value(r->named); }},
    };
    return table_of(std::move(columns), std::move(rows), "nothing refers to a binary outside the heaps");
}

namespace {

// "Thu Nov 26 19:27:28 2026", as ctime() prints it, as ISO 8601 does.
std::string iso_time(const std::string& printed) {
    const std::optional<std::tm> parts = analyses::printed_time(printed);
    if (!parts) return {};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", parts->tm_year + 1900, parts->tm_mon + 1, parts->tm_mday,
                       parts->tm_hour, parts->tm_min, parts->tm_sec);
}

// What follows the @ of a node's name; nothing of one that is not alive.
std::string host_of(const std::string& node) {
    const std::size_t at = node.rfind('@');
    return at == node.npos || node == "nonode@nohost" ? std::string() : node.substr(at + 1);
}

/// The one row of input_table().
struct Input {
    analyses::Totals totals;
};

Columns<Input> columns_of_source(const Snapshot& s) {
    const Source& from = s.source;
    const auto said = [](std::string value) {
        return [value = std::move(value)](const Input&) { return text(value); };
    };
    const auto whether = [](const auto& value) { return [value](const Input&) { return flag(value); }; };
    return {
        {{.name = "path", .title = "PATH", .doc = "what was read", .content = Content::message}, said(from.path)},
        {{.name = "format", .title = "FORMAT", .doc = "crash_dump, core or live"},
         said(std::string(format_name(from.kind.format)))},
        {{.name = "format_version", .title = "FORMAT VERSION", .doc = "of the dump's format"},
         said(from.format_version)},
        {{.name = "otp_release", .title = "OTP", .doc = "Erlang/OTP"}, said(from.otp_release)},
        {{.name = "erts_version", .title = "ERTS", .doc = "the VM"}, said(from.erts_version)},
        {{.name = "word_size", .title = "WORD SIZE", .unit = Unit::bytes, .doc = "of the VM"},
         [&from](const Input&) { return Value(from.word_size); }},
        {{.name = "jit", .title = "JIT", .holds = Holds::flag, .doc = "whether the VM compiles code as it loads it"},
         whether(from.jit)},
        {{.name = "complete",
          .title = "COMPLETE",
          .holds = Holds::flag,
          .doc = "whether the input was read to its end"},
         whether(from.complete)},
        {{.name = "truncation", .title = "TRUNCATION", .doc = "where it breaks off", .content = Content::message},
         said(from.truncation)},
        {{.name = "slogan", .title = "SLOGAN", .doc = "what the VM said last", .content = Content::message},
         [value = death_value(s.node)](const Input&) { return value; }},
    };
}

void add_node(const Names& names, Columns<Input>& columns) {
    const Snapshot& s = names.snapshot();
    const auto& live = s.source.live;
    columns.add({{.name = "node", .title = "NODE", .doc = "the node's name", .content = Content::name},
                 [&s, names](const Input&) { return raw(names, s.node.name); }});
    columns.add({{.name = "host", .title = "HOST", .doc = "the host in the node's name", .content = Content::name},
                 [host = host_of(std::string(s.text(s.node.name)))](const Input&) { return text(host); }});
    columns.add({{.name = "os_pid", .title = "OS PID", .unit = Unit::count, .doc = "of a running VM"},
                 [pid = live ? Count(live->pid) : Count()](const Input&) { return Value(pid); }});
    columns.add({{.name = "created", .title = "CREATED", .doc = "when the dump was written, as the VM printed it"},
                 [&s](const Input&) { return text(s.node.created); }});
    columns.add(
        {{.name = "created_at",
          .title = "CREATED AT",
          .doc = "the same by ISO 8601: the machine's local time, whose zone a dump does not tell; of a "
                 "running VM when it was read, in UTC"},
         [at = live ? time_text(live->read_at_ms) : iso_time(s.node.created)](const Input&) { return text(at); }});
    columns.add({{.name = "system_version", .title = "SYSTEM VERSION", .doc = "as the VM names itself"},
                 [&s](const Input&) { return text(s.node.system_version); }});
}

void add_totals(const Snapshot& s, Columns<Input>& columns) {
    columns.add({{.name = "process_table_complete",
                  .title = "PROCESS TABLE COMPLETE",
                  .holds = Holds::flag,
                  .doc = "whether all processes are there"},
                 [&s](const Input&) { return flag(std::optional(s.source.process_table_complete)); }});
    const auto add = [&columns](Label name, Label title, Label doc, auto figure) {
        columns.add({{.name = name, .title = title, .unit = Unit::count, .doc = doc},
                     [figure](const Input& input) { return Value(figure(input.totals)); }});
    };
    using T = const analyses::Totals&;
    add("processes", "PROCESSES", "in the input", [](T t) { return t.processes; });
    add("process_limit", "PROCESS LIMIT", "+P", [](T t) { return t.process_fill.limit; });
    add("ports", "PORTS", "in the input", [](T t) { return t.ports; });
    add("port_limit", "PORT LIMIT", "+Q", [](T t) { return t.port_fill.limit; });
    add("ets_tables", "ETS TABLES", "in the input", [](T t) { return t.ets_tables; });
    add("timers", "TIMERS", "in the input", [](T t) { return t.timers; });
    add("atoms", "ATOMS", "in the atom table", [](T t) { return t.atom_fill.used; });
    add("atom_limit", "ATOM LIMIT", "+t", [](T t) { return t.atom_fill.limit; });
    add("messages", "MESSAGES", "in all queues", [](T t) { return sum(t.messages); });
    add("reductions", "REDUCTIONS", "of all processes", [](T t) { return sum(t.reductions); });
}

}  // namespace

Table input_table(const Names& names, RedactLevel level, bool full, const std::optional<analyses::Release>& release) {
    const Snapshot& s = names.snapshot();
    Columns<Input> columns = columns_of_source(s);
    add_node(names, columns);
    add_totals(s, columns);
    columns.add({{.name = "release_name",
                  .title = "RELEASE",
                  .doc = "what the boot script starts: a release of the program's own, or Erlang/OTP",
                  .content = Content::name},
                 [release](const Input&) { return release ? text(release->name) : Value(); }});
    columns.add({{.name = "release_version", .title = "RELEASE VERSION", .doc = "as the boot script says"},
                 [release](const Input&) { return release ? text(release->version) : Value(); }});
    columns.add({{.name = "redacted", .title = "REDACTED", .doc = "as --redact had it: none, secrets, values or full"},
                 [level](const Input&) { return Value(name_of(level)); }});
    columns.add({{.name = "full", .title = "FULL", .holds = Holds::flag, .doc = "whether --full was asked for"},
                 [full](const Input&) { return Value(full); }});
    columns.add({{.name = "beamheap_version", .title = "BEAMHEAP", .doc = "who read it"},
                 [](const Input&) { return Value(BEAMHEAP_VERSION); }});
    return table_of(std::move(columns), {Input{analyses::totals(s)}}, {});
}

Table warning_table(const Names& names) {
    Columns<Warning> columns{
        {{.name = "name", .title = "WARNING", .doc = "the kind of what is odd"},
         [](const Warning& w) { return Value(w.name); }},
        {{.name = "severity", .title = "SEVERITY", .doc = "info; of what is lost data_loss or error"},
         [](const Warning& w) { return Value(w.severity); }},
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "how often"},
         [](const Warning& w) { return Value(w.count); }},
        {{.name = "text", .title = "TEXT", .doc = "what it means, and where it was met first", .wraps = true},
         [](const Warning& w) { return Value(w.text); }},
    };
    return table_of(std::move(columns), warnings_of(names.snapshot()), "nothing was odd");
}

Table application_table(const Names& names, std::span<const analyses::Application> applications) {
    using Row = const analyses::Application*;
    std::vector<Row> rows;
    for (const analyses::Application& each : applications) rows.push_back(&each);
    Columns<Row> columns{
        {{.name = "name", .title = "APPLICATION", .doc = "its name", .content = Content::name},
         [](const Row& r) { return text(r->name); }},
        {{.name = "version",
          .title = "VERSION",
          .doc = "of the folder on the node's code path; null of what was built in place"},
         [](const Row& r) { return text(r->version); }},
        {{.name = "running",
          .title = "RUNNING",
          .holds = Holds::flag,
          .doc = "whether it was started; null where the application controller's state is not in the input"},
         [](const Row& r) { return flag(r->running); }},
        {{.name = "master", .title = "MASTER", .doc = "the process that leads it; null of a library"},
         [names](const Row& r) { return r->master.has() ? pid(names, r->master) : Value(); }},
        {{.name = "folder",
          .title = "FOLDER",
          .doc = "with its modules, as the node names it",
          .content = Content::message},
         [](const Row& r) { return text(r->folder); }},
    };
    return table_of(std::move(columns), std::move(rows), "the input has no code path and no application controller");
}

Table object_list_table(const TermView& view) {
    std::vector<NodeId> rows(view.graph().size());
    std::iota(rows.begin(), rows.end(), NodeId{0});
    const auto element = [](NodeId node) {
        Element e;
        e.kind = ElementKind::object;
        e.id = {ObjectId::Space::heap, node};
        return e;
    };
    Columns<NodeId> columns{
        {{.name = "address", .title = "ADDRESS", .doc = "of the object"},
         [=](const NodeId& node) { return TermView::address_value(view.source().head(element(node).id).address); }},
        {{.name = "kind", .title = "KIND", .doc = "kind of heap object"},
         [view](const NodeId& node) { return Value(name_of(view.graph().kind(node))); }},
        {{.name = "words", .title = "WORDS", .unit = Unit::words, .doc = "that it occupies itself"},
         [view](const NodeId& node) { return Value(view.graph().words(node)); }},
        {{.name = "flat_words",
          .title = "FLAT words",
          .unit = Unit::words,
          .doc = "erts_debug:flat_size: what a copy would need"},
         [=](const NodeId& node) { return Value(view.measures().flat_words(element(node))); }},
        {{.name = "retained_words", .title = "RETAINED words", .unit = Unit::words, .doc = "what it alone keeps alive"},
         [=](const NodeId& node) { return Value(view.measures().retained_words(element(node))); }},
        {{.name = "term", .title = "TERM", .doc = "the term", .content = Content::term},
         [=](const NodeId& node) { return Value(view.text(element(node))); }},
    };
    return table_of(std::move(columns), std::move(rows), "the input has no heap of it");
}

Table with_column(Table table, Column column, Value value) {
    table.columns.insert(table.columns.begin(), std::move(column));
    table.cell = [inner = std::move(table.cell), value = std::move(value)](std::size_t row, std::size_t c) {
        return c == 0 ? value : inner(row, c - 1);
    };
    return table;
}

Table with_row_numbers(Table table, Column column) {
    table.columns.insert(table.columns.begin(), std::move(column));
    table.cell = [inner = std::move(table.cell)](std::size_t row, std::size_t c) {
        return c == 0 ? Value(std::uint64_t{row}) : inner(row, c - 1);
    };
    return table;
}

}  // namespace beamheap::present
