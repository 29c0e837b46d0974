%% Nodes that grew: queues, heaps, garbage, binaries, tables. Each has one disease and knows its numbers.
-module(scenario_growth).
-export([scenarios/0, meaning/1, queue_flood/1, big_heap/1, binary_pinning/1, idle_garbage/1, ets_growth/1, slow_socket/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3, writer_loop/1]).

-import(scenario_kit, [specimen/2, hold/1, wait_until/2, many/2]).

scenarios() -> [meaning, queue_flood, big_heap, binary_pinning, idle_garbage, ets_growth, slow_socket].

%% Servers with large states of known shapes.
meaning(Args) -> scenario_meaning:meaning(Args).

%% A writer that is slower than those who send to it: N messages of one shape, a few of others.
queue_flood(Args) ->
    N = scenario_kit:number(1, Args, 12000),
    Writer = spawn(fun() -> register(audit_writer, self()), writer_loop(#{file => "audit.log"}) end),
    wait_until(registered, fun() -> whereis(audit_writer) =:= Writer end),
    Writer ! start,
    Senders = many(5, fun(S) ->
                          specimen(list_to_atom("session_" ++ integer_to_list(S)),
                                   fun(Ready) ->
                                       [Writer ! {audit, self(), I, #{user => I, action => <<"login">>}} || I <- lists:seq(S, N, 5)],
                                       Ready(), hold(sent)
                                   end)
                      end),
    many(3, fun(I) -> Writer ! {rotate, I} end),
    #{slogan => "asked for by an operator",
      roles => scenario_kit:roles([{Writer, writer} | [{S, sender} || S <- Senders]]),
      facts => #{findings => ['queue-flood'], culprit => Writer, name => audit_writer, messages => N + 3,
                 shapes => [#{shape => <<"{audit,_,_,_}">>, count => N}, #{shape => <<"{rotate,_}">>, count => 3}],
                 senders => Senders, sits_in => {timer, sleep, 1}}}.

writer_loop(State) ->
    receive
        start -> timer:sleep(infinity), ?MODULE:writer_loop(State);
        {audit, _, _, _} -> ?MODULE:writer_loop(State)
    end.

%% A gen_server whose state has one field that grows: 'pending', a list.
big_heap(Args) ->
    N = scenario_kit:number(1, Args, 100000),
    {ok, Server} = gen_server:start({local, order_book}, ?MODULE, book, []),
    ok = gen_server:call(Server, {add, N}, infinity),
    [{total_heap_size, Heap}] = process_info(Server, [total_heap_size]),
    Pending = gen_server:call(Server, pending_words, infinity),
    #{slogan => "asked for by an operator",
      facts => #{findings => ['big-heap'], culprit => Server, name => order_book, total_heap_words => Heap,
                 field => pending, elements => N, field_words => Pending}}.

%% Slices of 100 bytes that keep 64 KB each (those of up to 64 bytes are copied); some were made by the holder itself, some came by message.
binary_pinning(Args) ->
    N = scenario_kit:number(1, Args, 200),
    Size = 65536,
    Cut = fun(I) -> binary:part(binary:copy(<<I:32>>, Size div 4), 1000, 100) end,
    Cache = specimen(session_cache, fun(Ready) ->
                                        Keys = [{I, Cut(I)} || I <- lists:seq(1, N)],
                                        erlang:garbage_collect(), Ready(), hold(session_cache), Keys
                                    end),
    Received = specimen(session_index, fun(Ready) -> Ready(), {all, Keys} = receive M -> M end, hold(session_index), Keys end),
    Received ! {all, [{I, Cut(1000 + I)} || I <- lists:seq(1, N)]},
    #{slogan => "asked for by an operator",
      facts => #{findings => ['binary-pinning'], culprits => [Cache, Received], slices => N, slice_bytes => 100, parent_bytes => Size,
                 pinned_bytes_each => N * Size, seen_bytes_each => N * 100}}.

