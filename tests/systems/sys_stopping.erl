%% The report: when a node joins, the vnode that has handed its data over is told to stop and never does; its sender
%% still writes to a peer that doesn't read, in terminate, and its supervisor waits for it without a limit of time.
%% To hear: riak_core_handoff_sender does not end: in terminate it sends to 127.0.0.1:PORT, which doesn't read; its
%% supervisor riak_core_handoff_sender_sup, that is stopping it, waits, and so do node_drain and 10 probes.
-module(sys_stopping).
-export([sick/0, healthy/0]).

sick() ->
    {ok, _} = riak_core_handoff_sender_sup:start_link(sys_kit:silent(), 64),
    proc_lib:spawn(fun node_drain:stop/0),
    sys_kit:until(fun() -> element(1, sys_kit:at(riak_core_handoff_sender)) =:= prim_inet end),
    Probes = [health_probe:start() || _ <- lists:seq(1, 10)],
    sys_kit:until(fun() -> sys_kit:queue(riak_core_handoff_sender_sup) >= 10
        andalso lists:all(fun(P) -> sys_kit:at(P) =:= {gen, do_call, 4} end, Probes) end).
healthy() ->
    {ok, _} = riak_core_handoff_sender_sup:start_link(sys_kit:echo(), 1),
    Probes = [health_probe:start() || _ <- lists:seq(1, 10)],
    sys_kit:until(fun() -> lists:all(fun(P) -> sys_kit:at(P) =:= {health_probe, idle, 1} end, Probes) end).
