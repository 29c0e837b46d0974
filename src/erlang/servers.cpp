// SPDX-License-Identifier: Apache-2.0
#include "erlang/servers.hpp"

#include <algorithm>
#include <iterator>

namespace beamheap::erlang {
namespace {

struct Server {
    std::string_view name;
    bool begins = false;  // names that begin so
    Ours advice = "";
    Ours on_flood = "";
    Ours asks = "";  // of the world outside, whose answer it waits for while others wait for it
};
constexpr Ours logger_advice =
    "Lower the handler's limits so that it drops instead of making callers wait: logger's sync_mode_qlen, "
    "drop_mode_qlen and flush_qlen.";
// Elixir's own event manager, up to Elixir 1.14; from 1.15 on Logger is the VM's logger.
constexpr Ours logger_of_elixir =
    "Let Logger drop instead of making callers wait: config :logger, sync_threshold: 20, discard_threshold: 500 (up to "
    "Elixir 1.14; from 1.15 on the default handler's sync_mode_qlen and drop_mode_qlen); see which backend is slow.";
constexpr Ours logger_on_flood = "Lower the log handler's limits: sync_mode_qlen, drop_mode_qlen and flush_qlen.";
constexpr Server servers[] = {
    {.name = "lager_event",
     .advice = "Let lager drop or go asynchronous under load: {async_threshold, 20} and {async_threshold_window, 5} "
               "in the environment of lager, and {error_logger_hwm, 50}; see which backend is slow.",
     .on_flood = "Let lager drop or go asynchronous under load: async_threshold, error_logger_hwm."},
    {.name = "error_logger",
     .advice = "Use a handler with overload protection instead: logger's sync_mode_qlen, drop_mode_qlen and "
               "flush_qlen (OTP 21 and later).",
     .on_flood = logger_on_flood},
    {.name = "logger", .advice = logger_advice, .on_flood = logger_on_flood},
    {.name = "code_server",
     .advice = "Load code before it is needed: run in embedded mode (releases do) or call "
               "`code:ensure_modules_loaded/1` at start."},
    {.name = "mnesia_tm",
     .advice = "Use dirty operations where no transaction is needed, and look for a large or stuck one."},
    {.name = "mnesia_locker",
     .advice = "Look for the transaction that holds the lock, and lock records instead of tables."},
    {.name = "global_name_server",
     .advice = "Register names less often, or locally; global waits for all connected nodes."},
    {.name = "inet_gethost_native",
     .advice = "The operating system's resolver does not answer: look at its name servers (/etc/resolv.conf); {lookup, "
               "[dns]} in the node's inetrc asks them without it. Resolve names outside of servers' callbacks: in a "
               "process of its own, with a timeout.",
     .asks = "the operating system's resolver of names (DNS)"},
    {.name = "file_server_2", .advice = "Open files with [raw] or prim_file, which does without the file server."},
    {.name = "Logger",
     .advice = logger_of_elixir,
     .on_flood = "Let Logger drop: config :logger, discard_threshold: 500, sync_threshold: 20 (up to Elixir 1.14; from "
                 "1.15 on the default handler's drop_mode_qlen and sync_mode_qlen); see which backend is slow."},
    {.name = "logger_std_h", .begins = true, .advice = logger_advice, .on_flood = logger_on_flood},
    {.name = "logger_disk_log", .begins = true, .advice = logger_advice, .on_flood = logger_on_flood},
    {.name = "logger_h_", .begins = true, .advice = logger_advice, .on_flood = logger_on_flood},
    {.name = "logger", .begins = true, .on_flood = logger_on_flood},
};

// The first row that fits a registered name; nullptr: there is none.
const Server* find_server(std::string_view name) {
    const auto found = std::ranges::find_if(servers, [name](const Server& server) {
        return server.begins ? name.starts_with(server.name) : name == server.name;
    });
    return found == std::end(servers) ? nullptr : found;
}

constexpr Ours set_up = "connections to be set up";
constexpr Ours set_up_advice =
    "The other side does not answer at all: a machine that is down, packets that a firewall drops, a listener whose "
    "backlog is full. Give `gen_tcp:connect/4` a timeout, and bound how many may try at once.";
constexpr Ours tls_handshakes = "handshakes of TLS";
constexpr Ours tls_advice =
    "Give `ssl:connect/3` and `ssl:handshake/2` a timeout: who connects and says nothing holds a process until then. "
    "See whether it is TLS that the other side speaks on that port.";

// httpc:request/1,4,5 that were asked for an answer at once (httpc.erl); inet_res.erl; prim_inet.erl;
// ssl_gen_statem.erl.
constexpr OutsideCall calls[] = {
    {"httpc", "handle_answer", "answers to requests of HTTP",
     "Give each request a timeout (`[{timeout, 5000}, {connect_timeout, 2000}]` of `httpc:request/4`; there is "
     "none unless it is given), and bound how many may be under way."},
    {"inet_res", "", "answers of name servers (DNS)",
     "See which name servers the node asks, and whether they answer: `inet:get_rc()` on the running node, "
     "/etc/resolv.conf. Keep connections, or addresses, instead of asking for each request; "
     "`inet_db:set_timeout/1` and `set_retry/1` bound the wait."},
    {"prim_inet", "connect0", set_up, set_up_advice},
    {"prim_inet", "connect_cmd", set_up, set_up_advice},  // 29
    {"ssl_gen_statem", "handshake", tls_handshakes, tls_advice},
};
static_assert(std::size(calls) <= 8);  // the rule keeps a bit of each

struct ServersOf {
    std::string_view begin, application;
};
constexpr ServersOf application_servers[] = {
    {"Elixir.Logger", "logger"}, {"dtls_", "ssl"},    {"hackney_", "hackney"}, {"httpc_", "inets"},
    {"inets_", "inets"},         {"lager_", "lager"}, {"mnesia_", "mnesia"},   {"ranch_", "ranch"},
    {"sasl_", "sasl"},           {"ssh_", "ssh"},     {"ssl_", "ssl"},         {"tls_", "ssl"},
};

constexpr std::string_view of_kernel[] = {"application_controller", "code_server", "erl_prim_loader", "error_logger",
                                          "file_server_2",          "init",        "kernel_sup",      "logger"};

}  // namespace

bool is_kernel_server(std::string_view name) { return std::ranges::find(of_kernel, name) != std::end(of_kernel); }

std::string_view application_of_server(std::string_view name) {
    const auto found =
        std::ranges::find_if(application_servers, [name](const ServersOf& row) { return name.starts_with(row.begin); });
    return found == std::end(application_servers) ? std::string_view{} : found->application;
}

Ours advice_of_server(std::string_view name) {
    const Server* const server = find_server(name);
    return server == nullptr ? Ours("") : server->advice;
}

Ours advice_on_flood(std::string_view name) {
    const Server* const server = find_server(name);
    return server == nullptr ? Ours("") : server->on_flood;
}

Ours asked_by_server(std::string_view name) {
    const Server* const server = find_server(name);
    return server == nullptr ? Ours("") : server->asks;
}

std::span<const OutsideCall> outside_calls() { return calls; }

}  // namespace beamheap::erlang
