%% The report: callers of a pool of HTTP connections give up after a time, and what they asked for stays in the pool's queue
%% (hansonkd/cables #1): who asks next waits behind all of them.
%% To hear: 40 wait for Elixir.Cables.Pool, which keeps 40,000 callers that have ended.
-module(sys_given_up).
-export([sick/0, healthy/0]).
sick() -> start(40000, true).
healthy() -> start(0, false).
start(Ended, Full) ->
    {ok, Pool} = 'Elixir.Cables.Pool':start(Full),
    give_up(Ended, Pool),
    [spawn(fun() -> 'Elixir.MyApp.Api':get(<<"/prices">>) end) || _ <- lists:seq(1, 40)],
    timer:sleep(400), ready.
%% Few at a time: what the VM keeps of the structures of those that have ended is not the pool's.
give_up(0, _) -> ok;
give_up(N, Pool) ->
    Ms = [spawn_monitor(fun() -> catch gen_server:call(Pool, {request, #{method => get, path => <<"/prices">>}}, 5) end) || _ <- lists:seq(1, 50)],
    [receive {'DOWN', R, _, _, _} -> ok end || {_, R} <- Ms], give_up(N - 50, Pool).
