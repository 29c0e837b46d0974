#include "analyses/rules/phrases.hpp"

#include <algorithm>
#include <span>

#include "analyses/base/sum.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/senders.hpp"
#include "erlang/modules.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr std::size_t most_tool_frames = 50;

// Where processes of OTP's kinds begin, and where they sleep, whatever they do.
bool says_nothing(const Snapshot& s, FunctionId function) {
    const std::string_view module = s.text(s.functions[function].module);
    return module == "timer" || module == "proc_lib" || module == "supervisor" || module.starts_with("gen_") ||
           module == "gen";
}

bool is_tool(const Snapshot& s, FunctionId function) {
    return erlang::has_role(s.text(s.functions[function].module), erlang::ModuleRole::tool);
}

}  // namespace

Sentence kind_of(const RuleInput& input, const Process& process) {
    Sentence kind;
    const FunctionId call =
        process.real_initial_call != FunctionId::none ? process.real_initial_call : process.initial_call;
    if (process.label != TextId::none) kind.add(names(input.snapshot.text(process.label)));
    else if (call != FunctionId::none) kind.add(call);
    return kind;
}

Sentence process_subject(const RuleInput& input, ProcId process) {
    const Process& p = input.snapshot[process];
    if (p.name != TextId::none) return sentence("{}", Name{p.name});
    Sentence kind = kind_of(input, p);
    return kind.empty() ? Sentence(Ours("process")) : kind;
}

Sentence group_sentence(const RuleInput& input, const GroupKey& key) {
    switch (key.kind) {
        case GroupKey::Kind::none: break;
        case GroupKey::Kind::ancestor: return sentence("{}", Atom{std::string(input.snapshot.text(key.text))});
        case GroupKey::Kind::label: return sentence("{}", names(input.snapshot.text(key.text)));
        case GroupKey::Kind::initial_call:
        case GroupKey::Kind::spawned_as: return sentence("{}", key.function);
    }
    return {};
}

// A descriptor is named by its number, which is the second of the two that the VM tells: it is for output.
Sentence port_words(const Snapshot& snapshot, const Port& port) {
    const std::string_view driver = snapshot.text(port.driver);
    if (snapshot.text(port.kind) == "fd") {
        const std::string_view output = driver.substr(std::min(driver.find('/') + 1, driver.size()));
        if (output == "1") return sentence("standard output ({})", port.port);
        if (output == "2") return sentence("standard error ({})", port.port);
    }
    return driver.empty() ? sentence("{}", port.port) : sentence("{} ({})", port.port, message(driver));
}

Sentence target_text(const Snapshot& snapshot, const WaitTarget& target) {
    if (target.port.has()) {
        const auto port = std::ranges::find(snapshot.ports, target.port, &Port::port);
        return port == snapshot.ports.end() ? sentence("{}", target.port) : port_words(snapshot, *port);
    }
    const TextId node = node_of(snapshot, target);
    if (target.pid.has()) return sentence("{}", AnyProcess{target.pid});  // which says the node of others itself
    Sentence text;
    if (target.name != TextId::none) text.add(Name{target.name});
    else return sentence("node {}", Name{node});
    if (node != TextId::none) text.say(" on node {}", Name{node});
    return text;
}

// The master is in terminate_loop/2 then. Up to 28 the application controller itself waits for it, since then a helper
// of its own.
const RunningApplication* being_stopped(const RuleInput& input) {
    if (input.starts == nullptr) return nullptr;
    for (const RunningApplication& application : input.starts->masters) {
        const ProcId master = application.master.has() ? input.snapshot.find(application.master) : ProcId::none;
        const WaitEdge* const edge = master == ProcId::none ? nullptr : input.waits.edge(master);
        if (edge == nullptr || edge->function == FunctionId::none) continue;
        if (input.snapshot.text(input.snapshot.functions[edge->function].name) == "terminate_loop") return &application;
    }
    return nullptr;
}

