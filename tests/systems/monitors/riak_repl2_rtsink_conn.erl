-module(riak_repl2_rtsink_conn).
-behaviour(gen_server).
-export([start_link/0, start_peer/0, written/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, 0, []).
start_peer() -> {ok, P} = gen_server:start_link(?MODULE, 0, []), ok = riak_repl2_rtsink_helper:watch(P), {ok, P}.
written() -> gen_server:call(?MODULE, written, infinity).
init(N) -> {ok, N}.
handle_call(written, _, N) -> {reply, N, N}.
handle_cast(_, S) -> {noreply, S}.
handle_info({write, K}, N) ->
    ok = write(K),
    {noreply, N + K}.
write(0) -> ok;
write(K) -> ok = riak_repl2_rtsink_helper:write_objects([{object, K}], self()), write(K - 1).
