%% Who waits for whom: every blocked call is known, and becomes an edge of the truth file.
%%
%% facts.edges: [{waiter, target, via, timeout_ms}]; target is a pid, or {name, node} text where it is on another node.
-module(scenario_waits).
-export([scenarios/0, wait_convoy/1, waits/1]).
-export([init/1, callback_mode/0, handle_call/3, handle_cast/2, handle_info/2, handle_event/2, handle_event/4,
         handle_call/2, terminate/2, code_change/3, start_slowly/0, client/1, remote_stuck/1]).

-import(scenario_kit, [specimen/2, hold/1, wait_until/2, many/2]).

scenarios() -> [wait_convoy, waits].

%% ---- the classic: an event handler that sleeps, and everybody who logs waits for it ------------------------------------
wait_convoy(Args) ->
    N = scenario_kit:number(1, Args, 60),
    {ok, Manager} = gen_event:start({local, log_event}),
    ok = gen_event:add_handler(log_event, ?MODULE, sleepy),
    Clients = many(N, fun(I) -> proc_lib:spawn(?MODULE, client, [I]) end),
    [wait_until(blocked, fun() -> blocked(P) end) || P <- Clients],
    wait_until(queued, fun() -> {message_queue_len, N - 1} =:= process_info(Manager, message_queue_len) end),
    #{slogan => "the operators gave up",
      roles => scenario_kit:roles([{Manager, manager} | [{P, client} || P <- Clients]]),
      facts => #{findings => ['wait-convoy'], culprit => Manager, name => log_event, waiters => N, messages => N - 1,
                 via => {gen_event, sync_notify, 2}, stuck_in => {timer, sleep, 1},
                 edges => [edge(P, Manager, 'gen_event:sync_notify') || P <- Clients]}}.

client(I) ->
    Request = {log, {log_msg, [{pid, self()}], info, {1, 2, 3}, "request " ++ integer_to_list(I)}},
    gen_event:sync_notify(log_event, Request),
    served(I).

served(I) -> hold(I).

%% ---- one of each kind -----------------------------------------------------------------------------------------------------
waits(_) ->
    Peer = scenario_kit:start_peer(waits),
    Edges = lists:flatten([fan_in(37), chain(), cycle(2), cycle(5), sync_notify(23), timeouts(), other_behaviours(),
                           io_request(), local_rpc(), remote(Peer), innocent()]),
    Waiters = [P || #{waiter := P} <- Edges],
    [wait_until({blocked, P}, fun() -> blocked(P) end) || P <- Waiters],
    #{slogan => "everybody waits", settle => 500,
      facts => #{findings => ['wait-convoy', 'wait-cycle'], edges => Edges, peer => Peer, waiting => length(Waiters),
                 cycles => [[whereis(cycle_name(N, I)) || I <- lists:seq(1, N)] || N <- [2, 5]]}}.

edge(Waiter, Target, Via) -> edge(Waiter, Target, Via, infinity).
edge(Waiter, Target, Via, Timeout) -> #{waiter => Waiter, target => Target, via => Via, timeout_ms => Timeout}.

%% Blocked: waits, and what waits for is not hold/1 of this program.
blocked(Pid) ->
    case process_info(Pid, [status, current_function]) of
        [{status, waiting}, {current_function, {scenario_kit, _, _}}] -> false;
        [{status, waiting}, _] -> true;
        _ -> false
    end.

stuck_server(Name) ->
    {ok, Pid} = gen_server:start({local, Name}, ?MODULE, stuck, []),
    gen_server:cast(Pid, sleep),
    Pid.

server(Name) -> {ok, Pid} = gen_server:start({local, Name}, ?MODULE, free, []), Pid.

%% 37 plain processes call one server
fan_in(N) ->
    Target = stuck_server(fan_in_target),
    many(N, fun(I) -> edge(spawn(fun() -> Reply = gen_server:call(fan_in_target, {question, I}, infinity), {Reply, I} end),
                           Target, 'gen_server:call') end).

%% first -> second -> third, which sleeps
chain() ->
    [First, Second] = [server(N) || N <- [chain_first, chain_second]],
    Third = stuck_server(chain_third),
    gen_server:cast(Second, {ask, Third, infinity}),
    gen_server:cast(First, {ask, chain_second, infinity}),
    [edge(First, Second, 'gen_server:call'), edge(Second, Third, 'gen_server:call')].

cycle_name(N, I) -> list_to_atom(lists:concat(["cycle_of_", N, "_", I])).

cycle(N) ->
    Servers = many(N, fun(I) -> server(cycle_name(N, I)) end),
    Next = tl(Servers) ++ [hd(Servers)],
    [gen_server:cast(S, {ask, T, infinity}) || {S, T} <- lists:zip(Servers, Next)],
    [edge(S, T, 'gen_server:call') || {S, T} <- lists:zip(Servers, Next)].

