// SPDX-License-Identifier: Apache-2.0
// What of a node's command line its atom table still shows.
//
// init makes atoms of the names that -s and -run are given, of the arguments of -s, and of the names of flags, before
// anything but the VM's own modules is loaded (init.erl, b2a/1 and boot/1). Atoms keep the order in which they were
// made, so that those of the command line are neighbours. Seen in dumps of R10B to 29:
//
//     up to 18    VM's own, [names of -s and -run], '-progname', '-home', other flags as '-flag', 'no -hosts flag',
//     ...,
//                 root, progname, home, the same flags without their dash
//     from 19 on  VM's own, progname, home, [flags and names of -s and -run, as they were written], preloaded
//
// A name that was an atom already (start, init, kernel) is not among them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace beamheap::erlang {

/// The value of -mode with which releases are started: code_server loads what the boot script names, and nothing when
/// it is called (code_server.erl).
inline constexpr std::string_view mode_of_releases = "embedded";

/// Where names of the command line begin and end in the order of making: behind the last atom that is one of the VM's
/// own, which is told by its form, before '-progname'; or between `home` and `preloaded`.
inline constexpr std::string_view first_old_flag = "-progname", last_own_flag = "home", first_flag = "progname",
                                  behind_flags = "preloaded";

/// Whether an atom is one of the VM's last before those of the command line: a fun of a preloaded module, an allocator.
constexpr bool is_atom_of_vm(std::string_view name) {
    return name.ends_with("_alloc") || name.find("-fun-") != name.npos;
}

/// Flags of erl(1), init(3), kernel, stdlib, and applications whose settings are given on command lines most.
inline constexpr std::array known_flags = std::to_array<std::string_view>({
    "args_file",
    "async_shell_start",
    "bindir",
    "boot",
    "boot_var",
    "code_path_cache",
    "code_path_choice",
    "compat_rel",
    "compiler",
    "config",
    "configfd",
    "connect_all",
    "crypto",
    "detached",
    "disable-feature",
    "dist_listen",
    "elixir",
    "elixir_root",
    "emu_args",
    "emu_flavor",
    "emu_type",
    "enable-feature",
    "env",
    "epmd_module",
    "epmd_port",
    "erl_epmd_node_listen_port",
    "erl_epmd_port",
    "eval",
    "extra",
    "heart",
    "hidden",
    "hosts",
    "id",
    "inets",
    "init_debug",
    "instr",
    "kernel",
    "loader",
    "logger",
    "mnesia",
    "mode",
    "name",
    "no_epmd",
    "noinput",
    "noshell",
    "nostick",
    "oldshell",
    "os_mon",
    "pa",
    "path",
    "pgs",
    "pid",
    "profile_boot",
    "proto_dist",
    "pz",
    "rabbit",
    "releases_dir",
    "remsh",
    "repl",
    "root",
    "rsh",
    "run",
    "s",
    "sasl",
    "setcookie",
    "shutdown_time",
    "smp",
    "sname",
    "snmp",
    "ssh",
    "ssl",
    "ssl_dist_opt",
    "ssl_dist_optfile",
    "start_epmd",
    "stdlib",
    "syslog",
    "user",
    "version",
});
static_assert(std::ranges::is_sorted(known_flags));

/// Commands of the shell (shell_default.erl, c.erl), which -eval has not.
inline constexpr std::array shell_commands = std::to_array<std::string_view>(
    {"bt", "c",  "cd", "flush", "help", "i",   "l", "lc", "lm",   "ls", "m",      "memory", "mm",
     "nc", "ni", "nl", "nregs", "pid",  "pwd", "q", "r",  "regs", "rr", "uptime", "xm",     "y"});
static_assert(std::ranges::is_sorted(shell_commands));
constexpr bool is_shell_command(std::string_view name) { return std::ranges::binary_search(shell_commands, name); }

/// What programs call the function that -s names behind a module, where it is not start, which is older than all names.
constexpr bool is_entry_point(std::string_view name) {
    return name == "main" || name == "run" || name == "start_cli" || name == "start_link";
}

constexpr bool is_known_flag(std::string_view name) { return std::ranges::binary_search(known_flags, name); }

}  // namespace beamheap::erlang
