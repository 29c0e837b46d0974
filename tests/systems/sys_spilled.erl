%% The report: a router hands events to 40 shards by their key; all of them write to one slow disk, and each falls behind.
%% To hear: 40 processes of event_shard hold 80,000 messages, and that they write.
-module(sys_spilled).
-export([sick/0, healthy/0]).

sick() -> start(2001, fun(P) -> sys_kit:queue(P) =:= 2000 end).
healthy() -> start(0, fun(P) -> sys_kit:queue(P) =:= 0 end).

start(Much, Reached) ->
    Shards = [begin {ok, P} = event_shard:start(N), P end || N <- lists:seq(1, 40)],
    [P ! {event, N, <<"payload of an event">>} || N <- lists:seq(1, Much), P <- Shards],
    sys_kit:until(fun() -> lists:all(Reached, Shards) end).
