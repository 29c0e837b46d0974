-module(event_shard).
-behaviour(gen_server).
-export([start/1, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(state, {number, written = 0}).
start(N) -> gen_server:start(?MODULE, N, []).
init(N) -> {ok, #state{number = N}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info({event, N, Payload}, S) -> ok = write(N, Payload), {noreply, S#state{written = S#state.written + 1}}.
write(_N, _Payload) -> timer:sleep(600000), ok.
