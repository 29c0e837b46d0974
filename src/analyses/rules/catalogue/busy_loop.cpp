// busy-loop: one process does nearly all of the work.
//
// Theory. Reductions count what a process has done since it was spawned. One that is running, or ready to, with most of
// the reductions of all processes has kept a scheduler busy for all that time, and where no other reason is told it is
// what the node was doing: a loop that never ends, a computation that takes longer than somebody would wait, what a user
// typed into a shell. A process that has done as much and waits now is a server with a history, and is not meant; nor is
// whoever asks for the dump or stops the node.
//
// Thresholds: half of all reductions and 20 million of them (a few tenths of a second of a core) are medium. Nothing is
// wrong with work by itself, so it is never more.
#include <algorithm>
#include <array>
#include <span>

#include "analyses/base/erlang_syntax.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/shell_work.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace busy_loop_rule {
namespace {

constexpr std::uint64_t least_reductions = 20'000'000;
constexpr double least_percent = 50;

bool at_work(ProcessState state) {
    return state == ProcessState::running || state == ProcessState::runnable || state == ProcessState::garbage_collecting;
}

// Whoever ends the node, and the processes that work while it starts.
bool excused(const Snapshot& s, const Process& process) {
    constexpr std::array<std::string_view, 4> starters{"init", "code_server", "erl_prim_loader", "application_controller"};
    if (std::ranges::find(starters, s.text(process.name)) != starters.end()) return true;
    for (const Frame& frame : s.stacks[process.stack].first(std::min<std::size_t>(3, s.stacks[process.stack].size()))) {
        if (frame.function == FunctionId::none) continue;
        const std::string_view name = s.text(s.functions[frame.function].name);
        if (module_of(s, frame.function) == "erlang" && (name == "halt" || name == "await_result")) return true;
    }
    return false;
}

void run(const RuleInput& input, std::vector<Finding>& findings) {
    const Snapshot& s = input.snapshot;
    if (is_failed_start(input.slogan.kind)) return;
    const std::vector<ProcId> everybody = all_processes(s);
    for (const ProcId id : largest(s, everybody, &Process::reductions, 1)) {
        const Process& process = s[id];
        const Count done = process.reductions;
        const auto percent = percent_of(done, input.totals.reductions.value());
        if (!at_work(process.state) || done.value_or(0) < least_reductions || percent.value_or(0) < least_percent) return;
        if (excused(s, process)) return;
        // Who was refused memory is told as that.
        if (input.slogan.kind == SloganKind::out_of_memory && input.death.process == id) return;
        const ShellWork at_prompt = shell_work(s, process);
        Finding finding;
        about(input, id, finding);
        finding.severity = FindingSeverity::medium;
        finding.count = done;
        finding.percent = percent;
        if (at_prompt.in_shell)
            finding.title.say("The shell works on what was typed into it: {}", id);
        else
            finding.title.say("{} is busy: it", id);
        finding.title.say(" {}, and has done {} of all work", doing(input, id), Percent{*percent});
        if (at_prompt.called != FunctionId::none)
            finding.evidence.push_back(fact("what the shell called", sentence("{}", at_prompt.called)));
        finding.evidence.push_back(figure("its reductions", done, AmountUnit::count));
        finding.evidence.push_back(
            figure("reductions of all processes", input.totals.reductions.value(), AmountUnit::count));
        finding.evidence.push_back(figure("its memory", process_bytes(input, process), AmountUnit::bytes));
        if (process.msgq_len.value_or(0) != 0)
            finding.evidence.push_back(figure("messages in its queue", process.msgq_len, AmountUnit::count));
        add_stack(input, id, finding);
        finding.advise("See where it is, and with which data: {}", Command{"proc", process.pid});
        finding.advise(
            "A second dump or core image some seconds later tells whether it moves: the same function and arguments that do "
            "not shrink are a loop without end.");
        if (!at_prompt.in_shell)
            finding.advise("On a living node: process_info(Pid, [current_stacktrace, reductions]), some times over.");
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace busy_loop_rule

Rule busy_loop() { return {"busy-loop", 160, busy_loop_rule::run}; }

}  // namespace beamheap::analyses::rule
