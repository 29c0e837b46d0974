-module(emqx_session).
-behaviour(gen_server).
-export([start/1, deliver/2, len/1, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(message, {id, qos = 1, from, flags, headers, topic, payload, timestamp}).
-record(mqueue, {store_qos0 = false, max_len = 0, len = 0, dropped = 0, q}).
-record(state, {zone = external, idle_timeout = 15000, clean_start = true, client_id, username, conn_pid, next_pkt_id = 33,
                subscriptions = #{}, max_inflight = 32, inflight = [], mqueue, expiry_interval = 7200, created_at}).

start(N) -> gen_server:start(?MODULE, N, []).
len(P) -> gen_server:call(P, len).
deliver(P, N) ->
    P ! {deliver, #message{id = <<N:64, 7:64>>, from = <<"sensor/", (integer_to_binary(N rem 9))/binary>>,
                           flags = #{dup => false, retain => N rem 2 =:= 0}, headers = #{peer => {10, 0, N rem 250, 1}, seq => N * 1000003},
                           topic = <<"plant/line/", (integer_to_binary(N rem 40))/binary, "/temperature">>,
                           payload = integer_to_list(N * 123456789123), timestamp = {1564, 544940, N}}}.
init(N) ->
    {ok, #state{client_id = <<"client-", (integer_to_binary(N))/binary>>, mqueue = #mqueue{q = queue:new()},
                subscriptions = #{<<"plant/#">> => #{qos => 1, nl => 0, rap => 0}}, created_at = {1564, N, 0}}}.
handle_call(len, _, S = #state{mqueue = Q}) -> {reply, Q#mqueue.len, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info({deliver, M}, S = #state{mqueue = Q}) ->
    {noreply, S#state{mqueue = Q#mqueue{len = Q#mqueue.len + 1, q = queue:in(M, Q#mqueue.q)}}}.
