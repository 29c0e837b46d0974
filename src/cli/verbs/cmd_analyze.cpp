// SPDX-License-Identifier: Apache-2.0
// analyze: what happened, in the order in which one wants to know it at three in the morning: why it died, who was
// at it, what it held, who stands out.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyses/diagnosis/diagnose.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/totals.hpp"
#include "analyses/slogan/slogan.hpp"
#include "bytes/elf_image.hpp"
#include "bytes/source.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/kept_answers.hpp"
#include "cli/frame/secrets.hpp"
#include "present/describe.hpp"
#include "present/findings.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

using present::Array;
using present::Content;
using present::Document;
using present::Member;
using present::Names;
using present::Object;
using present::Value;
namespace cells = present::cells;

// Of each ranking, unless -n says otherwise.
constexpr std::size_t ranked_processes = 20;
constexpr std::size_t ranked_for_people = 5;
constexpr std::size_t groups_for_people = 10;

/// What is there to say, computed once.
struct Facts {
    const Snapshot& snapshot;
    Names names;
    analyses::Slogan slogan;
    analyses::Totals totals;
    analyses::Death death;
    bool for_people = false;
};

Value text_or_null(std::string_view text) { return text.empty() ? Value() : Value(text); }

// What the VM says of itself, which is nobody's secret.
Value of_vm(const std::string& text) { return text.empty() ? Value() : Value(present::Text{}.add(text)); }

std::string of_limit(Count used, const analyses::Fill& fill) {
    std::string text = used.has() ? present::grouped(*used) : "unknown";
    if (fill.limit.has()) text += fmt::format(" of {}", present::grouped(*fill.limit));
    if (fill.percent) text += fmt::format(" ({})", present::human_percent(*fill.percent));
    return text;
}

Object node_object(const Facts& facts) {
    const Node& node = facts.snapshot.node;
    return {{"name", cells::raw(facts.names, node.name)},
            {"created", of_vm(node.created)},
            {"slogan", present::death_value(node)},
            {"system_version", of_vm(node.system_version)},
            {"distributed", cells::flag(node.distributed)},
            {"calling_thread", of_vm(node.calling_thread)},
            {"compiled", of_vm(node.compiled)},
            {"taints", text_or_null(node.taints)}};
}

// What this very verb would show is no step.
Array next_steps(const Facts& facts, std::span<const analyses::Sentence> steps, std::string_view prefix = {}) {
    Array out;
    for (const analyses::Sentence& step : steps)
        if (!step.names_command("analyze"))
            out.emplace_back(present::Text{}.add(std::string(prefix)).add(present::spell(facts.names, step)));
    return out;
}

// What came from standard input is gone: there is nothing left for another command.
Array from_standard_input(const Facts& facts) {
    if (facts.names.input() != "-") return {};
    return {
        Value("DUMP in these commands is a file: keep in one what came from standard input; `beamheap shell DUMP` "
              "loads it once for many of them.")};
}

Object slogan_object(const Facts& facts) {
    const analyses::Slogan& slogan = facts.slogan;
    const auto holds = [](const std::string& text, Content content) {
        return text.empty() ? Value() : Value(present::Text{}.add(text, content));
    };
    return {{"kind", analyses::name_of(slogan.kind).text()},
            {"meaning", slogan.meaning.empty() ? Value() : Value(present::spell(facts.names, slogan.meaning))},
            {"refused_bytes", slogan.refused_bytes},
            {"allocator", holds(slogan.allocator, Content::plain)},
            {"memory_type", holds(slogan.memory_type, Content::plain)},
            {"application", holds(slogan.application, Content::name)},
            {"reason", holds(slogan.reason, Content::term)},
            {"cause", holds(slogan.cause, Content::term)},
            {"next_steps", next_steps(facts, slogan.next_steps)}};
}

