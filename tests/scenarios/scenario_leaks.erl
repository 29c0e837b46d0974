%% Tables of the VM that fill up: atoms, processes, ports.
-module(scenario_leaks).
-export([scenarios/0, atom_leak/1, atom_exhaustion/1, process_leak/1, process_exhaustion/1, port_leak/1, updater/2]).

-import(scenario_kit, [specimen/2, hold/1, many/2]).

scenarios() -> [atom_leak, atom_exhaustion, process_leak, process_exhaustion, port_leak].

%% A node name for every run of a command, as <8 hex digits>-ctl@localhost. The early form stops at 90 % of the limit.
atom_leak(Args) ->
    Percent = scenario_kit:number(1, Args, 90),
    Room = erlang:system_info(atom_limit) * Percent div 100 - erlang:system_info(atom_count),
    lists:foreach(fun leak/1, lists:seq(1, Room)),
    #{slogan => "asked for by an operator",
      facts => #{findings => ['atom-exhaustion'], leaked => Room, pattern => <<"<hex8>-ctl@localhost">>,
                 limit => erlang:system_info(atom_limit)}}.

atom_exhaustion(_) ->
    #{slogan => lists:concat(["no more index entries in atom_tab (max=", erlang:system_info(atom_limit), ")"]),
      facts => #{findings => ['atom-exhaustion'], pattern => <<"<hex8>-ctl@localhost">>, limit => erlang:system_info(atom_limit)},
      death => fun() -> leak_on(1) end}.

leak_on(I) -> leak(I), leak_on(I + 1).

leak(I) -> list_to_atom(lists:flatten(io_lib:format("~8.16.0b-ctl@localhost", [erlang:phash2(I, 1 bsl 32)]))).

%% Updaters that one loop spawned and nobody stops: 85 % of the process limit, none linked or monitored.
process_leak(Args) ->
    Percent = scenario_kit:number(1, Args, 85),
    Count = erlang:system_info(process_limit) * Percent div 100 - erlang:system_info(process_count),
    leak_processes(Count, "asked for by an operator").

process_exhaustion(_) ->
    leak_processes(erlang:system_info(process_limit), "too many processes").

leak_processes(Count, Slogan) ->
    Spawner = specimen(view_indexer, fun(Ready) -> Made = spawn_all(Count, []), Ready(), hold(view_indexer), Made end),
    {process_count, Before} = {process_count, erlang:system_info(process_count)},
    #{slogan => Slogan,
      facts => #{findings => ['process-leak'], spawner => Spawner, function => {?MODULE, updater, 2}, processes => Before,
                 limit => erlang:system_info(process_limit)}}.

%% At the limit it gives the last few back, so that the truth can be taken.
spawn_all(0, Made) -> length(Made);
spawn_all(Left, Made) ->
    try spawn(?MODULE, updater, [Left, view]) of Pid -> spawn_all(Left - 1, [Pid | Made])
    catch error:system_limit -> [exit(P, kill) || P <- lists:sublist(Made, 4)], length(Made) - 4
    end.

updater(I, View) -> receive {update, I, View} -> ok end.

%% Drivers opened and never closed.
port_leak(Args) ->
    Percent = scenario_kit:number(1, Args, 85),
    Count = erlang:system_info(port_limit) * Percent div 100 - erlang:system_info(port_count),
    Acceptor = specimen(acceptor_pool, fun(Ready) ->
                                           Ports = many(Count, fun(_) -> open_port({spawn_driver, "tcp_inet"}, [binary]) end),
                                           Ready(), hold(acceptor_pool), Ports
                                       end),
    #{slogan => "asked for by an operator",
      facts => #{findings => ['port-leak'], owner => Acceptor, leaked => Count, ports => erlang:system_info(port_count),
                 driver => tcp_inet, limit => erlang:system_info(port_limit)}}.
