// SPDX-License-Identifier: Apache-2.0
// What the user chose on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "present/erlang_text.hpp"
#include "present/secrets/redact.hpp"

namespace beamheap::cli {

enum class When : std::uint8_t { automatic, always, never };

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
    bool screen = false;   ///< who asks wants no more than one screen, whatever the format (mcp)
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
    std::string max_memory;              ///< --max-memory, as given
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
    bool every_vm = false;              ///< --all: all that run here
    std::string until;                  ///< --until, as given
    std::string listen;                 ///< --listen, as given
    bool no_fold = false;               ///< --no-fold: rows that are alike, one by one
    std::string keep_what = "none";     ///< --keep: what of a death's own files `catch` keeps
    std::string pipe;                   ///< --pipe: where VMs write their dumps
    std::string catch_in;               ///< --catch: the folder of answers about the death of a VM that is watched
    bool once = false;                  ///< --once
    std::string deadline = "20s";       ///< --deadline, as given
    std::string disk = "2GiB";          ///< --disk, as given
    std::string spare = "1GiB";         ///< --free, as given
    std::string otherwise;              ///< --else: who takes core images of other programs
    std::string execute;                ///< --exec: a program that is given the files' names
    std::string install;                ///< --install: what is printed
    bool check_setup = false;           ///< --check

    /// What the input is called in answers, in place of its path; `{node}` is the node's name, fit for a file's. No
    /// option sets it.
    std::string shown_as;
    std::string node_name;  ///< of the first input, where it was named by its node's name; `inputs` has its pid
    /// The signal that a VM dies of while it is read, which its memory does not tell; 0: none. No option sets it.
    std::uint32_t died_of = 0;
    /// Why less of the input was kept than its VM wrote, as a clause; empty: all of it. No option sets it.
    std::string cut_by;

    bool help = false;
    bool version = false;

    std::vector<GivenOption> given;  ///< everything above that was set by an option, in the table's order
    bool operator==(const Options&) const = default;
};

/// The parts of `text` between separators, without empty ones.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace beamheap::cli
