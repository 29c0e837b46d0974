-module(mochiweb_acceptor).
-export([start_link/2, init/2, serve/2]).
start_link(Server, Listen) -> proc_lib:spawn_link(?MODULE, init, [Server, Listen]).
init(Server, Listen) ->
    {ok, S} = gen_tcp:accept(Listen),
    gen_server:cast(Server, {accepted, self()}),
    ok = inet:setopts(S, [{active, once}]),
    serve(Server, S).
serve(Server, S) ->
    receive
        {tcp, S, _} -> ok = inet:setopts(S, [{active, once}]), serve(Server, S);
        {tcp_closed, S} -> ok
    end.
