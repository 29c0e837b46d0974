// SPDX-License-Identifier: Apache-2.0
#include "erlang/identities.hpp"

#include <algorithm>

#include "erlang/term_text.hpp"

namespace beamheap::erlang {
namespace {

constexpr std::size_t longest_kept_name = 60;

using Where = IdentityRow::Where;

// What several rows have: #state{parent, ref, socket, transport, (proxy_header,) opts, (buffer, overriden_opts,) peer,
// ...} of cowboy_http.erl and cowboy_http2.erl.
constexpr Pattern cowboy_connection =
    "{state, _ :: pid(), Listener, _, _, _, Peer = {{_ :: integer(), ...}, _ :: integer()}, ...} | "
    "{state, _ :: pid(), Listener, _, _, _, _, Peer = {{_ :: integer(), ...}, _ :: integer()}, ...} | "
    "{state, _ :: pid(), Listener, _, _, _, _, _, _, Peer = {{_ :: integer(), ...}, _ :: integer()}, ...}";
constexpr Pattern tls_connection =
    "{state, {static_env, Role :: atom(), _, _, _, _, _, _, Host, Port :: integer(), ...}, ...}";
constexpr Pattern supervisor_state =
    "{state, {_ :: pid(), Module :: atom()}, _ :: atom(), {Children :: list(), _}, ...}";

constexpr IdentityRow rows_of_identities[] = {
    // Phoenix: Phoenix.Socket of a channel's process (channel/server.ex), the state of a LiveView's
    // (live_view/channel.ex).
    {Where::state, "Elixir.Phoenix.Channel.Server", "",
     "#{'__struct__' := 'Elixir.Phoenix.Socket', channel := Channel :: atom(), topic := Topic, id := Id :: text()}",
     "{phoenix_channel, Channel, Topic, Id}", "channel {Channel}, topic {Topic:term 40}, socket {Id:term 40}"},
    {Where::state, "Elixir.Phoenix.Channel.Server", "",
     "#{'__struct__' := 'Elixir.Phoenix.Socket', channel := Channel :: atom(), topic := Topic}",
     "{phoenix_channel, Channel, Topic}", "channel {Channel}, topic {Topic:term 40}"},
    {Where::state, "Elixir.Phoenix.LiveView.Channel", "",
     "#{socket := #{'__struct__' := 'Elixir.Phoenix.LiveView.Socket', view := View :: atom(), id := Id}, topic := "
     "Topic}",
     "{phoenix_live_view, View, Topic, Id}", "LiveView {View}, topic {Topic:term 40}, socket {Id:term 40}"},
    // Oban: lib/oban/queue/producer.ex (its State until 2.10), executor.ex: a job runs in a Task.
    {Where::state, "Elixir.Oban.Queue.Producer", "", "#{meta := #{queue := Queue}, foreman := _}",
     "{oban_queue, Queue}", "Oban queue {Queue:term 40}"},
    {Where::state, "Elixir.Oban.Queue.Producer", "", "#{queue := Queue, foreman := _}", "{oban_queue, Queue}",
     "Oban queue {Queue:term 40}"},
    {Where::slot, "Elixir.Oban.Queue.Executor", "",
     "#{'__struct__' := 'Elixir.Oban.Job', id := Id, worker := Worker, queue := Queue} | "
     "#{job := #{'__struct__' := 'Elixir.Oban.Job', id := Id, worker := Worker, queue := Queue}}",
     "{oban_job, Id, Worker, Queue}", "Oban job {Id} of {Worker:term 60}, queue {Queue:term 40}"},
    // Broadway's stages are GenStages (topology/processor_stage.ex, batcher_stage.ex, subscriber.ex), as others are.
    {Where::state, "Elixir.GenStage", "",
     "#{'__struct__' := 'Elixir.GenStage', mod := _, type := Type :: atom(), "
     "state := #{broadway_name := Pipeline :: atom(), callback := Stage :: atom()}}",
     "{broadway, Pipeline, Type, Stage}", "Broadway {Pipeline}, {Type} of {Stage}"},
    {Where::state, "Elixir.GenStage", "",
     "#{'__struct__' := 'Elixir.GenStage', mod := Stage :: atom(), type := Type :: atom()}", "{gen_stage, Type, Stage}",
     "GenStage {Type} of {Stage}"},
    // DBConnection: lib/db_connection/connection.ex, on gen_statem, before on the library connection. Of its options
    // nothing but the database: they hold the password, too.
    {Where::state, "Elixir.DBConnection.Connection", "",
     "#{mod := Module :: atom(), opts := [..., {database, Database}, ...], client := _}",
     "{db_connection, Module, Database}", "connection of {Module} to database {Database:term 40}"},
    {Where::state, "Elixir.DBConnection.Connection", "", "#{mod := Module :: atom(), opts := _, client := _}",
     "{db_connection, Module}", "database connection of {Module}"},
    // Riak: #state{index, mod, modstate, ...} of riak_core_vnode.erl, a gen_fsm.
    {Where::state, "riak_core_vnode", "", "{state, Partition, Module :: atom(), ...}",
     "{riak_vnode, Module, Partition}", "vnode {Module}, partition {Partition:term 60}"},
    // VerneMQ: #state{id = {MountPoint, ClientId}, ...} of vmq_queue.erl, a gen_fsm.
    {Where::state, "vmq_queue", "", "{state, {_ :: list(), Client :: text()}, ...}", "{vmq_queue, Client}",
     "queue of the MQTT client {Client:term 60}"},
    // CouchDB: #db{vsn, name, ...} of couch_db_int.hrl.
    {Where::state, "couch_db_updater", "", "{db, _ :: integer(), Name :: text(), ...}", "{couch_db, Name}",
     "writer of the database {Name:term 60}"},
    // ssl up to OTP 26, which sets no labels: #state{static_env = #static_env{role, ..., host, port, ...}, ...}.
    {Where::state, "tls_connection", "", tls_connection, "{tls_connection, Role, Host, Port}",
     "TLS {Role} connection, {Host:term 60}, port {Port}"},
    {Where::state, "tls_connection_1_3", "", tls_connection, "{tls_connection, Role, Host, Port}",
     "TLS {Role} connection, {Host:term 60}, port {Port}"},
    {Where::state, "dtls_connection", "", tls_connection, "{dtls_connection, Role, Host, Port}",
     "DTLS {Role} connection, {Host:term 60}, port {Port}"},
    // supervisor.erl: #state{name, strategy, children = {Ids, Specifications}, ...}; without a registered name {Pid,
    // Module} is its name.
    {Where::state, "supervisor", "", supervisor_state, "{supervisor, Module, Children}",
     "supervisor {Module}[ of {Children:atoms 3}]"},
    // RabbitMQ's own, of the same form.
    {Where::state, "supervisor2", "", supervisor_state, "{supervisor, Module, Children}",
     "supervisor {Module}[ of {Children:atoms 3}]"},

    // Ranch: #state{parent, ref, ...} of ranch_conns_sup.erl, 1.x and 2.x.
    {Where::slot, "ranch_conns_sup", "", "{state, _ :: pid(), Listener, ...}", "{ranch_connections, Listener}",
     "connections of the listener {Listener}"},
    // Cowboy: #state{parent, ref, socket, transport, (proxy_header,) opts, (buffer, overriden_opts,) peer, ...} of
    // cowboy_http.erl and cowboy_http2.erl; the handler of cowboy_websocket.erl; the request of cowboy_stream_h.erl.
    {Where::slot, "cowboy_http", "", cowboy_connection, "{cowboy_http, Listener, Peer}",
     "HTTP connection of {Peer:term 60}, listener {Listener}"},
    {Where::slot, "cowboy_http2", "", cowboy_connection, "{cowboy_http2, Listener, Peer}",
     "HTTP/2 connection of {Peer:term 60}, listener {Listener}"},
    {Where::slot, "cowboy_websocket", "", "{state, _ :: pid(), Listener, _, _ :: atom(), _, _, Handler :: atom(), ...}",
     "{cowboy_websocket, Listener, Handler}", "WebSocket of {Handler}, listener {Listener}"},
    {Where::slot, "cowboy_stream_h", "", "#{method := Method, path := Path, peer := _, ref := Listener, streamid := _}",
     "{cowboy_request, Listener, Method, Path}", "request {Method} {Path:term 60}, listener {Listener}"},
    // ejabberd: the State of xmpp_stream_in.erl and xmpp_stream_out.erl, maps, in the loop of p1_server; #state{room,
    // host,
    // server_host, ...} of mod_muc_room.hrl, in that of p1_fsm. Of clients, who have logged in, there is auth_module.
    {Where::slot, "p1_server", "",
     "#{auth_module := _, user := User :: text(), server := Server :: text(), resource := Resource :: text()}",
     "{xmpp_client, User, Server, Resource}", "XMPP client {User:term 40} of {Server:term 40}, {Resource:term 40}"},
    {Where::slot, "p1_server", "", "#{auth_module := _, user := User :: text(), server := Server :: text()}",
     "{xmpp_client, User, Server}", "XMPP client {User:term 40} of {Server:term 40}"},
    {Where::slot, "p1_server", "", "#{remote_server := Remote :: text(), server := _, stream_id := _}",
     "{xmpp_remote, Remote}", "XMPP stream, remote server {Remote:term 40}"},
    {Where::slot, "p1_server", "", "#{server := Server :: text(), stream_id := _, lang := _}", "{xmpp_stream, Server}",
     "XMPP stream of {Server:term 40}"},
    {Where::slot, "p1_fsm", "", "{state, Room :: text(), Host :: text(), Server :: text(), _, ...}",
     "{muc_room, Room, Host}", "room {Room:term 40} of {Host:term 40}"},
    // EMQX: #state{..., channel = #channel{conninfo, clientinfo, ...}, ...} of emqx_connection.erl, 5.x and 4.x.
    {Where::slot, "emqx_connection", "",
     "{channel, _, #{clientid := Client :: text()}, ...} | "
     "{state, _, _, _, _, _, _, _, {channel, _, #{clientid := Client :: text()}, ...}, ...} | "
     "{state, _, _, _, _, _, _, _, _, _, _, {channel, _, #{clientid := Client :: text()}, ...}, ...}",
     "{emqx_channel, Client}", "channel of the MQTT client {Client:term 60}"},
    // application_master.erl: #state{child, appl_data = #appl_data{name, ...}, ...} of main_loop/2; the module of
    // loop_it/4.
    {Where::slot, "application_master", "", "{state, _ :: pid(), {appl_data, Name :: atom(), ...}, ...}",
     "{application_master, Name}", "application master of {Name}"},
    {Where::slot, "application_master", "", "Module :: atom()", "{application_starter, Module}",
     "starter of the application of {Module}"},

    // Who hibernates has no frame; emqx_logger:set_metadata_clientid/1 puts it there.
    {Where::entry, "emqx_connection", "$logger_metadata$", "#{clientid := Client :: text()}", "{emqx_channel, Client}",
     "channel of the MQTT client {Client:term 60}"},
    // Task.Supervised: who asked for it, the nearest first.
    {Where::entry, "Elixir.Task.Supervised", "$callers", "[Caller :: pid() | _]", "{task, Caller}",
     "Task of {Caller:term}"},

    // Elixir's Registry, Horde's: {via, Registry, {Name, Key}}.
    {Where::own_name, "", "Elixir.", "{Registry :: atom(), Key, ...}", "{registered, Registry, Key}",
     "{Key:term 60} in {Registry}"},
    // gproc: {via, gproc, {n, l, Key}}.
    {Where::own_name, "", "", "{n, l, Key}", "{gproc, Key}", "{Key:term 60} in gproc"},
    {Where::own_name, "", "", "Name :: atom()", "{global, Name}", "{Name} (a name of global's)"},
    {Where::own_name, "", "", "Name", "{named, Name}", "named {Name:term 60}"},
};

constexpr bool all_fit() {
    return std::ranges::all_of(rows_of_identities, [](const IdentityRow& row) {
        return row.words.fits(row.label) && row.label.names_within(row.term);
    });
}
static_assert(all_fit(), "a place of a wording is no name of its label, or a name of a label none of its pattern");

constexpr MemberKeeper rows_of_keepers[] = {
    // pg.erl: #state{scope, local = #{Pid => {Monitor, Groups}}, ...}, up to OTP 28; since 29 on data_publisher.erl,
    // whose
    // State has a scope's own among its elements.
    {"data_publisher", "{state, Scope :: atom(), pg, _, _, {_, Members :: map()}, ...}", "{_, [Group | _]}",
     "{pg, Scope, Group}", "member of the group {Group:term 60} of {Scope}"},
    {"pg", "{state, Scope :: atom(), Members :: map(), ...}", "{_, [Group | _]}", "{pg, Scope, Group}",
     "member of the group {Group:term 60} of {Scope}"},
};
static_assert(std::ranges::all_of(rows_of_keepers, [](const MemberKeeper& row) { return row.words.fits(row.label); }),
              "a place of a wording is no name of its label");

constexpr bool of_a_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '@';
}

}  // namespace

std::span<const IdentityRow> identity_rows() { return rows_of_identities; }
std::span<const MemberKeeper> member_keepers() { return rows_of_keepers; }

std::string label_text(const Pattern& label, TermSource& terms, std::span<const Match* const> matches) {
    const std::string_view text = label.text();
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == ' ') {
            ++at;
            continue;
        }
        const std::size_t from = at;
        if (text[at] == '\'') at = std::min(text.find('\'', at + 1), text.size() - 1) + 1;
        else if (!of_a_word(text[at])) ++at;
        else
            while (at < text.size() && of_a_word(text[at])) ++at;
        const std::string_view word = text.substr(from, at - from);
        if (word[0] < 'A' || word[0] > 'Z') {
            made += word;
            continue;
        }
        Element element;
        for (const Match* match : matches)
            if (match->has(word)) element = (*match)[word];
        made += term_text(terms, element, longest_kept_name);
    }
    return made;
}

}  // namespace beamheap::erlang
