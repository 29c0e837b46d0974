-module(request_worker).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start() -> gen_server:start(?MODULE, [], []).
init([]) -> {ok, 0}.
handle_call({watch, P, N}, _, S) -> [erlang:monitor(process, P) || _ <- lists:seq(1, N)], {reply, ok, S + N}.
handle_cast(_, S) -> {noreply, S}.
handle_info({'DOWN', _, process, _, _}, S) -> {noreply, S - 1}.
