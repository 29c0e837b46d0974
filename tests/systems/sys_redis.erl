%% The report: a Redis server locks up and reads no more; the client's socket buffer fills and its send blocks without a
%% limit of time, so that all who use the client hang, although each of them has only asked for a small thing.
%% To hear: eredis_client is stuck in gen_tcp:send to 127.0.0.1:PORT, whose far end doesn't read; 100 page_view
%% processes wait for eredis_client.
-module(sys_redis).
-export([sick/0, healthy/0]).

sick() -> start(sys_kit:silent(), 262144, fun(Views) ->
    element(1, sys_kit:at(eredis_client)) =:= prim_inet andalso sys_kit:queue(eredis_client) > 10
        andalso lists:all(fun(P) -> sys_kit:at(P) =:= {eredis, q, 2} end, Views) end).
healthy() -> start(sys_kit:echo(), 100, fun(Views) -> lists:all(fun(P) -> sys_kit:at(P) =:= {page_view, rendered, 1} end, Views) end).

start(Port, Size, Reached) ->
    {ok, _} = eredis_client:start_link({127,0,0,1}, Port),
    Views = [page_view:start(N, Size) || N <- lists:seq(1, 100)],
    sys_kit:until(fun() -> Reached(Views) end).
