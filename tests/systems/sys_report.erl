%% The report: when Kafka is down a producer gives up after its retries and exits; what it has buffered is in its State,
%% and formatting the crash report of that takes all the memory there is, in the dying process itself.
%% To hear: brod_producer_orders is dying and formats its crash report (logger, io_lib): its State with a buffer of
%% 12,000 requests is turned into text, which takes the memory.
-module(sys_report).
-export([sick/0, healthy/0]).
sick() -> start(12000, fun(P) -> brod_producer:give_up(P), sys_kit:until(fun() -> formats(P) andalso element(2, process_info(P, memory)) > 30000000 end) end).
healthy() -> start(50, fun(P) -> sys_kit:until(fun() -> sys_kit:queue(P) =:= 0 end) end).
start(N, Then) ->
    {ok, P} = brod_producer:start(brod_producer_orders),
    [brod_producer:produce(P, K) || K <- lists:seq(1, N)],
    sys_kit:until(fun() -> sys_kit:queue(P) =:= 0 end),
    Then(P).
formats(P) ->
    {current_stacktrace, T} = process_info(P, current_stacktrace),
    [x || {M, _, _, _} <- T, lists:prefix("io_lib", atom_to_list(M))] =/= [].
