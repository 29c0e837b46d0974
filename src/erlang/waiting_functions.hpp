// SPDX-License-Identifier: Apache-2.0
// The functions in which a process receives one answer, or waits for its next message, as data: a new one is a row.
#pragma once

#include <array>
#include <string_view>

namespace beamheap::erlang {

/// A function with a receive, and how the one that it waits for is known if not by a monitor's reference.
struct WaitingFunction {
    std::string_view module;
    std::string_view function;  // of any arity
    enum Target : unsigned char {
        monitored,    // it always holds a monitor on the one that it asked
        pid,          // its frame holds the pid
        callers_pid,  // the frame of the function that called it holds the pid
        port,         // its frame holds the port
        by_name,      // the process that is registered as `name`
        child,        // the only one linked to it that it has started itself
        each,         // all that it monitors, but for the one that has started it: the first of them stands for all
    } target;
    std::string_view name;
    bool rests = false;  // at other times it is where the process is at rest
};
// Sources: the modules themselves, in OTP R13 to 29 (lib/stdlib, kernel, mnesia) and Elixir 1.14.
inline constexpr std::array waiting_functions{
    WaitingFunction{"gen", "do_call", WaitingFunction::monitored, {}},
    WaitingFunction{"gen", "wait_resp_mon", WaitingFunction::monitored, {}},
    WaitingFunction{"gen", "receive_response", WaitingFunction::monitored, {}},
    WaitingFunction{"gen_server", "wait_response", WaitingFunction::monitored, {}},
    WaitingFunction{"gen_server2", "call", WaitingFunction::monitored, {}},
    WaitingFunction{"proc_lib", "sync_start", WaitingFunction::pid, {}},
    WaitingFunction{"proc_lib", "sync_start_link", WaitingFunction::pid, {}},
    WaitingFunction{"proc_lib", "sync_start_monitor", WaitingFunction::pid, {}},
    WaitingFunction{"proc_lib", "sync_wait", WaitingFunction::pid, {}},
    WaitingFunction{"proc_lib", "sync_wait_mon", WaitingFunction::pid, {}},
    WaitingFunction{"proc_lib", "stop", WaitingFunction::monitored, {}},
    WaitingFunction{"supervisor", "shutdown", WaitingFunction::pid, {}},
    WaitingFunction{"application_master", "call", WaitingFunction::monitored, {}},
    // the master of an application that is being stopped, and the process that waits for its top supervisor then
    WaitingFunction{"application_master", "terminate_loop", WaitingFunction::pid, {}},
    WaitingFunction{"application_master", "loop_it", WaitingFunction::pid, {}, true},
    WaitingFunction{"io", "execute_request", WaitingFunction::pid, {}},
    WaitingFunction{"io", "wait_io_mon_reply", WaitingFunction::pid, {}},
    WaitingFunction{"file", "wait_file_reply", WaitingFunction::pid, {}},
    WaitingFunction{"file_io_server", "do_start", WaitingFunction::monitored, {}},
    WaitingFunction{"disk_log", "monitor_request", WaitingFunction::pid, {}},
    WaitingFunction{"erpc", "call", WaitingFunction::monitored, {}},
    WaitingFunction{"erpc", "receive_response", WaitingFunction::monitored, {}},
    WaitingFunction{"erpc", "mcall_receive_replies", WaitingFunction::monitored, {}},
    WaitingFunction{"gen_server", "rec_nodes", WaitingFunction::monitored, {}},
    WaitingFunction{"gen_server", "rec_nodes_rest", WaitingFunction::monitored, {}},
    WaitingFunction{"gen_server", "do_multi_call", WaitingFunction::monitored, {}},
    WaitingFunction{"rpc", "do_call", WaitingFunction::monitored, {}},
    WaitingFunction{"rpc", "do_yield", WaitingFunction::pid, {}},
    WaitingFunction{"code_server", "call", WaitingFunction::by_name, "code_server"},
    WaitingFunction{"erts_code_purger", "purge", WaitingFunction::by_name, "erts_code_purger"},
    WaitingFunction{"erts_code_purger", "soft_purge", WaitingFunction::by_name, "erts_code_purger"},
    WaitingFunction{"erl_prim_loader", "request", WaitingFunction::by_name, "erl_prim_loader"},
    WaitingFunction{"logger_std_h", "file_ctrl_call", WaitingFunction::monitored, {}},
    WaitingFunction{"logger_olp", "call", WaitingFunction::monitored, {}},
    WaitingFunction{"os", "get_data", WaitingFunction::port, {}},
    // who asks another process for its process_info (since 21), or that it collects its garbage or looks at its code
    WaitingFunction{"erts_internal", "await_result", WaitingFunction::callers_pid, {}},
    WaitingFunction{"inet_gethost_native", "getit", WaitingFunction::by_name, "inet_gethost_native"},
    WaitingFunction{"prim_inet", "send", WaitingFunction::port, {}},
    WaitingFunction{"prim_inet", "send_recv_reply", WaitingFunction::port, {}},
    WaitingFunction{"mnesia_tm", "rec", WaitingFunction::by_name, "mnesia_tm"},
    WaitingFunction{"mnesia_tm", "req", WaitingFunction::by_name, "mnesia_tm"},
    WaitingFunction{"mnesia_locker", "l_req_rec", WaitingFunction::by_name, "mnesia_locker"},
    WaitingFunction{"mnesia_locker", "receive_wlocks", WaitingFunction::by_name, "mnesia_locker"},
    WaitingFunction{"mnesia_locker", "rlock_get_reply", WaitingFunction::by_name, "mnesia_locker"},
    WaitingFunction{"mnesia_locker", "request_lock", WaitingFunction::by_name, "mnesia_locker"},
    WaitingFunction{"mnesia_controller", "do_wait_for_tables", WaitingFunction::pid, {}},
    WaitingFunction{"mnesia_controller", "rec_tabs", WaitingFunction::by_name, "mnesia_controller"},
    // an acceptor whose listener has as many connections as it may have (ranch_conns_sup.erl, 1.x and 2.x)
    WaitingFunction{"ranch_conns_sup", "start_protocol", WaitingFunction::pid, {}},
    WaitingFunction{"worker_pool_worker", "run", WaitingFunction::child, {}},
    WaitingFunction{"Elixir.Task", "await", WaitingFunction::monitored, {}},
    WaitingFunction{"Elixir.Task", "await_receive", WaitingFunction::monitored, {}},
    WaitingFunction{"Elixir.Task", "yield", WaitingFunction::monitored, {}},
    WaitingFunction{"Elixir.Task", "await_many", WaitingFunction::each, {}},
    WaitingFunction{"Elixir.Task", "yield_many", WaitingFunction::each, {}},
    WaitingFunction{"Elixir.Task.Supervised", "stream_reduce", WaitingFunction::monitored, {}},
    WaitingFunction{"Elixir.Task.Supervised", "stream_monitor_loop", WaitingFunction::each, {}},
    WaitingFunction{"Elixir.DBConnection.Holder", "checkout_call", WaitingFunction::monitored, {}},
};

/// Where processes of OTP, and of libraries made after it, wait for their next message.
struct IdleFunction {
    std::string_view module, function;
};
inline constexpr std::array idle_functions{
    IdleFunction{"gen_server", "loop"},
    IdleFunction{"gen_event", "fetch_msg"},
    IdleFunction{"gen_statem", "loop_receive"},
    IdleFunction{"gen_fsm", "loop"},
    IdleFunction{"proc_lib", "hibernate"},
    IdleFunction{"gen_server2", "process_next_msg"},
    IdleFunction{"erlang", "hibernate"},
    IdleFunction{"gen_statem", "loop_receive_result"},
    IdleFunction{"gen_statem", "loop_hibernate"},
    IdleFunction{"gen", "hibernate"},
    IdleFunction{"gen_server", "loop_hibernate"},
    IdleFunction{"gen_statem", "loop"},
    IdleFunction{"disk_log", "loop"},
    // servers of libraries that are loops of their own: process-one's, cowboy's and ranch's, rabbit's
    IdleFunction{"p1_server", "collect_messages"},
    IdleFunction{"p1_server", "loop"},
    IdleFunction{"p1_fsm", "collect_messages"},
    IdleFunction{"p1_fsm", "loop"},
    IdleFunction{"cowboy_http", "loop"},
    IdleFunction{"cowboy_http2", "loop"},
    IdleFunction{"cowboy_websocket", "loop"},
    IdleFunction{"ranch_conns_sup", "loop"},
    IdleFunction{"rabbit_writer", "mainloop1"},
    IdleFunction{"rabbit_reader", "mainloop"},
    IdleFunction{"gun", "loop"},
    IdleFunction{"emqx_connection", "recvloop"},
    IdleFunction{"yaws_server", "gserv_loop"},
    IdleFunction{"gen_batch_server", "loop_wait"},
};

/// Loops that receive by a function of somebody else's: who was called by them waits for its next message, not for an
/// answer.
inline constexpr std::array idle_callers{
    IdleFunction{"gleam@otp@actor", "loop"},
    IdleFunction{"gleam@otp@actor", "receive_message"},
};

/// Whether a function is called what people call the receive of a server: loop, main_loop, recvloop, message_loop/3.
/// Such a one is at rest there as long as nothing is in its queue that it has not taken.
constexpr bool is_loop_name(std::string_view function) {
    return function.find("loop") != function.npos || function.find("Loop") != function.npos;
}

// Where a process is held up because what it sends to takes nothing: the receive of a socket of the module `socket`
// (`send` and whatever begins so), and the traps that a process stands in that the VM suspended on a full connection to
// another node (dsend_continue_trap/1 of dist.c; bif_return_trap/2 where the message was taken and the sender has to
// stop).
struct HeldUpFunction {
    std::string_view module;
    std::string_view function;
    bool prefix = false;
};
// Where the terminal's writer blocks in the operating system (prim_tty.erl, since 26); `user` answers those who print
// when it is done, and idles meanwhile.
constexpr HeldUpFunction terminal_write{"prim_tty", "write_nif"};
constexpr std::string_view terminal_server = "user";
/// Where what a process prints through its group leader is handed on to that one's own leader.
constexpr HeldUpFunction hands_on_output{"application_master", "main_loop"};
constexpr std::string_view printing = "io";
constexpr std::string_view code_server = "code_server";
/// Who works for others: those who wait for it say for whom.
constexpr std::string_view tls_sender = "tls_sender";
constexpr HeldUpFunction socket_send{"socket", "send", true};
/// Whether a process waits in it for the next connection of a socket that listens (prim_inet:accept0/3,
/// socket:accept/2; OTP R13 to 29).
inline bool accepts_connections(std::string_view module, std::string_view function) {
    return (module == "prim_inet" || module == "socket" || module == "gen_tcp_socket") &&
           function.starts_with("accept");
}
/// The driver of ports that are connections by TCP, or listen for them.
inline constexpr std::string_view tcp_driver = "tcp_inet";
inline constexpr std::array distribution_sends{
    HeldUpFunction{"erts_internal", "dsend_continue_trap"},
    HeldUpFunction{"erlang", "bif_return_trap"},
    HeldUpFunction{"erlang", "send"},
    HeldUpFunction{"erlang", "!"},
};

}  // namespace beamheap::erlang
