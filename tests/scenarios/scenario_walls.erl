%% Walls that a node meets: pools, listeners and semaphores that are full, and the operating system's limit on open files. Each takes
%% `healthy` as its last argument for the twin that has some left. Facts: whose wall it is, and who waits.
-module(scenario_walls).
-export([scenarios/0, listener_full/1, listener_counts/1, pool_ended/1, pool_lent/1, pool_counted/1, semaphore_counted/1, pool_monitored/1,
         descriptors_accepted/1, descriptors_files/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, works/2, asks/2, takes/2, acceptor/3, handler/2, listens/3]).

-import(scenario_kit, [specimen/2, hold/1, many/2, healthy/1, plan/2, all_rest/1, wait_until/2]).

scenarios() -> [listener_full, listener_counts, pool_ended, pool_lent, pool_counted, semaphore_counted, pool_monitored, descriptors_accepted, descriptors_files].

-define(SICK(Args, Many, Few), case healthy(Args) of true -> Few; false -> Many end).

told(Args, Owner, Waiting) -> told(Args, Owner, Waiting, medium).
told(Args, Owner, Waiting, Severity) -> plan(Args, #{findings => ['at-capacity'], culprit => Owner, waiting => Waiting, severity => Severity}).

%% A supervisor of connections in the way of ranch: a loop of its own that keeps its connections in its dictionary and, at its maximum,
%% the acceptors that have handed it one in a list, without an answer. Nobody accepts then.
listener_full(Args) ->
    {ok, Listening} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, binary, {active, false}, {backlog, 64}]),
    {ok, Port} = inet:port(Listening),
    Sup = spawn(?MODULE, listens, [{state, chat, 30, worker, 5000}, 0, []]),
    register(chat_conns_sup, Sup),
    Acceptors = many(4, fun(_) -> spawn(fun() -> accepts(Listening, Sup) end) end),
    Clients = many(?SICK(Args, 40, 12), fun(_) -> spawn(fun() -> {ok, _} = gen_tcp:connect({127, 0, 0, 1}, Port, []), hold(client) end) end),
    wait_until(accepted, fun() -> healthy(Args) orelse length([A || A <- Acceptors, {current_function, {?MODULE, handed, 1}} =:= process_info(A, current_function)]) =:= 4 end),
    all_rest([Sup | Acceptors ++ Clients]),
    told(Args, Sup, 4).

accepts(Listening, Sup) ->
    {ok, Socket} = gen_tcp:accept(Listening),
    Sup ! {start_protocol, self(), Socket},
    handed(Sup),
    accepts(Listening, Sup).
handed(Sup) -> receive Sup -> ok end.

listens(State, Connections, Sleepers) ->
    receive
        {start_protocol, From, _Socket} ->
            Connection = spawn(fun() -> hold(connection) end),
            put(Connection, active),
            case Connections + 1 < element(3, State) of
                true -> From ! self(), listens(State, Connections + 1, Sleepers);
                false -> listens(State, Connections + 1, [From | Sleepers])
            end
    end.

%% One that counts its connections, does not count off those that were closed early, and accepts no more.
listener_counts(Args) ->
    {ok, Server} = gen_server:start({local, web_server}, ?MODULE, {listener, ?SICK(Args, 48, 3)}, []),
    all_rest([Server]),
    told(Args, Server, 48).