std::string_view evidence_name(analyses::DeathEvidence evidence) {
    switch (evidence) {
        case analyses::DeathEvidence::none: return "none";
        case analyses::DeathEvidence::calling_thread: return "calling_thread";
        case analyses::DeathEvidence::dirty_scheduler: return "dirty_scheduler";
        case analyses::DeathEvidence::only_collecting: return "only_collecting";
        case analyses::DeathEvidence::only_running: return "only_running";
        case analyses::DeathEvidence::one_of_several: break;
    }
    return "one_of_several";
}

// The stack at the instant of the crash where a scheduler has it, else the process's own.
Array death_stack(const Facts& facts) {
    const Snapshot& s = facts.snapshot;
    StackId stack = StackId::none;
    if (facts.death.scheduler) stack = s.schedulers[*facts.death.scheduler].stack;
    if (s.stacks[stack].empty() && facts.death.process != ProcId::none) stack = s[facts.death.process].stack;
    Array functions;
    for (const Frame& frame : s.stacks[stack]) functions.emplace_back(facts.names.function(frame.function));
    return functions;
}

Object death_object(const Facts& facts, const Array& stack) {
    const analyses::Death& death = facts.death;
    const Process* p = death.process == ProcId::none ? nullptr : &facts.snapshot[death.process];
    Array candidates;
    for (const std::size_t i : death.candidates)
        candidates.push_back(cells::pid(facts.names, facts.snapshot.schedulers[i].current_process));
    return {{"evidence", evidence_name(death.evidence)},
            {"pid", cells::pid(facts.names, death.pid)},
            {"name", p == nullptr ? Value() : cells::bare(facts.names, p->name)},
            {"state", death.state == ProcessState::unknown ? Value() : Value(name_of(death.state))},
            {"current_function", p == nullptr ? Value() : cells::function(facts.names, p->current_function)},
            {"msgq_len", p == nullptr ? Value() : Value(p->msgq_len)},
            {"memory_bytes", p == nullptr ? Value() : Value(p->memory_bytes)},
            {"candidates", std::move(candidates)},
            {"scheduler", death.scheduler ? Value(facts.snapshot.schedulers[*death.scheduler].id) : Value()},
            {"stack", stack}};
}

constexpr std::array<std::string_view, 9> memory_keys{"total",     "processes", "processes_used", "system", "atom",
                                                      "atom_used", "binary",    "code",           "ets"};

Object memory_object(const Facts& facts) {
    Object memory;
    for (const std::string_view key : memory_keys)
        memory.emplace_back(fmt::format("{}_bytes", key), facts.snapshot.memory_bytes(key));
    for (const NamedBytes& entry : facts.snapshot.memory)
        if (const std::string_view key = facts.snapshot.text(entry.name);
            std::ranges::find(memory_keys, key) == memory_keys.end())
            memory.emplace_back(fmt::format("{}_bytes", key), entry.bytes);
    return memory;
}

// Code alone, where the input does not tell what the tables of modules and functions beside it take.
Count loaded_code(const Snapshot& snapshot) {
    for (const NamedBytes& area : snapshot.areas)
        if (snapshot.text(area.name) == "loaded_code") return area.bytes;
    return {};
}

struct MemoryPart {
    std::string name;
    Count bytes;
    std::optional<double> percent;  // of the total
};

// The parts of the total that the input tells of, the largest first, and what they leave, which is the VM's own.
std::vector<MemoryPart> memory_parts(const Snapshot& s) {
    const Count total = s.memory_bytes("total");
    std::vector<MemoryPart> parts;
    Count rest = total;
    for (const std::string_view key : {"processes", "binary", "ets", "code", "atom"}) {
        Count bytes = s.memory_bytes(key);
        if (!bytes.has() && key == "code") bytes = loaded_code(s);
        if (!bytes.has()) continue;  // it is part of what the others leave
        rest = rest - bytes;
        parts.push_back({std::string(key), bytes, analyses::percent_of(bytes, total)});
    }
    std::ranges::stable_sort(parts, std::ranges::greater{}, &MemoryPart::bytes);
    if (rest.has()) parts.push_back({"other", rest, analyses::percent_of(rest, total)});
    return parts;
}

