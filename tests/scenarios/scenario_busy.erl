%% What a node was doing when it died, or was looked at: recursion without end, a loop, a run queue, a stop.
-module(scenario_busy).
-behaviour(application).
-export([scenarios/0, recursion/1, deep_stack/1, busy_loop/1, at_work/1, run_queue/1, dirty_io/1, stopping/1, stopping_port/1, refused_binary/1,
         refused_append/1, refused_copy/1, refused_report/1, refused_deep/1]).
-export([start/2, stop/1, init/1, slow_child/0, spin/1, sum/1]).

-import(scenario_kit, [specimen/2, hold/1, wait_until/2, many/2]).

scenarios() -> [recursion, deep_stack, busy_loop, at_work, run_queue, dirty_io, stopping, stopping_port, refused_binary, refused_append, refused_copy,
                refused_report, refused_deep].

%% A body-recursive function that has passed its end: its stack takes all memory that the node may use (make).
recursion(_) ->
    Hog = specimen(totaller, fun(Ready) -> Ready(), receive go -> sum(-1) end end),
    #{slogan => "eheap_alloc: Cannot allocate",
      facts => #{findings => ['runaway-recursion'], culprit => Hog, function => {?MODULE, sum, 1}},
      volatile => [Hog],
      death => fun() -> Hog ! go end}.

sum(0) -> 0;
sum(N) -> N + sum(N - 1).

%% The same, which came to rest: 700,000 calls deep.
deep_stack(Args) ->
    N = scenario_kit:number(1, Args, 700000),
    Self = self(),
    Hog = specimen(totaller, fun(Ready) -> Ready(), depth(N, Self) end),
    receive deep -> ok end,
    {stack_size, Words} = process_info(Hog, stack_size),
    #{slogan => "asked for by an operator",
      facts => #{findings => ['runaway-recursion'], culprit => Hog, function => {?MODULE, depth, 2}, calls => N + 1, stack_words => Words}}.

depth(0, Maker) -> Maker ! deep, hold(the_bottom), 0;
depth(N, Maker) -> N + depth(N - 1, Maker).

%% One process that never waits.
busy_loop(_) ->
    Loop = specimen(spinner, fun(Ready) -> Ready(), ?MODULE:spin(0) end),
    wait_until(worked, fun() -> element(2, process_info(Loop, reductions)) > 200000000 end),
    #{slogan => "asked for by an operator", volatile => [Loop],
      facts => #{findings => ['busy-loop'], culprit => Loop, function => {?MODULE, spin, 1}}}.

spin(N) -> spin(N + 1).

%% Its healthy twin: as much work, by many, who wait in between.
at_work(_) ->
    Workers = many(20, fun(_) -> spawn(fun() -> portion() end) end),
    timer:sleep(1500),
    #{slogan => "asked for by an operator", volatile => Workers, facts => #{findings => []}}.

portion() -> lists:seq(1, 20000), timer:sleep(20), portion().

%% More who are ready to run than the schedulers can serve.
run_queue(Args) ->
    N = scenario_kit:number(1, Args, 1200),
    Loops = many(N, fun(_) -> spawn_opt(fun() -> receive go -> ?MODULE:spin(0) end end, [{priority, low}]) end),
    #{slogan => "asked for by an operator", volatile => Loops, asked => [self()],
      facts => #{findings => ['run-queue'], loops => N, function => {?MODULE, spin, 1}},
      last => fun() ->
                  [P ! go || P <- Loops],
                  timer:sleep(2000)
              end}.

%% More who read a file that does not answer (a pipe of make's that nobody writes to) than there are schedulers for that. Nobody can write
%% to a file from then on, so that this is the last thing.
dirty_io(Args) ->
    N = scenario_kit:number(1, Args, 20),
    Pipe = filename:join(filename:dirname(scenario_kit:option(truth, "./truth")), "dirty_io.pipe"),
    {ok, _} = file:read_file_info(Pipe),
    Readers = many(N, fun(_) -> spawn(fun() -> receive go -> prim_file:open(Pipe, [read]) end end) end),
    Schedulers = erlang:system_info(dirty_io_schedulers),
    #{slogan => "asked for by an operator", volatile => Readers, asked => [self()],
      facts => #{findings => ['dirty-schedulers'], schedulers => Schedulers, waiting => N - Schedulers},
      last => fun() ->
                  [P ! go || P <- Readers],
                  %% (process_info of one in that queue does not return)
                  wait_until(all_are_there, fun() -> lists:last(statistics(run_queue_lengths_all)) =:= N - Schedulers end)
              end}.

%% init:stop/0 has begun, and a child takes its time: its supervisor would wait for ever.
stopping(_) ->
    {Child, _} = start_slow(),
    #{slogan => "asked for by an operator", volatile => [Child],
      facts => #{findings => ['stop-under-way'], child => Child, supervisor => whereis(slow_top)},
      last => fun begin_stop/0}.

