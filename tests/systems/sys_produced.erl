%% The report: the connection of a Kafka producer does not answer; its buffer is full, and a request that comes then is
%% dropped without a word, so that its process waits for ever (brod #189).
%% To hear: brod_producer_orders_0 has 64 of 64, 64 processes wait for it, and 80 and more are in
%% brod_producer:produce/3 whom it does not even have.
-module(sys_produced).
-export([sick/0, healthy/0]).
sick() -> start(false, 0, waiting).
healthy() -> start(true, 2, {order_writer, written, 1}).
start(Answers, Pause, There) ->
    {ok, P} = brod_producer:start(<<"orders">>, kpro_connection:start(Answers)),
    Ps = [begin timer:sleep(Pause), proc_lib:spawn(order_writer, write, [I]) end || I <- lists:seq(1, 160)],
    sys_kit:until(fun() -> sys_kit:queue(P) =:= 0 andalso
        lists:all(fun(W) -> lists:member(There, [sys_kit:status(W), sys_kit:at(W)]) end, Ps) end),
    timer:sleep(200), ready.
