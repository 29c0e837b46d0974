-module(brod_producer).
-behaviour(gen_server).
-export([start/1, produce/2, give_up/1, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(req, {call_ref, key, value, bytes, msg_cnt = 1, ctime, failures = 0}).
-record(buf, {buffer_limit = 512, onwire_limit = 1, max_batch_size = 1048576, max_retries = 3, retry_tref, pending, buffer, onwire_count = 0, onwire = []}).
-record(state, {client_pid, topic = <<"orders">>, partition = 0, connection, buffer = #buf{pending = queue:new(), buffer = queue:new()}}).
start(Name) -> gen_server:start({local, Name}, ?MODULE, [], []).
produce(P, K) -> P ! {produce, #req{call_ref = {brod_call_ref, self(), make_ref()}, key = "order-" ++ integer_to_list(K), value = lists:duplicate(20, {K, "line of an order", [K, K + 1, K + 2]}), bytes = 512, ctime = K}}.
give_up(P) -> P ! {retry, 3}.
init([]) -> {ok, #state{client_pid = undefined}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info({produce, R}, S = #state{buffer = B}) -> {noreply, S#state{buffer = B#buf{buffer = queue:in(R, B#buf.buffer)}}};
handle_info({retry, N}, S = #state{buffer = #buf{max_retries = Max}}) when N >= Max -> exit({reached_max_retries, {error, connection_down, S#state.topic}});
handle_info({retry, _}, S) -> {noreply, S}.