// For people: the parts with their shares, and the total.
present::Table memory_table(const Facts& facts) {
    std::vector<MemoryPart> parts = memory_parts(facts.snapshot);
    if (const Count total = facts.snapshot.memory_bytes("total"); total.has()) parts.push_back({"total", total, {}});
    present::Columns<MemoryPart> columns{
        {{.name = "area", .title = "MEMORY"}, [](const MemoryPart& p) { return Value(p.name); }},
        {{.name = "bytes", .title = "BYTES", .unit = present::Unit::bytes},
         [](const MemoryPart& p) { return Value(p.bytes); }},
        {{.name = "percent", .title = "%", .unit = present::Unit::percent},
         [](const MemoryPart& p) { return p.percent ? Value(*p.percent) : Value(); }},
    };
    return present::table_of(std::move(columns), std::move(parts), "no =memory in this input");
}

Object totals_object(const Facts& facts) {
    const analyses::Totals& t = facts.totals;
    Object states;
    for (std::size_t i = 0; i < t.by_state.size(); ++i)
        if (t.by_state[i] != 0) states.emplace_back(std::string(name_of(static_cast<ProcessState>(i))), t.by_state[i]);
    return {{"processes", t.processes},
            {"process_limit", t.process_fill.limit},
            {"registered", t.registered},
            {"by_state", std::move(states)},
            {"ports", t.ports},
            {"port_limit", t.port_fill.limit},
            {"ets_tables", t.ets_tables},
            {"ets_objects", cells::sum(t.ets_objects)},
            {"ets_bytes", cells::sum(t.ets_bytes)},
            {"timers", t.timers},
            {"modules", t.modules},
            {"atoms", t.atom_fill.used},
            {"atom_limit", t.atom_fill.limit},
            {"messages", cells::sum(t.messages)},
            {"process_memory_bytes", cells::sum(t.memory_bytes)},
            {"heap_words", cells::sum(t.heap_words)},
            {"old_heap_words", cells::sum(t.old_heap_words)},
            {"stack_words", cells::sum(t.stack_words)},
            {"fragment_words", cells::sum(t.fragment_words)},
            {"reductions", cells::sum(t.reductions)},
            {"port_queue_bytes", cells::sum(t.port_queue_bytes)},
            {"lower_bounds", t.lower_bounds},
            {"damaged_processes", facts.snapshot.source.loss.processes},
            {"damaged_bytes", facts.snapshot.source.loss.bytes}};
}

// For people: one line per kind of thing, with its limit.
Object totals_lines(const Facts& facts) {
    const analyses::Totals& t = facts.totals;
    std::string states;
    for (std::size_t i = 0; i < t.by_state.size(); ++i)
        if (t.by_state[i] != 0)
            states += fmt::format("{}{} {}", states.empty() ? "" : ", ", present::grouped(t.by_state[i]),
                                  name_of(static_cast<ProcessState>(i)));
    Object lines{{"processes", of_limit(t.processes, t.process_fill)}};
    if (!states.empty()) lines.emplace_back("states", states);
    if (t.messages.value().has()) lines.emplace_back("messages in queues", present::grouped(*t.messages.value()));
    lines.emplace_back("ports", of_limit(t.ports, t.port_fill));
    std::string ets = present::grouped(t.ets_tables);
    if (t.ets_bytes.value().value_or(0) != 0) ets += fmt::format(", {}", present::human_bytes(*t.ets_bytes.value()));
    lines.emplace_back("ETS tables", ets);
    lines.emplace_back("timers", present::grouped(t.timers));
    lines.emplace_back("atoms", of_limit(t.atom_fill.used, t.atom_fill));
    return lines;
}

Object node_lines(const Facts& facts) {
    const Source& source = facts.snapshot.source;
    const Node& node = facts.snapshot.node;
    Object lines{{"slogan", present::death_value(node)},
                 {"node", cells::raw(facts.names, node.name)},
                 {"died", of_vm(node.created)}};
    std::string system = source.otp_release.empty() ? "" : fmt::format("Erlang/OTP {}", source.otp_release);
    if (!source.erts_version.empty())
        system += fmt::format("{}erts {}", system.empty() ? "" : ", ", source.erts_version);
    system += fmt::format("{}{}-bit{}", system.empty() ? "" : ", ", source.word_size * 8,
                          source.jit.value_or(false) ? ", JIT" : "");
    lines.emplace_back("system", present::Text{}.add(system));
    lines.emplace_back("taints", text_or_null(node.taints));
    return lines;
}

