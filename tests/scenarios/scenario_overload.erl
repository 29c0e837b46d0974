%% Overload, and memory that no heap holds: loggers that can't keep up, alarms, monitors, links, timers, queues of binaries,
%% buffers of sockets.
-module(scenario_overload).
-export([scenarios/0, persistent_terms/1, log_overload/1, log_flushed/1, alarms/1, monitors/1, links/1, timers/1, queue_binaries/1, socket_buffers/1, late_answers/1, trace_flood/1, copies/1, well_kept/1]).
-export([traced/1, report/1]).

-import(scenario_kit, [specimen/2, hold/1, wait_until/2, many/2]).

scenarios() -> [log_overload, log_flushed, alarms, monitors, links, timers, queue_binaries, socket_buffers, persistent_terms, late_answers, trace_flood, copies, well_kept].

%% A handler whose device takes nothing, and many who log. It comes to its first event with more in its queue than the limit
%% from which callers wait; then it stands still in a write, and all of them wait, which is more than the limit from which it
%% drops; or it has seen that, and drops.
log_overload(Args) ->
    N = scenario_kit:number(1, Args, 150),
    {Handler, Device} = slow_handler(100000),
    true = erlang:suspend_process(Handler),
    many(50, fun(_) -> logger:warning("a first request") end),
    wait_until(queue, fun() -> {message_queue_len, L} = process_info(Handler, message_queue_len), L >= 50 end),
    true = erlang:resume_process(Handler),
    Loggers = many(N, fun(_) -> spawn(fun() -> request() end) end),
    wait_until(drops, fun() -> {message_queue_len, L} = process_info(Handler, message_queue_len), L > 100 end),
    #{slogan => "asked for by an operator", volatile => [Handler, Device | Loggers],
      facts => #{findings => ['log-overload'], culprit => Handler, name => logger_std_h_audit_log, limit => 100}}.

%% It waits for what its device does not take, with nothing in its queue, so that nobody who logs waits for it; and so it can't see
%% that there is more in its queue than the limit from which it throws all of that away.
log_flushed(Args) ->
    N = scenario_kit:number(1, Args, 2000),
    {Handler, Device} = slow_handler(500),
    logger:warning("a first request"),
    wait_until(written, fun() -> process_info(Device, message_queue_len) =:= {message_queue_len, 1} end),
    spawn(fun() -> logger_std_h:filesync(audit_log) end),
    wait_until(waits, fun() -> process_info(Handler, current_function) =/= {current_function, {gen_server, loop, 7}} end),
    many(N, fun(I) -> logger:warning("a request took ~p ms", [I]) end),
    {message_queue_len, Queued} = process_info(Handler, message_queue_len),
    true = Queued >= N,
    #{slogan => "asked for by an operator",
      facts => #{findings => ['log-overload'], culprit => Handler, name => logger_std_h_audit_log, limit => 500, messages => Queued}}.

%% A handler that writes to what takes nothing, and that.
slow_handler(Flush) ->
    Device = specimen(slow_device, fun(Ready) -> Ready(), hold(slow_device) end),
    ok = logger:set_handler_config(default, level, none),
    ok = logger:add_handler(audit_log, logger_std_h,
                            #{level => warning,
                              config => #{type => {device, Device}, sync_mode_qlen => 10, drop_mode_qlen => 100, flush_qlen => Flush}}),
    {whereis(logger_std_h_audit_log), Device}.

request() ->
    logger:warning("a request took ~p ms", [erlang:unique_integer([positive])]),
    request().

%% What os_mon and others set in the alarm handler of sasl.
alarms(_) ->
    {ok, _} = application:ensure_all_started(sasl),
    alarm_handler:set_alarm({{disk_almost_full, "/var/lib/db"}, []}),
    alarm_handler:set_alarm({system_memory_high_watermark, []}),
    #{slogan => "asked for by an operator",
      facts => #{findings => ['alarm'], handler => whereis(alarm_handler), alarms => 2}}.

%% One that monitors the same server for each request, and never lets go.
monitors(Args) ->
    N = scenario_kit:number(1, Args, 300000),
    [persistent_term:put({price, I}, lists:duplicate(100, I)) || I <- lists:seq(1, 500)],
    Server = specimen(price_server, fun(Ready) -> Ready(), hold(price_server) end),
    Watcher = specimen(price_cache, fun(Ready) -> many(N, fun(_) -> monitor(process, Server) end), Ready(), hold(price_cache) end),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => [multitude], culprit => Watcher, target => Server, monitors => N}}.

%% One process that is linked to very many.
links(Args) ->
    N = scenario_kit:number(1, Args, 60000),
    Owner = specimen(session_owner, fun(Ready) -> many(N, fun(_) -> spawn_link(fun() -> hold(session) end) end), Ready(), hold(session_owner) end),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => [multitude], culprit => Owner, links => N}}.

%% A timer for each request that nobody cancels.
timers(Args) ->
    N = scenario_kit:number(1, Args, 200000),
    Owner = specimen(request_tracker, fun(Ready) ->
                                          many(N, fun(I) -> erlang:send_after(3600000, self(), {timeout, I}) end),
                                          Ready(), hold(request_tracker)
                                      end),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => [multitude], culprit => Owner, timers => N}}.