%% A pool that does not monitor whom it has lent something.
pool_ended(Args) ->
    N = ?SICK(Args, 24, 7),
    Ended = [begin {P, R} = spawn_monitor(fun() -> ok end), receive {'DOWN', R, _, _, _} -> P end end || _ <- lists:seq(1, 24)],
    Lent = maps:from_list([{make_ref(), {case I =< N of true -> lists:nth(I, Ended); false -> self() end, I}} || I <- lists:seq(1, ?SICK(Args, 24, 7))]),
    pool(Args, conn_pool, #{name => conns, free => [], lent => Lent, waiting => queue:new()}, ?SICK(Args, 6, 0), medium).

%% A pool of which all is lent, nearly all to processes that read from a socket, for a query that is not answered.
pool_lent(Args) ->
    {ok, Listening} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, binary, {active, false}, {backlog, 64}]),
    {ok, Port} = inet:port(Listening),
    Workers = many(?SICK(Args, 18, 5), fun(_) -> spawn(fun() -> {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]), works(S, reads) end) end),
    Others = many(?SICK(Args, 2, 1), fun(_) -> spawn(fun() -> hold(other) end) end),
    all_rest(Workers ++ Others),
    pool(Args, stock_repo, {pool, 20, [], [{make_ref(), P} || P <- Workers ++ Others], queue:new()}, ?SICK(Args, 5, 0), medium).

works(S, reads) -> gen_tcp:recv(S, 0).

