// The command line as data: which options there are, what they mean, and what the user chose.
//
// One table (option_table) makes the parser, --help and the shells' completions. options.cpp is the only file that
// includes CLI11.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/artifact.hpp"
#include "beamheap/error.hpp"
#include "present/erlang_text.hpp"
#include "present/redact.hpp"

namespace beamheap::cli {

enum class When : std::uint8_t { automatic, always, never };

/// What the user asked for. Values are as typed where a verb has to make sense of them.
struct Options {
    std::string verb;                 ///< empty: only --help or --version
    std::vector<std::string> inputs;  ///< positional arguments behind the verb

    std::string format = "table";
    std::vector<std::string> columns;
    std::string sort;
    std::string by;       ///< --by: what to rank or group by
    std::string pattern;  ///< --pattern M:F/A
    bool per_process = false;
    std::optional<bool> descending;
    std::optional<std::size_t> top;
    std::string procs;
    When color = When::automatic;
    When progress = When::automatic;
    present::RedactLevel redact = present::RedactLevel::secrets;
    std::optional<present::Syntax> syntax;  ///< empty: auto
    bool strict = false;
    bool quiet = false;
    bool verbose = false;
    unsigned threads = 0;  ///< 0: as many as there are cores
    bool full = false;
    bool traced = false;  ///< --traced: what tracing had counted
    bool running = false; ///< --running: what ran, in place of all stacks
    bool dead = false;    ///< --dead: garbage instead of roots
    std::string executable;
    std::uint64_t term_bytes = 200;    ///< 0: whole terms
    std::vector<std::string> fail_on;  ///< --fail-on, as given
    std::vector<std::string> out;      ///< --out, as given
    std::string baseline;
    std::string config;
    bool require_dump = false;
    bool overwrite = false;      ///< -f
    bool redact_chosen = false;  ///< --redact was given
    std::uint32_t depth = 0;     ///< of `tree`; 0: all of it

    bool help = false;
    bool version = false;

    /// What the shell has loaded already: opening an input then gives this. Null elsewhere.
    Artifact* loaded = nullptr;
};

/// One option, as help and completion show it.
struct OptionRow {
    std::string_view names;     ///< "-n,--top"
    std::string_view argument;  ///< "N"; empty: a flag
    std::string_view values;    ///< words to choose from, separated by spaces; empty: free
    std::string_view preset;    ///< what it is without the option, for the help; may be empty
    std::string_view help;
    std::string_view verbs;  ///< verbs that take it, separated by spaces; empty: all
};
std::span<const OptionRow> option_table();
/// Whether this verb takes the option.
bool takes(std::string_view verb, const OptionRow& option);

/// Reads the command line. Errors are ErrorCode::usage, with what was probably meant as advice.
Result<Options> parse_options(int argc, char** argv);

}  // namespace beamheap::cli