ProcId asks_for_own_stop(const RuleInput& input) {
    const RunningApplication* const application = being_stopped(input);
    const ProcId controller = input.snapshot.find_registered("application_controller");
    if (application == nullptr || controller == ProcId::none) return ProcId::none;
    const WaitEdge* edge = input.waits.edge(input.snapshot.find(application->master));
    for (std::size_t steps = 0; edge != nullptr && steps <= input.waits.edges.size(); ++steps) {
        if (edge->target.process == controller) return edge->waiter;
        if (edge->target.process == ProcId::none) break;
        edge = input.waits.edge(edge->target.process);
    }
    return ProcId::none;
}

bool starts_block(const RuleInput& input, ProcId process) {
    return process != ProcId::none && input.starts != nullptr &&
           input.snapshot.text(input.snapshot[process].name) == "application_controller" &&
           !is_failed_start(input.slogan.kind) && (!input.starts->starting.empty() || being_stopped(input) != nullptr);
}

bool idle(const RuleInput& input, ProcId process) {
    const Process& p = input.snapshot[process];
    return p.state == ProcessState::waiting && p.current_function != FunctionId::none &&
           is_idle_function(input.snapshot, p.current_function);
}

Sentence caller(const Snapshot& s, const Process& p) {
    if (p.current_function == FunctionId::none || !is_tool(s, p.current_function)) return {};
    std::size_t left = most_tool_frames;
    for (const Frame& frame : s.stacks[p.stack]) {
        if (frame.function == FunctionId::none || left-- == 0) break;
        if (is_tool(s, frame.function)) continue;
        return s.text(s.functions[frame.function].module) == "proc_lib" ? Sentence()
                                                                        : sentence(", called by {}", frame.function);
    }
    return {};
}

Sentence not_loaded(const PutOff& tables) {
    const PrintedTerm table{tables.what, tables.what->term()};
    return tables.count == 1 ? sentence("table {} is not loaded", table)
                             : sentence("tables {} and {} more are not loaded", table, number(tables.count - 1));
}

void say_absent_nodes(const RuleInput& input, Finding& finding, bool in_title) {
    constexpr std::string_view nobody = "nonode@nohost";  // what it was called before it had a name
    constexpr std::size_t most_named = 5;
    const Snapshot& s = input.snapshot;
    std::vector<Sentence> absent;
    for (const DistNode& node : s.nodes)
        if (node.kind == DistNode::Kind::not_connected && node.name != TextId::none && node.name != s.node.name &&
            s.text(node.name) != nobody)
            absent.push_back(sentence("{}", Name{node.name}));
    if (absent.empty()) return;
    if (in_title && absent.size() == 1) finding.title.say("; node {} is not connected", absent.front());
    if (absent.size() > most_named) absent.resize(most_named);
    finding.evidence.push_back(fact("nodes that it knows, and has no connection to", joined(absent, ", ")));
}

Sentence doing(const RuleInput& input, ProcId process) {
    const Process& p = input.snapshot[process];
    if (const PutOff* why = input.put_off_of(process); why != nullptr && why->why == PutOff::Why::tables)
        return sentence("is idle, as {}", not_loaded(*why));
    switch (p.state) {
        case ProcessState::garbage_collecting:
            return p.current_function == FunctionId::none
                       ? Sentence(Ours("is collecting garbage"))
                       : sentence("is collecting garbage in {}{}", p.current_function, caller(input.snapshot, p));
        case ProcessState::running: return sentence("is running {}{}", p.current_function, caller(input.snapshot, p));
        case ProcessState::runnable:
            return sentence("is ready to run in {}{}", p.current_function, caller(input.snapshot, p));
        case ProcessState::suspended: return sentence("is suspended in {}", p.current_function);
        case ProcessState::exiting: return Ours("is exiting");
        default: break;
    }
    return idle(input, process) ? sentence("is idle in {}", p.current_function)
                                : sentence("sits in {}", p.current_function);
}

