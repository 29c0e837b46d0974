%% The report: an HTTP client's connections are opened once and kept; requests are awaited without a limit of time;
%% one day the far end accepts a request and says nothing more, and every caller hangs behind the one that asked.
%% To hear: oauth_token_cache has been waiting in gun:await for the answer of 127.0.0.1:PORT, which never came; 25
%% api_handler processes wait for oauth_token_cache. Nothing in them is wrong.
-module(sys_gun).
-export([sick/0, healthy/0]).

sick() -> start(sys_kit:silent(), fun(Hs) ->
    lists:all(fun(H) -> sys_kit:at(H) =:= {oauth_token_cache, fetch, 1} end, Hs)
        andalso sys_kit:at(oauth_token_cache) =:= {gun, await, 3} andalso sys_kit:queue(oauth_token_cache) =:= 24 end).
healthy() -> start(sys_kit:echo(), fun(Hs) ->
    lists:all(fun(H) -> sys_kit:at(H) =:= {api_handler, loop, 1} end, Hs) andalso sys_kit:queue(oauth_token_cache) =:= 0 end).

start(Port, Reached) ->
    {ok, _} = oauth_token_cache:start({127,0,0,1}, Port),
    Handlers = [api_handler:start(N) || N <- lists:seq(1, 25)],
    sys_kit:until(fun() -> Reached(Handlers) end).