%% One that only counts.
pool_counted(Args) ->
    pool(Args, job_limiter, #{max_jobs => 16, in_use => ?SICK(Args, 16, 9), interval => 5000, timeout => 5000, waiting => queue:new()}, ?SICK(Args, 5, 0), medium).

%% One that keeps whom it has lent something in a table, with a monitor, as poolboy does.
pool_monitored(Args) ->
    pool(Args, http_pool, {state, sup, table, queue:new(), 12, 0, 0}, ?SICK(Args, 5, 0), medium).

pool(Args, Name, State, Callers, Severity) ->
    {ok, Pool} = gen_server:start({local, Name}, ?MODULE, State, []),
    Clients = many(Callers, fun(_) -> spawn(?MODULE, asks, [Pool, checkout]) end),
    wait_until(asked, fun() -> lists:all(fun(C) -> {current_function, {gen, do_call, 4}} =:= process_info(C, current_function) end, Clients) end),
    all_rest([Pool | Clients]),
    told(Args, Pool, Callers, Severity).

asks(Pool, What) -> Answer = gen_server:call(Pool, What, infinity), hold({answer, Answer}).

%% A semaphore written by hand, which counts, and whose users have ended without giving back.
semaphore_counted(Args) ->
    N = ?SICK(Args, 20, 8),
    Gate = specimen(render_gate, fun(Ready) -> Ready(), gate(list_to_integer(scenario_kit:option(places, "20")), 0, queue:new()) end),
    [begin {P, R} = spawn_monitor(fun() -> acquire(Gate) end), receive {'DOWN', R, _, _, _} -> P end end || _ <- lists:seq(1, N)],
    Waiters = many(?SICK(Args, 6, 0), fun(_) -> spawn(?MODULE, takes, [Gate, render]) end),
    all_rest([Gate | Waiters]),
    told(Args, Gate, 6).

gate(Max, Used, Queue) ->
    receive
        {acquire, From, Ref} when Used < Max -> From ! {Ref, granted}, gate(Max, Used + 1, Queue);
        {acquire, From, Ref} -> gate(Max, Used, queue:in({From, Ref}, Queue))
    end.
acquire(Gate) -> Ref = make_ref(), Gate ! {acquire, self(), Ref}, granted(Ref).
granted(Ref) -> receive {Ref, granted} -> ok end.
takes(Gate, What) -> Granted = acquire(Gate), hold({What, Granted}).

%% ---- descriptors --------------------------------------------------------------------------------------------------------------
%% A server that accepts until the operating system gives it no more descriptors (ulimit -n 256, tests/scenarios/make). Its clients, of
%% this node too, give back some at the end, of which the node's last words need one.
descriptors_accepted(Args) ->
    [{module, M} = code:ensure_loaded(M) || M <- [timer, inet, gen_tcp, inet_tcp, prim_inet, scenario_truth]],
    {ok, Listening} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, binary, {active, false}, {backlog, 512}]),
    {ok, Port} = inet:port(Listening),
    Clients = many(?SICK(Args, 150, 30), fun(_) ->
        specimen('', fun(Ready) -> Connected = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]), Ready(), connected(Connected) end) end),
    Acceptors = many(3, fun(I) -> spawn(?MODULE, acceptor, [Listening, I, none]) end),
    wait_until(used_up, fun() -> healthy(Args) orelse lists:all(fun(A) -> {current_function, {?MODULE, rests, 1}} =:= process_info(A, current_function) end, Acceptors) end),
    [C ! close || C <- lists:sublist(Clients, 10), not healthy(Args)],
    all_rest(Acceptors),
    plan(Args, #{findings => [descriptors], culprit => hd(Acceptors), severity => high}).

connected(Result) -> receive close -> gen_tcp:close(element(2, Result)) end.

acceptor(Listening, I, Last) ->
    case gen_tcp:accept(Listening) of
        {ok, Socket} ->
            Handler = spawn(?MODULE, handler, [Socket, I]),
            ok = gen_tcp:controlling_process(Socket, Handler),
            acceptor(Listening, I, Last);
        {error, Reason} -> rests(Reason), acceptor(Listening, I, Reason)
    end.
rests(Reason) -> receive {stop, Reason} -> Reason end.
handler(Socket, I) -> receive {tcp, Socket, _} -> handler(Socket, I); {tcp_closed, Socket} -> ok end.

%% A server that opens a file for each request, and closes none.
descriptors_files(Args) ->
    [{module, M} = code:ensure_loaded(M) || M <- [timer, prim_file, scenario_truth]],
    Name = code:which(?MODULE),
    Owner = specimen(report_store, fun(Ready) -> opens(Name, ?SICK(Args, 300, 20), [], Ready) end),
    all_rest([Owner]),
    plan(Args, #{findings => [descriptors], culprit => Owner, severity => high}).

opens(_, 0, Files, Ready) -> Ready(), hold(Files);
opens(Name, N, Files, Ready) ->
    case file:open(Name, [read, raw]) of
        {ok, File} -> opens(Name, N - 1, [File | Files], Ready);
        {error, Reason} ->
            {Closed, Open} = lists:split(10, Files),
            [file:close(F) || F <- Closed],
            Ready(),
            hold({Reason, Open})
    end.

%% ---- callbacks ----------------------------------------------------------------------------------------------------------------
init({listener, Lost}) ->
    process_flag(trap_exit, true),
    {ok, Listening} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, binary, {active, false}, {backlog, 64}]),
    {ok, Port} = inet:port(Listening),
    Self = self(),
    Clients = spawn(fun() -> spawn(fun() -> Kept = [element(2, {ok, _} = gen_tcp:connect({127, 0, 0, 1}, Port, [])) || _ <- lists:seq(1, 3)], Self ! connected, hold(Kept) end) end),
    Serving = [begin {ok, S} = gen_tcp:accept(Listening), P = spawn_link(?MODULE, handler, [S, I]), gen_tcp:controlling_process(S, P), P end || I <- lists:seq(1, 3)],
    receive connected -> ok end,
    {ok, {web_server, Port, 48, Listening, Lost, 4096, Clients, length(Serving) =:= 3}};
init({state, sup, table, Waiting, Size, Overflow, Most}) ->
    Table = ets:new(monitors, [private]),
    [ets:insert(Table, {P, make_ref(), monitor(process, P)}) || P <- many(Size, fun(_) -> spawn(fun() -> hold(worker) end) end)],
    {ok, {state, sup, [], Waiting, Table, Size, Overflow, Most, lifo}};
init(State) -> {ok, State}.
handle_call(checkout, From, State = #{waiting := Waiting}) -> {noreply, State#{waiting := queue:in(From, Waiting)}};
handle_call(checkout, From, {pool, Size, Free, Lent, Waiting}) -> {noreply, {pool, Size, Free, Lent, queue:in(From, Waiting)}};
handle_call(checkout, From, State) when element(1, State) =:= state -> {noreply, setelement(4, State, queue:in({From, make_ref()}, element(4, State)))}.
handle_cast(_, State) -> {noreply, State}.
handle_info(_, State) -> {noreply, State}.
