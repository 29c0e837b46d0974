%% What the systems share: waiting until a state is reached, and the world outside of the node (the program `peer`).
-module(sys_kit).
-export([until/1, queue/1, at/1, status/1, silent/0, echo/0, connect_from_outside/2]).

until(Fun) -> until(Fun, 1000).
until(_, 0) -> erlang:halt("the state was not reached", [{flush, false}]);
until(Fun, N) ->
    case catch Fun() of
        true -> ready;
        _ -> timer:sleep(20), until(Fun, N - 1)
    end.

info(P, What) when is_atom(P) -> info(whereis(P), What);
info(P, What) -> element(2, process_info(P, What)).
queue(P) -> info(P, message_queue_len).
at(P) -> info(P, current_function).
status(P) -> info(P, status).

silent() -> port(silent).
echo() -> port(echo).
port(Which) -> {ok, [[P]]} = init:get_argument(Which), list_to_integer(P).

%% the peer opens Count connections to Port and keeps them
connect_from_outside(Port, Count) ->
    {ok, S} = gen_tcp:connect({127,0,0,1}, echo(), [binary, {active, false}, {packet, line}]),
    ok = gen_tcp:send(S, io_lib:format("connect ~w ~w~n", [Port, Count])),
    {ok, _} = gen_tcp:recv(S, 0),
    gen_tcp:close(S).
