-module(leo_mq_consumer).
-behaviour(gen_server).
-export([start_link/1, left/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(state, {id = leo_per_object_queue, joins, told = false, messages = queue:new(), batch = 5}).
start_link(Joins) -> gen_server:start_link({local, ?MODULE}, ?MODULE, Joins, []).
left() -> gen_server:call(?MODULE, left).
init(Joins) -> {ok, #state{joins = Joins}}.
handle_call(left, _, S) -> {reply, queue:len(S#state.messages), S}.
handle_cast(_, S) -> {noreply, S}.
handle_info({publish, M}, S = #state{messages = Q}) -> {noreply, tell(S#state{messages = queue:in(M, Q)})};
handle_info({done, P}, S) -> P ! done, {noreply, S};
handle_info(consume, S = #state{messages = Q, batch = B}) ->
    N = min(B, queue:len(Q)),
    {Batch, Rest} = queue:split(N, Q),
    lists:foldl(fun(I, A) -> erlang:phash2({I, A, Batch}) end, 0, lists:seq(1, 3000)),
    New = S#state{messages = Rest, told = false},
    {noreply, case queue:is_empty(Rest) of true -> New; false -> tell(New) end}.
tell(S = #state{joins = true, told = true}) -> S;
tell(S) -> self() ! consume, S#state{told = true}.
