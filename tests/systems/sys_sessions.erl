%% The report: a broker bounds what it buffers for each session by a number of messages, not by size; clients that
%% don't acknowledge leave every session with a full queue, and the sessions together take the memory.
%% To hear: 300 emqx_session processes hold about 360 KiB each in the mqueue of their State (records #message{}): the
%% messages that the clients did not take.
-module(sys_sessions).
-export([sick/0, healthy/0]).

sick() -> start(400).
healthy() -> start(2).

start(Messages) ->
    Sessions = [begin {ok, P} = emqx_session:start(N), P end || N <- lists:seq(1, 300)],
    [emqx_session:deliver(P, N) || N <- lists:seq(1, Messages), P <- Sessions],
    sys_kit:until(fun() -> lists:all(fun(P) -> sys_kit:queue(P) =:= 0 end, Sessions) end),
    [erlang:garbage_collect(P) || P <- Sessions],
    sys_kit:until(fun() -> lists:all(fun(P) -> sys_kit:queue(P) =:= 0 andalso emqx_session:len(P) =:= Messages end, Sessions) end).
