#include "cli/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>

#include "beamheap_version.hpp"
#include "cli/help.hpp"
#include "cli/terminal.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli {
namespace {

constexpr std::array<Command, 29> table{{
    {"analyze", "INPUT", 1, 1, "what happened: why it died, memory, totals, the processes that stand out",
     "This is what `beamheap INPUT` does. It never fails because of what it finds.",
     "analyze erl_crash.dump\nanalyze erl_crash.dump.zst --json", &cmd_analyze},
    {"core", "BEAM CORE", 2, 2, "the same, of a core image and its executable", "",
     "core /usr/lib/erlang/erts-13.1.5/bin/beam.smp core.4711", &cmd_core},
    {"top", "INPUT", 1, 1, "processes by queue, memory, heap, stack, reductions, ...",
     "Reads the process table alone unless a column is asked for that needs more: stack_words, label, group_key and\n"
     "real_initial_call do.",
     "top erl_crash.dump --by memory -n 5\ntop erl_crash.dump --procs 'msgq>1000' --columns pid,name,msgq_len --format "
     "csv",
     &cmd_top},
    {"proc", "INPUT PID", 2, 2, "one process: state, counters, stack with terms, dictionary, messages, links",
     "PID is 0.123.0, '<0.123.0>', '#PID<0.123.0>', 'pid(0,123,0)' or a registered name.",
     "proc erl_crash.dump lager_event\nproc erl_crash.dump 0.89.0", &cmd_proc},
    {"stacks", "INPUT...", 1, 10'000, "processes grouped by identical stack",
     "--running counts what ran instead, over one or several inputs: cores taken one after the other are the samples\n"
     "of a profiler.",
     "stacks erl_crash.dump -n 5\nstacks erl_crash.dump --procs waiting\nstacks --running core.1 core.2 core.3",
     &cmd_stacks},
    {"msgs", "INPUT PID", 2, 2, "the messages of one process, one by one or grouped",
     "--by shape groups messages that are alike but for their data; --by sender those that name one sender.",
     "msgs erl_crash.dump stuck_queue -n 5\nmsgs erl_crash.dump stuck_queue --by shape", &cmd_msgs},
    {"heap", "INPUT PID", 2, 2, "the root set of one process: what each root holds and keeps alive",
     "FLAT is what a copy would need (erts_debug:flat_size), SHARED what is there (erts_debug:size), RETAINED what\n"
     "would be freed if the root were gone. --dead lists the terms of a core's process that no root reaches.",
     "heap erl_crash.dump 0.89.0\nheap erl_crash.dump my_cache --sort flat_words\nheap core.4711 my_cache --dead",
     &cmd_heap},
    {"term", "INPUT ADDRESS", 2, 2, "one term in full, by its address",
     "ADDRESS is hexadecimal, as `heap` shows it; PID@ADDRESS where several processes have it.",
     "term erl_crash.dump 7FEDD8C3E990 --term-bytes 0", &cmd_term},
    {"why", "INPUT ADDRESS", 2, 2, "the shortest path from a root to a term: what keeps it alive", "",
     "why erl_crash.dump 7FEDD8C3E990", &cmd_why},
    {"binaries", "INPUT", 1, 1, "binaries outside the heaps: who holds them, and what slices pin",
     "A slice keeps all of its binary: PINNED bytes are those that nobody sees.",
     "binaries erl_crash.dump -n 10\nbinaries erl_crash.dump --sort pinned_bytes", &cmd_binaries},
    {"profile", "INPUT", 1, 1, "words held now, by the function whose frame holds them",
     "Each live word is charged once: to the youngest frame that reaches it, else to (dictionary) or (messages).",
     "profile core.4711 --traced\nprofile erl_crash.dump\nprofile erl_crash.dump --per-process --pattern "
     "gen_server:loop",
     &cmd_profile},
    {"ets", "INPUT [TABLE]", 1, 2, "ETS tables with owners and sizes, or what one of them holds",
     "TABLE is a name or an identifier; its objects are in core images only. -n bounds how many are read.",
     "ets erl_crash.dump -n 10\nets core.4711 my_cache -n 100", &cmd_ets},
    {"ports", "INPUT", 1, 1, "ports by driver and owner, and each of them", "",
     "ports erl_crash.dump --sort queue_bytes", &cmd_ports},
    {"timers", "INPUT", 1, 1, "timers by receiver and message, and each of them", "", "timers erl_crash.dump",
     &cmd_timers},
    {"atoms", "INPUT", 1, 1, "the atom table: how full, families of atoms, newest first", "", "atoms erl_crash.dump",
     &cmd_atoms},
    {"alloc", "INPUT", 1, 1, "allocators: blocks, carriers and what is lost between them", "", "alloc erl_crash.dump",
     &cmd_alloc},
    {"schedulers", "INPUT", 1, 1, "schedulers, run queues, and who was running", "", "schedulers erl_crash.dump",
     &cmd_schedulers},
    {"blame", "CORE FUNCTION", 2, 2, "threads inside a native function, by the Erlang function above it",
     "FUNCTION is a name as the executable's symbols have it; * stands for any text.",
     "blame core.4711 erts_garbage_collect\nblame core.4711 'copy_*'", &cmd_blame},
    {"nodes", "INPUT", 1, 1, "the other nodes that it knew", "", "nodes erl_crash.dump", &cmd_nodes},
    {"modules", "INPUT", 1, 1, "loaded modules by size", "", "modules erl_crash.dump", &cmd_modules},
    {"waits", "INPUT", 1, 1, "who waits for whom: blocked calls, fan-in, chains and deadlocks",
     "An edge is exact where the monitor of the call is found in the caller's stack, or in a port's list of who "
     "waits;\n"
     "otherwise it is concluded from the frame (estimate). --format dot draws all edges for GraphViz.",
     "waits erl_crash.dump\nwaits erl_crash.dump --format dot | dot -Tsvg > waits.svg", &cmd_waits},
    {"logs", "INPUT", 1, 1, "log events that the node still held: what it had no time to print",
     "Reports and messages of error_logger, logger, Elixir's Logger and lager, exits that nobody has read, and output on\n"
     "its way to a device, wherever a process held them; newest first.",
     "logs erl_crash.dump\nlogs erl_crash.dump --columns time,level,what,reason --format md", &cmd_logs},
    {"tree", "INPUT [PID]", 1, 2, "the supervision tree, with sums",
     "Of one process and all below it where PID is given.",
     "tree erl_crash.dump --depth 3\ntree erl_crash.dump kernel_sup", &cmd_tree},
    {"diff", "A B", 2, 2, "what grew from one input to another",
     "Nothing is matched by pid: processes by name, else by kind; ETS tables by name and owner; atoms by family.\n"
     "--fail-on 'msgq>10000' (also total, atoms, processes, 'binary>50%', ...) exits with 1 if that grew by more; a\n"
     "severity does if there are new findings of it.",
     "diff monday.dump tuesday.dump\ndiff before.core after.core --fail-on 'total>512MiB' --json", &cmd_diff},
    {"check", "PATH...", 1, 10'000, "a gate for CI: dumps in files, folders, zip archives and tarballs",
     "Exits with 1 if there is a finding at or above --fail-on (high, unless told otherwise), or if a limit is "
     "broken.\n"
     "Dumps and cores are told by content; archives are read three deep. .beamheap.toml of this folder, or the "
     "nearest\n"
     "one above it, holds limits and what to ignore. --out writes text, json, junit, md, github or gitlab.",
     "check artifacts/ --out junit=beamheap.xml\ncheck logs.zip --fail-on critical --fail-on 'msgq>10000'\n"
     "check . --baseline known.json --require-dump",
     &cmd_check},
    {"shell", "INPUT", 1, 1, "loads an input once and answers many questions about it",
     "Verbs are given without INPUT: `top -n 5`, `proc 0.89.0`, `why 7FEDD8C3E990`. Ends with `quit` or Ctrl-D.",
     "shell erl_crash.dump", &cmd_shell},
    {"doctor", "INPUT", 1, 1, "what was recognised in the input, and how far it can be trusted", "",
     "doctor erl_crash.dump", &cmd_doctor},
    {"explain", "SLOGAN|RULE|no-dump", 0, 1, "what a slogan means, and what to do; without an argument: all topics",
     "no-dump: why a node died without leaving a dump.",
     "explain 'eheap_alloc: Cannot allocate 8162366936 bytes of memory (of type \"heap\").'\nexplain no-dump",
     &cmd_explain},
    {"completion", "bash|zsh|fish", 1, 1, "a completion script for a shell", "",
     "completion bash > /etc/bash_completion.d/beamheap", &cmd_completion},
}};

void report(const Error& error) {
    if (error.message.empty()) return;  // the answer has said it
    std::string text = "beamheap: " + present::safe_text(error.message) + '\n';
    if (!error.advice.empty()) text += "          " + present::safe_text(error.advice) + '\n';
    FileSink(STDERR_FILENO).write(text);
}

Status print_text(const std::string& text) {
    FileSink(STDOUT_FILENO).write(text);
    return ok();
}

Status run_command(const Options& options) {
    const Command& command = *find_command(options.verb);
    if (options.inputs.size() < command.least || options.inputs.size() > command.most)
        return Error{
            ErrorCode::usage,
            fmt::format("{} {}", command.name,
                        options.inputs.size() < command.least ? "needs more arguments" : "takes fewer arguments"),
            fmt::format("usage: beamheap {} {}", command.name, command.arguments)};
    return command.run(Context(options));
}

Status dispatch(int argc, char** argv) {
    BH_TRY(const Options options, parse_options(argc, argv));
    if (options.version) return print_text("beamheap " BEAMHEAP_VERSION " (crash dumps of Erlang/OTP R10B to 29, core images of 23 to 29)\n");
    if (options.help) return print_text(options.verb.empty() ? help_text() : help_text(*find_command(options.verb)));
    return run_command(options);
}

}  // namespace