%% A queue whose messages are small and keep large binaries.
queue_binaries(Args) ->
    N = scenario_kit:number(1, Args, 1200),
    Size = 65536,
    Writer = specimen(frame_writer, fun(Ready) -> Ready(), hold(frame_writer) end),
    _ = specimen(camera, fun(Ready) -> [Writer ! {frame, I, binary:copy(<<I:32>>, Size div 4)} || I <- lists:seq(1, N)], Ready(), hold(camera) end),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => ['queue-flood'], culprit => Writer, messages => N, binary_bytes => N * Size}}.

%% Connections with large buffers, on which something has arrived: each has a binary of that size, in no heap.
socket_buffers(Args) ->
    N = scenario_kit:number(1, Args, 40),
    Size = 4000000,
    {ok, Listen} = gen_tcp:listen(0, [binary, {packet, 4}, {ip, {127, 0, 0, 1}}, {active, true}, {buffer, Size}]),
    {ok, PortNumber} = inet:port(Listen),
    Pairs = many(N, fun(_) ->
                        {ok, Near} = gen_tcp:connect({127, 0, 0, 1}, PortNumber, [binary, {active, false}]),
                        {ok, Far} = gen_tcp:accept(Listen),
                        ok = gen_tcp:send(Near, <<3000000:32, 0:8000>>),     % the beginning of a packet
                        {Near, Far}
                    end),
    timer:sleep(1000),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => ['socket-buffers'], connections => length(Pairs), buffer => Size}}.

%% What comes and goes kept where it stays for ever: persistent terms, each with a list of two words an element.
persistent_terms(Args) ->
    N = scenario_kit:number(1, Args, 8000),
    Length = 1200,
    [persistent_term:put({session, I}, lists:duplicate(Length, I)) || I <- lists:seq(1, N)],
    #{count := Count, memory := Bytes} = persistent_term:info(),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => [literals], terms => Count, bytes => Bytes}}.

%% Answers to calls that had run out of time, which nobody takes.
late_answers(Args) ->
    N = scenario_kit:number(1, Args, 20000),
    Client = specimen(price_client, fun(Ready) -> Ready(), hold(price_client) end),
    _ = specimen(price_server, fun(Ready) -> [gen_server:reply({Client, make_ref()}, {price, I}) || I <- lists:seq(1, N)], Ready(), hold(price_server) end),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => ['queue-flood'], culprit => Client, messages => N}}.

%% Somebody traces, and is slower than what is traced.
trace_flood(Args) ->
    N = scenario_kit:number(1, Args, 20000),
    Tracer = specimen(call_tracer, fun(Ready) -> Ready(), hold(call_tracer) end),
    Traced = specimen('', fun(Ready) -> Ready(), receive go -> ok end, [?MODULE:traced(I) || I <- lists:seq(1, N)], hold(traced) end),
    erlang:trace_pattern({?MODULE, traced, 1}, true, [local]),
    erlang:trace(Traced, true, [call, {tracer, Tracer}]),
    Traced ! go,
    scenario_kit:wait_until(traced, fun() -> process_info(Tracer, message_queue_len) =:= {message_queue_len, N} end),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => ['queue-flood'], culprit => Tracer, messages => N}}.

traced(I) -> I.

%% Many of one kind that each hold a copy of the same large table: none of them stands out.
copies(Args) ->
    N = scenario_kit:number(1, Args, 30),
    Table = ets:new(prices, [public]),
    [ets:insert(Table, {I, [I, I, I, I]}) || I <- lists:seq(1, 30000)],
    Reports = many(N, fun(_) -> proc_lib:spawn(?MODULE, report, [Table]) end),
    scenario_kit:wait_until(reports, fun() -> lists:all(fun(P) -> process_info(P, current_function) =:= {current_function, {scenario_kit, hold, 1}} end, Reports) end, 24000),
    [true = erlang:garbage_collect(P) || P <- Reports],
    Bytes = lists:sum([element(2, process_info(P, memory)) || P <- Reports]),
    #{slogan => "asked for by an operator", asked => [self()],
      facts => #{findings => ['big-heap'], reports => N, bytes => Bytes}}.

report(Table) -> Copy = ets:tab2list(Table), hold(Copy), length(Copy).

%% Their healthy twin: a few of each.
well_kept(_) ->
    {ok, _} = application:ensure_all_started(sasl),
    ok = logger:add_handler(audit_log, logger_std_h, #{config => #{type => standard_error}}),
    Server = specimen(price_server, fun(Ready) -> Ready(), hold(price_server) end),
    _ = specimen(price_cache, fun(Ready) ->
                                  many(2000, fun(_) -> monitor(process, Server) end),
                                  many(500, fun(I) -> erlang:send_after(3600000, self(), {timeout, I}) end),
                                  many(200, fun(_) -> spawn_link(fun() -> hold(session) end) end),
                                  Ready(), hold(price_cache)
                              end),
    #{slogan => "asked for by an operator", asked => [self()], facts => #{findings => []}}.
