-module(gen_tcpd).
-export([start_link/1, serving/0, init/1, acceptor/3]).

start_link(How) -> proc_lib:start_link(?MODULE, init, [How]).
serving() ->
    gen_tcpd ! {serving, self()},
    receive {serving, N} -> N end.

init(How) ->
    register(?MODULE, self()),
    proc_lib:init_ack({ok, self()}),
    loop(How, 0).

loop(How, Serving) ->
    receive
        {connections, Count, Live} when How =:= chain ->
            proc_lib:spawn(?MODULE, acceptor, [self(), Count, Live]),
            loop(How, Serving);
        {connections, Count, Live} ->
            [proc_lib:spawn(?MODULE, acceptor, [self(), 0, if N =< Live -> Live; true -> -1 end]) || N <- lists:seq(1, Count)],
            loop(How, Serving);
        serving -> loop(How, Serving + 1);
        {serving, From} -> From ! {serving, Serving}, loop(How, Serving)
    end.

%% takes a connection, leaves the port to the next acceptor and serves what it has taken
acceptor(_Listener, N, Live) when Live < 0; N > 8000 -> ok;
acceptor(Listener, 0, _Live) -> Listener ! serving, serve(Listener, {session, 0});
acceptor(Listener, N, Live) ->
    case N - 1 of
        0 -> ok;
        Next -> proc_lib:spawn(?MODULE, acceptor, [Listener, Next, Live])
    end,
    if N =< Live -> Listener ! serving, serve(Listener, {session, N}); true -> ok end.

serve(Listener, Session) ->
    receive {data, _} -> serve(Listener, Session) end.
