-module(tls_gateway_conn).
-behaviour(gen_server).
-export([start/1, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(state, {cipher, seen = 0}).
start(Certificates) -> {ok, P} = gen_server:start(?MODULE, Certificates, []), P.
init(Certificates) ->
    Chain = [{N, integer_to_list(N), {certificate, N}} || N <- lists:seq(1, Certificates)],
    [garbage_collect(self(), [{type, minor}]) || _ <- [1, 2, 3]],    % what lives by then grows old
    {ok, #state{cipher = aes_256_gcm, seen = length(Chain)}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info(_, S) -> {noreply, S}.
