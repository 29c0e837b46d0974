-module(brod_producer).
-behaviour(gen_server).
-export([start/2, init/1, handle_call/3, handle_cast/2, handle_info/2, produce/3, produce_sync/3]).
-record(buf, {buffer_limit = 64, onwire_limit = 1, onwire_count = 0, onwire = [], buffer_count = 0, buffer, pending}).
-record(state, {client_pid, topic, partition, connection, conn_mref, buffer, retry_backoff_ms = 500, retry_tref, debug = false}).
-record(produce_reply, {call_ref, base_offset, result}).
start(Topic, Conn) -> gen_server:start({local, brod_producer_orders_0}, ?MODULE, {Topic, Conn}, []).
init({Topic, Conn}) -> {ok, #state{topic = Topic, partition = 0, connection = Conn, buffer = #buf{buffer = queue:new(), pending = queue:new()}}}.
produce_sync(Pid, Key, Value) ->
    {ok, Ref} = produce(Pid, Key, Value),
    receive #produce_reply{call_ref = Ref, result = acked} -> ok end.
produce(Pid, Key, Value) ->
    Ref = make_ref(),
    Pid ! {produce, {self(), Ref}, Key, Value},
    receive #produce_reply{call_ref = Ref, result = buffered} -> {ok, Ref};
            {'DOWN', _, process, Pid, R} -> {error, R} end.
handle_info({produce, {From, Ref}, K, V}, S = #state{buffer = B = #buf{buffer_count = N, buffer_limit = L}}) when N < L ->
    From ! #produce_reply{call_ref = Ref, result = buffered},
    {noreply, send(S#state{buffer = B#buf{buffer_count = N + 1, buffer = queue:in({Ref, From, K, V}, B#buf.buffer)}})};
handle_info({produce, {_From, _Ref}, _K, _V}, S) ->       % the limit: nothing is said and nothing kept
    {noreply, S};
handle_info({msg, _, {produced, Refs}}, S = #state{buffer = B}) ->
    [F ! #produce_reply{call_ref = R, result = acked} || {R, F, _, _} <- Refs],
    {noreply, send(S#state{buffer = B#buf{onwire = [], onwire_count = 0}})}.
send(S = #state{connection = C, buffer = B = #buf{onwire_count = 0}}) ->
    case queue:to_list(B#buf.buffer) of [] -> S;
        L -> C ! {produce_request, self(), L}, S#state{buffer = B#buf{onwire = L, onwire_count = 1, buffer = queue:new(), buffer_count = 0}} end;
send(S) -> S.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
