%% The report: a service keeps the orders that were not confirmed in a list of its State, and nothing takes them out.
%% To hear: order_desk holds the memory: its State's unconfirmed, a list of 81,000 {order, ...}.
-module(sys_parked).
-export([sick/0, healthy/0]).

sick() -> start(81000).
healthy() -> start(100).

start(Much) ->
    {ok, P} = order_desk:start_link(),
    [order_desk:take(N) || N <- lists:seq(1, Much)],
    sys_kit:until(fun() -> sys_kit:queue(P) =:= 0 end),
    erlang:garbage_collect(P), ready.