sync_notify(N) ->
    {ok, Manager} = gen_event:start({local, notified}),
    ok = gen_event:add_handler(Manager, ?MODULE, sleepy),
    many(N, fun(I) -> edge(spawn(fun() -> ok = gen_event:sync_notify(notified, {log, I}), hold(I) end),
                           Manager, 'gen_event:sync_notify') end).

%% With a timeout the caller waits in another clause; none of these runs out before the dump.
timeouts() ->
    Target = stuck_server(slow_to_answer),
    [edge(spawn(fun() -> Reply = gen_server:call(slow_to_answer, question, T), {Reply, T} end), Target, 'gen_server:call', T)
     || T <- [600000, 3600000, infinity]].

other_behaviours() ->
    {ok, Machine} = gen_statem:start({local, machine}, ?MODULE, stuck_machine, []),
    {ok, Manager} = gen_event:start({local, asked_manager}),
    ok = gen_event:add_handler(Manager, ?MODULE, sleepy),
    {ok, Supervisor} = supervisor:start_link({local, slow_supervisor}, ?MODULE, supervisor),
    unlink(Supervisor),
    timer:sleep(50),
    Starter = spawn(fun() -> R = supervisor:start_child(slow_supervisor, []), hold({starter, R}) end),
    timer:sleep(100),      % it is in the start of the child now: who comes later waits as well
    Counter = spawn(fun() -> R = supervisor:count_children(slow_supervisor), hold({counter, R}) end),
    wait_until(child, fun() -> is_pid(whereis(slow_child)) end),
    [edge(spawn(fun() -> R = gen_statem:call(machine, question, infinity), hold({statem, R}) end), Machine, 'gen_statem:call'),
     edge(spawn(fun() -> R = gen_event:call(asked_manager, ?MODULE, question, infinity), hold({event, R}) end), Manager, 'gen_event:call'),
     edge(Starter, Supervisor, 'supervisor:start_child'),
     edge(Counter, Supervisor, 'supervisor:count_children'),
     edge(Supervisor, whereis(slow_child), 'proc_lib:start_link')].

start_slowly() -> proc_lib:start_link(?MODULE, init, [never_ready]).

io_request() ->
    Device = specimen(mute_device, fun(Ready) -> Ready(), hold(mute_device), ok end),
    [edge(spawn(fun() -> R = io:put_chars(mute_device, "nobody prints this"), hold({io, R}) end), Device, 'io:request')].

local_rpc() ->
    Target = stuck_server(rpc_target),
    [edge(spawn(fun() -> R = gen:call(rpc_target, '$gen_call', raw, infinity), hold({gen, R}) end), Target, 'gen:call')].

remote(unavailable) -> [];
remote(Peer) ->
    Service = rpc:call(Peer, erlang, whereis, [peer_service]),
    [edge(spawn(fun() -> R = gen_server:call({peer_service, Peer}, question, infinity), hold({far, R}) end),
          {text, io_lib:format("{peer_service,'~ts'}", [Peer])}, 'gen_server:call'),
     edge(spawn(fun() -> R = gen_server:call(Service, question, infinity), hold({far, R}) end), Service, 'gen_server:call')].

remote_stuck(Name) -> register(Name, self()), hold(Name).

%% Processes that look as if they waited for somebody, and do not: no edges.
innocent() ->
    Idle = server(innocent_server),
    Monitoring = specimen(innocent_monitor, fun(Ready) -> put(ref, erlang:monitor(process, Idle)), Ready(), hold(monitor), ok end),
    Linked = specimen(innocent_link, fun(Ready) -> link(Idle), Ready(), hold(link), ok end),
    Polling = specimen(innocent_timer, fun(Ready) -> Ready(), receive never -> ok after 3600000 -> ok end, hold(timer) end),
    _ = [Monitoring, Linked, Polling],
    [].

%% ---- callbacks ------------------------------------------------------------------------------------------------------------------
init(stuck_machine) -> {ok, resting, stuck_machine};
init(supervisor) ->
    {ok, {#{strategy => simple_one_for_one}, [#{id => slow_child, start => {?MODULE, start_slowly, []}, restart => temporary}]}};
init(never_ready) -> register(slow_child, self()), hold(never_ready);
init(State) -> {ok, State}.

callback_mode() -> handle_event_function.

handle_event(_Event, State) -> timer:sleep(infinity), {ok, State}.

handle_event({call, _From}, _Question, _State, Data) -> hold(machine_is_stuck), {keep_state, Data};
handle_event(_Type, _Event, _State, Data) -> {keep_state, Data}.

handle_call(_Question, State) -> timer:sleep(infinity), {ok, ok, State}.
handle_call(Question, _From, State) -> {reply, {answer, Question}, State}.

handle_cast(sleep, State) -> timer:sleep(infinity), {noreply, State};
handle_cast({ask, Whom, Timeout}, State) -> Reply = gen_server:call(Whom, {question, self()}, Timeout), {noreply, {Reply, State}}.

handle_info(_Message, State) -> {noreply, State}.
terminate(_Reason, _State) -> ok.
code_change(_, State, _) -> {ok, State}.
