%% The report: a provider of blocks starts a repeating timer for its keepalive at each reconnect and cancels none of the
%% earlier ones; after some hundred reconnects the ticks come faster than they are handled: millions of them queue.
%% To hear: riak_repl2_pg_block_provider has a queue of 80,000 or more, all `keepalive`; 400 repeating timers send them.
-module(sys_keepalive).
-export([sick/0, healthy/0]).

sick() ->
    {ok, P} = riak_repl2_pg_block_provider:start_link(10, false),
    [P ! {reconnected, N} || N <- lists:seq(1, 400)],
    sys_kit:until(fun() -> sys_kit:queue(P) >= 80000 end).
healthy() ->
    {ok, P} = riak_repl2_pg_block_provider:start_link(1000, true),
    [P ! {reconnected, N} || N <- lists:seq(1, 400)],
    sys_kit:until(fun() -> sys_kit:queue(P) =:= 0 end),
    timer:sleep(1500),
    sys_kit:until(fun() -> sys_kit:queue(P) =:= 0 end).
