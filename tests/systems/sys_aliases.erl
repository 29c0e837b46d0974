%% The report: an alias is made for each request, so that a late answer does no harm, and none is taken back: the process
%% grows by what is on no heap, and no tool of the node lists it.
%% To hear: rpc_gateway holds 20 and more MiB that are on no heap: aliases.
-module(sys_aliases).
-export([sick/0, healthy/0]).
sick() -> start([explicit_unalias]).
healthy() -> start([reply]).
start(Options) ->
    {ok, G} = rpc_gateway:start(),
    B = rpc_backend:start(),
    [begin
        ok = rpc_gateway:request(Options, 2000),
        sys_kit:until(fun() -> sys_kit:queue(B) =:= 0 andalso sys_kit:queue(G) =:= 0 end)
     end || _ <- lists:seq(1, 100)],
    erlang:garbage_collect(G), erlang:garbage_collect(B), ready.
