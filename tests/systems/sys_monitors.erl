%% The report: the helper process of a replication sink monitors the connection for each batch of objects that it
%% writes and never demonitors it; the connection lives for weeks, so the monitors pile up without end.
%% To hear: riak_repl2_rtsink_helper has 200,000 monitors, nearly all of one process, riak_repl2_rtsink_conn: it
%% monitors and never demonitors.
-module(sys_monitors).
-export([sick/0, healthy/0]).

sick() -> start(false, 200000).
healthy() -> start(true, 15).

start(Demonitor, Expected) ->
    {ok, _} = riak_repl2_rtsink_helper:start_link(Demonitor),
    {ok, _} = riak_repl2_rtsink_conn:start_link(),
    [{ok, _} = riak_repl2_rtsink_conn:start_peer() || _ <- lists:seq(1, 15)],
    riak_repl2_rtsink_conn ! {write, 200000},
    sys_kit:until(fun() ->
        {monitors, L} = process_info(whereis(riak_repl2_rtsink_helper), monitors),
        length(L) >= Expected andalso riak_repl2_rtsink_conn:written() =:= 200000 end).
