%% The report: the consumer of a message queue tells itself to consume after each batch and at each message published;
%% under load it sends itself more of these than it handles, nothing joins them, and calls to it time out.
%% To hear: leo_mq_consumer floods itself: its queue has about 120,000 messages, all `consume`, which it sends to itself.
-module(sys_ticks).
-export([sick/0, healthy/0]).
sick() -> start(false, fun(P) -> sys_kit:queue(P) >= 100000 andalso only(P) end).
healthy() -> start(true, fun(P) -> sys_kit:queue(P) =:= 0 andalso leo_mq_consumer:left() =:= 0 end).
start(Joins, Reached) ->
    {ok, P} = leo_mq_consumer:start_link(Joins),
    leo_mq_publisher:publish(if Joins -> 500; true -> 120000 end),
    sys_kit:until(fun() -> Reached(P) end).
only(_) -> leo_mq_publisher:done().
