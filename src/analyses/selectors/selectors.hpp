// SPDX-License-Identifier: Apache-2.0
// What users write to name a process, a set of processes, a function or a quantity.
//
// One process: every spelling of a pid or a registered name. A set, the argument of --procs:
//
//     selector    = alternative {"," alternative}            union
//     alternative = factor {"&" factor}                      intersection
//     factor      = "!" factor | "(" selector ")" | term
//     term        = pid | name | 'quoted name' | na*e         registered names, * stands for any bytes
//                 | column op quantity                       msgq>1000, memory>=512MiB, reductions>5%
//                 | word                                     all registered sensitive supervisors orphans, and the
//                                                            states waiting running runnable suspended
//                                                            garbage_collecting exiting; stable moving: of a running
//                                                            VM, whether it stood still while it was read, as all do
//                                                            in images of one instant
//                 | "children(" process ")"                  in the supervision tree (supervision.hpp)
//                 | "all_children(" process ")"              children and their children; not the process itself
//                 | "group(" name ")"                        the group key (groups.hpp)
//                 | "initial(" function ")"                  $initial_call or what it was spawned as
//                 | "current(" function ")"                  where it is
//                 | "stack(" function ")"                    anywhere on its stack
//                 | "in(" function ")"                       where it is, or anywhere on its stack
//                 | "module(" function ")"                   the same, or what it was started as: who runs this module
//     op          = ">" | ">=" | "<" | "<=" | "=<" | "=" | "==" | "!=" | "/=" | "=/="
//
// A name that is also one of the words is meant with quotes. A figure that the input does not hold fits no comparison.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/processes/process_columns.hpp"
#include "beamheap/error.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// A number with what it counts. Spellings: 10000, 10_000, 1.5k, 512MiB, 2GB, 80%.
struct Quantity {
    enum class Unit : std::uint8_t { number, bytes, percent } unit = Unit::number;
    std::uint64_t value = 0;  ///< of number and bytes; saturates
    double percent = 0;       ///< of percent
};

/// Suffixes: none or k, M, G, T (powers of 1000) give a number; B, KB .. TB (1000) and KiB .. TiB (1024) give bytes, as
/// do K, M, G, T followed by "iB" in any case; % gives percent. Errors: ErrorCode::usage with what was expected.
Result<Quantity> parse_quantity(std::string_view text);

/// A process as the user wrote it: exactly one of pid and name is set.
struct PidOrName {
    Pid pid;
    std::string name;     ///< without quotes
    bool quoted = false;  ///< 'name' or "name": a name even if it reads like something else
};

/// <0.123.0>, 0.123.0, #PID<0.123.0>, pid(0,123,0), 0,123,0; lager_event, 'odd name', :name, MyApp.Worker.
/// Spaces around are ignored. Errors: ErrorCode::usage.
Result<PidOrName> parse_pid_or_name(std::string_view text);

/// The process that `text` names. A name is looked up as written, then as an Elixir module (`Elixir.` before it).
/// Errors: ErrorCode::usage; the message says what is missing, the advice names near misses: the same number with
/// another serial, the neighbours of a pid, names that differ by little.
Result<ProcId> resolve(const Snapshot& snapshot, std::string_view text);
Result<ProcId> resolve(const Snapshot& snapshot, const PidOrName& wanted);

/// M:F/A, M:F, M or M.F/A of an Elixir module; `_` or `*` in place of a part is any, `*` inside a name any bytes.
struct FunctionPattern {
    std::string module = "*";
    std::string name = "*";
    std::int64_t arity = -1;  ///< -1: any
};
Result<FunctionPattern> parse_function_pattern(std::string_view text);
bool matches(const FunctionPattern& pattern, const Snapshot& snapshot, FunctionId function);
/// Which functions of the snapshot fit, by FunctionId: one pass instead of one comparison per process.
std::vector<bool> matching_functions(const FunctionPattern& pattern, const Snapshot& snapshot);

/// Whether `text` fits `glob`, where * stands for any bytes. O(length of both) for one *, never exponential.
bool fits_glob(std::string_view text, std::string_view glob);

/// A selector that was read: an expression in postfix order.
class Selector {
public:
    /// What an input must have loaded before it can be answered.
    ProcessNeeds needs() const;

    struct Step {
        enum class Kind : std::uint8_t {
            all,
            registered,
            sensitive,
            supervisors,
            orphans,
            stable,
            moving,
            state,
            process,
            names,
            compare,
            children,
            all_children,
            group,
            initial,
            current,
            stack,
            in,
            module,
            unite,
            intersect,
            negate
        };
        enum class Operator : std::uint8_t { less, less_equal, greater, greater_equal, equal, not_equal };
        Kind kind = Kind::all;
        ProcessState state = ProcessState::unknown;
        const ProcessColumn* column = nullptr;  ///< a figure
        Operator op = Operator::equal;
        Quantity quantity;
        PidOrName process;
        std::string text;  ///< glob of names, group's name
        FunctionPattern function;
    };
    std::vector<Step> steps;
    std::string source;
};

/// Errors: ErrorCode::usage, "selector, column N: what was expected".
Result<Selector> parse_selector(std::string_view text);

/// The processes that fit, in the input's order. Errors: ErrorCode::usage where a pid or name is not in the input.
/// A quantity in bytes against a column in words is converted; in percent it is a share of the sum over all processes.
Result<std::vector<ProcId>> select_processes(const Snapshot& snapshot, const Selector& selector);
/// parse_selector and select_processes in one.
Result<std::vector<ProcId>> select_processes(const Snapshot& snapshot, std::string_view selector);

/// Up to `limit` of `candidates` that look like `wanted`, nearest first: few edits apart (Damerau-Levenshtein, at most
/// a third of the length), or one containing the other.
std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string_view>& candidates,
                                    std::size_t limit);

}  // namespace beamheap::analyses
