%% The report: an index in 200 shards, of which a few get nearly all of the keys, as the key is hashed by its first
%% letters alone; the node's memory is in these few.
%% To hear: 12 of 200 inventory_shard processes hold nearly all of what these have, in the entries of their State.
-module(sys_shards).
-export([sick/0, healthy/0]).

sick() -> start(40000).
healthy() -> start(40).

start(Much) ->
    Shards = [begin {ok, P} = inventory_shard:start(N), P end || N <- lists:seq(1, 200)],
    [inventory_shard:fill(P, Much) || P <- lists:sublist(Shards, 50, 12)],
    [inventory_shard:fill(P, 40) || P <- Shards],
    [erlang:garbage_collect(P) || P <- Shards],
    sys_kit:until(fun() -> lists:all(fun(P) -> sys_kit:queue(P) =:= 0 end, Shards) end).
