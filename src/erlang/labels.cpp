// SPDX-License-Identifier: Apache-2.0
#include "erlang/labels.hpp"

#include <algorithm>

namespace beamheap::erlang {
namespace {

constexpr LabelRow rows_of_labels[] = {
    // RabbitMQ: rabbit_misc:store_proc_name/2 (process_name), amqp_client's readers and writers alike; 3.x and 4.x.
    {"{rabbit_amqqueue_process, {resource, VHost, queue, Name}}", "queue {Name:term 60} in vhost {VHost:term 30}"},
    {"{rabbit_mirror_queue_slave, {resource, VHost, queue, Name}}",
     "mirror of queue {Name:term 60} in vhost {VHost:term 30}"},
    {"{rabbit_channel, {Connection, Number :: integer()}}", "channel {Number} of connection {Connection:term 60}"},
    {"{rabbit_writer, {Connection, Number :: integer()}}",
     "writer of channel {Number} of connection {Connection:term 60}"},
    {"{rabbit_limiter, {Connection, Number :: integer()}}",
     "limiter of channel {Number} of connection {Connection:term 60}"},
    {"{rabbit_reader, Connection}", "reader of connection {Connection:term 60}"},
    {"{Module :: atom(), {resource, VHost, Kind :: atom(), Name}}",
     "{Module} of {Kind} {Name:term 60} in vhost {VHost:term 30}"},
    // Phoenix LiveView: a view that somebody has open.
    {"{'Elixir.Phoenix.LiveView', View :: atom(), Topic}", "LiveView {View}, topic {Topic:term 40}"},
    {"{'Elixir.Phoenix.LiveView', View :: atom()}", "LiveView {View}"},
    {"{'Elixir.Phoenix.Channel', Channel :: atom(), Topic}", "channel {Channel}, topic {Topic:term 40}"},
    // ssl of OTP 27 and later (ssl_gen_statem.erl, tls_sender.erl, tls_socket.erl, dtls_packet_demux.erl).
    {"{tls, server, Host, Port :: integer()}", "TLS server connection for {Host:term 60}, port {Port}"},
    {"{tls, server, Port :: integer()}", "TLS server connection, port {Port}"},
    {"{tls, client, Port :: integer()}", "TLS client connection to port {Port}"},
    {"{tls, client, Host}", "TLS client connection to {Host:term 60}"},
    {"{dtls, server, Host, Port :: integer()}", "DTLS server connection for {Host:term 60}, port {Port}"},
    {"{dtls, server, Port :: integer()}", "DTLS server connection, port {Port}"},
    {"{dtls, client, Port :: integer()}", "DTLS client connection to port {Port}"},
    {"{dtls, client, Host}", "DTLS client connection to {Host:term 60}"},
    {"{tls_sender, Role :: atom(), {connection, Connection :: pid()}}",
     "sender of the TLS {Role} connection {Connection:term}"},
    {"{tls_listen_tracker, Socket}", "options of the TLS listener {Socket:term 30}"},
    {"{tls_13_server_session_tickets, Socket}", "session tickets of the TLS listener {Socket:term 30}"},
    {"{pre_tls_13_server_session_cache, Socket}", "sessions of the TLS listener {Socket:term 30}"},
    {"{dtls_server_packet_demultiplexer, Port}", "DTLS packets, port {Port:term 10}"},
    // group.erl of OTP 29.
    {"{group, Shell}", "terminal of the shell {Shell:term 60}"},
};
static_assert(std::ranges::all_of(rows_of_labels, [](const LabelRow& row) { return row.words.fits(row.label); }),
              "a place of a wording is no name of its pattern");

}  // namespace

std::span<const LabelRow> label_rows() { return rows_of_labels; }

}  // namespace beamheap::erlang