%% The same, and what ends the node is that the program which starts port programs is gone.
stopping_port(_) ->
    {Child, _} = start_slow(),
    #{slogan => "erl_child_setup closed", volatile => [Child],
      facts => #{findings => ['stop-under-way'], child => Child, supervisor => whereis(slow_top)},
      death => fun() ->
                   begin_stop(),
                   os:cmd("kill -KILL $PPID"), timer:sleep(infinity)
               end}.

start_slow() ->
    ok = application:load({application, slow_app, [{vsn, "1.0"}, {modules, [?MODULE]}, {registered, [slow_top]},
                                                   {applications, [kernel, stdlib]}, {mod, {?MODULE, []}}]}),
    ok = application:start(slow_app, permanent),
    [{slow, Child, worker, _}] = supervisor:which_children(slow_top),
    {Child, slow_top}.

begin_stop() ->
    init:stop(),
    wait_until(stops, fun() -> whereis(slow_top) =/= undefined andalso
                               in_shutdown(process_info(whereis(slow_top), current_function))
                      end).

in_shutdown({current_function, {supervisor, shutdown, _}}) -> true;
in_shutdown(_) -> false.

start(_Type, _Args) -> supervisor:start_link({local, slow_top}, ?MODULE, []).
stop(_) -> ok.
init([]) -> {ok, {#{strategy => one_for_one}, [#{id => slow, shutdown => infinity, start => {?MODULE, slow_child, []}}]}}.
slow_child() ->
    {ok, proc_lib:spawn_link(fun() -> process_flag(trap_exit, true), hold(open_files) end)}.

%% A binary that is larger than what is left (make limits the node's memory).
refused_binary(_) ->
    Maker = specimen(report_writer, fun(Ready) -> Ready(), receive go -> grow(<<0:8000000>>) end end),
    #{slogan => "binary_alloc: Cannot",
      facts => #{findings => ['refused-memory'], culprit => Maker, name => report_writer},
      volatile => [Maker],
      death => fun() -> Maker ! go end}.

grow(Binary) -> grow(<<Binary/binary, Binary/binary>>).

%% A buffer to which parts are appended without a bound: it is made larger each time that it is full.
refused_append(_) ->
    Maker = specimen(frame_buffer, fun(Ready) -> Ready(), receive go -> append(<<>>, <<7:800000>>) end end),
    #{slogan => "binary_alloc: Cannot reallocate",
      facts => #{findings => ['refused-memory'], culprit => Maker, name => frame_buffer},
      volatile => [Maker],
      death => fun() -> Maker ! go end}.

append(Buffer, Part) -> append(<<Buffer/binary, Part/binary>>, Part).

%% A monitor asks a process that has taken none of its messages for all of them, which is one copy in one piece.
refused_copy(_) ->
    Dispatcher = specimen(push_dispatcher, fun(Ready) -> Ready(), hold(await_gateway) end),
    Watch = specimen(system_watch, fun(Ready) -> Ready(), receive {look_at, Pid} -> look_at(Pid) end end),
    #{slogan => "eheap_alloc: Cannot allocate",
      facts => #{findings => ['big-heap'], culprit => Dispatcher, asks => Watch, messages => 60000},
      volatile => [Dispatcher, Watch],
      death => fun() -> [Dispatcher ! {push, N, lists:seq(1, 25)} || N <- lists:seq(1, 60000)], Watch ! {look_at, Dispatcher} end}.

look_at(Pid) -> {messages, Messages} = process_info(Pid, messages), {Pid, length(Messages)}.

%% A process crashes with a long queue, and formats its crash report with all of it.
refused_report(_) ->
    Writer = specimen(log_writer, fun(Ready) -> Ready(), receive go -> proc_lib:init_p(self(), [], fun write_all/0) end end),
    #{slogan => "eheap_alloc: Cannot allocate",
      facts => #{findings => ['dying'], culprit => Writer, messages => 60000},
      volatile => [Writer],
      death => fun() -> [Writer ! {append, N, [{term, 7}, {index, N}]} || N <- lists:seq(1, 60000)], Writer ! go end}.

write_all() -> ok = disk(), ok.
disk() -> binary_to_term(term_to_binary({error, enospc})).

%% Rows that name their parents are followed up without a look at where it has been: two are each other's.
refused_deep(_) ->
    ets:new(categories, [named_table, public]),
    ets:insert(categories, [{1, 2, "ab"}, {2, 1, "cd"}]),
    Server = specimen(breadcrumbs, fun(Ready) -> Ready(), receive go -> hold(ancestors(1)) end end),
    #{slogan => "eheap_alloc: Cannot allocate",
      facts => #{findings => ['big-heap', 'runaway-recursion'], culprit => Server},
      volatile => [Server],
      death => fun() -> Server ! go end}.

ancestors(0) -> [];
ancestors(Id) ->
    [{_, Parent, Name}] = ets:lookup(categories, Id),
    [Name | ancestors(Parent)].
