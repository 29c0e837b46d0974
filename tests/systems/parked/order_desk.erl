-module(order_desk).
-behaviour(gen_server).
-export([start_link/0, take/1, init/1, handle_call/3, handle_cast/2]).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
take(N) -> gen_server:cast(?MODULE, {order, N}).
init([]) -> {ok, {desk, open, {limits, 10, 20}, 0, []}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast({order, N}, {desk, How, Limits, Last, Orders}) -> {noreply, {desk, How, Limits, max(N, Last), [{order, N, [N], {item, N, 1}} | Orders]}}.
