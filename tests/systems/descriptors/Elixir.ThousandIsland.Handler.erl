-module('Elixir.ThousandIsland.Handler').
-export([start/1, init/1, handle/2]).
start(S) -> proc_lib:spawn(?MODULE, init, [S]).
init(S) -> receive {thousand_island_ready, S} -> ok end, ok = inet:setopts(S, [{active, once}]), handle(S, #{requests => 0}).
handle(S, State) ->
    receive
        {tcp, S, _} -> ok = inet:setopts(S, [{active, once}]), handle(S, State);
        {tcp_closed, S} -> ok
    end.
