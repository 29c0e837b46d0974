-module('Elixir.MyApp.Api').
-export([get/1]).
get(Path) -> {ok, S} = gen_server:call('Elixir.Cables.Pool', {request, #{method => get, path => Path}}, infinity), rests(S).
rests(S) -> receive stop -> S end.
