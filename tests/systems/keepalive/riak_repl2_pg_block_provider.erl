-module(riak_repl2_pg_block_provider).
-behaviour(gen_server).
-export([start_link/2, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(state, {interval, cancels, connection, timer, sent = 0}).
start_link(Interval, Cancels) -> gen_server:start_link({local, ?MODULE}, ?MODULE, {Interval, Cancels}, []).
init({Interval, Cancels}) -> {ok, #state{interval = Interval, cancels = Cancels}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info({reconnected, N}, S) ->
    case S of #state{cancels = true, timer = T} when T =/= undefined -> {ok, cancel} = timer:cancel(T); _ -> ok end,
    {ok, New} = timer:send_interval(S#state.interval, keepalive),
    {noreply, S#state{connection = {proxy_get, N}, timer = New}};
handle_info(keepalive, S = #state{sent = N}) ->
    Frame = lists:foldl(fun(I, A) -> erlang:phash2({I, A}) end, N, lists:seq(1, 2000)),
    {noreply, S#state{sent = N + 1 + Frame - Frame}}.
