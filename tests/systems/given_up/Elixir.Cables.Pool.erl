-module('Elixir.Cables.Pool').
-behaviour(gen_server).
-export([start/1, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start(Stuck) -> gen_server:start({local, ?MODULE}, ?MODULE, Stuck, []).
init(Stuck) -> {ok, #{'__struct__' => ?MODULE, waiting => queue:new(), busy => case Stuck of true -> [1, 2, 3, 4]; false -> [] end, max_streams => 4, profile => default}}.
handle_call({request, R}, From, S = #{waiting := W, busy := B}) when length(B) >= 4 -> {noreply, S#{waiting := queue:in({From, R}, W)}};
handle_call({request, _}, _, S) -> {reply, {ok, stream}, S}.
handle_cast({done, _}, S) -> {noreply, S}.
handle_info(_, S) -> {noreply, S}.
