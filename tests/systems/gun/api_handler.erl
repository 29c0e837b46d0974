-module(api_handler).
-export([start/1, init/1, loop/1]).

start(N) -> proc_lib:spawn(?MODULE, init, [N]).
init(N) ->
    {ok, Token} = oauth_token_cache:fetch(integer_to_binary(N rem 5)),
    loop({N, Token}).
loop(State) -> receive {request, _} -> loop(State) end.
