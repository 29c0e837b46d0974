%% The same again and again, and what nobody gives back: copies of one term, keys and rows of what is gone, answers of who has ended.
%% Each takes `healthy` as its last argument for the twin with the same load and no disease. Facts: whose it is, and how many.
-module(scenario_same).
-export([scenarios/0, copied_settings/1, captured_state/1, copies_kept/1, versions_kept/1, streams_held/1, arrays_kept/1, ended_asked/1,
         permits_ended/1, row_of_ended/1, labels_kept/1]).
-export([init/1, handle_call/3, handle_cast/2, feeds/1, watches/1, serves/1, stream/1, asks/1, polls/1, permit/0]).

-import(scenario_kit, [specimen/2, hold/1, many/2, healthy/1, plan/2, all_rest/1, wait_until/2]).

scenarios() -> [copied_settings, captured_state, copies_kept, versions_kept, streams_held, arrays_kept, ended_asked, permits_ended, row_of_ended, labels_kept].

-define(SICK(Args, Many, Few), case healthy(Args) of true -> Few; false -> Many end).

settings() -> #{routes => [{I, "/api/v1/" ++ integer_to_list(I), [get, post]} || I <- lists:seq(1, 80)], limits => lists:seq(1, 300), database => [{pool, 20}]}.

%% Processes of three kinds, each with the settings of the program in its arguments.
copied_settings(Args) ->
    Healthy = healthy(Args),
    Settings = settings(),
    persistent_term:put(shop_settings, Settings),
    All = [proc_lib:spawn(?MODULE, Kind, [case Healthy of true -> shared; false -> Settings end]) || Kind <- [feeds, watches, serves], _ <- lists:seq(1, 700)],
    all_rest(All),
    plan(Args, #{findings => [multitude], severity => medium, culprit => hd(All), many => length(All)}).

feeds(Settings) -> hold(Settings).
watches(Settings) -> hold(Settings).
serves(Settings) -> hold(Settings).

%% A server that starts work in funs which name its State.
captured_state(Args) ->
    {ok, Owner} = gen_server:start({local, job_runner}, ?MODULE, {jobs, settings()}, []),
    [gen_server:cast(Owner, {later, I, healthy(Args)}) || I <- lists:seq(1, 2500)],
    sys:get_status(Owner),
    timer:sleep(1000),
    plan(Args, #{findings => [multitude], severity => medium, culprit => Owner}).

%% A registry that keeps the options of each connection, which are the same for all.
copies_kept(Args) ->
    {ok, Owner} = gen_server:start({local, conn_registry}, ?MODULE, {conns, healthy(Args), none, #{}}, []),
    Options = settings(),
    [gen_server:cast(Owner, {register, I, Options}) || I <- lists:seq(1, 900)],
    sys:get_status(Owner),
    gen_server:call(Owner, collect),
    all_rest([Owner]),
    plan(Args, #{findings => ['big-heap'], severity => medium, culprit => Owner}).

%% A persistent term for each version, where the old ones are erased by nobody.
versions_kept(Args) ->
    Versions = ?SICK(Args, 12, 1),
    [persistent_term:put({price_list, rates, V}, [{I, V, eur} || I <- lists:seq(1, 30000)]) || V <- lists:seq(1, Versions)],
    timer:sleep(500),
    plan(Args, #{findings => [literals], severity => medium, many => Versions, culprit => self()}).

%% Connections that keep a stream of zlib each.
streams_held(Args) ->
    N = ?SICK(Args, 500, 3),
    All = many(N, fun(_) -> proc_lib:spawn(?MODULE, stream, [self()]) end),
    [receive {ready, P} -> ok end || P <- All],
    all_rest(All),
    plan(Args, #{findings => ['untold-memory'], many => N, culprit => hd(All)}).

stream(Maker) ->
    Stream = zlib:open(),
    ok = zlib:deflateInit(Stream, best_compression, deflated, -15, 8, default),
    zlib:deflate(Stream, lists:duplicate(100, 7), sync),
    Maker ! {ready, self()},
    hold(Stream).

%% An array of atomics for each client, in a table from which nobody deletes.
arrays_kept(Args) ->
    N = ?SICK(Args, 2500, 25),
    Owner = specimen(rate_limiter, fun(Ready) -> ets:new(rate_windows, [named_table, public]), Ready(), hold(windows) end),
    [ets:insert(rate_windows, {{client, I}, atomics:new(4096, [])}) || I <- lists:seq(1, N)],
    plan(Args, #{findings => ['untold-memory'], many => N, culprit => Owner}).

%% Requests to processes that have ended before they answered; nobody monitors them.
ended_asked(Args) ->
    Asked = many(4, fun(_) -> specimen('', fun(Ready) -> Ready(), hold(store) end) end),
    Healthy = healthy(Args),
    Healthy orelse [begin R = monitor(process, P), exit(P, kill), receive {'DOWN', R, _, _, _} -> ok end end || P <- Asked],
    All = many(60, fun(I) -> spawn(?MODULE, asks, [{lists:nth(I rem 4 + 1, Asked), Healthy}]) end),
    all_rest(All),
    plan(Args, #{findings => ['same-place'], severity => medium, waiting => 60, culprit => hd(All)}).

asks({Store, true}) -> Store ! {get, self()}, hold(answered);
asks({Store, false}) -> Store ! {get, self()}, Answer = answer_of(Store), hold(Answer).
answer_of(Store) -> receive {answer, Store, What} -> What end.

%% A gate whose permits went with those who had them.
permits_ended(Args) ->
    {ok, Gate} = gen_server:start({local, upload_gate}, ?MODULE, {gate, 3, [], queue:new()}, []),
    Holders = many(3, fun(_) -> specimen('', fun(Ready) -> ok = permit(), Ready(), hold(upload), gen_server:cast(upload_gate, {give_back, self()}) end) end),
    Others = many(30, fun(_) -> spawn(fun() -> permit(), gen_server:cast(upload_gate, {give_back, self()}), hold(done) end) end),
    all_rest(Others),
    case healthy(Args) of
        true -> [P ! {release, upload} || P <- Holders];
        false -> [begin R = monitor(process, P), exit(P, kill), receive {'DOWN', R, _, _, _} -> ok end end || P <- Holders]
    end,
    timer:sleep(500),
    all_rest([Gate | Others]),
    plan(Args, #{findings => ['at-capacity'], waiting => 30, culprit => Gate}).

permit() -> gen_server:call(upload_gate, permit, infinity).

%% A lock that is a row, whose owner has ended without deleting it.
row_of_ended(Args) ->
    specimen(page_locks, fun(Ready) -> ets:new(page_locks, [named_table, public]), Ready(), hold(locks) end),
    Holder = specimen('', fun(Ready) -> ets:insert(page_locks, {front_page, self()}), Ready(), hold(page) end),
    R = monitor(process, Holder),
    healthy(Args) andalso ets:delete(page_locks, front_page),
    exit(Holder, kill),
    receive {'DOWN', R, _, _, _} -> ok end,
    All = many(40, fun(_) -> spawn(?MODULE, polls, [front_page]) end),
    all_rest(All),
    timer:sleep(500),
    plan(Args, #{findings => ['same-place'], severity => medium, waiting => 40, culprit => Holder}).

polls(Page) ->
    case ets:insert_new(page_locks, {Page, self()}) of
        true -> ets:delete(page_locks, Page), hold(drawn);
        false -> waits_for(Page)
    end.
waits_for(Page) -> later(), polls(Page).
later() -> timer:sleep(300000).

%% A counter for each user, where one for each page was meant.
labels_kept(Args) ->
    N = ?SICK(Args, 60000, 60),
    Owner = specimen(metric_store, fun(Ready) -> ets:new(page_counters, [named_table, public]), Ready(), hold(counters) end),
    [ets:insert(page_counters, {{default, pages_total, [<<"GET">>, <<"/users/", (integer_to_binary(I * 7919))/binary>>, 200]}, 1, 0}) || I <- lists:seq(1, N)],
    plan(Args, #{findings => ['ets-growth'], severity => medium, culprit => Owner}).

%% ---- the servers --------------------------------------------------------------------------------------------------
init(State) -> {ok, State}.

handle_call(permit, From, {gate, Free, Holders, Queue}) when Free =:= 0 -> {noreply, {gate, 0, Holders, queue:in(From, Queue)}};
handle_call(permit, {Pid, _}, {gate, Free, Holders, Queue}) -> {reply, ok, {gate, Free - 1, [Pid | Holders], Queue}};
handle_call(collect, _, State) -> garbage_collect(), {reply, ok, State};
handle_call(_, _, State) -> {reply, ok, State}.

handle_cast({later, I, true}, State) -> spawn(fun() -> timer:sleep(3600000), done(I, none) end), {noreply, State};
handle_cast({later, I, false}, State) -> spawn(fun() -> timer:sleep(3600000), done(I, State) end), {noreply, State};
handle_cast({register, I, Options}, {conns, false, _, Conns}) -> {noreply, {conns, false, none, Conns#{I => {conn, I, Options}}}};
handle_cast({register, I, Options}, {conns, true, none, Conns}) -> {noreply, {conns, true, Options, Conns#{I => {conn, I, Options}}}};
handle_cast({register, I, _}, {conns, true, Options, Conns}) -> {noreply, {conns, true, Options, Conns#{I => {conn, I, Options}}}};
handle_cast({give_back, Pid}, {gate, Free, Holders, Queue}) ->
    case queue:out(Queue) of
        {{value, {Next, _} = From}, Rest} -> gen_server:reply(From, ok), {noreply, {gate, Free, [Next | Holders -- [Pid]], Rest}};
        {empty, _} -> {noreply, {gate, Free + 1, Holders -- [Pid], Queue}}
    end.

done(I, State) -> {I, State}.
