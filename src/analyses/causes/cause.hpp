// What a failure means: the innermost reason in words, with what the rest of the node knows about it.
//
// A reason is a term of somebody's choice, but those that stop nodes at their start come from a small set: a function
// that does not exist, a port or a name that is taken, a file that is not there or can't be read, a name that nobody is
// registered under, an application that is not installed, a value that a match did not expect. Each is one function in
// cause_*.cpp. What fits none is shown as it is.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/causes/failure.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

enum class CauseKind : std::uint8_t {
    unknown,         ///< a reason that says nothing by itself: shown as it is
    none,            ///< the input does not hold the reason
    no_function,     ///< undef: module or function does not exist
    bad_module,      ///< the module is there, but can't be loaded
    bad_code,        ///< syntax error in -eval, in a configuration file
    port_taken,      ///< eaddrinuse, dist_port_already_used
    name_taken,      ///< the node's name is in use
    bad_name,        ///< the node's name, or the name of its host, does not do
    cookie,          ///< the cookie file can't be read or made
    no_file,         ///< enoent and its like
    refused,         ///< another service can't be reached
    not_registered,  ///< noproc: nobody has that name
    no_application,  ///< an application is not installed, or not started
    no_table,        ///< an ETS or mnesia table does not exist
    bad_value,       ///< a match, a case, an argument
    bad_return,      ///< a callback returned what it may not
    no_output,       ///< standard output or error is gone
    timeout,
    bad_specification,  ///< a boot script, a release, a child specification, a setting that can't be
    no_library,         ///< a native library can't be loaded
    stopped,            ///< it was told to stop while it started
    message,            ///< a reason that holds a text for people
};
/// snake_case name: "no_function".
std::string_view name_of(CauseKind kind);

struct Cause {
    CauseKind kind = CauseKind::unknown;
    Sentence what;                ///< "port 8081 of listener http is in use", without a full stop
    Sentence where;               ///< ", called in m:f/a (file:3)"; empty: nobody knows
    std::vector<Sentence> hints;  ///< what to do, one sentence each
};

/// What an error of the operating system means, "the disk is full" for enospc; empty where it is none that is known
/// here.
Ours meaning_of_posix(std::string_view atom);

/// A text in one line, without the frames that follow it ("    (stdlib) io.ex:1: ..."), no longer than `most` bytes and
/// three dots.
std::string one_line(std::string_view text, std::size_t most = 100);

/// Explains a failure. `events` are the log events of the node: the reason of a name that is taken stands in a message
/// of its own, that of a module that can't be loaded, too. With Snapshot::modules it tells misspelt names, with
/// Snapshot::atoms the name that a node was given.
Cause cause_of(const Snapshot& snapshot, const Failure& failure, std::span<const LogEvent> events);

}  // namespace beamheap::analyses
