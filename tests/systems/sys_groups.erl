%% The report: a process joins a group of pg for each order, and leaves none: pg has as many groups as there ever were
%% orders, in its state under that process and in its table.
%% To hear: pg has a list of 20,000 groups of order_events.
-module(sys_groups).
-export([sick/0, healthy/0]).
sick() -> start(false).
healthy() -> start(true).
start(Leaves) ->
    {ok, _} = pg:start_link(),
    order_events:start(Leaves, 20000),
    receive joined -> ready end.
