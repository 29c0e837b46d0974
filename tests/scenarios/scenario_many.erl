%% Something of which there are too many, and calls that libraries make in their own way. Each takes `healthy` as its last
%% argument for the twin that takes back what it makes, or is answered. Facts: whose it is, and how many.
-module(scenario_many).
-export([scenarios/0, many_entries/1, many_keys/1, many_handlers/1, many_descents/1, many_files/1, many_timers/1, many_monitors/1,
         many_ended/1, same_rows/1, alike_states/1, asked_by_tag/1, asked_by_monitor/1, asked_by_selector/1,
         crash_reported/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, handle_event/2, descends/2, report/1, asks/2, broker/2, connection/1]).

-import(scenario_kit, [specimen/2, hold/1, many/2, healthy/1, plan/2, all_rest/1, wait_until/2]).

scenarios() -> [many_entries, many_keys, many_handlers, many_descents, many_files, many_timers, many_monitors, many_ended, same_rows, alike_states, asked_by_tag, asked_by_monitor, asked_by_selector, crash_reported].

-define(SICK(Args, Many, Few), case healthy(Args) of true -> Few; false -> Many end).

told(Args, Owner, Count) -> told(Args, Owner, Count, info).
told(Args, Owner, Count, Severity) -> plan(Args, #{findings => [multitude], culprit => Owner, many => Count, severity => Severity}).

%% A tracer that puts a span into its dictionary under a key of its own, and erases none.
many_entries(Args) ->
    N = ?SICK(Args, 4000, 40),
    Owner = specimen(span_store, fun(Ready) -> [put({open_span, make_ref()}, {I, started}) || I <- lists:seq(1, N)], Ready(), hold(spans) end),
    told(Args, Owner, N).

%% A server that keeps each request under a reference.
many_keys(Args) ->
    N = ?SICK(Args, 3000, 30),
    {ok, Owner} = gen_server:start({local, request_log}, ?MODULE, #{name => log, requests => maps:from_list([{make_ref(), {get, I}} || I <- lists:seq(1, N)])}, []),
    all_rest([Owner]),
    told(Args, Owner, N).

%% An event manager to which each connection adds a handler.
many_handlers(Args) ->
    N = ?SICK(Args, 3000, 20),
    {ok, Owner} = gen_event:start({local, metric_events}),
    [ok = gen_event:add_handler(Owner, {?MODULE, make_ref()}, {handler, I}) || I <- lists:seq(1, N)],
    all_rest([Owner]),
    told(Args, Owner, N).

%% A job that starts its successor instead of itself again.
many_descents(Args) ->
    N = ?SICK(Args, 200, 3),
    descends(N, self()),
    Last = receive {last, Pid} -> Pid end,
    told(Args, Last, N).

descends(0, _) -> ok;
descends(N, Root) -> proc_lib:spawn(fun() -> next(N, Root), hold(done) end).
next(1, Root) -> Root ! {last, self()};
next(N, Root) -> descends(N - 1, Root).

%% A log that opens its file again and again.
many_files(Args) ->
    N = ?SICK(Args, 300, 3),
    Name = code:which(?MODULE),
    Owner = specimen(audit_log, fun(Ready) -> Files = [begin {ok, F} = file:open(Name, [read, raw]), F end || _ <- lists:seq(1, N)], Ready(), hold(Files) end),
    told(Args, Owner, N).

%% A timer for each request, cancelled by nobody.
many_timers(Args) ->
    N = ?SICK(Args, 2500, 25),
    Owner = specimen(session_expiry, fun(Ready) -> Ready(), hold(expiry) end),
    [erlang:send_after(3600000, Owner, {expire, I}) || I <- lists:seq(1, N)],
    told(Args, Owner, N).

%% A monitor for each request, taken back by nobody.
many_monitors(Args) ->
    N = ?SICK(Args, 2000, 20),
    Target = specimen(price_feed, fun(Ready) -> Ready(), hold(feed) end),
    Owner = specimen(price_view, fun(Ready) -> [monitor(process, Target) || _ <- lists:seq(1, N)], Ready(), hold(view) end),
    told(Args, Owner, N).

%% A registry of processes that does not notice their end.
many_ended(Args) ->
    N = ?SICK(Args, 1500, 15),
    Ended = [begin {P, R} = spawn_monitor(fun() -> ok end), receive {'DOWN', R, _, _, _} -> P end end || _ <- lists:seq(1, N)],
    {ok, Owner} = gen_server:start({local, presence}, ?MODULE, {state, maps:from_list([{P, {online, I}} || {P, I} <- lists:zip(Ended, lists:seq(1, N))])}, []),
    all_rest([Owner]),
    told(Args, Owner, N, medium).

%% Reports that each read a whole table.
same_rows(Args) ->
    N = ?SICK(Args, 8000, 40),
    specimen(stock_keeper, fun(Ready) ->
        ets:new(stock, [named_table]), ets:insert(stock, [{I, article, I * 3, warehouse} || I <- lists:seq(1, N)]), Ready(), hold(stock) end),
    Those = many(60, fun(_) -> spawn(?MODULE, report, [stock]) end),
    all_rest(Those),
    plan(Args, #{findings => ['big-heap'], culprit => hd(Those), many => N, severity => medium}).

report(Table) -> Rows = ets:tab2list(Table), garbage_collect(), receive {format, As} -> {As, Rows} end.

%% Sessions that each keep what was asked of them.
alike_states(Args) ->
    N = ?SICK(Args, 9000, 5),
    Those = many(60, fun(I) -> {ok, P} = gen_server:start(?MODULE, {session, I, lists:seq(1, I), #{asked => [{I, query, K} || K <- lists:seq(1, N)]}}, []), P end),
    [sys:get_state(P) =/= garbage_collect(P) || P <- Those],
    all_rest(Those),
    plan(Args, #{findings => ['big-heap'], culprit => hd(Those), many => N, severity => medium}).

%% Clients of a broker whose requests have a tag of their own, and no monitor. It has taken some and asks a connection in the same
%% way; the connection waits for what its peer never sends.
asked_by_tag(Args) -> asked(Args, tag).

%% The same, by the reference of a monitor.
asked_by_monitor(Args) -> asked(Args, monitor).

asked(Args, How) ->
    {ok, Listening} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, binary, {active, false}]),
    {ok, Port} = inet:port(Listening),
    Peer = specimen(kv_store, fun(Ready) -> Ready(), {ok, Socket} = gen_tcp:accept(Listening), serve(Socket, healthy(Args)) end),
    Connection = spawn(?MODULE, connection, [Port]),
    Broker = spawn(?MODULE, broker, [How, Connection]),
    register(kv_connection, Connection),
    register(kv_broker, Broker),
    Clients = many(6, fun(I) -> spawn(?MODULE, asks, [How, I]) end),
    all_rest([Peer, Connection, Broker | Clients]),
    wait_until(asked, fun() -> healthy(Args) orelse queued(Broker) + queued(Connection) >= 5 end),
    plan(Args, #{findings => ['few-waiters'], culprit => Connection, waiting => 7, severity => medium}).

%% Actors of Gleam: they receive what a map from references to funs selects, answers as well as their next message.
asked_by_selector(Args) ->
    [begin
         {ok, Name, Beam} = compile:forms([begin {ok, Tokens, _} = erl_scan:string(Form), {ok, Parsed} = erl_parse:parse_form(Tokens), Parsed end || Form <- Forms]),
         {module, Name} = code:load_binary(Name, "", Beam)
     end || Forms <- [
         ["-module(gleam_erlang_ffi).", "-export([select/2]).",
          "select({selector, Handlers}, Timeout) -> receive {'DOWN', Ref, process, Pid, Reason} when is_map_key(Ref, Handlers) -> (map_get(Ref, Handlers))({down, Pid, Reason}); "
          "{Tag, Message} when is_map_key(Tag, Handlers) -> (map_get(Tag, Handlers))(Message) after Timeout -> {error, nil} end."],
         ["-module('gleam@erlang@process').", "-export([call/3]).",
          "call({subject, Pid, Tag}, Request, Timeout) -> Monitor = erlang:monitor(process, Pid), Reply = make_ref(), Pid ! {Tag, {Request, {subject, self(), Reply}}}, "
          "Answer = gleam_erlang_ffi:select({selector, #{Monitor => fun(Down) -> exit(Down) end, Reply => fun(Message) -> Message end}}, Timeout), erlang:demonitor(Monitor, [flush]), Answer."],
         ["-module('gleam@otp@actor').", "-export([loop/1]).",
          "loop({actor, Tag, Handler, State} = Actor) -> {Request, {subject, From, Reply}} = gleam_erlang_ffi:select({selector, #{Tag => fun(Message) -> Message end}}, infinity), "
          "{Answer, Next} = Handler(Request, State), From ! {Reply, Answer}, loop(setelement(4, Actor, Next))."]]],
    Tag = make_ref(),
    Healthy = healthy(Args),
    Store = spawn(fun() -> register(basket_store, self()), 'gleam@otp@actor':loop({actor, Tag, fun(Request, State) -> writes(Healthy, Request), {ok, [Request | State]} end, []}) end),
    Pricing = make_ref(),
    Prices = spawn(fun() -> 'gleam@otp@actor':loop({actor, Pricing, fun(Request, State) -> {'gleam@erlang@process':call({subject, Store, Tag}, {price, Request}, infinity), State} end, none}) end),
    Clients = many(5, fun(I) -> spawn(fun() -> hold({done, 'gleam@erlang@process':call({subject, Prices, Pricing}, {item, I}, infinity)}) end) end),
    all_rest([Store, Prices | Clients]),
    plan(Args, #{findings => ['few-waiters'], culprit => Store, waiting => 6, severity => medium}).

%% A server that crashes with a large State, which it formats for the loggers before it ends: what is left of it after
%% any collection is more than 64 MiB.
crash_reported(Args) ->
    N = ?SICK(Args, 900000, 4),
    {ok, Owner} = gen_server:start({local, order_cache}, ?MODULE, #{orders => [{I, <<"an order and what it says">>, [a, b]} || I <- lists:seq(1, N)]}, []),
    Monitor = monitor(process, Owner),
    Owner ! {refund, 17},
    wait_until(reporting, fun() ->
        receive {'DOWN', Monitor, _, _, _} -> true
        after 0 -> case process_info(Owner, [current_function, reductions]) of
                       [{_, {Module, _, _}}, {_, Done}] -> Done > 5000000 andalso lists:prefix("io_lib", atom_to_list(Module));
                       undefined -> true
                   end
        end end),
    (plan(Args, #{findings => [dying], culprit => Owner}))#{asked => [self()]}.

writes(true, _) -> ok;
writes(false, Request) -> receive {written, Request} -> ok end.

queued(Pid) -> {message_queue_len, N} = process_info(Pid, message_queue_len), N.

serve(Socket, Healthy) ->
    {ok, Query} = gen_tcp:recv(Socket, 4),
    Healthy andalso gen_tcp:send(Socket, Query),
    serve(Socket, Healthy).

asks(How, I) -> Answer = request(How, kv_broker, {get, I}), hold({done, Answer}).

request(tag, To, Request) -> Tag = make_ref(), To ! {request, {self(), Tag}, Request}, awaits(Tag);
request(monitor, To, Request) -> Tag = monitor(process, To), To ! {request, {self(), Tag}, Request}, awaits_or_down(Tag).
awaits(Tag) -> receive {Tag, Answer} -> Answer end.
awaits_or_down(Tag) -> receive {Tag, Answer} -> demonitor(Tag, [flush]), Answer; {'DOWN', Tag, _, _, Reason} -> exit(Reason) end.

broker(How, Connection) ->
    receive
        {request, {From, Tag}, Request} ->
            Answer = request(How, kv_connection, Request),
            From ! {Tag, Answer},
            broker(How, Connection)
    end.

connection(Port) when is_integer(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    connection(Socket);
connection(Socket) ->
    receive
        {request, {From, Tag}, {get, I}} ->
            Value = query(Socket, I),
            From ! {Tag, Value},
            connection(Socket)
    end.

query(Socket, I) -> ok = gen_tcp:send(Socket, <<I:32>>), {ok, Value} = gen_tcp:recv(Socket, 4), Value.

%% ---- callbacks ----------------------------------------------------------------------------------------------------------------
init(State) -> {ok, State}.
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info({refund, Order}, #{orders := _} = State) -> {noreply, State#{refunds := [Order]}};
handle_info(_, State) -> {noreply, State}.
handle_event(_, State) -> {ok, State}.
