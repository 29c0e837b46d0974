// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/phrases.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "analyses/base/links_of.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/causes/labels.hpp"
#include "analyses/facts/catalogue/state_names.hpp"
#include "analyses/facts/catalogue/table_rows.hpp"
#include "analyses/processes/named_waits.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/senders.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/registered.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses::rule {
bool is_of_library(const Snapshot& s, FunctionId function) {
    const std::string_view module = module_of(s, function);
    return erlang::is_library(module) || erlang::has_role(module, erlang::ModuleRole::everywhere) ||
           is_tool(s, function);
}

namespace {

constexpr std::size_t most_tool_frames = 50;

// "shop_cart.erl:88", "shop_cart.erl:88 or 93"; empty: no line is known, or there are too many for a sentence.
Sentence line_words(const Snapshot& s, const Frame& frame) {
    constexpr std::size_t most_lines = 3;
    const FrameLine line = s.line_of(frame);
    if (line.lines.empty() || line.lines.size() > most_lines) return {};
    std::string text(line.file.substr(line.file.rfind('/') + 1));
    for (std::size_t i = 0; i < line.lines.size(); ++i) text += (i == 0 ? ":" : " or ") + std::to_string(line.lines[i]);
    return sentence("{}", names(text));
}

// " (shop_cart.erl:88)": of the function that it is in; of a library's " (called at shop_cart.erl:88)", where the
// program called it, unless that is said otherwise.
Sentence line_of(const Snapshot& s, const Process& p, bool of_callers = true) {
    if (p.stack == StackId::none) return {};
    std::size_t left = most_tool_frames;
    bool youngest = true;
    for (const Frame& frame : s.stacks[p.stack]) {
        if (frame.function == FunctionId::none || left-- == 0) return {};
        if (!is_of_library(s, frame.function)) {
            const Sentence line = line_words(s, frame);
            if (line.empty() || (!youngest && !of_callers)) return {};
            // A fun's name is told with where it begins.
            const std::uint32_t head = s.frame_lines.head_of(frame.function).line();
            const bool fun = head != 0 && s.text(s.functions[frame.function].name).starts_with('-');
            if (youngest && fun) return head == s.line_of(frame).line() ? Sentence() : sentence(", at {}", line);
            return youngest ? sentence(" ({})", line) : sentence(" (called at {})", line);
        }
        youngest = false;
    }
    return {};
}

}  // namespace

Sentence kind_of(const Facts& facts, const Process& process) {
    Sentence kind;
    const FunctionId call =
        process.real_initial_call != FunctionId::none ? process.real_initial_call : process.initial_call;
    if (process.label != TextId::none) kind.add(label_in_words(facts.snapshot().text(process.label)));
    else if (call != FunctionId::none) kind.add(call);
    return kind;
}

Sentence process_subject(const Facts& facts, ProcId process) {
    const Process& p = facts.snapshot()[process];
    if (p.name != TextId::none) return sentence("{}", Name{p.name});
    Sentence kind = kind_of(facts, p);
    return kind.empty() ? Sentence(Ours("process")) : kind;
}

Sentence group_sentence(const Facts& facts, const GroupKey& key) {
    switch (key.kind) {
        case GroupKey::Kind::none: break;
        case GroupKey::Kind::ancestor: return sentence("{}", Atom{std::string(facts.snapshot().text(key.text))});
        case GroupKey::Kind::label: return label_in_words(facts.snapshot().text(key.text));
        case GroupKey::Kind::initial_call:
        case GroupKey::Kind::spawned_as: return sentence("{}", key.function);
    }
    return {};
}

Sentence in_state(const Facts& facts, FunctionId kind) {
    const StateOfKind* const state = facts.get<StateNames>().of(kind);
    if (state == nullptr) return {};
    const Atom name{state->name, false};
    if (state->in_it == state->looked)
        return sentence(" of which all {} that were looked at are in their state {}", number(state->looked), name);
    return sentence(" of which {} of {} that were looked at are in their state {}", number(state->in_it),
                    number(state->looked), name);
}