std::vector<ProcId> watched_by(const RuleInput& input, ProcId process) {
    const Snapshot& s = input.snapshot;
    std::vector<ProcId> found;
    const Range range = s[process].link_range;
    for (const Link& link : std::span(s.links).subspan(range.first, range.count)) {
        if (link.kind != LinkKind::monitors || !link.pid.has()) continue;
        const ProcId other = s.find(link.pid);
        if (other == ProcId::none || other == process) continue;
        const WaitEdge* edge = input.waits.edge(other);
        if (edge == nullptr || edge->target.process != process) found.push_back(other);
    }
    return found;
}

std::optional<std::uint64_t> silent_ms(const RuleInput& input, TextId node) {
    const auto peer = std::ranges::find(input.snapshot.nodes, node, &DistNode::name);
    const Port* const port = peer == input.snapshot.nodes.end() ? nullptr : connection_to(input.snapshot, *peer);
    if (port == nullptr) return std::nullopt;
    for (const ConnectionTick& tick : input.ticks)
        if (input.snapshot[tick.process].pid == port->connected) return input.tick_time.silent_ms(tick);
    return std::nullopt;
}

bool suspended_by_sys(const RuleInput& input, ProcId process) {
    const FunctionId id = input.snapshot[process].current_function;
    if (id == FunctionId::none) return false;
    const Function& function = input.snapshot.functions[id];
    return input.snapshot.text(function.module) == "sys" &&
           input.snapshot.text(function.name).starts_with("suspend_loop");
}

bool is_suspended(const RuleInput& input, ProcId process) {
    if (suspended_by_sys(input, process)) return true;
    const Process& p = input.snapshot[process];
    return p.state == ProcessState::suspended && input.waits.edge(process) == nullptr &&
           (p.current_function == FunctionId::none || !sends_to_nodes(input.snapshot, p.current_function));
}

void advise_to_resume(const RuleInput& input, ProcId process, Finding& finding) {
    if (suspended_by_sys(input, process))
        finding.advise(
            "Resume it with `sys:resume/1`, and look for who called `sys:suspend/1` (a debugger, an upgrade that was "
            "not finished) and did not.");
    else
        finding.advise(
            "Whoever called `erlang:suspend_process/1` has to call `erlang:resume_process/1`, or to end: a tracer, a "
            "debugger, a shell.");
}

Sentence frames_text(const RuleInput& input, ProcId process, std::size_t most) {
    Sentence text;
    for (const Frame& frame : input.snapshot.stacks[input.snapshot[process].stack]) {
        if (most-- == 0) {
            text.say(" < ...");
            break;
        }
        if (!text.empty()) text.say(" < ");
        text.add(frame.function);
    }
    return text;
}

void add_stack(const RuleInput& input, ProcId process, Finding& finding) {
    if (Sentence frames = frames_text(input, process); !frames.empty())
        finding.evidence.push_back(fact("its stack", std::move(frames)));
}

void about(const RuleInput& input, ProcId process, Finding& finding) {
    const Process& p = input.snapshot[process];
    finding.process = process;
    finding.pid = p.pid;
    finding.name = p.name;
    finding.subject = {SubjectKind::process, process_subject(input, process)};
}

std::optional<Recursion> fills_its_stack(const RuleInput& input, ProcId process) {
    const bool refused = input.slogan.kind == SloganKind::out_of_memory && input.death.process == process;
    const std::uint64_t least_bytes = refused ? 1u << 20 : 8u << 20;
    return recursion(input.snapshot, process, least_bytes / input.snapshot.source.word_size);
}

