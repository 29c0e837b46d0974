// SPDX-License-Identifier: Apache-2.0
// Why nodes do not start, and why they end: reasons as OTP and its libraries give them, what each means, and what to
// do.
//
// A reason is a term of somebody's choice, but those that stop nodes come from a small set. What is told by the form of
// the reason is a row of causes.cpp: a pattern, a kind, a wording, a hint. What is looked up elsewhere (misspelt names,
// what a logger still held) is written in src/analyses/causes.
#pragma once

/// {load_failed, Text} and its kin of erlang:load_nif/2 (erl_nif.c), within a pattern.
#define BH_NIF_ERROR "{load_failed | bad_lib | load | old_code | upgrade, Text}"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "erlang/ours.hpp"
#include "erlang/pattern.hpp"
#include "erlang/wording.hpp"

namespace beamheap::erlang {

enum class CauseKind : std::uint8_t {
#define BH_CAUSE_KIND(name, meaning) name,
#include "erlang/cause_kinds.inc"
#undef BH_CAUSE_KIND
};
/// "no_function".
std::string_view name_of(CauseKind kind);

/// What of the failure a row asks besides the form of its reason.
enum class Circumstance : std::uint8_t {
    any,
    eval,   ///< no stack, or one that -eval of the command line has led to
    child,  ///< it is what a supervisor's child gave when it was to be started
};

/// Which place of the stack is told behind the words.
enum class Where : std::uint8_t { nowhere, own_code };

/// When a row is looked at.
enum class Turn : std::uint8_t {
    first,
    after_errors,  ///< where the reason holds no error of the operating system
    left_out,      ///< where the slogan leaves the reason out
};

struct CauseRow {
    Pattern reason;
    CauseKind kind = CauseKind::unknown;
    Wording says;
    Ours hint = "";
    Where where = Where::nowhere;
    /// A frame of the stack ("init:get_boot"), and its youngest one ("prim_tty:_"), each one of some between " | ".
    std::string_view frame, youngest;
    bool inside = false;  ///< also behind the tags of a match or a transaction: {badmatch, {error, Reason}}
    Circumstance circumstance = Circumstance::any;
    Turn turn = Turn::first;
};

/// How the slogan of a failed boot begins up to 25. init prints its reason without binaries, maps and funs then
/// (init.erl, to_string/2).
inline constexpr std::string_view boot_words_of_25 = "init terminating in do_boot";

/// In the order in which they are tried: the first that fits says it.
std::span<const CauseRow> cause_rows();

/// Whether a function is one of "module:function | module:_".
constexpr bool is_function_of(std::string_view functions, std::string_view module, std::string_view function) {
    while (!functions.empty()) {
        const std::size_t end = functions.find(" | ");
        const std::string_view each = functions.substr(0, end);
        const std::size_t colon = each.find(':');
        if (each.substr(0, colon) == module && (each.substr(colon + 1) == "_" || each.substr(colon + 1) == function))
            return true;
        functions = end == functions.npos ? std::string_view{} : functions.substr(end + 3);
    }
    return false;
}

/// What the VM's loader says of a module that it does not load (beam_load.c, beam_file.c, code_server.erl), and what it
/// means of releases.
struct LoaderRefusal {
    std::string_view part;  ///< of its words
    Ours means;
};
std::span<const LoaderRefusal> loader_refusals();

/// Why the on_load function of a module of OTP fails most often, where its native library is there.
struct LibraryRefusal {
    std::string_view module;
    Ours means;
};
std::span<const LibraryRefusal> library_refusals();

/// An error of the operating system, of Erlang's own resolver and port mapper, or of the VM, as functions return it.
struct PosixError {
    std::string_view atom;
    CauseKind kind;
    Ours means;
};
std::span<const PosixError> posix_errors();

}  // namespace beamheap::erlang
