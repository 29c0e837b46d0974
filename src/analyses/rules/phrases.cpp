#include "analyses/rules/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyses/processes/groups.hpp"
#include "analyses/base/erlang_syntax.hpp"

namespace beamheap::analyses::rule {
namespace {

// Where processes of OTP wait for their next message.
struct Loop {
    std::string_view module, function;
};
constexpr std::array loops{
    Loop{"gen_server", "loop"},           Loop{"gen_event", "fetch_msg"},
    Loop{"gen_statem", "loop_receive"},   Loop{"gen_fsm", "loop"},
    Loop{"proc_lib", "hibernate"},        Loop{"gen_server2", "process_next_msg"},
    Loop{"erlang", "hibernate"},          Loop{"gen_statem", "loop_receive_result"},
    Loop{"gen_statem", "loop_hibernate"}, Loop{"gen", "hibernate"},
    Loop{"gen_server", "loop_hibernate"},
};

std::string kind_text(const RuleInput& input, const Process& process) {
    if (process.label != TextId::none) return std::string(input.snapshot.text(process.label));
    const FunctionId call =
        process.real_initial_call != FunctionId::none ? process.real_initial_call : process.initial_call;
    return call == FunctionId::none ? std::string() : function_name(input, call);
}

}  // namespace

std::string function_name(const RuleInput& input, FunctionId function) {
    return function == FunctionId::none ? "an unknown function" : function_text(input.snapshot, function);
}

std::string process_text(const RuleInput& input, ProcId process) {
    const Process& p = input.snapshot[process];
    if (p.name != TextId::none) return fmt::format("{} {}", input.snapshot.text(p.name), pid_text(p.pid));
    const std::string kind = kind_text(input, p);
    return kind.empty() ? pid_text(p.pid) : fmt::format("{} ({})", pid_text(p.pid), kind);
}

std::string process_text(const RuleInput& input, const Pid& pid) {
    const ProcId process = input.snapshot.find(pid);
    if (process != ProcId::none) return process_text(input, process);
    if (!pid.has() || pid.node == 0) return pid_text(pid);
    const TextId node = input.snapshot.node_name(pid.node);
    if (node == TextId::none) return pid_text(pid) + " of another node";
    return fmt::format("{} of node {}", pid_text(pid), input.snapshot.text(node));
}

std::string process_subject(const RuleInput& input, ProcId process) {
    const Process& p = input.snapshot[process];
    if (p.name != TextId::none) return std::string(input.snapshot.text(p.name));
    std::string kind = kind_text(input, p);
    return kind.empty() ? "process" : kind;
}

std::string target_text(const RuleInput& input, const WaitTarget& target) {
    if (target.pid.has()) return process_text(input, target.pid);
    if (target.port.has()) return port_text(target.port);
    std::string text(input.snapshot.text(target.name));
    if (target.node != TextId::none) text += fmt::format(" on node {}", input.snapshot.text(target.node));
    return text;
}

bool idle(const RuleInput& input, ProcId process) {
    const Process& p = input.snapshot[process];
    if (p.state != ProcessState::waiting || p.current_function == FunctionId::none) return false;
    const Function& function = input.snapshot.functions[p.current_function];
    const std::string_view module = input.snapshot.text(function.module);
    const std::string_view name = input.snapshot.text(function.name);
    return std::ranges::any_of(loops, [&](const Loop& l) { return l.module == module && l.function == name; });
}

std::string doing(const RuleInput& input, ProcId process) {
    const Process& p = input.snapshot[process];
    const std::string function = function_name(input, p.current_function);
    switch (p.state) {
        case ProcessState::garbage_collecting:
            return p.current_function == FunctionId::none ? "is collecting garbage"
                                                          : "is collecting garbage in " + function;
        case ProcessState::running: return "is running " + function;
        case ProcessState::runnable: return "is ready to run in " + function;
        case ProcessState::suspended: return "is suspended in " + function;
        case ProcessState::exiting: return "is exiting";
        default: break;
    }
    return (idle(input, process) ? "is idle in " : "sits in ") + function;
}

std::string frames_text(const RuleInput& input, ProcId process, std::size_t most) {
    std::string text;
    for (const Frame& frame : input.snapshot.stacks[input.snapshot[process].stack]) {
        if (most-- == 0) {
            text += " < ...";
            break;
        }
        if (!text.empty()) text += " < ";
        text += function_name(input, frame.function);
    }
    return text;
}

void add_stack(const RuleInput& input, ProcId process, Finding& finding) {
    if (const std::string frames = frames_text(input, process); !frames.empty())
        finding.evidence.push_back(fact("its stack", frames));
}

std::string shell_pid(const Pid& pid) { return fmt::format("{}.{}.{}", pid.node, pid.number, pid.serial); }

void about(const RuleInput& input, ProcId process, Finding& finding) {
    const Process& p = input.snapshot[process];
    finding.process = process;
    finding.pid = p.pid;
    finding.name = std::string(input.snapshot.text(p.name));
    finding.subject = {SubjectKind::process, process_subject(input, process)};
}

Count process_bytes(const RuleInput& input, const Process& process) {
    if (process.memory_bytes.has()) return process.memory_bytes;
    const Count heaps = process.heap_words + Count(process.old_heap_words.value_or(0));
    return words_to_bytes(heaps, input.snapshot.source.word_size);
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

Count node_bytes(const RuleInput& input) { return input.snapshot.memory_bytes("total"); }

Evidence figure(std::string name, Count value, EvidenceUnit unit, Confidence confidence) {
    Evidence evidence{std::move(name), {}, {}, unit, confidence};
    if (value.has())
        evidence.number = static_cast<double>(*value);
    else
        evidence.text = "not in the input";
    return evidence;
}

Evidence share(std::string name, double percent, Confidence confidence) {
    return {std::move(name), percent, {}, EvidenceUnit::percent, confidence};
}

Evidence fact(std::string name, std::string text, Confidence confidence) {
    return {std::move(name), {}, std::move(text), EvidenceUnit::none, confidence};
}

}  // namespace beamheap::analyses::rule
