-module(oauth_token_cache).
-export([start/2, fetch/1, init/2]).

start(Host, Port) -> proc_lib:start(?MODULE, init, [Host, Port]).

init(Host, Port) ->
    register(?MODULE, self()),
    {ok, Conn} = gun:open(Host, Port),
    proc_lib:init_ack({ok, self()}),
    loop(Conn, #{}).

fetch(Client) ->
    Ref = erlang:monitor(process, ?MODULE),
    ?MODULE ! {fetch, self(), Ref, Client},
    receive
        {Ref, Token} -> erlang:demonitor(Ref, [flush]), {ok, Token};
        {'DOWN', Ref, process, _, Reason} -> {error, Reason}
    end.

loop(Conn, Tokens) ->
    receive
        {fetch, From, Ref, Client} ->
            case Tokens of
                #{Client := Token} -> From ! {Ref, Token}, loop(Conn, Tokens);
                _ ->
                    Stream = gun:request(Conn, <<"POST">>, [<<"/oauth/token/">>, Client]),
                    {response, 200, Token} = gun:await(Conn, Stream, infinity),
                    From ! {Ref, Token},
                    loop(Conn, Tokens#{Client => Token})
            end
    end.
