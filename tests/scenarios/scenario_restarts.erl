%% Supervisors that start children again and again within what they allow, and one that did so once.
-module(scenario_restarts).
-behaviour(supervisor).
-export([scenarios/0, restarts/1, restarts_pool/1, restarts_rare/1]).
-export([init/1, start_child/1, start_worker/1]).

-import(scenario_kit, [hold/1, wait_until/2, many/2]).

scenarios() -> [restarts, restarts_pool, restarts_rare].

%% One of three children ends each time it was started.
restarts(Args) -> crashing(scenario_kit:number(1, Args, 50), 60).

%% Their healthy twin: it was started again once.
restarts_rare(_) -> maps:update_with(facts, fun(F) -> F#{findings := []} end, crashing(1, 60)).

%% What it was started as ends N times, as the last thing: from 28 on, a supervisor with nothing to do hibernates after a second.
crashing(N, Intensity) ->
    Sup = start_supervisor(shop_sup, #{strategy => one_for_one, intensity => Intensity, period => 3600},
                           [#{id => Id, start => {?MODULE, start_child, [Id]}} || Id <- [stock, price_loader, orders]]),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => ['restart-storm'], supervisor => Sup, restarts => N, intensity => Intensity},
      last => fun() -> many(N, fun(_) -> end_child(Sup, price_loader) end), N = length(restarts_of(Sup)) end}.

%% A worker of a pool ends, and can't be started again: its supervisor tries until N attempts were made, and then it takes its time.
restarts_pool(Args) ->
    N = scenario_kit:number(1, Args, 200),
    Attempts = counters:new(1, []),
    persistent_term:put(?MODULE, {Attempts, N}),
    Sup = start_supervisor(pool_sup, #{strategy => simple_one_for_one, intensity => 300, period => 3600},
                           [#{id => worker, start => {?MODULE, start_worker, [Attempts]}}]),
    [First | _] = [begin {ok, P} = supervisor:start_child(Sup, []), P end || _ <- lists:seq(1, 3)],
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => ['restart-storm'], supervisor => Sup, restarts => N, intensity => 300},
      last => fun() ->
                  exit(First, kill),
                  wait_until(attempts, fun() -> counters:get(Attempts, 1) =:= N + 3 end)
              end}.

start_supervisor(Name, Flags, Children) ->
    Maker = self(),
    spawn(fun() -> Maker ! supervisor:start_link({local, Name}, ?MODULE, {Flags, Children}), hold(application) end),
    receive {ok, Sup} -> logger:set_primary_config(level, none), Sup end.

init(What) -> {ok, What}.

start_child(Id) -> {ok, proc_lib:spawn_link(fun() -> hold(Id) end)}.

start_worker(Attempts) ->
    counters:add(Attempts, 1, 1),
    {_, N} = persistent_term:get(?MODULE),
    case counters:get(Attempts, 1) of
        A when A =< 3 -> {ok, proc_lib:spawn_link(fun() -> hold(worker) end)};
        A when A =:= N + 3 -> hold(connecting);
        _ -> {error, econnrefused}
    end.

end_child(Sup, Id) ->
    {Id, Child, _, _} = lists:keyfind(Id, 1, supervisor:which_children(Sup)),
    exit(Child, kill),
    wait_until(started_again, fun() -> {_, P, _, _} = lists:keyfind(Id, 1, supervisor:which_children(Sup)), is_pid(P) andalso P =/= Child end).

%% The VM's own list: its place in the state is the same from 23 to 29.
restarts_of(Sup) -> element(8, sys:get_state(Sup)).
