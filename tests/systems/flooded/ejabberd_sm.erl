-module(ejabberd_sm).
-behaviour(gen_server).
-export([start_link/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(state, {routed = 0}).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
init([]) -> {ok, #state{}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info({route, {jid, User, _}, _}, S = #state{routed = N}) ->
    true = ejabberd_auth_cache:user_exists(User),
    {noreply, S#state{routed = N + 1}}.