std::span<const Command> commands() { return table; }

const Command* find_command(std::string_view name) {
    const auto found = std::ranges::find(table, name, &Command::name);
    return found == table.end() ? nullptr : found;
}

void run_words(std::vector<std::string> words, const Options& shell, Artifact& loaded) {
    const auto answers = [](const Command& c) {
        return c.name != "shell" && (c.arguments.starts_with("INPUT") || c.name == "explain");
    };
    if (words.front() == "help") {
        std::string text;
        const Command* about = words.size() > 1 ? find_command(words[1]) : nullptr;
        if (about != nullptr)
            text = help_text(*about);
        else
            for (const Command& each : table)
                if (answers(each)) text += fmt::format("  {:<12}{}\n", each.name, each.summary);
        FileSink(STDOUT_FILENO).write(text);
        return;
    }
    const Command* command = find_command(words.front());
    if (command == nullptr || !answers(*command)) {
        std::vector<std::string_view> verbs;
        for (const Command& each : table)
            if (answers(each)) verbs.push_back(each.name);
        std::string advice = present::did_you_mean(words.front(), verbs);
        if (advice.empty()) advice = fmt::format("There are: {} quit", fmt::join(verbs, " "));
        return report({ErrorCode::usage, fmt::format("the shell has no verb '{}'", words.front()), advice});
    }
    if (command->arguments.starts_with("INPUT")) words.insert(words.begin() + 1, shell.inputs.front());
    words.insert(words.begin(), "beamheap");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    auto options = parse_options(static_cast<int>(pointers.size()), pointers.data());
    if (!options) return report(options.error());
    if (options->help) {
        FileSink(STDOUT_FILENO).write(help_text(*command));
        return;
    }
    // What the shell was started with holds until a line says otherwise.
    if (options->redact == present::RedactLevel::secrets) options->redact = shell.redact;
    if (!options->syntax) options->syntax = shell.syntax;
    if (options->term_bytes == Options{}.term_bytes) options->term_bytes = shell.term_bytes;
    if (options->threads == 0) options->threads = shell.threads;
    options->loaded = &loaded;
    if (const Status status = run_command(*options); !status) report(status.error());
}

int exit_code(ErrorCode code) {
    switch (code) {
        case ErrorCode::findings: return 1;
        case ErrorCode::usage: return 2;
        case ErrorCode::unreadable:
        case ErrorCode::not_recognised: return 3;
        case ErrorCode::damaged: return 4;
        case ErrorCode::resource_limit: return 5;
        case ErrorCode::interrupted: return 130;
    }
    return 3;
}

int run(int argc, char** argv) {
    install_signal_handlers();
    try {
        const Status status = dispatch(argc, argv);
        if (status) return 0;
        report(status.error());
        return exit_code(status.error().code);
    } catch (const std::bad_alloc&) {
        report({ErrorCode::resource_limit, "out of memory",
                "Copy the input to a machine with more memory, or ask for less: top needs the process table alone."});
    } catch (const std::exception& error) {
        report({ErrorCode::resource_limit, error.what(), {}});
    }
    return exit_code(ErrorCode::resource_limit);
}

}  // namespace beamheap::cli
