%% The report: a notifier connects anew for each of the timers that failed attempts have left, and closes nothing: when the
%% database is back it has 150 connections, of which its State knows the last.
%% To hear: pg_notifier <pid> has started 150 processes of pg_conn:init/1, each with a connection of its own.
-module(sys_notifier).
-export([sick/0, healthy/0]).
sick() -> start(150).
healthy() -> start(1).
start(Times) ->
    Notifier = pg_notifier:start(sys_kit:silent()),
    [pg_notifier:reset(Notifier) || _ <- lists:seq(1, Times)],
    sys_kit:until(fun() -> sys_kit:queue(Notifier) =:= 0 andalso length(element(2, process_info(Notifier, links))) >= Times end).