void say_long_chain(const Snapshot& s, Finding& finding, Pid owner) {
    constexpr std::uint64_t long_chain = 1'000, chain_part = 10;  // objects in one chain of a table, a tenth of all
    const EtsTable* longest = nullptr;
    for (const EtsTable& table : s.ets)
        if ((owner.has() ? table.owner == owner : s.text(table.type) != "duplicate_bag") &&
            table.chain_max.value_or(0) >= long_chain &&
            table.chain_max.value_or(0) >= table.objects.value_or(0) / chain_part &&
            (longest == nullptr || table.chain_max.value_or(0) > longest->chain_max.value_or(0)))
            longest = &table;
    if (longest == nullptr) return;
    finding.behind.say("Table {} has {} of its {} in one chain",
                       Name{longest->name != TextId::none ? longest->name : longest->id}, number(*longest->chain_max),
                       Counted{longest->objects.value_or(0), "object", "objects"});
    // Into one with duplicates an object is put at the front of its chain.
    const bool duplicates = s.text(longest->type) == "duplicate_bag";
    const bool bag = duplicates || s.text(longest->type) == "bag";
    if (bag) finding.behind.say(", most likely of one key, as it is a bag");
    finding.behind.add(duplicates ? Ours(": to look up or delete there takes a walk through all of it")
                                  : Ours(": an access to that chain goes through all of it"));
    if (duplicates)
        finding.advise(
            "Put what makes objects differ into the key (`{Topic, Pid}` in an ordered_set): to delete one of many "
            "objects of a key goes through all of them.");
    else if (bag)
        finding.advise(
            "Put what makes objects of a bag differ into the key (`{Topic, Pid}` in a set or an ordered_set): "
            "`ets:insert/2` into a bag compares with every object of that key.");
}

std::uint64_t unsent_by_each(const Snapshot& s, std::span<const ProcId> processes) {
    std::uint64_t all = 0;
    for (const ProcId id : processes) {
        std::uint64_t unsent = 0;
        for (const Port& port : s.ports)
            if (port.connected == s[id].pid) unsent = saturating_add(unsent, port.queue_bytes.value_or(0));
        if (unsent < least_unsent) return 0;
        all = saturating_add(all, unsent);
    }
    return all;
}

