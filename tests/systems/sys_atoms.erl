%% flags: +t 20000
%% The report: a REST library makes an atom of each name in the query of a URL; clients (or an attacker) send ever new
%% names, and the node aborts when its atom table is full.
%% To hear: the atom table is full (20,000): thousands of atoms like filter_created_at_1234, made by
%% sr_entities_handler, which was running when the node aborted.
-module(sys_atoms).
-export([sick/0, healthy/0]).
sick() -> start(list_to_atom, 30000).
healthy() -> start(list_to_existing_atom, 3000).
start(How, N) ->
    P = sr_entities_handler:start(How),
    ask(P, N),
    sys_kit:until(fun() -> sys_kit:queue(P) =:= 0 end).
ask(_, 0) -> ok;    %% no list of all: the node ends before that of the one who asks could be collected
ask(P, K) ->
    P ! {get, "/entities?filter_created_at_" ++ integer_to_list(K) ++ "=1"},
    ask(P, K - 1).
