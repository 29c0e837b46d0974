%% Who the node's peers are.
-module(peers).
-behaviour(gen_server).
-export([start/0, add/1, random/0, init/1, handle_call/3, handle_cast/2]).
start() -> {ok, P} = gen_server:start({local, ?MODULE}, ?MODULE, [], []), P.
add(Host) -> gen_server:cast(?MODULE, {add, Host}).
random() -> gen_server:call(?MODULE, random, infinity).
init([]) -> {ok, {state, #{}, []}}.
handle_call(random, _, S) -> {reply, none, S}.
handle_cast({add, Host}, S) -> {noreply, on_add_peer(Host, S)}.
on_add_peer(Host, {state, Hosts, Known}) ->
    Address = inet_gethost_native:gethostbyname(Host, inet),
    {state, Hosts#{Host => Address}, Known}.
