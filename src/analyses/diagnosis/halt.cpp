// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/halt.hpp"

#include <algorithm>

#include "analyses/causes/own_modules.hpp"
#include "analyses/causes/what_ran.hpp"
#include "analyses/processes/halting.hpp"
#include "analyses/processes/shell_work.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses {
namespace {

using erlang::FunctionRole;

bool has_frame_of(const Snapshot& s, const Process& process, FunctionRole role) {
    return has_role(s, process.current_function, role) ||
           std::ranges::any_of(s.stacks[process.stack],
                               [&](const Frame& frame) { return has_role(s, frame.function, role); });
}

// What the command line or a person had it do, in whose process that ran, or that process of the node.
Sentence who_halted(const Snapshot& s, ProcId id, std::span<const std::string> starting) {
    const Process& process = s[id];
    const auto has = [&](FunctionRole role) { return has_frame_of(s, process, role); };
    if (shell_work(s, process).in_shell) return Sentence("What was typed into the shell");
    if (const Ours what = what_ran(has); !what.empty()) return what;
    // What another node calls, and what a timer does, runs in a process of its own.
    if (has_role(s, process.initial_call, FunctionRole::serves_calls)) {
        const TextId node = process.parent.node == 0 ? TextId::none : s.node_name(process.parent.node);
        return node == TextId::none ? Sentence("A remote call (rpc, erpc)")
                                    : sentence("A call from {} (rpc, erpc)", Name{node});
    }
    if (const ProcId parent = s.find(process.parent); parent != ProcId::none &&
                                                      s.text(s[parent].name) == erlang::registered::timer_server &&
                                                      has_role(s, process.initial_call, FunctionRole::halts))
        return Sentence("A timer (timer:apply_after)");
    if (!has(FunctionRole::starts_application)) return sentence("{}", id);
    return starting.size() == 1 ? sentence("The start of application {}", Atom{starting.front(), false})
                                : Sentence("The start of an application");
}

// ", called in shop:check/1": the youngest function of a module of the program's own behind the one that halts. The
// function in which the process was scheduled out last is older than its stack.
Sentence where_called(const Snapshot& s, const Process& process) {
    const std::vector<std::string_view> folders = build_folders(s);
    const auto is_own = [&](FunctionId function) {
        const TextId module = s.functions[function].module;
        const auto row = std::ranges::find(s.modules, module, &Module::name);
        return row != s.modules.end() && is_own_module(s, *row, folders) && !erlang::is_library(s.text(module));
    };
    bool behind = false;
    for (const Frame& frame : s.stacks[process.stack]) {
        if (frame.function == FunctionId::none) continue;
        if (has_role(s, frame.function, FunctionRole::halts)) behind = true;
        // A handler that halts in its last call has left its own frame.
        else if (behind && has_role(s, frame.function, FunctionRole::calls_log_handlers))
            return Sentence(", called in a handler of logger");
        else if (behind && is_own(frame.function)) return sentence(", called in {}", frame.function);
    }
    return {};
}

}  // namespace

Sentence halted_by(const Snapshot& snapshot, const Death& death, const Slogan& slogan,
                   std::span<const std::string> starting) {
    if (slogan.kind != SloganKind::unknown && slogan.kind != SloganKind::none) return {};
    if (death.process == ProcId::none) return {};
    const bool sure = is_halting(snapshot, death.process);
    if (!sure && (slogan.kind == SloganKind::none || death.evidence != DeathEvidence::calling_thread)) return {};
    const Process& process = snapshot[death.process];
    const bool empty = slogan.last_words.empty();
    const Ours text = empty ? Ours("an empty text") : Ours("this text");
    const Sentence words = empty ? Sentence(".") : sentence(": {}", slogan.last_words);
    if (snapshot.text(process.name) == erlang::registered::init)
        return sentence("The node was stopped with {} (init:stop/1){}", text, words);
    return sentence("{} ended the node with {} (erlang:halt/1{}){}", who_halted(snapshot, death.process, starting),
                    text, where_called(snapshot, process), words);
}

}  // namespace beamheap::analyses
