%% A connection to the database.
-module(pg_conn).
-behaviour(gen_server).
-export([start_link/1, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start_link(Port) -> {ok, P} = gen_server:start_link(?MODULE, Port, []), P.
init(Port) ->
    {ok, Socket} = gen_tcp:connect({127,0,0,1}, Port, [binary, {active, true}]),
    ok = gen_tcp:send(Socket, <<"LISTEN jobs\n">>),
    {ok, {conn, Socket, ready}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info(_, S) -> {noreply, S}.
