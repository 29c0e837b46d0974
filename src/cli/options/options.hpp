// SPDX-License-Identifier: Apache-2.0
// The command line as data: which options there are, what they mean, and what the user chose.
//
// One table (option_table.cpp) makes the parser, --help and the shells' completions, and holds what each option does;
// options.cpp is the only file that includes CLI11.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "present/erlang_text.hpp"
#include "present/secrets/redact.hpp"

namespace beamheap::cli {

enum class When : std::uint8_t { automatic, always, never };

struct Command;
struct OptionRow;

/// An option as it was typed.
struct GivenOption {
    const OptionRow* row = nullptr;
    std::string value;
    bool operator==(const GivenOption&) const = default;
};

/// What the user asked for. Values are as typed where a verb has to make sense of them.
struct Options {
    std::string verb;                 ///< empty: only --help or --version
    std::vector<std::string> inputs;  ///< positional arguments behind the verb

    std::string format = "table";
    std::vector<std::string> columns;
    std::string sort;
    std::string table;    ///< --table: which table of the answer
    std::string by;       ///< --by: what to rank or group by
    std::string pattern;  ///< --pattern M:F/A
    bool per_process = false;
    std::optional<bool> descending;
    std::optional<std::size_t> top;
    std::string procs;
    When color = When::automatic;
    When progress = When::automatic;
    present::RedactLevel redact = present::RedactLevel::secrets;
    present::Salt salt = present::salt_of_run();  ///< of placeholders
    std::optional<present::Syntax> syntax;        ///< empty: auto
    bool strict = false;
    bool quiet = false;
    bool verbose = false;
    unsigned threads = 0;  ///< 0: as many as there are cores
    bool full = false;
    bool traced = false;   ///< --traced: what tracing had counted
    bool running = false;  ///< --running: what ran, in place of all stacks
    bool dead = false;     ///< --dead: garbage instead of roots
    std::string executable;
    std::vector<std::string> code;     ///< --code, as given
    bool no_code = false;              ///< --no-code
    std::vector<std::string> sources;  ///< --source, as given
    bool no_records = false;           ///< --no-records
    std::uint64_t term_bytes = 200;    ///< 0: whole terms
    std::string into;                  ///< address of the term whose elements `heap` lists
    std::uint64_t page = 1;            ///< of a term's elements
    std::vector<std::string> fail_on;  ///< --fail-on, as given
    std::vector<std::string> out;      ///< --out, as given
    std::string baseline;
    std::string config;
    bool require_dump = false;
    std::string output;                  ///< -o
    std::string root;                    ///< --root: below it are the inputs that may be asked for
    bool everything = false;             ///< --html-full
    std::string since;                   ///< --since: the input that the report compares with
    bool overwrite = false;              ///< -f
    bool redact_chosen = false;          ///< --redact was given
    std::uint32_t depth = 0;             ///< of `tree`; 0: all of it
    std::uint64_t max_rows = 1'000'000;  ///< --max-rows: of a query's answer
    std::uint32_t max_seconds = 60;      ///< --max-seconds: that a query runs
    std::string to = "sqlite";           ///< --to: what an export is
    bool no_pager = false;
    std::string duration;               ///< --for, as given
    std::uint32_t hertz = 0;            ///< --hz: samples a second; 0: the verb's own
    bool only_erlang = false;           ///< --only-erlang
    std::string blamed;                 ///< --blame FUNCTION
    bool pstack = false;                ///< --pstack
    bool stop_threads = false;          ///< --stop: of `sample`
    bool perf_map = false;              ///< --perf-map
    std::string every;                  ///< --every, as given
    std::uint64_t keep = 360;           ///< --keep: files of windows in a folder
    std::string keep_bytes = "256MiB";  ///< --keep-bytes, as given
    bool no_fold = false;               ///< --no-fold: rows that are alike, one by one

    bool help = false;
    bool version = false;

    std::vector<GivenOption> given;  ///< everything above that was set by an option, in the table's order
    bool operator==(const Options&) const = default;
};

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
        {};  ///< what a file that it names is read as (bytes/read_files.hpp): it is not written over
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

/// The parts of `text` between separators, without empty ones.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace beamheap::cli
