// SPDX-License-Identifier: Apache-2.0
// The verbs: what each takes, what its help says, and the function that answers it.
//
// A new verb is a file cmd_<name>.cpp that ends with its row (BH_DEFINE_VERB), and a line in verbs.inc, which gives its
// place in the help. The help, completions, the shell and the tests read these rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// What a word behind a verb names.
enum class ArgumentKind : std::uint8_t {
    input,
    executable,
    path,
    process,
    address,
    table,
    function,
    topic,
    shell,
    query
};
std::string_view name_of(ArgumentKind kind);

struct Argument {
    std::string_view name;  ///< as the usage line writes it: "PID"
    ArgumentKind kind = ArgumentKind::input;
    bool optional = false;  ///< it may be missing, and so may all that stand behind it
    bool repeated = false;  ///< one or more of them
};
constexpr Argument optional(Argument argument) {
    argument.optional = true;
    return argument;
}
constexpr Argument repeated(Argument argument) {
    argument.repeated = true;
    return argument;
}
namespace argument {
inline constexpr Argument input{"INPUT", ArgumentKind::input};
inline constexpr Argument process{"PID", ArgumentKind::process};
inline constexpr Argument address{"ADDRESS", ArgumentKind::address};
}  // namespace argument

struct Command {
    std::string_view name;
    std::array<Argument, 3> arguments{};  ///< in order; one without a name ends them
    std::string_view options;             ///< its own ("--by --full"), beside those of every verb
    std::string_view groups;              ///< what --by takes, where that is no column of processes ("shape sender")
    std::string_view formats;             ///< of --format, its own ("junit github"), beside those of every verb
    std::string_view summary;             ///< one line
    std::string_view details;             ///< for VERB --help: paragraphs; may be empty
    std::string_view examples;            ///< lines, without "beamheap "; may be empty
    bool alone = false;         ///< not within the shell: it is not about the one input that the shell has loaded
    bool of_processes = false;  ///< its rows are processes: the help tells their columns
    bool writes = false;        ///< what it gives is a file, a script or a report of its own, no document of tables
    bool session = false;  ///< it answers questions one after the other: it takes its own options and those that hold
                           ///< for all (OptionRow::holds)
    /// Whether what it makes is a folder; null: it is a file.
    bool (*makes_folder)(const Options& options) = nullptr;
    /// It gives up rights by itself, in the process that reads inputs; another one keeps what it needs of them.
    bool divided = false;
    Status (*run)(const Context& context) = nullptr;

    /// What the word number `i` of `given` is: where one is repeated, the last words are what stands behind it.
    const Argument& argument_of(std::size_t i, std::size_t given) const;
    std::size_t least() const;  ///< arguments that it needs
    std::size_t most() const;   ///< and takes
    /// Whether its first argument is the input, which the shell puts there by itself.
    bool takes_input() const { return !arguments[0].name.empty() && arguments[0].kind == ArgumentKind::input; }
    /// Whether an argument is of this kind.
    bool takes(ArgumentKind kind) const;
    /// Whether one of them is the file or the folder that it makes.
    bool makes_files() const { return arguments[0].kind != ArgumentKind::path && takes(ArgumentKind::path); }
    /// "INPUT [TABLE]", "PATH..."
    std::string usage() const;
};

/// Defines the row of a verb, at the end of its file: BH_DEFINE_VERB(top){.name = "top", ...};
#define BH_DEFINE_VERB(verb)          \
    extern const Command verb_##verb; \
    constinit const Command verb_##verb

/// "usage: beamheap top INPUT"; in a session, where the input is known, "usage: top".
std::string usage_line(const Command& command, bool in_session);

/// Every verb, in the order of the help.
std::span<const Command* const> commands();
const Command* find_command(std::string_view name);

/// Parses, dispatches, reports an error on standard error; the exit code of the process.
int run(int argc, char** argv);
/// Runs a verb in a process that was made for it (fork): errors are reported on standard error, and its rights given
/// up, as if it were the program's one question. `taker` as of Context. The exit code.
int run_alone(const Options& options, const AnswerTaker* taker = nullptr);
/// Runs one line of the shell on the input that it has loaded: words[0] is the verb, the input's path is put behind it.
/// Errors are reported on standard error.
void run_words(std::vector<std::string> words, const Options& shell, LoadedInput& loaded);
/// Answers a question of a session (words as of run_words) to `taker`. Errors: usage, where no such question is
/// answered by tables; those of the verb.
Status take_answer(std::vector<std::string> words, const Options& session, LoadedInput& loaded,
                   const AnswerTaker& taker);
/// The same of an input that nothing is loaded of: as much of it is read as the question takes. `progress` is told how
/// far that has come.
Status take_answer_alone(std::vector<std::string> words, const Options& session, const AnswerTaker& taker,
                         const Progress& progress);
/// The same of a command line: its verb names its inputs by itself, or needs none.
Status take_answer_of(std::vector<std::string> line, const Options& session, const AnswerTaker& taker);
/// The exit code for a kind of error.
int exit_code(ErrorCode code);

}  // namespace beamheap::cli
