// SPDX-License-Identifier: Apache-2.0
// Log events that a node still held when it died: what it had said, or was about to say, and nobody may have seen.
//
// A node that dies while it starts has not yet printed why: its reports lie in the buffer of the first log handler, in
// the queue of a logger, on the stack of the handler that was formatting them, or as the exit message that somebody has
// not read yet. Every OTP release and the loggers around it have their own forms; all become one LogEvent:
//
//   {error, GL, {Pid, Format, Args}}, {error_report, GL, {Pid, Type, Report}} and their kin
//                       error_logger's events (error_logger.erl, R7 to 29); {{Date,Time},Event} in its first handler
//   #{level, msg, meta}                  logger's events (logger.erl, 21 and later), formatted or not
//   {log, Level, Format, Args, Meta}, {log, Level, Report, Meta}
//                       on the way to them from the emulator and from other nodes (logger_server, logger_proxy)
//   {Level, GL, {'Elixir.Logger', Text, Time, Meta}}     Elixir's Logger with backends (up to 1.14)
//   {lager_msg, ...}    lager 2 and 3
//   {'EXIT', Pid, Reason}, {'DOWN', _, process, Pid, Reason}   in a queue, with a reason that is no orderly end
//   {io_request, From, _, {put_chars, ...}}   text on its way to a terminal or file
//
// They are found wherever a process that may hold one holds it: every tuple and map of these forms on its heap counts,
// not only those in known places. One event that lies in several places is told once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/artifact.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

/// logger's levels, worst first; `none` where the form has none.
enum class LogLevel : std::uint8_t { emergency, alert, critical, error, warning, notice, info, debug, none };
/// "emergency", ..., "debug"; empty for none.
std::string_view name_of(LogLevel level);

enum class LogKind : std::uint8_t {
    message,            ///< a text with arguments, or a report of no form of OTP's
    crash_report,       ///< proc_lib: a process ended by an exception
    supervisor_report,  ///< a child ended, or did not start
    progress,           ///< something started
    application_end,    ///< application_controller: an application ended
    process_error,      ///< the emulator or a behaviour: a process ended with a reason
    exit_message,       ///< {'EXIT', ...} or {'DOWN', ...} that nobody has read
    output,             ///< text on its way to a device
};
/// "message", "crash_report", ...
std::string_view name_of(LogKind kind);

struct LogFrame {
    std::string module, function, file;
    std::uint32_t arity = 0;
    std::uint32_t line = 0;  ///< 0: unknown
    bool cut = false;        ///< the list of arguments was cut, so that `arity` is only how many are left
    Element error_cause;     ///< `cause` of its error_info (EEP 54): what the function itself says; unknown: nothing
    Element arguments;       ///< a list where the frame has them (the youngest of undef, badarg, ...), else unknown
};

struct LogEvent {
    LogKind kind = LogKind::message;
    LogLevel level = LogLevel::none;
    std::string time;         ///< "2011-11-09 14:57:37" local, or with Z where it is UTC; empty: the form has none
    std::uint64_t order = 0;  ///< later events have a larger one, as far as times tell; 0: unknown
    Pid pid;                  ///< of whom it is about; none: unknown
    std::string name;         ///< its registered name, or the supervisor's, as the event gives it
    std::string module;       ///< where it was logged, or where the failing function is
    /// The event's own terms live here.
    std::shared_ptr<OwnedTerm> term;
    Element format;             ///< message: a string with ~ directives, or a text; unknown: `report` is it
    std::vector<Element> args;  ///< of `format`
    Element report;             ///< a report's own term
    Element reason;             ///< why something ended; unknown where the event gives none
    std::shared_ptr<OwnedTerm> reason_term;  ///< where `reason` lives: `term`, or what was parsed of a printed text
    Element subject;                         ///< supervisor_report: the child's id; application_end: the application
    std::vector<LogFrame> stack;             ///< of the reason, youngest first
    ProcId holder = ProcId::none;            ///< in whose memory it was
    bool in_queue = false;                   ///< as a message that was not read
};

/// Which processes may hold events: loggers of all kinds, handlers, groups and user, whoever is in a function of them,
/// init and the boot process; all, where all heaps together are small. Needs the process table; with stacks it sees
/// more. Asked about many processes of one snapshot, whose sum it keeps.
class EventHolders {
public:
    /// Words of all heaps together up to which all processes are looked through.
    static constexpr std::uint64_t small_node = 4'000'000;

    explicit EventHolders(std::uint64_t small = small_node) : small_(small) {}
    bool operator()(const Snapshot& snapshot, ProcId process);
    /// Whether all processes are looked through that have no queue or heap of extraordinary size.
    bool all(const Snapshot& snapshot);

private:
    bool in_logger(const Snapshot& snapshot, FunctionId function);

    std::uint64_t small_;
    std::vector<std::int8_t> loggers_;  // by FunctionId: whether it is a logger's; below 0: not asked yet
    std::optional<bool> small_node_;
};

/// Adds the events in the terms of one process. At most 1,000 of one process.
void find_events(ProcId process, TermSource& terms, std::vector<LogEvent>& events);

/// Takes out what is an earlier one again: equal in time, process, and text or reason, whatever its metadata are.
void keep_each_once(std::vector<LogEvent>& events);

/// All events of an input, newest first where times are known, else in the order in which they were met; each once.
/// Needs LoadPlan::terms, with `holds` as terms_of, and LoadPlan::stacks.
std::vector<LogEvent> log_events(Artifact& artifact, EventHolders holds = EventHolders());

}  // namespace beamheap::analyses
