// The verbs: a new one is a row in commands.cpp and a file cmd_<name>.cpp with its list of passes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "cli/context.hpp"

namespace beamheap::cli {

struct Command {
    std::string_view name;
    std::string_view arguments;  ///< "INPUT PID"
    std::size_t least;           ///< arguments that it needs
    std::size_t most;            ///< and takes
    std::string_view summary;    ///< one line
    std::string_view details;    ///< for VERB --help: paragraphs; may be empty
    std::string_view examples;   ///< lines, without "beamheap "; may be empty
    Status (*run)(const Context& context);
};
std::span<const Command> commands();
const Command* find_command(std::string_view name);

/// Parses, dispatches, reports an error on standard error; the exit code of the process.
int run(int argc, char** argv);
/// Runs one line of the shell on the input that it has loaded: words[0] is the verb, the input's path is put behind it.
/// Errors are reported on standard error.
void run_words(std::vector<std::string> words, const Options& shell, Artifact& loaded);
/// The exit code for a kind of error.
int exit_code(ErrorCode code);

Status cmd_analyze(const Context& context);
Status cmd_core(const Context& context);
Status cmd_top(const Context& context);
Status cmd_proc(const Context& context);
Status cmd_stacks(const Context& context);
Status cmd_msgs(const Context& context);
Status cmd_heap(const Context& context);
Status cmd_term(const Context& context);
Status cmd_why(const Context& context);
Status cmd_blame(const Context& context);
Status cmd_binaries(const Context& context);
Status cmd_profile(const Context& context);
Status cmd_check(const Context& context);
Status cmd_diff(const Context& context);
Status cmd_shell(const Context& context);
Status cmd_ets(const Context& context);
Status cmd_ports(const Context& context);
Status cmd_logs(const Context& context);
Status cmd_timers(const Context& context);
Status cmd_atoms(const Context& context);
Status cmd_alloc(const Context& context);
Status cmd_schedulers(const Context& context);
Status cmd_nodes(const Context& context);
Status cmd_modules(const Context& context);
Status cmd_waits(const Context& context);
Status cmd_tree(const Context& context);
Status cmd_doctor(const Context& context);
Status cmd_explain(const Context& context);
Status cmd_completion(const Context& context);

}  // namespace beamheap::cli
