%% What a running node suffers from: clients that do not read, locks that nobody gives back, processes that are held up
%% by one that was suspended, started or is on another node. Each takes `healthy` as its last argument for the twin with
%% the same load and no disease.
%%
%% facts.first: what the first sentence of a diagnosis must hold, as texts.
-module(scenario_running).
-export([scenarios/0, slow_readers/1, slow_readers_socket/1, slow_port/1, lock_mnesia/1, lock_global/1, pool_empty/1, pool_tables/1, credit/1, lock_by_hand/1, asked_by_hand/1,
         stuck_pool/1, programs/1, busy_server/1, start_blocked/1, child_blocked/1, suspended_server/1, suspended_process/1, remote_hung/1, dist_busy/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3]).
-export([start/2, stop/1, with_lock/1, works_on/1, asks_by_hand/1, asks/2, writer/2, sender/3, client/2, transaction/2, locked/2, worker/1, query/2, asker/2, program/2, start_child/1, endless_report/1, remote_caller/3, remote_sender/3]).

-import(scenario_kit, [specimen/2, hold/1, wait_until/2, wait_until/3, many/2, healthy/1, plan/2, all_rest/1, stopped_peer/1, silent_ticks/2, calling_nodes/0]).

scenarios() -> [slow_readers, slow_readers_socket, slow_port, lock_mnesia, lock_global, pool_empty, pool_tables, credit, lock_by_hand, asked_by_hand, stuck_pool, programs, busy_server, start_blocked, child_blocked, suspended_server, suspended_process, remote_hung, dist_busy].

%% Those who are held up rest where they are held up; those of a healthy twin when they have done what they were to do.
%% In between they wait, too, for a moment, and a dump of that moment may not be told from one of the disease.
settled(Healthy, Pids) ->
    Done = case Healthy of true -> fun done/1; false -> fun scenario_kit:resting/1 end,
    wait_until(settled, fun() -> lists:all(Done, Pids) end, 24000),
    all_rest(Pids).

done(Pid) ->
    case process_info(Pid, [current_function, message_queue_len]) of
        [{_, {scenario_kit, hold, 1}}, _] -> true;
        [{_, {?MODULE, writer, 2}}, {_, 0}] -> true;
        _ -> false
    end.

text(Term) -> {text, lists:flatten(io_lib:format("~tw", [Term]))}.

%% ---- clients that do not read -------------------------------------------------------------------------------------------
%% N connections, each written to by a process of its own; the queues of the writers grow.
slow_readers(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Healthy = healthy(Args),
    {ok, Listen} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {active, false}, {backlog, 128} | narrow(Healthy, recbuf)]),
    {ok, PortNumber} = inet:port(Listen),
    Clients = many(N, fun(_) -> specimen('', fun(Ready) ->
                 {ok, S} = gen_tcp:connect({127, 0, 0, 1}, PortNumber, [binary, {active, false} | narrow(Healthy, recbuf)]),
                 Ready(), reader(Healthy, gen_tcp, S) end) end),
    Sockets = many(N, fun(_) -> {ok, S} = gen_tcp:accept(Listen),
                                ok = inet:setopts(S, [{high_watermark, 65536}, {low_watermark, 32768} | narrow(Healthy, sndbuf)]), S end),
    Writers = [begin P = proc_lib:spawn(?MODULE, writer, [gen_tcp, S]), ok = gen_tcp:controlling_process(S, P), P end || S <- Sockets],
    feed(Writers, 12),
    settled(Healthy, Writers),
    Facts = #{findings => ['slow-socket'], senders => Writers, waiting => N, clients => length(Clients), mailboxes => N * 9},
    plan(Args, Facts).

%% A writer takes 3 messages of 20,000 bytes at the least until it is stuck; some take more, as buffers are.
feed(Writers, M) -> [W ! {write, binary:copy(<<I>>, 60000)} || I <- lists:seq(1, M), W <- Writers], ok.

%% The system's own buffers are small where they are to be full soon; a healthy twin's data would creep through such ones.
narrow(true, _) -> [];
narrow(false, Buffer) -> [{Buffer, 4096}].

narrow_socket(Healthy, Socket, Buffer) -> [ok = socket:setopt(Socket, socket, Buffer, 4096) || not Healthy].