%% Connections that did much once and have been idle since: old heaps full of garbage.
idle_garbage(Args) ->
    N = scenario_kit:number(1, Args, 12),
    Connections = many(N, fun(I) ->
                              proc_lib:start(erlang, apply, [fun() -> connection(I) end, []])
                          end),
    #{slogan => "asked for by an operator", roles => scenario_kit:roles([{P, connection} || P <- Connections]),
      facts => #{findings => ['idle-garbage'], culprits => Connections, kept_words => 2 * 50,
                 total_heap_words => [element(2, process_info(P, total_heap_size)) || P <- Connections]}}.

connection(I) ->
    Handshake = [{N, integer_to_list(N + I), {certificate, N}} || N <- lists:seq(1, 5000)],
    many(2, fun(_) -> erlang:garbage_collect(self(), [{type, minor}]) end),
    Used = length(Handshake),
    proc_lib:init_ack(self()),
    idle(lists:seq(1, 50), Used).

idle(Session, Used) -> hold({idle, Used}), Session.

spans(_, 0) -> ok;
spans(T, I) -> ets:insert(T, {I, span, I * 7, <<"attributes">>}), spans(T, I - 1).

%% One table that nobody empties, and many tables of one owner.
ets_growth(Args) ->
    N = scenario_kit:number(1, Args, 60000),
    Owner = specimen(span_exporter, fun(Ready) ->
                                        T = ets:new(span_table, [named_table, duplicate_bag, public]),
                                        spans(T, N),
                                        Ready(), hold(span_exporter), T
                                    end),
    Many = specimen(session_owner, fun(Ready) ->
                                       Tables = many(200, fun(I) -> T = ets:new(session_table, [set]), ets:insert(T, {session, I}), T end),
                                       Ready(), hold(session_owner), Tables
                                   end),
    #{slogan => "asked for by an operator",
      facts => #{findings => ['ets-growth'], table => span_table, owner => Owner, objects => N, words => ets:info(span_table, memory),
                 many_tables_owner => Many, many_tables => 200}}.

%% A peer that does not read: the sender is suspended on a full socket.
slow_socket(_) ->
    {ok, Listen} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {active, false}, {recbuf, 4096}]),
    {ok, PortNumber} = inet:port(Listen),
    Reader = specimen(slow_reader, fun(Ready) ->
                                       {ok, S} = gen_tcp:connect({127, 0, 0, 1}, PortNumber, [binary, {active, false}, {recbuf, 4096}]),
                                       Ready(), hold(slow_reader), S
                                   end),
    {ok, Socket} = gen_tcp:accept(Listen),
    ok = inet:setopts(Socket, [{sndbuf, 4096}, {high_watermark, 65536}, {low_watermark, 32768}]),
    Senders = many(3, fun(I) -> spawn(fun() -> send_all(Socket, I) end) end),
    wait_until(blocked, fun() -> lists:all(fun(P) -> process_info(P, status) =:= {status, suspended} orelse in_send(P) end, Senders) end),
    #{slogan => "asked for by an operator", roles => scenario_kit:roles([{P, sender} || P <- Senders]),
      facts => #{findings => ['slow-socket'], port => Socket, senders => Senders, reader => Reader}}.

send_all(Socket, I) -> ok = gen_tcp:send(Socket, binary:copy(<<I>>, 20000)), send_all(Socket, I).

in_send(P) ->
    {current_function, {M, _, _}} = process_info(P, current_function),
    {status, Status} = process_info(P, status),
    Status =:= waiting andalso M =:= prim_inet.

%% ---- the server of big_heap ------------------------------------------------------------------------------------------
init(book) -> {ok, #{name => order_book, opened => {2026, 1, 1}, pending => [], done => 0}}.
handle_call({add, N}, _From, State) ->
    {reply, ok, State#{pending => [{order, I, <<"buy">>, I * 3} || I <- lists:seq(1, N)]}};
handle_call(pending_words, _From, #{pending := Pending} = State) -> {reply, erts_debug:flat_size(Pending), State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(_, State) -> {noreply, State}.
terminate(_, _) -> ok.
code_change(_, State, _) -> {ok, State}.
