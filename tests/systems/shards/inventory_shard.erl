-module(inventory_shard).
-behaviour(gen_server).
-export([start/1, fill/2, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(state, {number, entries = #{}}).
start(N) -> gen_server:start(?MODULE, N, []).
fill(Shard, Count) -> gen_server:call(Shard, {fill, Count}, infinity).
init(N) -> {ok, #state{number = N}}.
handle_call({fill, Count}, _, S = #state{entries = E}) ->
    {reply, ok, S#state{entries = lists:foldl(fun(I, M) -> M#{{sku, I} => {stock, I rem 100, [I, I + 1]}} end, E, lists:seq(1, Count))}}.
handle_cast(_, S) -> {noreply, S}.
handle_info(_, S) -> {noreply, S}.
