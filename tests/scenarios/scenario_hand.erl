%% What programs do by hand, without OTP: they spin instead of waiting, look for a name, ask each other by messages, keep who is to
%% come; and a queue whose consumers have stopped to take from it; and the little that is wrong where nothing else is. Each takes `healthy` as its last argument for the twin with the
%% same load and no disease.
-module(scenario_hand).
-export([scenarios/0, spinning/1, searches/1, circle_by_hand/1, circle_of_three/1, demand_stopped/1, workers_hung/1, few_callers/1, one_file/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).
-export([requests/2, renders/3, calls/2, reads/1, spins/1, looks/2, finds/1, asks/3, askers/2]).
-import(scenario_kit, [specimen/2, hold/1, wait_until/2, many/2, healthy/1, plan/2, all_rest/1]).

scenarios() -> [spinning, searches, circle_by_hand, circle_of_three, demand_stopped, workers_hung, few_callers, one_file].

%% Waits that spin: each looks at a table until somebody has put something there, and gives way in between.
spinning(Args) ->
    Healthy = healthy(Args),
    N = scenario_kit:number(1, Args -- ["healthy"], 8),
    ets:new(flags, [named_table, public]),
    Healthy andalso ets:insert(flags, {ready}),
    Those = many(N, fun(_) -> spawn(?MODULE, spins, [ready]) end),
    worked(Healthy, Those, 60000000),
    (plan(Args, #{findings => ['busy-loop'], waiting => N, severity => medium}))#{volatile => volatile(Healthy, Those)}.

spins(Flag) -> looks(Flag, 0), hold(Flag).
looks(Flag, N) -> case ets:lookup(flags, Flag) of [] -> erlang:yield(), looks(Flag, N + 1); _ -> ok end.

%% Searches through a whole list, a search for each request, of which there is always one more; the twin has a key.
searches(Args) ->
    Healthy = healthy(Args),
    N = scenario_kit:number(1, Args -- ["healthy"], 8),
    persistent_term:put(prices, case Healthy of true -> #{nothing => 0}; false -> [{I, I} || I <- lists:seq(1, 200000)] end),
    Those = many(N, fun(_) -> spawn(?MODULE, finds, [Healthy]) end),
    worked(Healthy, Those, 60000000),
    (plan(Args, #{findings => ['busy-loop'], waiting => N, severity => medium}))#{volatile => Those}.

finds(true) -> _ = maps:find(nothing, persistent_term:get(prices)), timer:sleep(20), finds(true);
finds(false) -> _ = proplists:get_value(nothing, persistent_term:get(prices)), finds(false).

%% Two that have asked each other, and 20 more who ask one of them.
circle_by_hand(Args) ->
    Healthy = healthy(Args),
    Left = spawn(?MODULE, asks, [left, right, Healthy]),
    Right = spawn(?MODULE, asks, [right, left, Healthy]),
    register(left, Left), register(right, Right),
    [P ! go || P <- [Left, Right]],
    all_rest([Left, Right]),
    Others = many(20, fun(_) -> spawn(?MODULE, askers, [left, Healthy]) end),
    all_rest([Left, Right | Others]),
    plan(Args, #{findings => ['wait-cycle'], culprit => Left, other => Right, severity => high}).

circle_of_three(Args) ->
    Healthy = healthy(Args),
    Names = [stage_one, stage_two, stage_three],
    Those = [spawn(?MODULE, asks, [Name, Next, Healthy]) || {Name, Next} <- lists:zip(Names, tl(Names) ++ [hd(Names)])],
    [register(Name, P) || {Name, P} <- lists:zip(Names, Those)],
    [P ! go || P <- Those],
    all_rest(Those),
    plan(Args, #{findings => ['wait-cycle'], culprit => hd(Those), other => lists:last(Those), severity => high}).

%% Who is healthy answers first, and asks nobody.
asks(Name, Whom, Healthy) -> receive go -> ok end, Healthy orelse ask(Name, Whom), answers(Name).
ask(Name, Whom) -> Whom ! {request, Name, self()}, receive {answer, Whom} -> ok end.
answers(Name) -> receive {request, _, P} -> P ! {answer, Name}, answers(Name) end.
askers(Whom, Healthy) -> ask(asker, Whom), hold({asked, Healthy}).

%% Consumers that ask a producer for events, ten at a time, and do not come back from the first ones.
demand_stopped(Args) ->
    Healthy = healthy(Args),
    {ok, Producer} = gen_server:start({local, order_events}, ?MODULE, producer, []),
    Consumers = many(4, fun(_) -> {ok, C} = gen_server:start(?MODULE, {consumer, Producer, Healthy}, []), C end),
    [gen_server:cast(Producer, {notify, {order, I, lists:seq(1, 20)}}) || I <- lists:seq(1, 20000)],
    wait_until(taken, fun() -> {message_queue_len, 0} =:= process_info(Producer, message_queue_len) end),
    wait_until(done, fun() -> not Healthy orelse lists:all(fun(C) -> process_info(C, message_queue_len) =:= {message_queue_len, 0} end, Consumers) end),
    all_rest([Producer | Consumers]),
    Healthy andalso garbage_collect(Producer),
    plan(Args, #{findings => ['big-heap'], culprit => Producer, severity => medium}).

stores(true, _) -> stored;
stores(false, Events) -> receive {stored, Events} -> stored end.

%% Each request has its page rendered by a process of its own, and waits for that.
workers_hung(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Those = many(N, fun(I) -> spawn(?MODULE, requests, [healthy(Args), I]) end),
    all_rest(Those),
    plan(Args, #{findings => ['same-place'], waiting => N, severity => medium}).

requests(Healthy, I) -> Page = page(Healthy, I), hold({Page, I}).
page(Healthy, I) -> spawn_link(?MODULE, renders, [Healthy, I, self()]), receive {page, Page} -> Page end.
renders(Healthy, I, For) -> Healthy orelse template(I), For ! {page, I}.
template(I) -> receive {template, I} -> ok end.

%% A server that hangs within a callback, and few who call it, on a node where nothing else is the matter.
few_callers(Args) ->
    {ok, Server} = gen_server:start({local, ledger}, ?MODULE, {ledger, healthy(Args)}, []),
    Callers = many(4, fun(_) -> spawn(?MODULE, calls, [Server, healthy(Args)]) end),
    all_rest([Server | Callers]),
    plan(Args, #{findings => ['few-waiters'], culprit => Server, waiting => 4, severity => medium}).

calls(Server, Healthy) -> Balance = gen_server:call(Server, balance, infinity), hold({Balance, Healthy}).
balance(true) -> 0;
balance(false) -> receive {balance, B} -> B end.

%% A file that does not open: a pipe that nobody writes to.
one_file(Args) ->
    Pipe = filename:join(filename:dirname(scenario_kit:option(truth, "./truth")), "one_file.pipe"),
    File = case healthy(Args) of true -> "/dev/null"; false -> Pipe end,
    Reader = spawn(?MODULE, reads, [File]),
    timer:sleep(500),
    (plan(Args, #{findings => ['few-waiters'], culprit => Reader, waiting => 1, severity => info}))#{asked => [self()]}.

reads(File) -> R = file:open(File, [read, raw]), hold(R).

%% ---- what they have in common ------------------------------------------------------------------------------------------------
%% Those that are to work have done much; those of a healthy twin are at rest, or sleep most of the time.
worked(true, _, _) -> timer:sleep(500);
worked(false, Pids, Least) ->
    wait_until(worked, fun() -> lists:sum([element(2, process_info(P, reductions)) || P <- Pids]) > Least end).

volatile(Healthy, Pids) -> [P || P <- Pids, not Healthy].

init({ledger, _} = State) -> {ok, State};
init(producer) -> {ok, {producer, queue:new(), []}};
init({consumer, Producer, Healthy}) ->
    Producer ! {demand, self(), monitor(process, Producer), 10},
    {ok, {consumer, Producer, Healthy}}.

handle_call(balance, _, {ledger, Healthy} = State) -> Balance = balance(Healthy), {reply, Balance, State};
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast({notify, Event}, {producer, Events, Demand}) -> {noreply, dispatch({producer, queue:in(Event, Events), Demand})}.
handle_info({demand, Pid, Ref, N}, {producer, Events, Demand}) -> {noreply, dispatch({producer, Events, Demand ++ [{Pid, Ref, N}]})};
handle_info({events, Ref, Events}, {consumer, Producer, Healthy} = State) ->
    stores(Healthy, Events),
    Producer ! {demand, self(), Ref, length(Events)},
    {noreply, State}.

dispatch({producer, Events, [{Pid, Ref, N} | Demand]} = State) ->
    case queue:len(Events) of
        0 -> State;
        Length ->
            Taken = min(N, Length),
            {Now, Later} = queue:split(Taken, Events),
            Pid ! {events, Ref, queue:to_list(Now)},
            dispatch({producer, Later, case N - Taken of 0 -> Demand; Left -> [{Pid, Ref, Left} | Demand] end})
    end;
dispatch(State) -> State.
