// SPDX-License-Identifier: Apache-2.0
// Processes of OTP and of libraries by the names that they are registered under: single ones as constants, others by
// roles, whose rows are in registered.inc. What helps where many wait for one is told by servers.hpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace beamheap::erlang {

namespace registered {
inline constexpr std::string_view init = "init";
inline constexpr std::string_view application_controller = "application_controller";
inline constexpr std::string_view kernel_supervisor = "kernel_sup";
/// The last supervisor that kernel starts: a node that has it is up.
inline constexpr std::string_view last_of_kernel = "kernel_safe_sup";
inline constexpr std::string_view net_kernel = "net_kernel";
/// Loads all other modules, for whoever calls one that is not loaded.
inline constexpr std::string_view code_server = "code_server";
/// Reads the first modules, and has the code path of the boot script.
inline constexpr std::string_view first_loader = "erl_prim_loader";
/// Tells the program that watches over the node that it lives, and asks a callback of the user's first.
inline constexpr std::string_view beat_sender = "heart";
/// Kills who runs old code before it is taken away (since 21).
inline constexpr std::string_view code_purger = "erts_code_purger";
/// Answers signals of the operating system (since 20).
inline constexpr std::string_view signal_server = "erl_signal_server";
/// Up to 25 it has the repeated timers of the module timer.
inline constexpr std::string_view timer_server = "timer_server";
/// Loads mnesia's tables.
inline constexpr std::string_view table_loader = "mnesia_controller";
}  // namespace registered
/// The application that every node starts first.
inline constexpr std::string_view first_application = "kernel";

/// Whether a program calls a process so that watches over the node, or over others: "systemd_watchdog", "heartbeat".
inline bool is_called_watchdog(std::string_view name) {
    const auto has = [name](std::string_view part) { return name.find(part) != name.npos; };
    return has("watchdog") || has("Watchdog") || has("heartbeat") || has("Heartbeat");
}

/// What of such names is known.
enum class RegisteredRole : std::uint8_t {
    starts_node,       ///< works while the node starts
    prints,            ///< writes to the terminal, standard output or standard error
    keeps_log_events,  ///< may hold events of the log
    protects_log,      ///< a log handler's protection against overload
};
bool has_role(std::string_view name, RegisteredRole role);

}  // namespace beamheap::erlang
