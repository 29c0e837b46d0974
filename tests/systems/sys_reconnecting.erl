%% The report: while the database is down its client connects again without any delay (mongodb-erlang #208); a processor
%% is busy, and nothing stands in any queue.
%% To hear: mc_worker has done nearly all of the work; more than 80,000 ports were opened, which are closed again.
-module(sys_reconnecting).
-export([sick/0, healthy/0]).
sick() -> start(0, 100000).
healthy() -> start(1000, 1).
start(Delay, Attempts) ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127,0,0,1}}]), {ok, P} = inet:port(L), ok = gen_tcp:close(L),
    {ok, W} = mc_worker:start(P, Delay),
    wait(W, Attempts).
wait(W, Attempts) ->
    case gen_server:call(W, attempts, infinity) >= Attempts of true -> ready; false -> timer:sleep(100), wait(W, Attempts) end.
