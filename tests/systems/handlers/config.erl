-module(config).
-behaviour(gen_server).
-export([start_link/0, listen_for_changes/2, init/1, handle_call/3, handle_cast/2]).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
listen_for_changes(Mod, State) -> gen_server:call(?MODULE, {listen, Mod, State}, infinity).
init([]) -> {ok, []}.
handle_call({listen, Mod, State}, _, S) -> {reply, gen_event:add_handler(config_event, {config_listener, {Mod, make_ref()}}, {Mod, State}), S}.
handle_cast(_, S) -> {noreply, S}.