// One screen of it (Document::lines): what always stands are the sentences and these lines; the findings, what to do
// and the largest processes follow as far as they fit. The ranks say what goes first.
constexpr std::size_t screen_lines = 40;
enum Rank : std::uint8_t { always, worst_finding, severe_findings, other_findings, largest, steps, notes };
constexpr std::size_t largest_for_people = 5;
constexpr std::size_t most_evidence = 3, most_steps = 3;  // of the worst finding

// "48.3 MiB: processes 20.6 MiB (43 %), code 11.1 MiB (23 %), ...": all in one line.
std::string memory_line(const Facts& facts) {
    const Count total = facts.snapshot.memory_bytes("total");
    if (!total.has()) return {};
    std::string text = present::human_bytes(*total);
    std::vector<MemoryPart> parts = memory_parts(facts.snapshot);
    std::erase_if(parts, [](const MemoryPart& part) { return part.bytes.value_or(0) == 0; });
    std::ranges::stable_sort(parts, std::ranges::greater{}, &MemoryPart::bytes);
    for (std::size_t i = 0; i < parts.size(); ++i)
        text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", parts[i].name,
                            present::human_percent(parts[i].percent.value_or(0)));
    return text;
}

// The node, its memory and its numbers in a few lines.
Object short_lines(const Facts& facts) {
    const analyses::Totals& t = facts.totals;
    Object lines = node_lines(facts);
    std::erase_if(lines, [](const auto& line) { return line.first == "taints"; });
    if (std::string memory = memory_line(facts); !memory.empty())
        lines.emplace_back("memory", present::Text{}.add(std::move(memory)));
    std::string processes = of_limit(t.processes, t.process_fill);
    if (t.messages.value().has())
        processes += fmt::format("; {} in queues", present::counted(*t.messages.value(), "message", "messages"));
    lines.emplace_back("processes", present::Text{}.add(std::move(processes)));
    std::string others = fmt::format("{}, {}", present::counted(t.ports, "port", "ports"),
                                     present::counted(t.ets_tables, "ETS table", "ETS tables"));
    if (t.atom_fill.used.has()) others += fmt::format(", atoms {}", of_limit(t.atom_fill.used, t.atom_fill));
    lines.emplace_back("others", present::Text{}.add(std::move(others)));
    return lines;
}

/// What people get unasked: a screen that says what happened, whose fault it is and what to do.
void add_screen(const Facts& facts, const analyses::Diagnosis& diagnosis, const analyses::ProcessGroups& alike,
                Document& document) {
    std::vector<Member>& members = document.members;
    const auto add = [&members](std::string title, auto body, Content content, Rank rank) {
        members.push_back(
            {.title = std::move(title), .body = std::move(body), .in_json = false, .rank = rank, .content = content});
    };
    bool said = diagnosis.says_worst;
    for (const analyses::Finding& finding : diagnosis.findings) {
        const bool worst = &finding == &diagnosis.findings.front();
        Member member =
            worst ? present::finding_member(facts.names, finding, std::exchange(said, false), most_evidence, most_steps)
                  : present::short_finding_member(facts.names, finding);
        member.rank = worst                                                 ? worst_finding
                      : finding.severity >= analyses::FindingSeverity::high ? severe_findings
                      : finding.severity == analyses::FindingSeverity::info ? notes
                                                                            : other_findings;
        members.push_back(std::move(member));
    }
    if (diagnosis.findings.empty()) add("", Value(present::nothing_found()), Content::plain, always);
    add("Next", Value(next_steps(facts, diagnosis.next_steps, "- ")), Content::plain, steps);
    add("", Value(from_standard_input(facts)), Content::plain, always);
    members.back().prose = true;
    add("", Value(short_lines(facts)), Content::message, always);
    present::Table rows = present::alike_table(facts.names, alike);
    rows.for_people = largest_for_people;
    add(analyses::knows_memory(facts.snapshot) ? "Most memory" : "Largest heaps", std::move(rows), Content::plain,
        largest);
    document.lines = screen_lines;
    document.rest = present::spell(
        facts.names, analyses::sentence("All of it: {}", analyses::Command{"analyze", std::monostate{}, "-v"}));
}

