%% What is loud is not what is wrong: who stops itself, what is in queues and in binaries that grow, tables that one waits for.
%% Each takes `healthy` as its last argument for the twin with the same load and no disease.
-module(scenario_hidden).
-export([scenarios/0, stops_itself/1, large_messages/1, appended/1, nested_list/1, table_awaited/1, acks_awaited/1, scans/1, members_hung/1]).
-export([start/2, stop/1, init/1, start_child/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2]).
-export([subscriber/1, takes/2, looks_up/2, asks_member/1]).

-import(scenario_kit, [specimen/2, hold/1, wait_until/2, wait_until/3, many/2, healthy/1, plan/2, all_rest/1]).

scenarios() -> [stops_itself, large_messages, appended, nested_list, table_awaited, acks_awaited, scans, members_hung].

%% A process of an application stops that application, and waits for it, which is for itself; the twin has somebody else do so.
stops_itself(Args) ->
    Healthy = healthy(Args),
    ok = application:load({application, shop, [{vsn, "1"}, {mod, {?MODULE, Healthy}}, {modules, []}, {registered, []}, {applications, [kernel, stdlib]}]}),
    ok = application:start(shop),
    Child = whereis(shop_janitor),
    gen_server:cast(Child, close_shop),
    Healthy andalso wait_until(stopped, fun() -> not is_process_alive(Child) end),
    wait_until(asked, fun() -> Healthy orelse process_info(Child, current_function) =:= {current_function, {gen, do_call, 4}} end),
    plan(Args, #{findings => ['stop-under-way'], culprit => Child, severity => high}).

start(_, Healthy) -> supervisor:start_link({local, shop_sup}, ?MODULE, {children, Healthy}).
stop(_) -> ok.
start_child(Healthy) -> gen_server:start_link({local, shop_janitor}, ?MODULE, {janitor, Healthy}, []).

%% Something large, sent to many who do not take it; in the twin it lies in one place, and its name is sent.
large_messages(Args) ->
    N = 80,
    Large = erlang:make_tuple(131072, price),
    Those = many(N, fun(I) -> spawn(?MODULE, subscriber, [I]) end),
    Message = case healthy(Args) of true -> persistent_term:put(price_list, Large), price_list; false -> Large end,
    [P ! {prices, Message} || P <- Those],
    all_rest(Those),
    plan(Args, #{findings => ['big-heap'], messages => N, severity => medium}).

subscriber(I) -> receive {go_on, I} -> subscriber(I) end.

%% A binary to which somebody appends all that comes, and never writes it; the twin starts anew after each 64 KiB.
appended(Args) ->
    Chunk = binary:copy(<<"x">>, 65536),
    Owner = specimen(upload_buffer, fun(Ready) ->
        Buffer = lists:foldl(fun(_, B) -> appends(B, Chunk, healthy(Args)) end, <<>>, lists:seq(1, 2000)),
        Ready(), hold(Buffer) end),
    plan(Args, #{findings => ['binary-pinning'], culprit => Owner}).

appends(_, Chunk, true) -> <<Chunk/binary>>;
appends(B, Chunk, false) -> <<B/binary, Chunk/binary>>.

%% Lines of a report that are nested, each within the next.
nested_list(Args) ->
    N = case healthy(Args) of true -> 100; false -> 200000 end,
    Owner = specimen(csv_export, fun(Ready) -> Lines = lines([], N), garbage_collect(), Ready(), hold(Lines) end),
    plan(Args, #{findings => ['big-heap'], culprit => Owner, severity => medium}).

lines(Lines, 0) -> Lines;
lines(Lines, N) -> lines([Lines, integer_to_list(N), $;, <<"row of the report ">>, $\n], N - 1).

%% One waits for a table of mnesia: who sets the node up.
table_awaited(Args) ->
    ok = mnesia:start(),
    healthy(Args) andalso ({atomic, ok} = mnesia:create_table(account, [])),
    Waiter = specimen(cluster_setup, fun(Ready) -> Ready(), R = mnesia:wait_for_tables([account], infinity), hold(R) end),
    all_rest([Waiter]),
    plan(Args, #{findings => ['few-waiters'], culprit => Waiter, severity => medium}).

%% Acknowledgements are awaited, and nothing else is taken; in the twin all of it.
acks_awaited(Args) ->
    Healthy = healthy(Args),
    Writer = specimen(ack_writer, fun(Ready) -> Ready(), takes(Healthy, 0) end),
    [Writer ! {event, I} || I <- lists:seq(1, 20000)],
    wait_until(taken, fun() -> not Healthy orelse process_info(Writer, message_queue_len) =:= {message_queue_len, 0} end),
    all_rest([Writer]),
    plan(Args, #{findings => ['queue-flood'], culprit => Writer, messages => 20000}).

takes(Healthy, N) -> receive {ack, N} -> takes(Healthy, N + 1); {event, _} when Healthy -> takes(Healthy, N) end.

%% Many go through a whole table for each request; the twin's look for one key, and rest between.
scans(Args) ->
    Healthy = healthy(Args),
    Owner = specimen(session_table, fun(Ready) ->
        ets:new(sessions, [named_table, public]),
        [ets:insert(sessions, {I, I rem 100, <<"session">>}) || I <- lists:seq(1, 150000)],
        Ready(), hold(session_table) end),
    garbage_collect(Owner),
    Those = many(40, fun(I) -> spawn(?MODULE, looks_up, [I, Healthy]) end),
    wait_until(worked, fun() -> Healthy orelse lists:sum([R || P <- Those, {reductions, R} <- [process_info(P, reductions)]]) > 30000000 end, 12000),
    plan(Args, #{findings => ['busy-loop', 'run-queue'], loops => length(Those), severity => medium}).

looks_up(I, true) -> _ = ets:lookup(sessions, I), hold({looked_up, I});
looks_up(I, false) -> _ = ets:select(sessions, [{{'$1', I, '_'}, [], ['$1']}]), looks_up(I, false).

%% All members of a pool are out, and those who have them wait for these: each of them is stuck. In the twin all are answered.
members_hung(Args) ->
    Healthy = healthy(Args),
    N = 60,
    {ok, Pool} = gen_server:start({local, db_pool}, ?MODULE, {pool, case Healthy of true -> N + 10; false -> 10 end, Healthy}, []),
    Users = many(N + 10, fun(I) -> spawn(?MODULE, asks_member, [I]) end),
    all_rest(Users),
    plan(Args, #{findings => ['wait-convoy'], culprit => Pool, waiting => N}).

asks_member(I) ->
    Member = gen_server:call(db_pool, checkout, infinity),
    R = gen_server:call(Member, {query, I}, infinity),
    hold({R, I}).

%% ---- callbacks ------------------------------------------------------------------------------------------------------------------------
init({children, Healthy}) ->
    {ok, {#{}, [#{id => janitor, start => {?MODULE, start_child, [Healthy]}, restart => temporary, shutdown => infinity}]}};
init({pool, N, Healthy}) ->
    {ok, {pool, [M || _ <- lists:seq(1, N), {ok, M} <- [gen_server:start_link(?MODULE, {member, Healthy}, [])]], queue:new()}};
init(State) -> process_flag(trap_exit, true), {ok, State}.

handle_call(checkout, From, {pool, [], Waiting}) -> {noreply, {pool, [], queue:in(From, Waiting)}};
handle_call(checkout, {User, _}, {pool, [Member | Members], Waiting}) -> monitor(process, User), {reply, Member, {pool, Members, Waiting}};
handle_call({query, I}, _, {member, false} = State) -> R = hold({query, I}), {reply, R, State};
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(close_shop, {janitor, true} = State) -> spawn(fun() -> application:stop(shop) end), {noreply, State};
handle_cast(close_shop, State) -> ok = application:stop(shop), {noreply, State}.
handle_info(_, State) -> {noreply, State}.
terminate(_, _) -> ok.
