-module(arweave_limiter_group).
-export([start/1, tick/2]).
start(I) ->
    {_, R} = spawn_monitor(fun() ->
        {ok, _} = timer:apply_after(3600000, ?MODULE, tick, [leaky_tick, {group, I}]),
        {ok, _} = timer:apply_after(7200000, ?MODULE, tick, [timestamp_cleanup, {group, I}]) end),
    receive {'DOWN', R, _, _, _} -> ok end.
tick(_, _) -> ok.