// The processes with most of one figure; those without any of it do not stand out.
Member ranking(const Facts& facts, std::string_view key, std::string_view title, std::string_view column,
               Count Process::*figure, std::span<const ProcId> among, std::size_t rows) {
    std::vector<ProcId> ids;
    for (const ProcId id : among)
        if ((facts.snapshot[id].*figure).value_or(0) != 0) ids.push_back(id);
    const std::size_t all = ids.size();
    present::ProcessColumns columns{.labels = true};
    if (facts.for_people) columns.identify = [](ProcId) {};  // all are known
    present::Table table =
        present::process_table(facts.names, analyses::largest(facts.snapshot, ids, figure, rows), columns);
    table.total = all;
    table.for_people = ranked_for_people;
    table.ranked_by = std::string(column);
    // A heading says what nothing would say.
    return {.key = std::string(key), .title = std::string(title), .body = std::move(table), .in_text = all != 0};
}

void add_rankings(const Facts& facts, std::span<const ProcId> processes, std::size_t most,
                  std::vector<Member>& members) {
    struct Ranking {
        std::string_view key, title, column;
        Count Process::*figure;
    };
    for (const Ranking& each :
         {Ranking{"top_msgq", "Longest queues", "msgq_len", &Process::msgq_len},
          Ranking{"top_memory", "Most memory", "memory_bytes", &Process::memory_bytes},
          Ranking{"top_reductions", "Most work (reductions)", "reductions", &Process::reductions}})
        members.push_back(ranking(facts, each.key, each.title, each.column, each.figure, processes, most));
}

