%% Listens for notifications over the last connection that it has made.
-module(pg_notifier).
-behaviour(gen_server).
-export([start/1, reset/1, init/1, handle_call/3, handle_cast/2]).
start(Port) -> {ok, P} = gen_server:start({local, ?MODULE}, ?MODULE, Port, []), P.
reset(P) -> gen_server:call(P, reset, infinity).
init(Port) -> {ok, {state, Port, none, closed}}.
handle_call(reset, _, {state, Port, _, _}) -> {reply, ok, {state, Port, pg_conn:start_link(Port), open}}.
handle_cast(_, S) -> {noreply, S}.