std::optional<SocketBuffers> buffers_of_sockets(const RuleInput& input) {
    constexpr std::uint64_t least_bytes = 64u << 20, least_each = 16u << 10, most_each = 8u << 20;
    constexpr double least_percent = 30;
    const Snapshot& s = input.snapshot;
    SocketBuffers found;
    for (const Port& port : s.ports) {
        const std::string_view driver = s.text(port.driver);
        found.sockets +=
            driver.starts_with("tcp_inet") || driver.starts_with("udp_inet") || driver.starts_with("sctp_inet");
    }
    const Count binaries = s.memory_bytes("binary");
    if (found.sockets == 0 || binaries.value_or(0) < least_bytes) return std::nullopt;
    if (input.unheld != nullptr) {
        if (input.unheld->groups.empty()) return std::nullopt;
        const UnheldGroup& group = input.unheld->groups.front();
        // Two may belong to a socket for a moment: one that is filled, one that is handed on.
        if (group.blocks > 2 * found.sockets || group.block_bytes < least_each) return std::nullopt;
        found.proved = true;
        found.bytes = group.bytes;
        found.blocks = group.blocks;
        found.block_bytes = group.block_bytes;
    } else {
        if (s.source.kind.whole_heaps || !s.source.complete.value_or(false)) return std::nullopt;
        Sum held;
        for (const Process& process : s.processes)
            held.add(words_to_bytes(virtual_heap_words(process), s.source.word_size));
        for (const Port& port : s.ports) held.add(port.queue_bytes);
        const std::uint64_t known = std::max(held.value().value_or(0), s.node.binary_bytes.value_or(0));
        found.bytes = *binaries > known ? *binaries - known : 0;
        const std::uint64_t each = found.bytes / found.sockets;
        if (each < least_each || each > most_each) return std::nullopt;
    }
    if (found.bytes < least_bytes || percent_of(found.bytes, node_bytes(input)).value_or(0) < least_percent)
        return std::nullopt;
    return found;
}

Count process_bytes(const RuleInput& input, const Process& process) {
    return analyses::process_bytes(process, input.snapshot.source.word_size);
}

Count all_process_bytes(const RuleInput& input) {
    // Of a process table that is cut, =memory knows the whole.
    const Count told =
        input.snapshot.source.process_table_complete ? Count() : input.snapshot.memory_bytes("processes");
    if (const Count sum = input.totals.memory_bytes.value(); sum.value_or(0) != 0) return std::max(sum, told);
    Sum all;
    for (const Process& process : input.snapshot.processes) all.add(process_bytes(input, process));
    return std::max(all.value(), told);
}

AllSchedulers all_schedulers(const Snapshot& s) {
    AllSchedulers found;
    std::vector<std::vector<FunctionId>> at;  // of each: what it runs, youngest first
    for (const Scheduler& scheduler : s.schedulers) {
        if (scheduler.kind != Scheduler::Kind::normal) continue;
        ++found.schedulers;
        const ProcId id = s.find(scheduler.current_process);
        if (id == ProcId::none) continue;
        std::vector<FunctionId>& here = at.emplace_back();
        if (s[id].current_function != FunctionId::none) here.push_back(s[id].current_function);
        for (const Frame& frame : s.stacks[scheduler.stack == StackId::none ? s[id].stack : scheduler.stack])
            if (frame.function != FunctionId::none) here.push_back(frame.function);
    }
    if (at.empty() || at.size() < found.schedulers) return found;
    for (const FunctionId function : at.front()) {
        const auto is_in = [&](const std::vector<FunctionId>& here) {
            return std::ranges::find(here, function) != here.end();
        };
        if (!std::ranges::all_of(at, is_in)) continue;
        // What works for others tells nothing, nor what all processes begin in; in a core image the youngest may also
        // be older than what is called now, where that is in C: a sleep that has ended.
        if (is_tool(s, function) || says_nothing(s, function)) continue;
        found.function = function;
        break;
    }
    return found;
}

std::uint64_t queued_processes(const Scheduler& scheduler) {
    std::uint64_t queued = 0;
    for (std::size_t i = 0; i + 1 < scheduler.run_queue.size(); ++i)  // the last one is of ports
        queued = saturating_add(queued, scheduler.run_queue[i].value_or(0));
    return queued;
}

Count node_bytes(const RuleInput& input) { return input.snapshot.memory_bytes("total"); }

}  // namespace beamheap::analyses::rule
