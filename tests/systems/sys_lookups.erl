%% The report: after a change of the network a mail relay stops sending. Its name server does not answer any more, and
%% each host is asked for with the longest patience that the resolver was configured for, by the one process that sends.
%% To hear: 40 order_mail processes wait for smtp_relay, which sits in the look-up of a host.
-module(sys_lookups).
-export([sick/0, healthy/0]).

sick() -> start(silent, fun() -> sys_kit:queue(smtp_relay) >= 39 andalso element(1, sys_kit:at(smtp_relay)) =:= prim_inet andalso sys_kit:status(smtp_relay) =:= waiting end).
healthy() -> start(hosts, fun() -> sys_kit:queue(smtp_relay) =:= 0 andalso sys_kit:at(smtp_relay) =:= {gen_server, loop, arity()} end).

%% of gen_server:loop, by what the machine has: whoever is idle is in it
arity() -> element(3, sys_kit:at(kernel_sup)).

start(Resolver, Reached) ->
    resolver(Resolver),
    {ok, _} = smtp_relay:start_link(),
    [order_mail:start(N) || N <- lists:seq(1, 40)],
    sys_kit:until(Reached).

%% A name server that takes questions and answers none.
resolver(silent) ->
    Server = spawn(fun() -> {ok, S} = gen_udp:open(0, [{ip, {127,0,0,1}}, {active, false}]), register(resolver_of_the_net, self()), put(socket, S), receive stop -> ok end end),
    sys_kit:until(fun() -> whereis(resolver_of_the_net) =:= Server end),
    {dictionary, D} = process_info(Server, dictionary),
    {ok, Port} = inet:port(proplists:get_value(socket, D)),
    inet_db:set_resolv_conf(""),    % of the machine's
    inet_db:set_lookup([dns]),
    inet_db:set_timeout(600000),
    [inet_db:del_ns(IP, P) || {IP, P} <- inet_db:res_option(nameservers)],
    inet_db:add_ns({127,0,0,1}, Port);
resolver(hosts) ->
    inet_db:set_lookup([file]),
    inet_db:add_host({127,0,0,1}, ["mx.example.org"]).
