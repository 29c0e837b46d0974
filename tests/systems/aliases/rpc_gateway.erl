-module(rpc_gateway).
-behaviour(gen_server).
-export([start/0, request/2, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start() -> gen_server:start({local, ?MODULE}, ?MODULE, [], []).
request(Options, Count) -> gen_server:call(?MODULE, {request, Options, Count}, infinity).
init([]) -> {ok, #{sent => 0}}.
handle_call({request, Options, Count}, _, S = #{sent := N}) -> ask(Options, Count), {reply, ok, S#{sent := N + Count}}.
ask(_, 0) -> ok;
ask(Options, N) -> A = erlang:alias(Options), rpc_backend ! {request, A, N}, ask(Options, N - 1).
handle_cast(_, S) -> {noreply, S}.
handle_info({reply, _, _}, S) -> {noreply, S}.
