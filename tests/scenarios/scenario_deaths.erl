%% Nodes that die by themselves: no memory, and failures while starting.
%%
%% Most start-up failures need no code, only flags: see the table of tests/scenarios/make.
-module(scenario_deaths).
-behaviour(application).
-export([scenarios/0, oom/1, oom_request/1, app_terminated/1, app_start_failure/1, nothing/1]).
-export([start/2, stop/1, init/1, worker/0]).

-import(scenario_kit, [specimen/2, hold/1]).

scenarios() -> [oom, oom_request, app_terminated, app_start_failure, nothing].

%% A process collects lines until the memory that the node may use (a super carrier, see make) is gone: the refused
%% request comes from its garbage collection.
oom(_) ->
    Hog = specimen(line_collector, fun(Ready) -> Ready(), receive go -> collect_for(#{known => [{line, I} || I <- lists:seq(1, 2000)]}) end end),
    #{slogan => "eheap_alloc: Cannot allocate",
      facts => #{findings => ['big-heap'], culprit => Hog, name => line_collector, allocator => eheap_alloc, types => [heap, old_heap]},
      volatile => [Hog],
      death => fun() -> Hog ! go end}.

collect_for(State) -> New = collect([], 0), {State, New}.

collect(Lines, N) when N < 1 bsl 40 ->
    collect([{line, N, "a line that nobody has asked for"} | Lines], N + 1);
collect(Lines, _) -> Lines.

%% One term that is larger than what is left.
oom_request(_) ->
    Hog = specimen(table_maker, fun(Ready) -> Ready(), receive go -> hold(erlang:make_tuple(16000000, [])) end end),
    #{slogan => "eheap_alloc: Cannot allocate 128000",
      facts => #{findings => ['big-heap'], culprit => Hog, name => table_maker, allocator => eheap_alloc, at_least_bytes => 128000008},
      volatile => [Hog],
      death => fun() -> Hog ! go end}.

%% A permanent application whose supervisor gives up.
app_terminated(_) ->
    ok = application:load(app(broken_app, {?MODULE, terminated})),
    #{slogan => "Kernel pid terminated (application_controller)",
      facts => #{findings => ['node-ended'], application => broken_app, shut_down => true},
      death => fun() -> ok = application:start(broken_app, permanent), kill_worker() end}.

%% The supervisor restarts it once, then gives up.
kill_worker() ->
    [exit(Worker, kill) || {_, Worker, _, _} <- try supervisor:which_children(broken_top) catch _:_ -> [] end],
    timer:sleep(50),
    kill_worker().

%% A permanent application whose start function fails.
app_start_failure(_) ->
    ok = application:load(app(broken_app, {?MODULE, failure})),
    #{slogan => "Kernel pid terminated (application_controller)",
      facts => #{findings => ['start-up'], application => broken_app, shut_down => true},
      death => fun() -> application:start_boot(broken_app, permanent) end}.

app(Name, Start) ->
    {application, Name, [{vsn, "1.0"}, {modules, [?MODULE]}, {registered, [broken_top]}, {applications, [kernel, stdlib]}, {mod, Start}]}.

%% For failures that the flags alone bring about.
nothing(_) -> #{slogan => "nothing happened"}.

start(_Type, failure) -> {error, {database_is_down, {connect, "db.example", econnrefused}}};
start(_Type, terminated) -> supervisor:start_link({local, broken_top}, ?MODULE, []).
stop(_) -> ok.
init([]) -> {ok, {#{strategy => one_for_one}, [#{id => worker, start => {?MODULE, worker, []}}]}}.
worker() -> {ok, spawn_link(fun() -> hold(worker) end)}.
