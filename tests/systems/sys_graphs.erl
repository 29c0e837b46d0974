%% The report: a planner makes a graph for each request and does not delete it; a graph is three tables, which stay until
%% their owner ends.
%% To hear: the route_planner processes own 2,400 tables that hold most of the node's memory.
-module(sys_graphs).
-export([sick/0, healthy/0]).
sick() -> start(false).
healthy() -> start(true).
start(Deletes) ->
    Planners = [element(2, route_planner:start(I)) || I <- lists:seq(1, 4)],
    [3 = route_planner:plan(P, 60, Deletes) || P <- Planners, _ <- lists:seq(1, 200)],
    sys_kit:until(fun() -> lists:all(fun(P) -> sys_kit:queue(P) =:= 0 end, Planners) end).
