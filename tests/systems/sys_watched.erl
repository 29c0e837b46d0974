%% The report: each worker monitors the broker's connection once for each request, and never takes the monitor back; no
%% worker has very many, but the connection has them all.
%% To hear: broker_connection is monitored 50,000 times, by 100 processes of request_worker.
-module(sys_watched).
-export([sick/0, healthy/0]).

sick() -> start(500).
healthy() -> start(1).

start(Each) ->
    {ok, P} = broker_connection:start_link(),
    Workers = [begin {ok, W} = request_worker:start(), W end || _ <- lists:seq(1, 100)],
    [gen_server:call(W, {watch, P, Each}) || W <- Workers],
    sys_kit:until(fun() -> {monitored_by, By} = process_info(P, monitored_by), length(By) >= 100 * Each end).
