%% The report: a store writes into one part of its journal at a time, and keeps a table of what it has written to it; when a
%% part is full it becomes a reader, which finds its keys in a smaller table, and forgets the first one without deleting it.
%% To hear: the journal_part processes are readers, and no longer refer to their tables `hashtree`, which are the memory.
-module(sys_journals).
-export([sick/0, healthy/0]).
sick() -> start(forget).
healthy() -> start(delete).
start(How) ->
    Parts = [element(2, journal_part:start(I)) || I <- lists:seq(1, 60)],
    [ok = journal_part:write(P, 6000) || P <- Parts],
    [ok = journal_part:roll(P, How) || P <- Parts],
    [erlang:garbage_collect(P) || P <- Parts],
    sys_kit:until(fun() -> lists:all(fun(P) -> sys_kit:status(P) =:= waiting end, Parts) end).
