// SPDX-License-Identifier: Apache-2.0
// The functions in which a process that has crashed tells the loggers of it, and goes on dying when they return; names
// that the log's events are told by.
#pragma once

#include <array>
#include <string_view>

namespace beamheap::erlang {

struct CrashReporter {
    std::string_view module, function;  // of any arity
};
// lib/stdlib of OTP R13 to 29. Each calls logger (error_logger up to 20) while its own frame stands: handlers format in
// the process that logs, the State and the last message among what they print.
inline constexpr std::array crash_reporters{
    CrashReporter{"gen_server", "error_info"},
    CrashReporter{"gen_statem", "error_info"},
    CrashReporter{"gen_fsm", "error_info"},
    CrashReporter{"gen_event", "report_error"},
    CrashReporter{"gen_event", "report_terminate"},
    CrashReporter{"proc_lib", "crash_report"},
    CrashReporter{"proc_lib", "exit_p"},
    CrashReporter{"Elixir.Task.Supervised", "log"},
};
/// The one of these whose reports have all messages of the queue in them (proc_lib.erl, my_info/4).
inline constexpr std::string_view reporter_of_queues = "proc_lib";
/// What the log's events are told by: {Level, GroupLeader, {'Elixir.Logger', Text, Time, Metadata}} of Elixir's own
/// Logger; #{label := {error_logger, _}} of calls of error_logger that logger took (since 21); the key under which
/// reports of supervisors and of progress have who reports.
inline constexpr std::string_view event_of_elixir = "Elixir.Logger", label_of_error_logger = "error_logger",
                                  key_of_supervisor = "supervisor";

/// The reason in the last report of a supervisor that gives up (supervisor.erl, restart/2).
inline constexpr std::string_view restarted_too_often = "reached_max_restart_intensity";

/// Modules that are loaded when the first crash with a stack is printed (proc_lib.erl, gen_server.erl; Elixir's
/// Logger), since logger is there (21).
inline constexpr std::array printers_of_crashes{std::string_view("erl_error"), std::string_view("Elixir.Exception")};
inline constexpr std::string_view logs_since_21 = "logger";

/// The beginnings of modules in which such a process is while it formats.
inline constexpr std::array formatting_modules{std::string_view("io_lib"), std::string_view("logger"),
                                               std::string_view("error_logger"), std::string_view("Elixir.Inspect"),
                                               std::string_view("Elixir.Logger")};

}  // namespace beamheap::erlang
