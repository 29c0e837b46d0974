%% The report: the process that keeps the keys of a store takes them out of the objects by matching; a key taken so
%% refers to the whole object, which therefore can't be freed: a few kilobytes of keys keep all the objects in memory.
%% To hear: leveled_penciller keeps about 120 MiB of binaries alive by 120 small slices (sub binaries) of 80 bytes.
-module(sys_slices).
-export([sick/0, healthy/0]).

sick() -> start(fun(Key) -> Key end).
healthy() -> start(fun(Key) -> binary:copy(Key) end).

start(Take) ->
    {ok, P} = leveled_penciller:start_link(Take),
    sys_kit:until(fun() -> leveled_bookie:put_all(120), true end),
    erlang:garbage_collect(P), erlang:garbage_collect(),
    sys_kit:until(fun() -> leveled_penciller:size() =:= 120 end).
