// SPDX-License-Identifier: Apache-2.0
// What functions of OTP, of Elixir and of libraries are to those on whose stacks they stand, by role: rows of
// functions.inc. A role is had by one function, by all of a module's ("_"), or by those of a family of modules
// ("logger*"). What a single module is, is a row of modules.inc; where processes wait for an answer,
// waiting_functions.hpp tells.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "beamheap/snapshot.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/modules.hpp"

namespace beamheap::erlang {

/// In the order of the rows.
enum class FunctionRole : std::uint8_t {
    // the start of a node, and its end
    boots,                ///< init's process that starts the node
    runs_boot_script,     ///< the same while it follows the boot script
    runs_program,         ///< a program that the command line gave, which runs within the start
    starts_application,   ///< calls start/2 of an application
    starts_first,         ///< init, which links itself to a process that the boot script names
    starts_dependencies,  ///< starts an application behind those that it needs
    starts_others,        ///< only starts others: what failed there failed in them
    starts_programs,      ///< the same, as far as nothing of the program is behind it
    of_init,              ///< init itself
    of_command_line,      ///< calls what -s, -run and -eval give
    calls_by_name,        ///< the functions of these that call what -s and -run name
    tells_no_failure,     ///< that it failed there does not tell what failed
    starts_distribution,  ///< whose start_link is given the name of the node
    loads_on_demand,      ///< is there from the first moment that modules are loaded by being called
    stops_node,           ///< init after init:stop
    halts,                ///< whoever calls it ends the node, or waits for its end
    ends_child,           ///< a supervisor that waits for one child to end
    ends_children,        ///< a supervisor that ends many children together
    passes_on_stop,       ///< stands between who has an application stopped and who stops it
    ends_application,     ///< the master of an application that is being stopped
    // how processes begin, call, wait and work for others
    within_call,       ///< stands between the receive of a call and the function that the call is named by
    waits_for_itself,  ///< is behind functions that wait, and goes on with nothing when they return
    begins_processes,  ///< all kinds of processes begin there
    begins_funs,       ///< what began a process that was spawned with a fun
    runs_callbacks,    ///< loops of behaviours, in which all kinds of processes work
    of_behaviours,     ///< all behaviours, and what is named after them
    in_call,           ///< a call that monitors the one that it asks
    of_server,         ///< the behaviour whose calls are answered when its callback says so
    may_put_off,       ///< loops that may answer a call later than it was taken
    of_disk_log,       ///< a log of disk_log, which may be blocked
    awaits_tables,     ///< waits until mnesia has loaded tables
    sleeps,            ///< lets time pass
    hibernates,        ///< has dropped its stack until the next message
    repeats_timer,     ///< a process that sends for a repeated timer of the module timer
    replies_as_task,   ///< what a task of Elixir begins in
    is_suspended,      ///< a process that sys:suspend has stopped
    handles_signals,   ///< the VM's own process that handles the signals of those that run dirty code
    of_vm,             ///< the VM's own functions
    handles_traces,    ///< a process that is sent what is traced, and calls a handler with it
    sends,             ///< sends to a process or a name
    registers_name,    ///< gives a process its name
    spawns,            ///< makes a process
    opens_port,        ///< makes a port
    serves_calls,      ///< a process that does what another node has called for
    // shells and programs
    of_shell,          ///< a shell
    evaluates,         ///< between a shell's prompt and what was typed
    evaluates_text,    ///< the evaluator of shells, of -eval and of scripts
    evaluates_line,    ///< the shell, while it evaluates what was typed
    lacks_module,      ///< where a call without a module is looked for
    configures,        ///< evaluates a configuration in Elixir
    evaluates_elixir,  ///< the evaluator of Elixir
    runs_mix,          ///< runs mix
    runs_elixir,       ///< runs the command elixir
    runs_escript,      ///< runs an escript
    // terminals, files, tables and connections
    of_terminal,       ///< works for a terminal, or for whoever types there
    reads_input,       ///< waits for what is typed or read from standard input
    writes_terminal,   ///< blocks in the operating system until the terminal takes more (since 26)
    writes_output,     ///< prints through a device: a group leader, standard output
    formats_output,    ///< the functions of these that are given a format and its arguments
    of_tables,         ///< tables of ETS
    makes_table,       ///< makes one
    between_files,     ///< between a program and its files
    uses_file,         ///< an operation on a file, which one of the VM's threads does
    opens_for_others,  ///< a process that has a file open for the one that it monitors
    looks_up_hosts,    ///< asks name servers, or the files and programs of the system, for a host's address
    awaits_peer,       ///< waits for the other side of a connection
    scans_queue,       ///< waits for an answer without a mark in the queue: up to 25 all of it is looked through
    awaits_vm,         ///< waits for what the VM does in the name of another process: its process_info
    of_distribution,   ///< between nodes
    reads_port,        ///< receives from a socket that is a port
    reads_socket,  ///< receives from a socket that is no port, or from a process that has it (ssl:recv leaves only that
                   ///< call)
    begins_tls,    ///< a handshake of TLS
    of_persistent_terms,      ///< persistent terms
    writes_persistent_terms,  ///< changes one (put/2; since 28 also put_common_trap/3)
    frees_literals,  ///< the VM's own process that asks all others whether they refer to a term that was replaced
    // the log, and other services of a node that keep a state of interest
    of_logging,          ///< between whoever logs and the handlers
    logs,                ///< those of these that tell that somebody logs
    keeps_log_events,    ///< its processes hold events of the log
    calls_log_handlers,  ///< calls the handlers, in the process that logs
    protects_log,        ///< a handler's protection against overload
    writes_log,          ///< a process that writes a log
    writes_table,        ///< a process that has a table of dets
    manages_events,      ///< an event manager
    holds_connection,    ///< the process of a connection to another node
    of_rabbit,           ///< a process of RabbitMQ, which keeps its credit
    of_raft,             ///< a member of a Ra cluster: quorum queues of RabbitMQ, Khepri
    count,               ///< how many roles there are
};

bool has_role(std::string_view module, std::string_view function, FunctionRole role);
/// Of roles that all functions of a module have.
inline bool has_role(std::string_view module, FunctionRole role) { return has_role(module, {}, role); }

/// Of a snapshot's function; FunctionId::none has no role.
inline bool has_role(const Snapshot& s, FunctionId id, FunctionRole role) {
    if (id == FunctionId::none) return false;
    const Function& function = s.functions[id];
    return has_role(s.text(function.module), s.text(function.name), role);
}
/// The same, asked about many processes of one snapshot: each function is looked up once.
class RoleHolders {
public:
    explicit RoleHolders(FunctionRole role) : role_(role) {}
    bool operator()(const Snapshot& s, FunctionId id) {
        if (id == FunctionId::none) return false;
        if (index_of(id) >= known_.size()) look_up(s);
        return known_[index_of(id)] != 0;
    }

private:
    void look_up(const Snapshot& s);
    FunctionRole role_;
    std::vector<std::uint8_t> known_;  // by FunctionId
};
inline bool has_role(const Snapshot& s, FunctionId id, ModuleRole role) { return has_role(module_of(s, id), role); }

}  // namespace beamheap::erlang