writer(Module, Socket) ->
    receive {write, Bytes} -> ok = Module:send(Socket, Bytes), writer(Module, Socket) end.

reader(true, Module, Socket) -> {ok, _} = Module:recv(Socket, 0), reader(true, Module, Socket);
reader(false, _, Socket) -> hold({client, Socket}).

slow_readers_socket(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    {ok, Listen} = socket:open(inet, stream, tcp),
    Any = #{family => inet, addr => {127, 0, 0, 1}, port => 0},
    case socket:bind(Listen, Any) of ok -> ok; {ok, _} -> ok end,
    Healthy = healthy(Args),
    narrow_socket(Healthy, Listen, rcvbuf),
    ok = socket:listen(Listen, 128),
    {ok, #{port := PortNumber}} = socket:sockname(Listen),
    [specimen('', fun(Ready) ->
         {ok, S} = socket:open(inet, stream, tcp),
         case socket:connect(S, Any#{port => PortNumber}) of ok -> ok; {ok, _} -> ok end,
         narrow_socket(Healthy, S, rcvbuf),
         Ready(), reader(Healthy, socket, S) end) || _ <- lists:seq(1, N)],
    Writers = many(N, fun(_) -> {ok, S} = socket:accept(Listen),
                                narrow_socket(Healthy, S, sndbuf),
                                P = proc_lib:spawn(?MODULE, writer, [socket, S]),
                                ok = socket:setopt(S, otp, controlling_process, P), P end),
    feed(Writers, 12),
    settled(Healthy, Writers),
    plan(Args, #{findings => ['slow-socket'], senders => Writers, waiting => N}).

%% One connection that many processes send to: all but the first are suspended.
slow_port(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    Healthy = healthy(Args),
    {ok, Listen} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {active, false} | narrow(Healthy, recbuf)]),
    {ok, PortNumber} = inet:port(Listen),
    specimen('', fun(Ready) -> {ok, S} = gen_tcp:connect({127, 0, 0, 1}, PortNumber, [binary, {active, false} | narrow(Healthy, recbuf)]),
                               Ready(), reader(Healthy, gen_tcp, S) end),
    {ok, Socket} = gen_tcp:accept(Listen),
    ok = inet:setopts(Socket, narrow(Healthy, sndbuf)),
    Senders = many(N, fun(I) -> proc_lib:spawn(?MODULE, sender, [Socket, I, 10]) end),
    settled(healthy(Args), Senders),
    plan(Args, #{findings => ['slow-socket'], port => Socket, senders => Senders, waiting => N}).

sender(_, I, 0) -> hold(I);
sender(Socket, I, N) -> ok = gen_tcp:send(Socket, binary:copy(<<I>>, 10000)), sender(Socket, I, N - 1).

%% ---- locks ------------------------------------------------------------------------------------------------------------
lock_mnesia(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    ok = mnesia:start(),
    {atomic, ok} = mnesia:create_table(account, [{ram_copies, [node()]}]),
    ok = mnesia:wait_for_tables([account], 5000),
    Holder = specimen(slow_accountant, fun(Ready) ->
        mnesia:transaction(fun() -> mnesia:write({account, 1, 0}), Ready(), hold(slow_accountant), ok end) end),
    Record = case healthy(Args) of true -> fun(I) -> {account, I + 1, I} end; false -> fun(I) -> {account, 1, I} end end,
    Others = many(N, fun(I) -> proc_lib:spawn(?MODULE, transaction, [I, Record(I)]) end),
    settled(healthy(Args), Others),
    plan(Args, #{findings => ['lock-held'], culprit => Holder, waiting => N, lock => text({account, 1})}).

transaction(I, Record) -> {atomic, ok} = mnesia:transaction(fun() -> mnesia:write(Record) end), hold(I).

lock_global(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Holder = specimen(lock_holder, fun(Ready) ->
        global:trans({leader_lock, self()}, fun() -> Ready(), hold(lock_holder) end, [node()]) end),
    Lock = case healthy(Args) of true -> fun(I) -> {other_lock, I} end; false -> fun(_) -> leader_lock end end,
    Others = many(N, fun(I) -> proc_lib:spawn(?MODULE, locked, [I, Lock(I)]) end),
    timer:sleep(2000),
    settled(healthy(Args), Others),
    plan(Args, #{findings => ['lock-held'], culprit => Holder, waiting => N, lock => text(leader_lock)}).

locked(I, Lock) -> global:trans({Lock, self()}, fun() -> ok end, [node()]), hold(I).

%% A lock that a program has made itself: a server that keeps who has it, and in a queue who wants it. In the healthy twin the
%% same processes ask a server for work by which they are kept, too: one has some, the others wait for more.
lock_by_hand(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Healthy = healthy(Args),
    Server = specimen(stock_lock, fun(Ready) -> Ready(), case Healthy of true -> work_server([], #{}); false -> lock_server(free, queue:new()) end end),
    Body = case Healthy of true -> works_on; false -> with_lock end,
    [First | Others] = many(N + 1, fun(_) -> P = spawn(?MODULE, Body, [Server]), wait_until(asked, fun() -> scenario_kit:resting(P) end), P end),
    Healthy andalso (Server ! {work, First}),
    all_rest([First, Server | Others]),
    plan(Args, #{findings => ['wait-convoy'], culprit => First, waiting => N + 1, server => Server}).

lock_server(free, Queue) -> receive {lock, P} -> P ! locked, lock_server(P, Queue) end;
lock_server(Holder, Queue) ->
    receive {lock, P} -> lock_server(Holder, queue:in(P, Queue)); {unlock, Holder} -> lock_server(free, Queue) end.

with_lock(Server) -> lock(Server), hold(slow_update), Server ! {unlock, self()}.

lock(Server) -> Server ! {lock, self()}, receive locked -> ok end.

work_server(Idle, Busy) ->
    receive {idle, P} -> work_server([P | Idle], Busy); {work, P} -> P ! {work, hold}, work_server(lists:delete(P, Idle), Busy#{P => hold}) end.

works_on(Server) -> hold = next_work(Server), hold(work), works_on(Server).

next_work(Server) -> Server ! {idle, self()}, receive {work, What} -> What end.

%% Requests that a program has made itself lie in the queue of a server that does not take them.
asked_by_hand(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Healthy = healthy(Args),
    Server = specimen(rate_server, fun(Ready) -> Ready(), case Healthy of true -> rate_server(); false -> hold(rate_server) end end),
    Askers = many(N, fun(_) -> spawn(?MODULE, asks_by_hand, [Healthy]) end),
    settled(Healthy, [Server || not Healthy] ++ Askers),
    plan(Args, #{findings => ['wait-convoy'], culprit => Server, waiting => N}).

rate_server() -> receive {rate, P} -> P ! {rate, 7}, rate_server() end.

asks_by_hand(Healthy) -> R = rate(), hold({R, Healthy}).

rate() -> rate_server ! {rate, self()}, receive {rate, R} -> R end.

%% A pool after the model of poolboy: workers are out, those who ask get no answer yet.
pool_empty(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    Size = case healthy(Args) of true -> N + 5; false -> 5 end,
    {ok, Pool} = gen_server:start({local, db_pool}, ?MODULE, {pool, Size}, []),
    Users = many(N + 5, fun(I) -> proc_lib:spawn(?MODULE, worker, [I]) end),
    settled(healthy(Args), Users),
    plan(Args, #{findings => ['wait-convoy'], culprit => Pool, waiting => N}).

worker(I) -> W = checkout(db_pool), hold({W, I}).
checkout(Pool) -> Reply = gen_server:call(Pool, {checkout, make_ref(), true}, infinity), {ok, Reply}.

%% A pool in the manner of DBConnection: what it hands out is a table, which it gives to who may use the connection.
pool_tables(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    Size = case healthy(Args) of true -> N + 5; false -> 5 end,
    library('Elixir.DBConnection.Holder', "
        -export([checkout/1]).
        checkout(Pool) ->
            Lock = monitor(process, Pool),
            Pool ! {db_connection, {self(), Lock}, {checkout, [self()], erlang:monotonic_time(), true}},
            checkout_call(Lock).
        checkout_call(Lock) ->
            receive
                {'ETS-TRANSFER', Holder, _, Lock} -> demonitor(Lock, [flush]), {ok, Holder};
                {'DOWN', Lock, _, _, Reason} -> exit(Reason)
            end."),
    {ok, Pool} = gen_server:start({local, shop_repo}, ?MODULE, {tables, Size}, []),
    Users = many(N + 5, fun(I) -> proc_lib:spawn(?MODULE, query, [Pool, I]) end),
    settled(healthy(Args), Users),
    plan(Args, #{findings => ['wait-convoy'], culprit => Pool, waiting => N}).

query(Pool, I) -> Holder = 'Elixir.DBConnection.Holder':checkout(Pool), hold({Holder, I}).

%% Publishers in the manner of RabbitMQ: each may send its channel so much, and the channels one queue, until that has granted
%% more. The queue is stuck; in the healthy twin it grants, and nobody is stopped.
credit(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 20),
    Healthy = healthy(Args),
    [library(Module, "
        -export([run/2]).
        run(To, Blocked) -> put(credit_blocked, Blocked), put({credit_to, To}, 0), mainloop().
        mainloop() -> receive stop -> ok end.") || Module <- [rabbit_reader, rabbit_channel]],
    Run = fun(Module, To) -> proc_lib:spawn(Module, run, [To, [To || not Healthy]]) end,
    Queue = specimen(stuck_queue, fun(Ready) -> Ready(), hold(stuck_queue) end),
    Channels = many(N, fun(_) -> Run(rabbit_channel, Queue) end),
    Readers = [Run(rabbit_reader, Channel) || Channel <- Channels],
    [Queue ! {deliver, I} || not Healthy, I <- lists:seq(1, 400)],
    all_rest(Channels ++ Readers),
    plan(Args, #{findings => ['credit-flow'], culprit => Queue, waiting => 2 * N}).

%% A pool of connections to a service that takes questions and answers none: nobody is waited for by many.
stuck_pool(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 60),
    Healthy = healthy(Args),
    {ok, Listen} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {active, false}, {backlog, 128}]),
    {ok, PortNumber} = inet:port(Listen),
    Connections = many(20, fun(_) -> {ok, C} = gen_server:start(?MODULE, {connection, PortNumber}, []), C end),
    [specimen('', fun(Ready) -> {ok, S} = gen_tcp:accept(Listen), Ready(), service(Healthy, S) end) || _ <- Connections],
    Askers = many(N, fun(I) -> proc_lib:spawn(?MODULE, asker, [lists:nth(I rem 20 + 1, Connections), I]) end),
    settled(Healthy, Askers),
    plan(Args, #{findings => ['stuck-servers'], waiting => N, connections => length(Connections)}).

service(true, S) -> {ok, <<"question">>} = gen_tcp:recv(S, 8), ok = gen_tcp:send(S, "answer"), service(true, S);
service(false, S) -> hold({service, S}).

asker(Connection, I) -> R = gen_server:call(Connection, ask, infinity), hold({R, I}).

%% Programs that do not end.
programs(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 20),
    Command = case healthy(Args) of true -> "true"; false -> "sleep 300" end,
    Workers = many(N, fun(I) -> proc_lib:spawn(?MODULE, program, [Command, I]) end),
    settled(healthy(Args), Workers),
    healthy(Args) orelse wait_until(programs, fun() -> lists:all(fun(P) -> element(2, element(2, process_info(P, current_function))) =:= get_data end, Workers) end),
    plan(Args, #{findings => ['stuck-servers'], waiting => N, severity => medium}).

program(Command, I) -> R = os:cmd(Command), hold({R, I}).

%% A server that is busy with its first request; those behind it are few beside all the others of the node.
busy_server(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    Healthy = healthy(Args),
    {ok, Server} = gen_server:start({local, report_server}, ?MODULE, answering, []),
    Idle = many(1000, fun(I) -> spawn(scenario_kit, hold, [I]) end),
    Question = case Healthy of true -> report; false -> endless_report end,
    Askers = many(N, fun(I) -> spawn(?MODULE, asks, [Question, I]) end),
    settled(Healthy, Askers),
    Healthy orelse wait_until(asked, fun() -> {message_queue_len, N - 1} =:= process_info(Server, message_queue_len) end),
    plan(Args, #{findings => ['wait-convoy'], culprit => Server, waiting => N, others => length(Idle), severity => medium}).

asks(Question, I) -> R = gen_server:call(report_server, Question, infinity), hold({R, I}).
endless_report(I) -> endless_report((I * 7 + 1) rem 1000003).

%% Loads a module that is made of a text.
library(Module, Text) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten(io_lib:format("-module(~p).", [Module])) ++ Text),
    Forms = [begin {ok, Form} = erl_parse:parse_form(Form0), Form end || Form0 <- forms(Tokens, [])],
    {ok, Module, Code} = compile:forms(Forms, []),
    {module, Module} = code:load_binary(Module, atom_to_list(Module), Code).

forms([], []) -> [];
forms([{dot, _} = Dot | Rest], Form) -> [lists:reverse([Dot | Form]) | forms(Rest, [])];
forms([Token | Rest], Form) -> forms(Rest, [Token | Form]).

%% ---- who really blocks ---------------------------------------------------------------------------------------------------
%% An application whose start never ends; others want to start or stop something.
start_blocked(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    Start = case healthy(Args) of true -> fine; false -> stuck end,
    ok = application:load({application, slow_app, [{vsn, "1"}, {mod, {?MODULE, Start}}, {modules, []}, {registered, []}, {applications, [kernel, stdlib]}]}),
    Starter = spawn(fun() -> R = application:start(slow_app), hold({started, R}) end),
    timer:sleep(100),
    Others = many(N, fun(I) -> spawn(fun() -> R = application:start(slow_app), hold({started, I, R}) end) end),
    settled(healthy(Args), [Starter | Others]),
    plan(Args, #{findings => ['start-blocked'], application => slow_app, waiting => N + 1, starter => whereis(slow_app_start)}).

start(Start, Args) when is_list(Args) -> start(normal, Start);
start(_, stuck) -> register(slow_app_start, self()), hold(slow_app_start), {ok, self()};
start(_, fine) -> {ok, spawn_link(fun() -> hold(fine) end)}.
stop(_) -> ok.

%% A supervisor in the init of a child; all who ask the supervisor wait.
child_blocked(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    {ok, Supervisor} = supervisor:start_link({local, session_sup}, ?MODULE, {supervisor, healthy(Args)}),
    unlink(Supervisor),
    Starter = spawn(fun() -> R = supervisor:start_child(session_sup, []), hold({starter, R}) end),
    timer:sleep(100),
    Others = many(N, fun(I) -> spawn(fun() -> R = supervisor:which_children(session_sup), hold({which, I, R}) end) end),
    settled(healthy(Args), [Starter | Others]),
    %% who starts it, the others, and the supervisor through which they all wait
    plan(Args, #{findings => ['wait-convoy'], culprit => whereis(session_child), waiting => N + 2, supervisor => Supervisor}).

start_child(Healthy) -> gen_server:start_link(?MODULE, {child, Healthy}, []).

suspended_server(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    {ok, Server} = gen_server:start({local, order_server}, ?MODULE, answering, []),
    healthy(Args) orelse sys:suspend(Server),
    Others = many(N, fun(I) -> proc_lib:spawn(?MODULE, client, [order_server, I]) end),
    settled(healthy(Args), Others),
    plan(Args, #{findings => ['wait-convoy'], culprit => Server, waiting => N, suspended => sys}).

client(Server, I) -> R = gen_server:call(Server, {question, I}, infinity), hold({R, I}).

suspended_process(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    {ok, Server} = gen_server:start({local, order_server}, ?MODULE, answering, []),
    Healthy = healthy(Args),
    Debugger = specimen(debugger, fun(Ready) -> Healthy orelse erlang:suspend_process(Server), Ready(), hold(debugger) end),
    Others = many(N, fun(I) -> proc_lib:spawn(?MODULE, client, [order_server, I]) end),
    settled(healthy(Args), Others),
    plan(Args, #{findings => ['wait-convoy'], culprit => Server, waiting => N, suspended_by => Debugger}).

%% ---- other nodes ---------------------------------------------------------------------------------------------------------
remote_hung(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    {Peer, Stop} = stopped_peer(Args),
    wait_until(peer_service, fun() -> is_pid(rpc:call(Peer, erlang, whereis, [peer_service])) end),
    Service = rpc:call(Peer, erlang, whereis, [peer_service]),
    Stop(),
    Healthy = healthy(Args),
    Kinds = [rpc, erpc, pid, name],
    Callers = many(N, fun(I) -> proc_lib:spawn(?MODULE, remote_caller, [lists:nth(I rem 4 + 1, Kinds), {Peer, Service, Healthy}, I]) end),
    settled(healthy(Args), Callers),
    plan(Args, #{findings => ['node-hung'], peer => Peer, waiting => N + calling_nodes(), silent => silent_ticks(Healthy, Peer)}).

remote_caller(rpc, {Peer, _, _}, I) -> R = rpc:call(Peer, erlang, node, [], infinity), hold({R, I});
remote_caller(erpc, {Peer, _, _}, I) -> R = erpc:call(Peer, erlang, node, [], infinity), hold({R, I});
remote_caller(_, {_, _, true}, I) -> hold(I);
remote_caller(pid, {_, Service, _}, I) -> R = gen_server:call(Service, question, infinity), hold({R, I});
remote_caller(name, {Peer, _, _}, I) -> R = gen_server:call({peer_service, Peer}, question, infinity), hold({R, I}).

%% Senders are suspended when the connection's queue is full.
dist_busy(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 30),
    {Peer, Stop} = stopped_peer(Args),
    Stop(),
    Times = case healthy(Args) of true -> 20; false -> 1000 end,    % far more than the connection takes
    Senders = many(N, fun(I) -> proc_lib:spawn(?MODULE, remote_sender, [{peer_nobody, Peer}, Times, I]) end),
    settled(healthy(Args), Senders),
    plan(Args, #{findings => ['node-hung'], peer => Peer, waiting => N + calling_nodes(), silent => silent_ticks(healthy(Args), Peer)}).

remote_sender(Whom, Times, I) -> send_on(Whom, binary:copy(<<I>>, 200000), Times), hold({sent, I}).
send_on(_, _, 0) -> ok;
send_on(Whom, Bytes, N) -> Whom ! {bytes, Bytes}, send_on(Whom, Bytes, N - 1).

%% ---- callbacks ------------------------------------------------------------------------------------------------------------
init({tables, Size}) -> {ok, {tables, many(Size, fun(_) -> ets:new('Elixir.DBConnection.Holder', [public, ordered_set]) end), queue:new()}};
init({pool, Size}) -> {ok, {pool, Size, queue:new()}};
init({supervisor, Healthy}) ->
    {ok, {#{strategy => simple_one_for_one}, [#{id => child, start => {?MODULE, start_child, [Healthy]}, restart => temporary}]}};
init({connection, PortNumber}) -> gen_tcp:connect({127, 0, 0, 1}, PortNumber, [binary, {active, false}]);
init({child, Healthy}) -> register(session_child, self()), Healthy orelse hold(session_child), {ok, child};
init(State) -> {ok, State}.

handle_call({checkout, _, _}, {Pid, _}, {pool, Size, Waiting}) when Size > 0 ->
    monitor(process, Pid), {reply, worker, {pool, Size - 1, Waiting}};
handle_call({checkout, _, _}, From, {pool, 0, Waiting}) -> {noreply, {pool, 0, queue:in(From, Waiting)}};
handle_call(ask, _From, Socket) ->
    ok = gen_tcp:send(Socket, "question"), {ok, Answer} = gen_tcp:recv(Socket, 6), {reply, Answer, Socket};
handle_call(endless_report, _From, State) -> {reply, endless_report(1), State};
handle_call(Question, _From, State) -> {reply, {answer, Question}, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info({db_connection, {Pid, Lock}, _}, {tables, [Table | Tables], Waiting}) ->
    ets:give_away(Table, Pid, Lock), {noreply, {tables, Tables, Waiting}};
handle_info({db_connection, From, _}, {tables, [], Waiting}) -> {noreply, {tables, [], queue:in(From, Waiting)}};
handle_info(_, State) -> {noreply, State}.
terminate(_, _) -> ok.
code_change(_, State, _) -> {ok, State}.
