%% One worker for each key that is asked for; those who ask meanwhile are listeners. State: {cache, #{Key => {Worker, Listeners}}}.
-module(memo_courier).
-behaviour(gen_server).
-export([start/0, fetch/2, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start() -> {ok, P} = gen_server:start({local, ?MODULE}, ?MODULE, [], []), P.
fetch(Key, Fun) -> gen_server:call(?MODULE, {dispatch, Key, Fun}, infinity).
init([]) -> {ok, {cache, #{}}}.
handle_call({dispatch, Key, Fun}, From, {cache, Tasks}) ->
    case Tasks of
        #{Key := {Worker, Listeners}} -> {noreply, {cache, Tasks#{Key := {Worker, [From | Listeners]}}}};
        #{} ->
            Courier = self(),
            Worker = spawn_link(fun() -> Courier ! {done, Key, Fun()} end),
            {noreply, {cache, Tasks#{Key => {Worker, [From]}}}}
    end.
handle_cast(_, S) -> {noreply, S}.
handle_info({done, Key, Value}, {cache, Tasks}) ->
    {{_, Listeners}, Left} = maps:take(Key, Tasks),
    [gen_server:reply(From, Value) || From <- Listeners],
    {noreply, {cache, Left}}.
