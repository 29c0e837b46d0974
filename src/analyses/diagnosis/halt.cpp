// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/halt.hpp"

#include <algorithm>

#include "analyses/causes/own_modules.hpp"
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

constexpr Ours starts_application = "The start of an application";

// What the command line or a person had it do, in whose process that ran; empty: a process of the node.
Ours what_ran(const Snapshot& s, const Process& process) {
    const auto has = [&](FunctionRole role) { return has_frame_of(s, process, role); };
    if (shell_work(s, process).in_shell) return "What was typed into the shell";
    if (has(FunctionRole::runs_mix)) return "What mix ran";
    if (has(FunctionRole::configures)) return "The configuration in Elixir";
    if (has(FunctionRole::runs_elixir)) return "What elixir ran";
    if (has(FunctionRole::runs_escript)) return "The escript";
    const bool by_init = has(FunctionRole::of_command_line);
    if (by_init && has(FunctionRole::evaluates_text)) return "What -eval ran";
    if (by_init) return "What -s or -run called";
    if (has(FunctionRole::starts_application)) return starts_application;
    return "";
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
    const Sentence text = slogan.kind == SloganKind::none ? Sentence(Ours("an empty text (erlang:halt/1"))
                                                          : Sentence(Ours("this text (erlang:halt/1"));
    if (snapshot.text(process.name) == erlang::registered::init) {
        return sentence(
            "The node was stopped with {}: {}",
            slogan.kind == SloganKind::none ? Ours("an empty text (init:stop/1)") : Ours("this text (init:stop/1)"),
            slogan.last_words);
    }
    Sentence who;
    if (const Ours what = what_ran(snapshot, process); what == starts_application && starting.size() == 1)
        who = sentence("The start of application {}", Atom{starting.front(), false});
    else if (!what.empty()) who = Sentence(what);
    else who = sentence("{}", death.process);
    Sentence told = sentence("{} ended the node with {}{})", who, text, where_called(snapshot, process));
    if (!slogan.last_words.empty()) told.say(": {}", slogan.last_words);
    else told.say(".");
    return told;
}

}  // namespace beamheap::analyses
