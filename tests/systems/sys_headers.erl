%% The report: each connection keeps the token that it took out of its first request, and with it the whole request.
%% To hear: 200 processes of web_session keep 100 MiB of binaries by a slice each.
-module(sys_headers).
-export([sick/0, healthy/0]).

sick() -> start(fun(Token) -> Token end).
healthy() -> start(fun(Token) -> binary:copy(Token) end).

start(Take) ->
    Sessions = [begin {ok, P} = web_session:start(Take, N), P end || N <- lists:seq(1, 200)],
    [erlang:garbage_collect(P) || P <- Sessions],
    erlang:garbage_collect(), ready.
