%% Nodes that stand still or swell for reasons of OTP's own: calls that go in a circle, answers that are put off, stops that do not
%% end, logs that are blocked, what is never closed. Each takes `healthy` as its last argument for the twin with the same load and no
%% disease.
-module(scenario_stalled).
-export([scenarios/0, call_circle/1, terminate_hung/1, application_stop/1, postponed/1, disk_log_blocked/1, tables_awaited/1, requests/1,
         persistent_loop/1, exits_flood/1, programs_open/1, files_open/1, one_scheduler/1, program_stuck/1, acceptors/1, connecting/1, channels/1,
         blocked_callers/1, busy_pool/1, binaries_in_table/1, binaries_passed_on/1, handler_hung/1,
         callers_kept/1, downs_flood/1, many_queues/1, table_fixed/1, spawned/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3, callback_mode/0, closed/3, start/2, stop/1,
         start_child/1, client/3, fetch/1, put_terms/2, works/1, acceptor/2, publisher/2, asks_on/1, log/2, logs/1, subscriber/1, upload/1]).

-import(scenario_kit, [specimen/2, hold/1, wait_until/2, wait_until/3, many/2, healthy/1, plan/2, all_rest/1]).

scenarios() -> [call_circle, terminate_hung, application_stop, postponed, disk_log_blocked, tables_awaited, requests, persistent_loop, exits_flood, programs_open, files_open, one_scheduler, program_stuck, acceptors, connecting, channels, blocked_callers, busy_pool, binaries_in_table, binaries_passed_on, handler_hung, callers_kept, downs_flood, many_queues, table_fixed, spawned].

client(Server, Question, I) -> R = (catch gen_server:call(Server, Question, infinity)), hold({R, I}).
clients(N, Server, Question) -> many(N, fun(I) -> proc_lib:spawn(?MODULE, client, [Server, Question, I]) end).

