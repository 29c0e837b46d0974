%% A processor of orders, whose work a tracer measures.
-module(order_processor).
-behaviour(gen_server).
-export([start/1, work/2, init/1, handle_call/3, handle_cast/2]).
start(N) -> {ok, P} = gen_server:start(?MODULE, N, []), P.
work(P, Orders) -> gen_server:call(P, {work, Orders}, infinity).
init(N) -> {ok, {processor, N, 0}}.
handle_call({work, Orders}, _, {processor, N, Done}) ->
    [traced(Order) || Order <- lists:seq(1, Orders)],
    {reply, ok, {processor, N, Done + Orders}}.
handle_cast(_, S) -> {noreply, S}.
traced(Order) -> put({duration_acc, make_ref()}, {Order, Order * 1.5, [started, done]}).
