%% Waits that no monitor tells: for programs, for who gives back a lock or a thing of a pool, for a name, for the last one who comes.
%% Each takes `healthy` as its last argument for the twin with the same load and no disease.
-module(scenario_untold).
-export([scenarios/0, programs_asked/1, lock_forgotten/1, lock_served/1, lock_orphaned/1, pool_served/1, lines_by_turns/1, name_awaited/1, barrier/1, tasks_hung/1, node_silent/1, slices_in_table/1, feed_blocked/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3]).
-export([asks_node/2, converts/2, with_lock/1, serves/1, worker/1, uses/1, takes/1, looks/1, member/2, start_task/2, task/2, served/0]).
-import(scenario_kit, [specimen/2, hold/1, wait_until/2, wait_until/3, many/2, healthy/1, plan/2, all_rest/1, stopped_peer/1, calling_nodes/0]).

scenarios() -> [programs_asked, lock_forgotten, lock_served, lock_orphaned, pool_served, lines_by_turns, name_awaited, barrier, tasks_hung, node_silent, slices_in_table, feed_blocked].

%% Programs that each has started itself, has asked something, and that say nothing.
programs_asked(Args) ->
    Healthy = healthy(Args),
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Program = case Healthy of true -> "/bin/cat"; false -> "/bin/sleep 300" end,
    Workers = many(N, fun(I) -> spawn(?MODULE, converts, [Program, I]) end),
    settled(Healthy, Workers),
    all_rest(Workers),
    plan(Args, #{findings => ['stuck-servers'], waiting => N, severity => medium}).

converts(Program, I) ->
    Port = open_port({spawn, Program}, [binary, {packet, 4}]),
    Answer = convert(Port, <<"page ", (integer_to_binary(I))/binary>>),
    hold({Port, Answer}).

convert(Port, Page) -> Port ! {self(), {command, Page}}, receive {Port, {data, Answer}} -> Answer end.

%% A lock that a program has made itself, and whose holder ends without giving it back. Nobody is told.
lock_forgotten(Args) ->
    Healthy = healthy(Args),
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Lock = specimen(print_lock, fun(Ready) -> Ready(), lock(free, queue:new()) end),
    Holder = specimen('', fun(Ready) -> acquire(Lock), Ready(), hold(holder) end),
    Others = many(N, fun(_) -> spawn(?MODULE, with_lock, [Lock]) end),
    all_rest(Others),
    Healthy andalso (Lock ! {release, Holder}),
    Holder ! {release, holder},
    wait_until(ended, fun() -> not is_process_alive(Holder) end),
    settled(Healthy, Others),
    all_rest([Lock | Others]),
    plan(Args, #{findings => ['wait-convoy'], culprit => Holder, server => Lock, waiting => N, severity => medium}).

lock(free, Queue) -> receive {acquire, P} -> P ! acquired, lock(P, Queue) end;
lock(Holder, Queue) ->
    receive
        {acquire, P} -> lock(Holder, queue:in(P, Queue));
        {release, Holder} ->
            case queue:out(Queue) of
                {{value, Next}, Rest} -> Next ! acquired, lock(Next, Rest);
                {empty, _} -> lock(free, Queue)
            end
    end.

acquire(Lock) -> Lock ! {acquire, self()}, receive acquired -> ok end.
with_lock(Lock) -> acquire(Lock), Lock ! {release, self()}, hold(printed).

%% The same with a gen_server that answers later: one that has the lock is stuck ...
lock_served(Args) -> served_lock(Args, false).
%% ... or has ended.
lock_orphaned(Args) -> served_lock(Args, true).

served_lock(Args, Ends) ->
    Healthy = healthy(Args),
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    {ok, Lock} = gen_server:start({local, stock_lock}, ?MODULE, {lock, free, queue:new()}, []),
    Holder = specimen('', fun(Ready) -> ok = gen_server:call(stock_lock, acquire, infinity), Ready(), hold(holder) end),
    Others = many(N, fun(_) -> spawn(?MODULE, serves, [Healthy]) end),
    all_rest(Others),
    Healthy andalso gen_server:cast(stock_lock, {release, Holder}),
    Ends andalso (Holder ! {release, holder}),
    wait_until(ended, fun() -> is_process_alive(Holder) =/= Ends end),
    settled(Healthy, Others),
    plan(Args, #{findings => ['wait-convoy'], culprit => Lock, holder => Holder, waiting => N, severity => medium}).

serves(Healthy) ->
    ok = gen_server:call(stock_lock, acquire, infinity),
    Healthy andalso gen_server:cast(stock_lock, {release, self()}),
    hold(served).

%% A pool of numbers, which keeps who has which without watching them.
pool_served(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Size = case healthy(Args) of true -> N + 5; false -> 5 end,
    {ok, Pool} = gen_server:start({local, line_pool}, ?MODULE, {pool, lists:seq(1, Size), #{}, queue:new()}, []),
    Users = many(N + 5, fun(_) -> spawn(?MODULE, worker, [Pool]) end),
    settled(healthy(Args), Users, N),
    plan(Args, #{findings => ['wait-convoy'], culprit => Pool, waiting => N, severity => medium}).

worker(Pool) -> Line = gen_server:call(Pool, take, infinity), hold({line, Line}).

%% The same without OTP: who waits for a line, and who has one, are alike to all but the program.
lines_by_turns(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Size = case healthy(Args) of true -> N + 5; false -> 5 end,
    Pool = specimen(line_pool, fun(Ready) -> Ready(), lines(lists:seq(1, Size), #{}, queue:new()) end),
    Users = many(N + 5, fun(_) -> spawn(?MODULE, uses, [line_pool]) end),
    settled(healthy(Args), Users, N),
    plan(Args, #{findings => ['same-place'], culprit => Pool, waiting => N, severity => medium}).

uses(Pool) -> Line = takes(Pool), hold({line, Line}).
takes(Pool) -> Pool ! {take, self()}, receive {line, Line} -> Line end.

lines(Free, Taken, Waiting) ->
    receive
        {take, P} when Free =:= [] -> lines(Free, Taken, queue:in(P, Waiting));
        {take, P} -> P ! {line, hd(Free)}, lines(tl(Free), Taken#{hd(Free) => P}, Waiting)
    end.

%% Workers that look for a name again and again; nobody registers it.
name_awaited(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 100),
    Healthy = healthy(Args),
    Healthy andalso specimen(rate_cache, fun(Ready) -> Ready(), hold(rate_cache) end),
    Workers = many(N, fun(_) -> spawn(?MODULE, looks, [rate_cache]) end),
    Healthy andalso settled(true, Workers),
    all_rest(Workers),
    plan(Args, #{findings => ['same-place'], waiting => N, severity => medium}).

looks(Name) -> found(Name), hold({found, Name}).

found(Name) ->
    case whereis(Name) of
        undefined -> timer:sleep(20000), found(Name);   % far longer than it takes to die
        Pid -> Pid
    end.

%% All but one have come.
barrier(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 40),
    Healthy = healthy(Args),
    Barrier = specimen(sort_barrier, fun(Ready) -> Ready(), gathers(N + 1, []) end),
    Members = many(N, fun(I) -> spawn(?MODULE, member, [Barrier, I]) end),
    specimen(late_member, fun(Ready) -> Ready(), Healthy orelse hold(late_member), member(Barrier, late) end),
    settled(Healthy, Members),
    plan(Args, #{findings => ['same-place'], culprit => Barrier, waiting => N, severity => medium}).

gathers(N, Come) when length(Come) =:= N -> [P ! go_on || P <- Come], hold(gathered);
gathers(N, Come) -> receive {come, P} -> gathers(N, [P | Come]) end.

member(Barrier, I) -> meets(Barrier), hold({sorted, I}).
meets(Barrier) -> Barrier ! {come, self()}, receive go_on -> ok end.

%% Tasks under a supervisor, each within the work that it was started for; the twin's are at rest in the loops of theirs.
tasks_hung(Args) ->
    N = scenario_kit:number(1, Args -- ["healthy"], 3000),
    {ok, Supervisor} = supervisor:start_link({local, upload_sup}, ?MODULE, {supervisor, healthy(Args)}),
    unlink(Supervisor),
    Tasks = many(N, fun(I) -> {ok, P} = supervisor:start_child(upload_sup, [I]), P end),
    all_rest(Tasks),
    plan(Args, #{findings => ['same-place'], culprit => Supervisor, waiting => N, severity => medium}).

start_task(Healthy, I) -> {ok, proc_lib:spawn_link(?MODULE, task, [Healthy, I])}.

task(true, I) -> receive {work, I} -> task(true, I) end;
task(false, I) -> uploaded = upload(I), hold({uploaded, I}).

upload(I) -> receive {done, I} -> uploaded end.

%% One that sends to who reads nothing, while more to send comes in; beside it many servers that are loops of their own, each at
%% rest, called by a function that goes on when it ends.
feed_blocked(Args) ->
    Healthy = healthy(Args),
    {ok, Listen} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {active, false}, {recbuf, 4096}]),
    {ok, Number} = inet:port(Listen),
    Feed = specimen(price_feed, fun(Ready) -> {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Number, [binary, {sndbuf, 4096}]), Ready(), feeds(S) end),
    {ok, Peer} = gen_tcp:accept(Listen),
    Reader = specimen('', fun(Ready) -> Ready(), receive read -> reads(Peer) end end),
    ok = gen_tcp:controlling_process(Peer, Reader),
    Healthy andalso (Reader ! read),
    Servers = many(60, fun(_) -> spawn(?MODULE, served, []) end),
    Queued = fun() -> {message_queue_len, L} = process_info(Feed, message_queue_len), L end,
    [Feed ! {price, binary:copy(<<I:32>>, 15)} || I <- lists:seq(1, 5000)],
    wait_until(sent, fun() -> not Healthy orelse Queued() =:= 0 end, 60000),
    all_rest([Feed | Servers]),
    plan(Args, #{findings => ['queue-flood'], culprit => Feed, waiting => Queued(), severity => medium}).

feeds(S) -> receive {price, Price} -> ok = gen_tcp:send(S, Price), feeds(S) end.
reads(S) -> {ok, _} = gen_tcp:recv(S, 0), reads(S).
served() -> try requests_loop([]) after erase(request) end.
requests_loop(Seen) -> receive Any -> requests_loop([Any | Seen]) end.

%% A node that says nothing for half of net_ticktime, two ticks of fifteen seconds; one waits for it.
node_silent(Args) ->
    {Peer, Stop} = stopped_peer(Args),
    Stop(),
    Caller = spawn(?MODULE, asks_node, [Peer, healthy(Args)]),
    silent(healthy(Args), Peer, 3),
    settled(healthy(Args), [Caller]),
    plan(Args, #{findings => ['node-hung'], peer => Peer, waiting => 1 + calling_nodes(), silent => case healthy(Args) of true -> 0; false -> 30000 end, severity => medium}).

asks_node(Peer, Healthy) -> Node = rpc:call(Peer, erlang, node, [], infinity), hold({Node, Healthy}).

silent(true, _, _) -> ok;
silent(false, Peer, Looks) ->
    {connected, Controller} = erlang:port_info(proplists:get_value(Peer, erlang:system_info(dist_ctrl)), connected),
    erlang:trace(Controller, true, ['receive']),
    many(Looks, fun(_) -> receive {trace, Controller, 'receive', {_, tick}} -> ok after 60000 -> exit(no_tick) end end),
    erlang:trace(Controller, false, ['receive']),
    wait_until(handled, fun() -> {message_queue_len, 0} =:= process_info(Controller, message_queue_len) end).

%% Names that were cut out of large messages, in a table; the twin's were copied.
slices_in_table(Args) ->
    Healthy = healthy(Args),
    N = 1000,
    Owner = specimen(name_index, fun(Ready) ->
        Names = ets:new(names, [public]),
        [begin
             Name = binary:part(binary:copy(<<I:32>>, 25000), 100, 100),
             ets:insert(Names, {I, case Healthy of true -> binary:copy(Name); false -> Name end})
         end || I <- lists:seq(1, N)],
        garbage_collect(), Ready(), hold(name_index) end),
    plan(Args, #{findings => ['binary-pinning'], culprit => Owner, slices => N}).

%% ---- what they have in common -------------------------------------------------------------------------------------------
settled(Healthy, Pids) -> settled(Healthy, Pids, 0).

%% Those of a healthy twin have all got what they wanted; of the others so many have not.
settled(Healthy, Pids, Waiting) ->
    wait_until(settled, fun() -> not Healthy orelse lists:all(fun done/1, Pids) end, 24000),
    wait_until(settled, fun() -> Healthy orelse length([P || P <- Pids, not done(P)]) >= Waiting end, 24000),
    all_rest(Pids).

done(Pid) -> process_info(Pid, current_function) =:= {current_function, {scenario_kit, hold, 1}}.

init({supervisor, Healthy}) ->
    {ok, {#{strategy => simple_one_for_one}, [#{id => task, start => {?MODULE, start_task, [Healthy]}, restart => temporary, shutdown => brutal_kill}]}};
init(State) -> {ok, State}.

handle_call(acquire, {Pid, _}, {lock, free, Queue}) -> {reply, ok, {lock, Pid, Queue}};
handle_call(acquire, From, {lock, Holder, Queue}) -> {noreply, {lock, Holder, queue:in(From, Queue)}};
handle_call(take, From, {pool, [], Taken, Queue}) -> {noreply, {pool, [], Taken, queue:in(From, Queue)}};
handle_call(take, {Pid, _}, {pool, [Line | Free], Taken, Queue}) -> {reply, Line, {pool, Free, Taken#{Line => Pid}, Queue}}.

handle_cast({release, Holder}, {lock, Holder, Queue}) ->
    case queue:out(Queue) of
        {{value, {Next, _} = From}, Rest} -> gen_server:reply(From, ok), {noreply, {lock, Next, Rest}};
        {empty, _} -> {noreply, {lock, free, Queue}}
    end.
handle_info(_, State) -> {noreply, State}.
terminate(_, _) -> ok.
code_change(_, State, _) -> {ok, State}.
