%% What is kept by one that should not have it any more, and what stops one after the other: tables of dets that can't be written, timers
%% that nobody cancels, connections that nobody closes, sessions that sleep with all that they have read, a supervisor with many children
%% to end. Each takes `healthy` as its last argument for the twin without the disease.
-module(scenario_kept).
-export([scenarios/0, dets_unwritten/1, repeated_timers/1, connections_kept/1, hibernated/1, children_ended/1, table_half_fixed/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3, sleeps/1, start_session/1]).
-import(scenario_kit, [specimen/2, hold/1, wait_until/2, many/2, healthy/1, plan/2]).

scenarios() -> [dets_unwritten, repeated_timers, connections_kept, hibernated, children_ended, table_half_fixed].

%% A table of dets whose file may grow no further: `make` runs this with a limit on the size of files.
dets_unwritten(Args) ->
    File = filename:absname("ledger.dets"),
    _ = file:delete(File),
    {ok, Table} = dets:open_file(ledger, [{file, File}, {auto_save, infinity}]),
    Writes = case healthy(Args) of true -> 20; false -> 2000 end,
    Results = many(Writes, fun(I) -> dets:insert(Table, {I, binary:copy(<<I>>, 20000)}) end),
    Synced = dets:sync(Table),
    true = healthy(Args) =:= (lists:usort([Synced | Results]) =:= [ok]),
    erlang:garbage_collect(),
    plan(Args, #{findings => ['alarm'], waiting => 1, severity => medium}).

%% One that polls by a timer of its own for each of what it watches, and never cancels.
repeated_timers(Args) ->
    N = case healthy(Args) of true -> 200; false -> 110000 end,
    Poller = specimen(poller, fun(Ready) ->
                                  many(N, fun(I) -> repeats({poll, I}) end),
                                  erlang:garbage_collect(), Ready(), hold(poller)
                              end),
    plan(Args, #{findings => [multitude], culprit => Poller, waiting => N, timers => N}).

%% Before 25 the module's server keeps its timers in a table of its own, and has one timer of the VM for all: nothing counts them there.
repeats(Message) ->
    case list_to_integer(erlang:system_info(otp_release)) >= 25 of
        true -> {ok, _} = timer:send_interval(3600000, Message);
        false -> erlang:send_after(3600000, self(), Message)
    end.

%% One that accepts, and keeps what the other side has closed.
connections_kept(Args) ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {backlog, 1024}, {active, false}]),
    {ok, Port} = inet:port(Listen),
    N = 1500,
    Self = self(),
    Server = specimen(webhook_server, fun(Ready) -> Ready(), accepts(Listen, healthy(Args), Self) end),
    many(N, fun(_) -> {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, []), receive accepted -> gen_tcp:close(Socket) end end),
    plan(Args, #{findings => ['port-leak'], culprit => Server, waiting => N, severity => medium}).

accepts(Listen, Healthy, Whom) ->
    {ok, Socket} = gen_tcp:accept(Listen),
    Healthy andalso gen_tcp:close(Socket),
    Whom ! accepted,
    accepts(Listen, Healthy, Whom).

%% Sessions that sleep, each with all that it has read.
hibernated(Args) ->
    Words = case healthy(Args) of true -> 10; false -> 6000 end,
    Sessions = many(2000, fun(I) -> spawn(?MODULE, sleeps, [lists:seq(I, I + Words)]) end),
    wait_until(asleep, fun() -> lists:all(fun(P) -> process_info(P, current_function) =:= {current_function, {erlang, hibernate, 3}} end, Sessions) end),
    plan(Args, #{findings => ['big-heap'], waiting => 2000, severity => medium}).

sleeps(Read) -> erlang:hibernate(scenario_kit, hold, [Read]).

%% A supervisor that ends many children, each of which takes its time; in the healthy twin nobody ends them.
children_ended(Args) ->
    Self = self(),
    Starter = spawn(fun() ->
                        Children = many(300, fun(I) -> #{id => I, start => {?MODULE, start_session, [I]}, shutdown => infinity} end),
                        {ok, Sup} = supervisor:start_link({local, session_sup}, ?MODULE, {children, Children}),
                        Self ! {started, Sup},
                        hold(starter)
                    end),
    Sup = receive {started, Pid} -> Pid end,
    healthy(Args) orelse begin
        exit(Starter, shutdown),
        wait_until(ends, fun() -> element(2, element(2, process_info(Sup, current_function))) =:= shutdown end)
    end,
    plan(Args, #{findings => ['stop-under-way'], culprit => Sup, severity => medium}).

start_session(I) -> gen_server:start_link(?MODULE, {session, I}, []).

%% A table of which much was deleted while somebody had it fixed, though less than is left.
table_half_fixed(Args) ->
    Deleted = 60000,
    Owner = specimen(job_table, fun(Ready) ->
                                    Table = ets:new(jobs, [named_table, public]),
                                    many(130000, fun(I) -> ets:insert(Table, {I, I, I, I, I, I, I, I}) end),
                                    healthy(Args) orelse ets:safe_fixtable(Table, true),
                                    many(Deleted, fun(I) -> ets:delete(Table, I) end),
                                    erlang:garbage_collect(), Ready(), hold(job_table)
                                end),
    plan(Args, #{findings => ['ets-growth'], culprit => Owner, waiting => 130000 - Deleted, deleted => Deleted, severity => medium}).

%% ---- callbacks -------------------------------------------------------------------------------------------
init({children, Children}) -> {ok, {#{}, Children}};
init({session, I}) -> process_flag(trap_exit, true), {ok, I}.
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(_, State) -> {noreply, State}.
terminate(_, _) -> hold(session_store), ok.
code_change(_, State, _) -> {ok, State}.