Status run(const Context& context) {
    LoadPlan plan;
    BH_CHECK(context.plan_for_selector(plan));
    analyses::Diagnoser diagnoser({.threads = context.options().threads,
                                   .full = context.options().full || context.selector_needs_heaps(),
                                   .sizes = context.options().full},
                                  context.gathered());
    diagnoser.demand(plan);
    plan_for_secrets(plan, plan.terms_of);
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    BH_TRY(const analyses::Diagnosis diagnosis, diagnoser.judge(*artifact));
    const Snapshot& snapshot = artifact->snapshot();
    if (KeptAnswers* const shared = context.kept(snapshot)) shared->waits = diagnoser.facts().share<analyses::Waits>();
    const Facts facts{snapshot,         context.names(snapshot), diagnosis.slogan,
                      diagnosis.totals, diagnosis.death,         context.shown_to_people()};
    BH_TRY(const std::vector<ProcId> processes, context.selected(snapshot));

    Document document = context.document(snapshot);
    document.kind = "analyze";
    for (const analyses::Sentence& sentence : diagnosis.summary)
        document.lead.push_back(present::spell(facts.names, sentence));

    std::vector<Member>& members = document.members;
    const Array stack = death_stack(facts);
    const auto for_json = [&members](std::string key, Object object, Content content) {
        members.push_back(
            {.key = std::move(key), .body = Value(std::move(object)), .in_text = false, .content = content});
    };
    for_json("node", node_object(facts), Content::message);
    for_json("slogan", slogan_object(facts), Content::message);
    for_json("death", death_object(facts, stack), Content::name);
    for_json("memory", memory_object(facts), Content::plain);
    for_json("totals", totals_object(facts), Content::plain);
    members.push_back(
        {.key = "findings", .body = present::finding_table(facts.names, diagnosis.findings), .in_text = false});

    // The report knows these by their keys.
    const auto for_people = [&members](std::string key, std::string title, auto body, Content content) {
        members.push_back({.key = std::move(key),
                           .title = std::move(title),
                           .body = std::move(body),
                           .in_json = false,
                           .content = content});
    };
    const analyses::ProcessGroups alike = analyses::group_alike(snapshot, processes);
    if (context.one_screen()) {
        add_screen(facts, diagnosis, alike, document);
        return context.print(document, snapshot);
    }
    bool said = diagnosis.says_worst;
    for (const analyses::Finding& finding : diagnosis.findings)
        members.push_back(present::finding_member(facts.names, finding, std::exchange(said, false)));
    if (diagnosis.findings.empty()) for_people("nothing_found", "", Value(present::nothing_found()), Content::plain);
    for_people("next", "Next", Value(next_steps(facts, diagnosis.next_steps, "- ")), Content::plain);
    for_people("standard_input", "", Value(from_standard_input(facts)), Content::plain);
    members.back().prose = true;
    for_people("node_lines", "", Value(node_lines(facts)), Content::message);
    for_people("memory_table", "", memory_table(facts), Content::plain);
    for_people("totals_lines", "", Value(totals_lines(facts)), Content::plain);
    if (!stack.empty())
        for_people(
            "death_stack",
            facts.death.process == ProcId::none
                ? "Stack of the process that was running"
                : fmt::format("Stack of {}, which was running", facts.names.pid(snapshot[facts.death.process].pid)),
            Value(stack), Content::name);

    add_rankings(facts, processes, context.options().top.value_or(ranked_processes), members);
    const analyses::ProcessGroups groups = analyses::group_by_initial_call(snapshot, processes);  // rows refer to them
    present::Table group_rows = present::group_table(facts.names, groups);
    group_rows.for_people = groups_for_people;
    members.push_back({.key = "groups", .title = "Processes by initial call", .body = std::move(group_rows)});
    if (context.options().full)
        members.push_back({.key = "blown_terms",
                           .title = "Terms that a message would copy without their sharing",
                           .body = present::blown_table(facts.names, diagnoser.facts().heaps().blown()),
                           .in_text = !diagnoser.facts().heaps().blown().empty()});
    document.primary = "top_memory";
    return context.print(document, snapshot, known_secrets(*artifact));
}

}  // namespace

static Status cmd_analyze(const Context& context) { return run(context); }

// By its head: a core image says in its ELF header that it is one.
static bool is_core(const std::string& path) {
    constexpr std::size_t header = 64;
    auto source = bytes::open_source(path);
    if (!source) return false;
    const auto peeked = bytes::peek(std::move(*source), header);
    return peeked && bytes::identify_elf(std::as_bytes(std::span(peeked->head))).type == bytes::elf::type_core;
}

static Status cmd_core(const Context& context) {
    const std::string &first = context.argument(0), &second = context.argument(1);
    const std::size_t image =
        first != "-" && second != "-" && is_core(first) && !is_core(second) ? 0 : 1;  // in either order
    Options options = context.options();
    options.verb = "core";
    options.executable = context.argument(1 - image);
    options.inputs = {context.argument(image)};
    return run(context.with(options));
}

BH_DEFINE_VERB(analyze){
    .name = "analyze",
    .arguments = {argument::input},
    .options = "--procs --full",
    .summary = "what happened: why it died, memory, totals, the processes that stand out",
    .details =
        "This is what `beamheap INPUT` does. It never fails because of what it finds. People get one screen; -v, -n, "
        "--full and the\n"
        "formats for programs have everything.",
    .examples = "analyze erl_crash.dump\nanalyze erl_crash.dump -v\nanalyze erl_crash.dump.zst --json",
    .run = &cmd_analyze,
};

BH_DEFINE_VERB(core){
    .name = "core",
    .arguments = {Argument{"BEAM", ArgumentKind::executable}, Argument{"CORE", ArgumentKind::input}},
    .options = "--procs --full",
    .summary = "the same, of a core image and its executable",
    .examples = "core /usr/lib/erlang/erts-13.1.5/bin/beam.smp core.4711",
    .alone = true,
    .run = &cmd_core,
};

}  // namespace beamheap::cli