%% ---- calls -------------------------------------------------------------------------------------------------------------------
%% Each of three servers asks the next one, the last one the first; others ask the first.
call_circle(Args) ->
    Last = case healthy(Args) of true -> none; false -> orders end,
    [{ok, _} = gen_server:start({local, Server}, ?MODULE, {next, Next}, []) || {Server, Next} <- [{orders, stock}, {stock, prices}, {prices, Last}]],
    First = clients(1, orders, ask),
    timer:sleep(200),
    all_rest(First ++ clients(30, orders, ask)),
    plan(Args, #{findings => ['wait-cycle'], culprit => whereis(orders), waiting => 3}).

%% A server that writes to a program which reads nothing.
program_stuck(Args) ->
    Command = case healthy(Args) of true -> "cat"; false -> "sleep 1000" end,
    {ok, Server} = gen_server:start({local, converter}, ?MODULE, {program, Command}, []),
    ok = gen_server:call(Server, convert, infinity),    % fills the pipe, and the port's queue
    all_rest(clients(30, converter, convert)),
    plan(Args, #{findings => ['wait-convoy'], culprit => Server, waiting => 30, program => {text, Command}}).

%% Acceptors in the manner of ranch: they hand each connection to one that counts them, in a protocol of its own.
acceptors(Args) ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {backlog, 128}]),
    {ok, Port} = inet:port(Listen),
    Healthy = healthy(Args),
    Counter = specimen(conns_sup, fun(Ready) -> Ready(), Healthy andalso counts(), hold(conns_sup) end),
    Acceptors = many(60, fun(_) -> proc_lib:spawn(?MODULE, acceptor, [Listen, Counter]) end),
    many(60, fun(_) -> {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, []), Socket end),
    Healthy orelse wait_until(asked, fun() -> process_info(Counter, message_queue_len) =:= {message_queue_len, 60} end),
    all_rest(Acceptors),
    plan(Args, #{findings => ['wait-convoy'], culprit => Counter, waiting => 60}).

counts() -> receive {start, Pid, _} -> Pid ! counted, counts() end.
acceptor(Listen, Counter) ->
    {ok, Socket} = gen_tcp:accept(Listen),
    Counter ! {start, self(), Socket},
    receive counted -> ok end,
    acceptor(Listen, Counter).

%% A connection to another node whose other end takes it and says nothing.
connecting(Args) ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listen),
    application:set_env(kernel, scenario_ports, {scenario_kit:free_port(), Port}),
    application:set_env(kernel, net_setuptime, 120),
    Peer = 'peer@127.0.0.1',
    {ok, _} = net_kernel:start(['stalled@127.0.0.1', longnames]),
    Callers = case healthy(Args) of true -> []; false -> clients(30, {price_server, Peer}, ask) end,
    all_rest(Callers),
    plan(Args, #{findings => ['node-hung'], waiting => 30, peer => Peer}).

%% Requests of HTTP to a server that takes them and does not answer.
requests(Args) ->
    {ok, _} = application:ensure_all_started(inets),
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {backlog, 128}, {active, false}, binary]),
    {ok, Port} = inet:port(Listen),
    Healthy = healthy(Args),
    spawn(fun() -> web(Listen, Healthy) end),
    Url = "http://127.0.0.1:" ++ integer_to_list(Port) ++ "/",
    httpc:set_options([{max_sessions, 100}, {max_keep_alive_length, 0}]),
    Callers = many(40, fun(_) -> proc_lib:spawn(?MODULE, fetch, [Url]) end),
    In = case Healthy of true -> hold; false -> handle_answer end,
    wait_until(asked, fun() -> lists:all(fun(P) -> {_, {_, F, _}} = process_info(P, current_function), F =:= In end, Callers) end),
    all_rest(Callers),
    plan(Args, #{findings => ['stuck-servers'], waiting => 40, severity => medium}).

fetch(Url) -> R = httpc:request(Url), hold(R).

web(Listen, Healthy) ->
    {ok, Socket} = gen_tcp:accept(Listen),
    Server = spawn(fun() -> receive go -> ok end, {ok, _} = gen_tcp:recv(Socket, 0), Healthy andalso answer(Socket), hold(Socket) end),
    ok = gen_tcp:controlling_process(Socket, Server),
    Server ! go,
    web(Listen, Healthy).

answer(Socket) -> gen_tcp:send(Socket, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"), gen_tcp:close(Socket).

%% 120 channels in one process that somebody has suspended, and connections with large buffers on which something has arrived.
channels(Args) ->
    Buffers = 28,
    Size = 16000000,
    {ok, Listen} = gen_tcp:listen(0, [binary, {packet, 4}, {ip, {127, 0, 0, 1}}, {active, true}, {buffer, Size}]),
    {ok, Port} = inet:port(Listen),
    Pairs = many(Buffers, fun(_) ->
        {ok, Near} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
        {ok, Far} = gen_tcp:accept(Listen),
        ok = gen_tcp:send(Near, <<3000000:32, 0:8000>>),     % the beginning of a packet
        {Near, Far} end),
    {ok, Queue} = gen_server:start({local, orders_queue}, ?MODULE, {next, none}, []),
    healthy(Args) orelse sys:suspend(Queue),
    all_rest(many(120, fun(I) -> proc_lib:spawn(?MODULE, publisher, [Queue, I]) end)),
    plan(Args, #{findings => ['wait-convoy'], culprit => Queue, waiting => 120, buffers => length(Pairs) * Size}).

publisher(Queue, I) -> R = gen_server:call(Queue, ask, infinity), hold({R, I}).

%% Callers whose heaps are full of what they have done before: they are held up, and not idle.
blocked_callers(Args) ->
    {ok, Server} = gen_server:start({local, order_server}, ?MODULE, {next, none}, []),
    healthy(Args) orelse sys:suspend(Server),
    Callers = many(200, fun(I) ->
        spawn_opt(fun() -> garbage(I), R = gen_server:call(Server, ask, infinity), garbage_collect(), hold({R, I}) end, [{min_heap_size, 20000}]) end),
    all_rest(Callers),
    plan(Args, #{findings => ['wait-convoy'], culprit => Server, waiting => 200}).

garbage(I) -> length([{I, X} || X <- lists:seq(1, 2000)]).

%% A pool that is merely very busy: four ask for each of its 20 workers, each of which takes some milliseconds.
busy_pool(Args) ->
    Workers = list_to_tuple(many(20, fun(_) -> {ok, W} = gen_server:start(?MODULE, {worker, 100000}, []), W end)),
    many(80, fun(_) -> proc_lib:spawn(?MODULE, asks_on, [Workers]) end),
    timer:sleep(1000),
    plan(["healthy" | Args], #{workers => tuple_size(Workers)}).

asks_on(Workers) -> gen_server:call(element(rand:uniform(20), Workers), compute, infinity), asks_on(Workers).
compute(0) -> 0;
compute(N) -> 1 + compute(N - 1).

%% ---- answers that are put off ------------------------------------------------------------------------------------------------------
%% A state machine that postpones calls until it is open.
postponed(Args) ->
    {ok, Machine} = gen_statem:start({local, connection_fsm}, ?MODULE, {statem, healthy(Args)}, []),
    Callers = many(40, fun(I) -> proc_lib:spawn(fun() -> R = gen_statem:call(connection_fsm, {fetch, I}, infinity), hold({R, I}) end) end),
    all_rest(Callers),
    wait_until(taken, fun() -> process_info(Machine, message_queue_len) =:= {message_queue_len, 0} end),
    all_rest([Machine]),
    plan(Args, #{findings => ['wait-convoy'], culprit => Machine, waiting => 40}).

%% A server that keeps its callers until it has an answer for them, which never comes.
callers_kept(Args) ->
    {ok, Server} = gen_server:start({local, license_server}, ?MODULE, case healthy(Args) of true -> {next, none}; false -> {keeps, #{}} end, []),
    all_rest(clients(60, license_server, ask)),
    plan(Args, #{findings => ['wait-convoy'], culprit => Server, waiting => 60, severity => medium}).

disk_log_blocked(Args) ->
    File = scenario_kit:option(truth, "audit") ++ ".LOG",
    {ok, audit} = disk_log:open([{name, audit}, {file, File}]),
    Blocker = specimen(log_rotator, fun(Ready) ->
        {ok, audit} = disk_log:open([{name, audit}, {file, File}]),
        healthy(Args) orelse (ok = disk_log:block(audit)),
        Ready(), hold(log_rotator) end),
    all_rest(many(30, fun(I) -> proc_lib:spawn(fun() -> R = disk_log:log(audit, {entry, I}), hold({R, I}) end) end)),
    plan(Args, #{findings => ['wait-convoy'], culprit => Blocker, waiting => 30}).

%% A table of mnesia that nobody loads.
tables_awaited(Args) ->
    ok = mnesia:start(),
    healthy(Args) andalso ({atomic, ok} = mnesia:create_table(account, [])),
    all_rest(many(30, fun(I) -> proc_lib:spawn(fun() -> R = mnesia:wait_for_tables([account], infinity), hold({R, I}) end) end)),
    plan(Args, #{findings => ['wait-convoy'], waiting => 30}).

%% A log handler that waits for what does not come, in whoever logs.
handler_hung(Args) ->
    ok = logger:add_handler(remote_log, ?MODULE, #{config => healthy(Args)}),
    ok = logger:remove_handler(default),
    Those = many(40, fun(I) -> proc_lib:spawn(?MODULE, logs, [I]) end),
    all_rest(Those),
    plan(Args, #{findings => ['stuck-servers'], waiting => 40}).

logs(I) -> logger:error("request ~p failed", [I]), hold(I).
log(_, #{config := true}) -> ok;
log(_, #{config := false}) -> R = hold(remote_log), {logged, R}.

%% ---- stops ---------------------------------------------------------------------------------------------------------------------------
%% A supervisor that ends a child, which takes all the time that it is given.
terminate_hung(Args) ->
    {ok, Supervisor} = supervisor:start_link({local, session_sup}, ?MODULE, {children, []}),
    unlink(Supervisor),
    {ok, Child} = supervisor:start_child(Supervisor, child(healthy(Args))),
    Stopper = spawn(fun() -> R = supervisor:terminate_child(session_sup, child), hold(R) end),
    timer:sleep(200),
    all_rest([Stopper | many(30, fun(I) -> spawn(fun() -> R = supervisor:which_children(session_sup), hold({R, I}) end) end)]),
    plan(Args, #{findings => ['wait-convoy'], culprit => Child, waiting => 32, supervisor => Supervisor}).

application_stop(Args) ->
    ok = application:load({application, slow_app, [{vsn, "1"}, {mod, {?MODULE, healthy(Args)}}, {modules, []}, {registered, []}, {applications, [kernel, stdlib]}]}),
    ok = application:start(slow_app),
    Child = whereis(session_store),
    Stopper = spawn(fun() -> R = application:stop(slow_app), hold(R) end),
    timer:sleep(200),
    Others = many(20, fun(I) -> spawn(fun() -> R = application:start(slow_app), hold({R, I}) end) end),
    all_rest([Stopper | Others]),
    %% up to 28 all of them wait for the application controller, since then the one that stops it
    Waiting = [P || P <- [Stopper | Others], process_info(P, current_function) =/= {current_function, {scenario_kit, hold, 1}}],
    Severity = case length(Waiting) of N when N >= 10 -> high; _ -> medium end,
    plan(Args, #{findings => ['stop-under-way'], culprit => Child, waiting => length(Waiting), severity => Severity, application => slow_app}).

start(_, Healthy) -> supervisor:start_link({local, slow_top}, ?MODULE, {children, [child(Healthy)]}).
stop(_) -> ok.

child(Healthy) -> #{id => child, start => {?MODULE, start_child, [Healthy]}, restart => temporary, shutdown => infinity}.
start_child(Healthy) -> gen_server:start_link({local, session_store}, ?MODULE, {stops, Healthy}, []).

%% ---- what is never taken, closed, or let go ----------------------------------------------------------------------------------------------
exits_flood(Args) ->
    N = case healthy(Args) of true -> 10; false -> 20000 end,
    Owner = specimen(job_owner, fun(Ready) -> process_flag(trap_exit, true), [spawn_link(fun() -> ok end) || _ <- lists:seq(1, N)], Ready(), hold(job_owner) end),
    wait_until(ended, fun() -> {message_queue_len, N} =:= process_info(Owner, message_queue_len) end),
    plan(Args, #{findings => ['queue-flood'], culprit => Owner, waiting => N}).

%% One that has monitored many, and takes nothing of their ends.
downs_flood(Args) ->
    N = case healthy(Args) of true -> 10; false -> 60000 end,
    Owner = specimen(session_registry, fun(Ready) ->
        Sessions = many(N, fun(I) -> element(1, spawn_monitor(fun() -> receive I -> ok end end)) end),
        [Session ! I || {I, Session} <- lists:zip(lists:seq(1, N), Sessions)],
        Ready(), hold(session_registry) end),
    wait_until(ended, fun() -> {message_queue_len, N} =:= process_info(Owner, message_queue_len) end),
    plan(Args, #{findings => ['queue-flood'], culprit => Owner, waiting => N}).

%% Subscribers that take nothing of what is sent to all of them: no queue is long by itself.
many_queues(Args) ->
    N = case healthy(Args) of true -> 3; false -> 300 end,
    Subscribers = many(400, fun(I) -> spawn(?MODULE, subscriber, [I]) end),
    [S ! {broadcast, I, <<"hello">>} || I <- lists:seq(1, N), S <- Subscribers],
    all_rest(Subscribers),
    plan(Args, #{findings => ['queue-flood'], waiting => 400 * N}).

subscriber(I) -> receive {never, I} -> ok end.

%% A table that somebody has fixed: what is deleted from it stays.
table_fixed(Args) ->
    N = 50000,
    Owner = specimen(job_table, fun(Ready) ->
        Jobs = ets:new(jobs, [named_table, public]),
        healthy(Args) orelse ets:safe_fixtable(Jobs, true),
        [begin ets:insert(Jobs, {I, lists:seq(1, 100)}), ets:delete(Jobs, I) end || I <- lists:seq(1, N)],
        garbage_collect(), Ready(), hold(job_table) end),
    plan(Args, #{findings => ['ets-growth'], culprit => Owner, deleted => N, severity => high}).

%% Processes that one has spawned, that nobody will ever end, and that are no tenth of what the node may have.
spawned(Args) ->
    N = case healthy(Args) of true -> 1000; false -> 12000 end,
    Spawner = specimen(upload_spawner, fun(Ready) -> many(N, fun(I) -> spawn(?MODULE, upload, [I]) end), Ready(), hold(upload_spawner) end),
    maps:put(asked, [self()], plan(Args, #{findings => ['process-leak'], culprit => Spawner, waiting => N, severity => medium})).

upload(I) -> receive {chunk, I} -> ok end.

programs_open(Args) ->
    N = case healthy(Args) of true -> 3; false -> 150 end,
    Owner = specimen(thumbnailer, fun(Ready) -> many(N, fun(_) -> open_port({spawn_executable, "/bin/cat"}, []) end), Ready(), hold(thumbnailer) end),
    plan(Args, #{findings => ['port-leak'], culprit => Owner, waiting => N, severity => medium}).

files_open(Args) ->
    N = case healthy(Args) of true -> 10; false -> 700 end,
    File = code:which(?MODULE),
    %% half of them raw, which this process has open itself; the others a process of file_io_server each
    Owner = specimen(report_archive, fun(Ready) ->
        Files = many(N, fun(I) -> {ok, F} = file:open(File, [read | [raw || I rem 2 =:= 0]]), F end),
        Ready(), hold(report_archive), Files end),
    plan(Args, #{findings => ['port-leak'], culprit => Owner, waiting => N, severity => medium}).

%% A table whose objects are small and refer to large binaries.
binaries_in_table(Args) ->
    N = case healthy(Args) of true -> 7; false -> 700 end,
    Owner = specimen(image_cache, fun(Ready) ->
        Images = ets:new(images, [public]),
        [ets:insert(Images, {I, binary:copy(<<I:32>>, 25000)}) || I <- lists:seq(1, N)],
        garbage_collect(), Ready(), hold(image_cache) end),
    plan(Args, #{findings => ['binary-pinning'], culprit => Owner, binaries => N}).

%% One that has made binaries, sent them on, and is not collected since; in the healthy twin it is.
binaries_passed_on(Args) ->
    Healthy = healthy(Args),
    Sink = spawn(fun() -> sink() end),
    Maker = specimen(frame_maker, fun(Ready) ->
        700 = length([Sink ! {frame, binary:copy(<<I:32>>, 25000)} || I <- lists:seq(1, 700)]),    % old when it lets go of them
        Healthy andalso garbage_collect(),
        Ready(), hold(frame_maker) end),
    wait_until(taken, fun() -> process_info(Sink, message_queue_len) =:= {message_queue_len, 0} end),
    all_rest([Maker, Sink]),
    %% who is asked for itself may be collected
    maps:put(asked, [self()], plan(Args, #{findings => ['binary-pinning'], culprit => Maker, binaries => 700})).

sink() -> receive {frame, _} -> garbage_collect(), sink() end.

%% Three write persistent terms as fast as they can; in the healthy twin the same value.
persistent_loop(Args) ->
    many(1000, fun(I) -> spawn(fun() -> L = lists:seq(1, 200), hold({I, L}) end) end),
    many(3, fun(I) -> spawn(?MODULE, put_terms, [I, healthy(Args)]) end),
    timer:sleep(3000),
    [Collector] = [P || P <- processes(), process_info(P, initial_call) =:= {initial_call, {erts_literal_area_collector, start, 0}}],
    healthy(Args) orelse wait_until(scans, fun() -> element(2, process_info(Collector, reductions)) > 12000000 end, 12000),
    plan(Args, #{findings => ['persistent-term-loop']}).

put_terms(I, true) -> persistent_term:put({config, I}, {I, same}), timer:sleep(10), put_terms(I, true);
put_terms(I, false) -> persistent_term:put({config, I}, {erlang:unique_integer(), I}), put_terms(I, false).

%% Only one scheduler works, since somebody has blocked the others.
one_scheduler(Args) ->
    Healthy = healthy(Args),
    Blocker = specimen(profiler, fun(Ready) -> Healthy orelse erlang:system_flag(multi_scheduling, block), Ready(), hold(profiler) end),
    N = case Healthy of true -> 10; false -> 30 end,
    many(N, fun(I) -> spawn(?MODULE, works, [I]) end),
    timer:sleep(1000),
    plan(Args, #{findings => ['run-queue'], culprit => Blocker, loops => N}).

works(I) -> works((I * 7 + 1) rem 1000003).

%% ---- callbacks -----------------------------------------------------------------------------------------------------------------------------
init({children, Children}) -> {ok, {#{}, Children}};
init({stops, Healthy}) -> process_flag(trap_exit, true), {ok, {stops, Healthy}};
init({statem, Open}) -> {ok, closed, Open};
init({program, Command}) -> {ok, {program, open_port({spawn, Command}, [binary])}};
init(State) -> {ok, State}.

callback_mode() -> state_functions.
closed({call, From}, {fetch, I}, true) -> {keep_state_and_data, [{reply, From, I}]};
closed({call, _}, {fetch, _}, false) -> {keep_state_and_data, [postpone]}.

handle_call(ask, From, {keeps, Callers}) -> {noreply, {keeps, Callers#{map_size(Callers) => From}}};
handle_call(ask, _, {next, none} = State) -> {reply, ok, State};
handle_call(ask, _, {next, Next} = State) -> R = gen_server:call(Next, ask, infinity), {reply, R, State};
handle_call(convert, _, {program, Port} = State) -> true = port_command(Port, binary:copy(<<"x">>, 1000000)), {reply, ok, State};
handle_call(compute, _, {worker, N} = State) -> R = compute(N), {reply, R, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(_, State) -> {noreply, State}.
terminate(_, {stops, false}) -> hold(session_store), ok;
terminate(_, _) -> ok.
code_change(_, State, _) -> {ok, State}.
