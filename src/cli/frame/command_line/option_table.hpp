// SPDX-License-Identifier: Apache-2.0
// The command line: which options there are, what each does, and how what was typed is read.
//
// One table (option_table.cpp) makes the parser, --help and the shells' completions; command_line.cpp is the only file
// that includes CLI11.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/options.hpp"

namespace beamheap::cli {

struct Command;

/// What an option does: it puts its value (empty for a flag) into the options, or says what is wrong with it; the name
/// of the option is put before that. There is no row without one.
class Setter {
public:
    using Function = Status (*)(Options& options, std::string_view value);
    template <std::convertible_to<Function> Callable>
    requires(!std::same_as<Callable, std::nullptr_t>) constexpr Setter(Callable callable) : function_(callable) {}
    Status operator()(Options& options, std::string_view value) const { return function_(options, value); }

private:
    Function function_;
};

/// Who takes an option.
enum class Scope : std::uint8_t {
    every,   ///< every verb
    inputs,  ///< verbs that open inputs and don't name the executable
    named,   ///< verbs whose rows name it (Command::options)
};

/// What an option is about.
enum class OptionGroup : std::uint8_t {
    answer,    ///< how an answer is shown: its format, columns, order and length
    question,  ///< what is asked: of whom, how deep, which part
    files,     ///< limits of gates, and files that are read beside the input or written
    session,   ///< what holds for a whole session: the input, spelling, redaction, the terminal
};

/// One option, as it is parsed, explained and completed.
struct OptionRow {
    std::string_view names;          ///< "-n,--top"
    std::string_view argument = {};  ///< "N"; empty: a flag
    std::string values = {};         ///< words to choose from, separated by spaces; empty: free
    bool other_values = false;       ///< other words than those may be right, too
    std::string_view preset = {};    ///< what it is without the option, for the help; may be empty
    std::string_view help;
    Scope scope = Scope::every;
    bool holds = false;       ///< given to the shell, it holds for every line that does not say otherwise
    bool repeatable = false;  ///< may be given several times: it is set with each value
    std::string_view reads =
        {};               ///< what a file that it names is read as (bytes/read_files.hpp): it is not written over
    bool beside = false;  ///< it writes files, or goes on without end: nobody gives it who takes one answer
    Setter set;
    OptionGroup group = OptionGroup::answer;  ///< by the part of the table that it stands in

    std::string_view long_name() const;  ///< "--top"
};
std::span<const OptionRow> option_table();
/// Whether this verb takes the option.
bool takes(const Command& verb, const OptionRow& option);
/// The words to choose from where this verb takes the option; null: whatever verb it is.
std::string words_of(const Command* verb, const OptionRow& option);
/// The names of all verbs that take it, with blanks between them.
std::string takers(const OptionRow& option);

/// Reads the command line; a line of the shell begins with what the shell was started with (OptionRow::holds). Errors
/// are ErrorCode::usage, with what was probably meant as advice.
Result<Options> parse_options(int argc, char** argv, const Options* shell = nullptr);
/// The same of words that are at hand, the program's name first.
Result<Options> parse_options(std::vector<std::string> words, const Options& shell);

}  // namespace beamheap::cli
