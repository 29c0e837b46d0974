-module(web_session).
-behaviour(gen_server).
-export([start/2, init/1, handle_call/3, handle_cast/2]).
-record(session, {number, token}).
start(Take, N) -> gen_server:start(?MODULE, {Take, N}, []).
init({Take, N}) ->
    Request = iolist_to_binary([<<"POST /login HTTP/1.1 token=">>, binary:copy(<<N:32>>, 40), binary:copy(<<"body">>, 131072)]),
    <<_:27/binary, Token:100/binary, _/binary>> = Request,
    {ok, #session{number = N, token = Take(Token)}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