bool has_flag(const Snapshot& snapshot, TextId flags, std::string_view flag) {
    return snapshot.text(flags).find(flag) != std::string_view::npos;
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

Sentence link_text(const Link& link) {
    if (link.pid.has()) return sentence("{}", AnyProcess{link.pid});
    if (link.port.has()) return sentence("{}", link.port);
    Sentence text = sentence("{}", Name{link.name});
    if (link.node != TextId::none) text.say(" on node {}", Name{link.node});
    return text;
}

Sentence slow_reader(const Snapshot& snapshot, PortName name) {
    const auto port = std::ranges::find(snapshot.ports, name, &Port::port);
    if (!name.has() || port == snapshot.ports.end() ||
        (!is_busy(snapshot, *port) && port->queue_bytes.value_or(0) == 0))
        return {};
    const std::string_view kind = snapshot.text(port->kind);
    const Sentence words = port_words(snapshot, *port);
    Sentence text;
    if (kind == "fd") text = sentence("nobody reads {}", words);
    else if (kind == "external process") text = sentence("the program behind {} reads too slowly", words);
    else if (is_connection(snapshot, *port)) text = sentence("the other node at {} reads too slowly", words);
    else if (snapshot.text(port->driver).find("inet") != std::string_view::npos)
        text = sentence("the peer at the other end of {} reads too slowly", port->port);
    else text = sentence("{} takes nothing more", words);
    if (port->queue_bytes.value_or(0) != 0)
        text.say(*port->queue_bytes == 1 ? Form<1>(": {} is queued") : Form<1>(": {} are queued"),
                 bytes(*port->queue_bytes));
    return text;
}

Sentence unread_output(const Facts& facts, ProcId process) {
    const Snapshot& s = facts.snapshot();
    const Waits& waits = facts.get<Waits>();
    const WaitEdge* edge = waits.edge(process);
    for (std::size_t steps = 0; edge != nullptr && steps <= waits.edges.size(); ++steps) {
        if (edge->target.port.has()) {
            const auto port = std::ranges::find(s.ports, edge->target.port, &Port::port);
            const bool output = port != s.ports.end() && s.text(port->kind) == "fd";
            return output ? slow_reader(s, edge->target.port) : Sentence();
        }
        if (edge->target.process == ProcId::none) break;
        const FunctionId in = s[edge->target.process].current_function;
        if (edge->via == "terminal" && in != FunctionId::none && module_of(s, in) == erlang::terminal_write.module)
            return Ours("nobody reads standard output");
        edge = waits.edge(edge->target.process);
    }
    return {};
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
const RunningApplication* being_stopped(const Facts& facts) {
    if (!facts.get<ApplicationStarts>().known) return nullptr;
    for (const RunningApplication& application : facts.get<ApplicationStarts>().masters) {
        const ProcId master = application.master.has() ? facts.snapshot().find(application.master) : ProcId::none;
        const WaitEdge* const edge = master == ProcId::none ? nullptr : facts.get<Waits>().edge(master);
        if (edge != nullptr && has_role(facts.snapshot(), edge->function, erlang::FunctionRole::ends_application))
            return &application;
    }
    return nullptr;
}

ProcId asks_for_own_stop(const Facts& facts) {
    const RunningApplication* const application = being_stopped(facts);
    const ProcId controller = facts.snapshot().find_registered(erlang::registered::application_controller);
    if (application == nullptr || controller == ProcId::none) return ProcId::none;
    const WaitEdge* edge = facts.get<Waits>().edge(facts.snapshot().find(application->master));
    for (std::size_t steps = 0; edge != nullptr && steps <= facts.get<Waits>().edges.size(); ++steps) {
        if (edge->target.process == controller) return edge->waiter;
        if (edge->target.process == ProcId::none) break;
        edge = facts.get<Waits>().edge(edge->target.process);
    }
    return ProcId::none;
}

bool starts_block(const Facts& facts, ProcId process) {
    return process != ProcId::none && facts.get<ApplicationStarts>().known &&
           facts.snapshot().text(facts.snapshot()[process].name) == erlang::registered::application_controller &&
           !is_failed_start(facts.get<Slogan>().kind) &&
           (!facts.get<ApplicationStarts>().starting.empty() || being_stopped(facts) != nullptr);
}

bool idle(const Facts& facts, ProcId process) {
    const Process& p = facts.snapshot()[process];
    return p.state == ProcessState::waiting && p.current_function != FunctionId::none &&
           is_idle_function(facts.snapshot(), p.current_function);
}

// The youngest function of the program's own behind those of OTP; none: there is none, or nothing of OTP before it.
static FunctionId runs_for(const Snapshot& s, const Process& p) {
    const auto is_theirs = [&](FunctionId id) { return is_of_library(s, id) || erlang::is_of_otp(module_of(s, id)); };
    if (p.current_function == FunctionId::none || p.stack == StackId::none || !is_theirs(p.current_function))
        return FunctionId::none;
    std::size_t left = most_tool_frames;
    for (const Frame& frame : s.stacks[p.stack]) {
        if (frame.function == FunctionId::none || left-- == 0) break;
        if (has_role(s, frame.function, erlang::FunctionRole::begins_processes)) break;
        if (!is_theirs(frame.function)) return frame.function;
    }
    return FunctionId::none;
}

FunctionId works_for_function(const Snapshot& s, const Process& p) {
    return waits_on_behalf(s, p) == FunctionId::none ? FunctionId::none : runs_for(s, p);
}

Sentence works_for(const Snapshot& s, const Process& p) {
    const FunctionId by = works_for_function(s, p);
    return by == FunctionId::none ? Sentence() : sentence(", called by {}", by);
}

// "trade_journal:handle_event/2 (trade_journal.erl:31)": a function on the stack, with its line where that is known.
static Sentence with_line(const Snapshot& s, const Process& p, FunctionId function) {
    if (p.stack != StackId::none)
        for (const Frame& frame : s.stacks[p.stack])
            if (frame.function == function)
                if (const Sentence line = line_words(s, frame); !line.empty())
                    return sentence("{} ({})", function, line);
    return sentence("{}", function);
}

Sentence caller(const Snapshot& s, const Process& p) {
    if (p.current_function == FunctionId::none) return {};
    // Functions of a script that is interpreted have no frames of their own.
    if (has_role(s, p.current_function, erlang::FunctionRole::evaluates_text) && p.stack != StackId::none &&
        std::ranges::any_of(s.stacks[p.stack], [&](const Frame& frame) {
            return has_role(s, frame.function, erlang::FunctionRole::runs_escript);
        }))
        return Sentence(", which interprets an escript");
    if (!is_tool(s, p.current_function)) return {};
    std::size_t left = most_tool_frames;
    for (const Frame& frame : s.stacks[p.stack]) {
        if (frame.function == FunctionId::none || left-- == 0) break;
        if (is_tool(s, frame.function)) continue;
        if (has_role(s, frame.function, erlang::FunctionRole::begins_processes)) return {};
        const FunctionId own = runs_for(s, p);
        if (own != FunctionId::none && own != frame.function && erlang::is_of_otp(module_of(s, frame.function)))
            return sentence(", called by {} for {}", frame.function, with_line(s, p, own));
        const Sentence line = line_words(s, frame);
        return line.empty() ? sentence(", called by {}", frame.function)
                            : sentence(", called by {} ({})", frame.function, line);
    }
    return {};
}

Sentence not_loaded(const PutOff& tables) {
    const PrintedTerm table{tables.what, tables.what->term()};
    return tables.count == 1 ? sentence("table {} is not loaded", table)
                             : sentence("tables {} and {} more are not loaded", table, number(tables.count - 1));
}

void say_absent_nodes(const Facts& facts, Finding& finding, bool in_title) {
    constexpr std::string_view nobody = "nonode@nohost";  // what it was called before it had a name
    constexpr std::size_t most_named = 5;
    const Snapshot& s = facts.snapshot();
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

// Whoever is found running has no return address to tell a line by: its own function's is known of images alone.
static Sentence caller_or_line(const Snapshot& s, const Process& p) {
    const Sentence called = caller(s, p);
    return called.empty() ? line_of(s, p) : called;
}

Sentence running(const Facts& facts, ProcId process) {
    const Process& p = facts.snapshot()[process];
    const FunctionId own = runs_for(facts.snapshot(), p);
    if (p.state != ProcessState::running || own == FunctionId::none || !caller(facts.snapshot(), p).empty())
        return doing(facts, process);
    return sentence("is running {}, or what that calls", own);
}

static Sentence called_by(const Snapshot& s, const Process& p, FunctionId by) {
    return by == FunctionId::none ? Sentence() : sentence(", called by {}", with_line(s, p, by));
}

// ", looking up a host (inet:getaddr/3)": a name server that does not answer holds up whoever asks.
static Sentence looking_up(const Snapshot& s, const Process& p) {
    if (p.stack == StackId::none) return {};
    FunctionId asked = FunctionId::none;
    for (const Frame& frame : s.stacks[p.stack]) {
        if (frame.function == FunctionId::none) break;
        if (has_role(s, frame.function, erlang::FunctionRole::looks_up_hosts)) asked = frame.function;
        else if (asked != FunctionId::none) break;
    }
    return asked == FunctionId::none || asked == p.current_function ? Sentence()
                                                                    : sentence(", looking up a host ({})", asked);
}

Sentence doing_for(const Facts& facts, ProcId process, FunctionId by) {
    const Snapshot& s = facts.snapshot();
    const Process& p = s[process];
    if (by == FunctionId::none || idle(facts, process) || suspended_by_sys(facts, process))
        return doing(facts, process);
    if (p.state == ProcessState::waiting && facts.get<PutOffs>().of(process) == nullptr)
        return sentence("sits in {}{}{}{}", p.current_function, line_of(s, p, false), looking_up(s, p),
                        called_by(s, p, by));
    if (p.state == ProcessState::suspended)
        return sentence("is suspended in {}{}{}", p.current_function, line_of(s, p, false), called_by(s, p, by));
    // Who runs or is about to is told with its caller, or with the line at which that calls.
    if (!caller(s, p).empty()) return doing(facts, process);
    if (p.state == ProcessState::running || p.state == ProcessState::runnable)
        return sentence(
            p.state == ProcessState::running ? Form<3>("is running {}{}{}") : Form<3>("is ready to run in {}{}{}"),
            p.current_function, line_of(s, p, false), called_by(s, p, by));
    return sentence("{}{}", doing(facts, process), called_by(s, p, by));
}

Sentence doing(const Facts& facts, ProcId process) {
    const Process& p = facts.snapshot()[process];
    if (const PutOff* why = facts.get<PutOffs>().of(process); why != nullptr && why->why == PutOff::Why::tables)
        return sentence("is idle, as {}", not_loaded(*why));
    switch (p.state) {
        case ProcessState::garbage_collecting:
            return p.current_function == FunctionId::none
                       ? Sentence(Ours("is collecting garbage"))
                       : sentence("is collecting garbage in {}{}", p.current_function, caller(facts.snapshot(), p));
        case ProcessState::running:
            return sentence("is running {}{}", p.current_function, caller_or_line(facts.snapshot(), p));
        case ProcessState::runnable:
            return sentence("is ready to run in {}{}", p.current_function, caller_or_line(facts.snapshot(), p));
        case ProcessState::suspended:
            return sentence("is suspended in {}{}", p.current_function, line_of(facts.snapshot(), p));
        case ProcessState::exiting: return Ours("is exiting");
        default: break;
    }
    if (suspended_by_sys(facts, process)) return Sentence("was suspended by `sys:suspend/1`");
    return idle(facts, process) ? sentence("is idle in {}", p.current_function)
                                : sentence("sits in {}{}{}", p.current_function, line_of(facts.snapshot(), p),
                                           looking_up(facts.snapshot(), p));
}

namespace {

// The port that its youngest frame names, where that is one.
PortName port_in_frame(const Snapshot& s, ProcId process) {
    PortName found;
    for (const StackSlot& slot : s.slots) {
        if (slot.process != process || slot.kind != StackSlot::Kind::port || slot.frame != 0) continue;
        if (found.has() && found != slot.port) return {};
        found = slot.port;
    }
    return found;
}

const Port* outside_port(const Facts& facts, ProcId process) {
    const Snapshot& s = facts.snapshot();
    const WaitEdge* const edge = facts.get<Waits>().edge(process);
    const PortName named = edge != nullptr ? edge->target.port : port_in_frame(s, process);
    if (edge != nullptr && !named.has()) return nullptr;
    const Port* only = nullptr;
    for (const Port& port : s.ports) {
        if (named.has()) {
            if (port.port == named) return &port;
            continue;
        }
        if (port.connected != s[process].pid || s.text(port.driver).find("_inet") == std::string_view::npos) continue;
        if (only != nullptr) return nullptr;
        only = &port;
    }
    return only;
}

}  // namespace

Sentence outside(const Facts& facts, ProcId process) {
    const Port* const port = outside_port(facts, process);
    if (port == nullptr) return {};
    const Snapshot& s = facts.snapshot();
    if (const Sentence reader = slow_reader(s, port->port); !reader.empty()) return sentence("; {}", reader);
    if (!port->output_bytes.has() || !port->input_bytes.has() || port->driver == TextId::none)
        return sentence(", over {}", port_words(s, *port));
    return sentence(", over {} ({}: {} out, {} in)", port->port, names(s.text(port->driver)),
                    bytes(*port->output_bytes), bytes(*port->input_bytes));
}

std::vector<ProcId> watched_by(const Facts& facts, ProcId process) {
    const Snapshot& s = facts.snapshot();
    std::vector<ProcId> found;
    const Range range = s[process].link_range;
    for (const Link& link : std::span(s.links).subspan(range.first, range.count)) {
        if (link.kind != LinkKind::monitors || !link.pid.has()) continue;
        const ProcId other = s.find(link.pid);
        if (other == ProcId::none || other == process) continue;
        const WaitEdge* edge = facts.get<Waits>().edge(other);
        if (edge == nullptr || edge->target.process != process) found.push_back(other);
    }
    return found;
}

std::optional<std::uint64_t> silent_ms(const Facts& facts, TextId node) {
    const auto peer = std::ranges::find(facts.snapshot().nodes, node, &DistNode::name);
    const Port* const port = peer == facts.snapshot().nodes.end() ? nullptr : connection_to(facts.snapshot(), *peer);
    if (port == nullptr) return std::nullopt;
    for (const ConnectionTick& tick : facts.get<ServiceStates>().ticks)
        if (facts.snapshot()[tick.process].pid == port->connected)
            return facts.get<ServiceStates>().tick_time.silent_ms(tick);
    return std::nullopt;
}

bool ends_by_timeout(const Snapshot& s, const WaitEdge& edge) {
    return !edge.infinite && edge.confidence == Confidence::exact && edge.function != FunctionId::none &&
           erlang::has_role(module_of(s, edge.function), erlang::ModuleRole::calling);
}

bool suspended_by_sys(const Facts& facts, ProcId process) {
    return has_role(facts.snapshot(), facts.snapshot()[process].current_function, erlang::FunctionRole::is_suspended);
}

bool is_suspended(const Facts& facts, ProcId process) {
    if (suspended_by_sys(facts, process)) return true;
    const Process& p = facts.snapshot()[process];
    return p.state == ProcessState::suspended && facts.get<Waits>().edge(process) == nullptr &&
           (p.current_function == FunctionId::none || !sends_to_nodes(facts.snapshot(), p.current_function));
}

Suspender suspender_of(const Facts& facts, ProcId process) {
    const Snapshot& s = facts.snapshot();
    if (s[process].state != ProcessState::suspended) return {};
    for (const Link& link : links_of(s, s[process]))
        if (link.kind == LinkKind::suspended_by && link.pid.has()) return {s.find(link.pid), Confidence::exact};
    const std::vector<ProcId> named = only_named(s);
    ProcId found = ProcId::none;
    for (std::uint32_t i = 0; i < named.size(); ++i) {
        if (named[i] != process || s.processes[i].state != ProcessState::waiting || idle(facts, ProcId{i}) ||
            facts.get<Waits>().edge(ProcId{i}) != nullptr)
            continue;
        if (found != ProcId::none) return {};
        found = ProcId{i};
    }
    return {found, Confidence::estimate};
}

Sentence suspended_by(const Facts& facts, ProcId process) {
    const Suspender by = suspender_of(facts, process);
    if (by.process == ProcId::none) return {};
    return sentence(
        by.confidence == Confidence::exact ? Form<2>(", by {}, which {}") : Form<2>(", most likely by {}, which {}"),
        by.process, doing(facts, by.process));
}

void advise_to_resume(const Facts& facts, ProcId process, Finding& finding) {
    if (suspended_by_sys(facts, process))
        finding.advise(
            "Resume it with `sys:resume/1`, and look for who called `sys:suspend/1` (a debugger, an upgrade that was "
            "not finished) and did not.");
    else
        finding.advise(
            "Whoever called `erlang:suspend_process/1` has to call `erlang:resume_process/1`, or to end: a tracer, a "
            "debugger, a shell.");
}

Sentence frames_text(const Facts& facts, ProcId process, std::size_t most) {
    return frames_text(facts.snapshot(), facts.snapshot()[process].stack, most);
}

Sentence frames_text(const Snapshot& s, StackId stack, std::size_t most) {
    Sentence text;
    for (const Frame& frame : s.stacks[stack]) {
        if (most-- == 0) {
            text.say(" < ...");
            break;
        }
        if (!text.empty()) text.say(" < ");
        text.add(frame.function);
    }
    return text;
}

void add_stack(const Facts& facts, ProcId process, Finding& finding) {
    if (Sentence frames = frames_text(facts, process); !frames.empty())
        finding.evidence.push_back(fact("its stack", std::move(frames)));
}

void about(const Facts& facts, ProcId process, Finding& finding) {
    const Process& p = facts.snapshot()[process];
    finding.process = process;
    finding.pid = p.pid;
    finding.name = p.name;
    finding.subject = {SubjectKind::process, process_subject(facts, process)};
}

std::optional<Recursion> fills_its_stack(const Facts& facts, ProcId process) {
    const bool refused = facts.get<Slogan>().kind == SloganKind::out_of_memory && facts.get<Death>().process == process;
    const std::uint64_t word = facts.snapshot().source.word_size;
    const std::uint64_t least_words = (refused ? 1u << 20 : 8u << 20) / word;
    if (auto found = recursion(facts.snapshot(), process, least_words)) return found;
    const Slogan& slogan = facts.get<Slogan>();
    if (!refused || slogan.allocator != "eheap_alloc" || !slogan.refused_bytes.has()) return std::nullopt;
    return recursion_by_sizes(facts.snapshot(), process, *slogan.refused_bytes / word, least_words);
}

std::optional<SocketBuffers> buffers_of_sockets(const Facts& facts) {
    constexpr std::uint64_t least_bytes = 64u << 20, least_of_half = 16u << 20, least_each = 16u << 10,
                            most_each = 8u << 20;
    constexpr double least_percent = 30, half = 50;
    const Snapshot& s = facts.snapshot();
    SocketBuffers found;
    for (const Port& port : s.ports) {
        const std::string_view driver = s.text(port.driver);
        found.sockets +=
            driver.starts_with("tcp_inet") || driver.starts_with("udp_inet") || driver.starts_with("sctp_inet");
    }
    const Count binaries = s.memory_bytes("binary");
    if (found.sockets == 0 || binaries.value_or(0) < least_of_half) return std::nullopt;
    if (facts.get<Unheld>().has_value()) {
        if (facts.get<Unheld>()->groups.empty()) return std::nullopt;
        const UnheldGroup& group = facts.get<Unheld>()->groups.front();
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
    const double percent = percent_of(found.bytes, node_bytes(facts)).value_or(0);
    if (percent < least_percent || found.bytes < (percent < half ? least_bytes : least_of_half)) return std::nullopt;
    return found;
}

Sentence pile_of_waiters(const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    const Waits& waits = facts.get<Waits>();
    if (waits.fan_in.empty() || waits.fan_in.front().waiters < std::max<std::uint64_t>(s.processes.size() / 10, 100))
        return {};
    const WaitFanIn& most = waits.fan_in.front();
    std::map<FunctionId, std::uint64_t> kinds;
    for (const std::uint32_t at : waits.waiters_of(most)) ++kinds[first_call(s[waits.edges[at].waiter])];
    const auto& [kind, count] = *std::ranges::max_element(kinds, {}, [](const auto& each) { return each.second; });
    const FunctionId own = kind != FunctionId::none && is_of_library(s, kind)
                               ? works_for_function(s, s[waits.edges[waits.waiters_of(most).front()].waiter])
                               : FunctionId::none;
    return sentence("{} of {} wait for {}", number(count), own == FunctionId::none ? kind : own,
                    target_text(s, most.target));
}

Count process_bytes(const Facts& facts, const Process& process) {
    return analyses::process_bytes(process, facts.snapshot().source.word_size);
}

Count all_process_bytes(const Facts& facts) {
    // Of a process table that is cut, =memory knows the whole.
    const Count told =
        facts.snapshot().source.process_table_complete ? Count() : facts.snapshot().memory_bytes("processes");
    if (const Count sum = facts.get<Totals>().memory_bytes.value(); sum.value_or(0) != 0) return std::max(sum, told);
    Sum all;
    for (const Process& process : facts.snapshot().processes) all.add(process_bytes(facts, process));
    return std::max(all.value(), told);
}

std::uint64_t queued_processes(const Scheduler& scheduler) {
    std::uint64_t queued = 0;
    for (std::size_t i = 0; i + 1 < scheduler.run_queue.size(); ++i)  // the last one is of ports
        queued = saturating_add(queued, scheduler.run_queue[i].value_or(0));
    return queued;
}

Sentence candidate_table(const Facts& facts, std::uint64_t unheld_bytes, bool guessed, bool of_binaries) {
    constexpr std::uint64_t least_each = 256;
    const Snapshot& s = facts.snapshot();
    const std::optional<std::size_t> most = facts.get<MostObjects>().table;
    if (!most) return {};
    const auto described = [&](std::size_t at) {
        const EtsTable& table = s.ets[at];
        const std::uint64_t objects = std::max<std::uint64_t>(table.objects.value_or(0), 1);
        return sentence("table {} of {} has {}, {} of it for each",
                        Name{table.name != TextId::none ? table.name : table.id}, AnyProcess{table.owner},
                        Counted{objects, "object", "objects"}, bytes(unheld_bytes / objects));
    };
    if (unheld_bytes / std::max<std::uint64_t>(s.ets[*most].objects.value_or(0), 1) < least_each) return {};
    const std::optional<std::size_t> next = facts.get<MostObjects>().next;
    if (!guessed || !next) return described(*most);
    // Each row of a table that fills memory with binaries refers to one: there are no fewer of these than rows, unless
    // several share one.
    const std::uint64_t blocks = facts.get<MostObjects>().binaries.value_or(0);
    const std::uint64_t rows = s.ets[*most].objects.value_or(0);
    if (of_binaries && blocks != 0 && rows > blocks && s.ets[*next].objects.value_or(0) <= blocks) {
        const EtsTable& table = s.ets[*most];
        return sentence("most likely {}; less likely table {}, whose {} are more than the {} that there are",
                        described(*next), Name{table.name != TextId::none ? table.name : table.id},
                        Counted{rows, "object", "objects"}, Counted{blocks, "binary", "binaries"});
    }
    return sentence("{}; {}", described(*most), described(*next));
}

Count node_bytes(const Facts& facts) { return facts.snapshot().memory_bytes("total"); }

}  // namespace beamheap::analyses::rule
