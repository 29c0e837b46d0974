%% A node that works, for tools that look at it while it runs: who uses its CPU time, and who allocates, in known shares.
%%
%% run(Kind, File) starts the work, writes {"os_pid": ..., "truth": ...} to File when it is under way, and works until
%% its standard input ends. What is true is measured by the VM itself or follows from the work: see truth/1.
-module(scenario_sampled).
-export([run/2, run/1, run_program/2, forty/1, sixty/1, cpu_loop/0, alloc_loop/0, alloc_loop/1, cells/1, pairs/1, keyed/2, floats/2, spin/1, sum/1,
         sender/3, sink/0, deep/1]).

run([Kind, File]) -> run(list_to_atom(Kind), File).

run(Kind, File) ->
    Truth = truth(Kind),
    start(Kind),
    tell(File, Truth).

tell(File, Truth) ->
    ok = file:write_file(File ++ ".new", io_lib:format("{\"os_pid\": ~s, \"truth\": {~s}}~n", [os:getpid(), members(Truth)])),
    ok = file:rename(File ++ ".new", File),
    wait_for_end(),
    halt(0, [{flush, false}]).

members(Truth) -> lists:join(", ", [["\"", atom_to_list(Name), "\": ", value(Value)] || {Name, Value} <- Truth]).

value({text, Text}) -> ["\"", Text, "\""];
value(Number) -> io_lib:format("~w", [Number]).

%% The same of a module of somebody else's, whose loop/0 never returns: what tprof says of it is true.
run_program(Module, File) ->
    {module, Module} = code:ensure_loaded(Module),
    Truth = traced_words(Module, loop),
    spawn_opt(Module, loop, [], [link, {min_heap_size, 1000000}]),
    tell(File, Truth).

wait_for_end() ->
    case io:get_line("") of
        eof -> ok;
        {error, _} -> ok;
        _ -> wait_for_end()
    end.

start(cpu) -> [spawn_link(fun cpu_loop/0) || _ <- [1, 2]];
start(alloc) -> spawn_opt(fun alloc_loop/0, [link, {min_heap_size, 1000000}]);
start(copies) ->
    spawn_link(?MODULE, sender, [spawn_link(fun sink/0), lists:seq(1, 3000), lists:seq(1, 300)]);
start(deep) -> spawn_link(fun() -> deep(5000) end);
start(traced) -> start(alloc);
start(Kind) when Kind =:= idle; Kind =:= counted; Kind =:= profiled -> ok.

%% Nanoseconds of one call when nothing comes between (the same loop does not take the same time at every address; calls of both by turns, as a
%% machine is not equally fast all the time), and words of heap of one turn.
truth(cpu) ->
    {Forty, Sixty} = lists:unzip([{ns(fun() -> forty(40000) end), ns(fun() -> sixty(60000) end)} || _ <- lists:seq(1, 300)]),
    [{forty, lists:min(Forty)}, {sixty, lists:min(Sixty)}];
truth(alloc) -> [{Name, words(Call)} || {Name, Call} <- calls()];
truth(traced) -> traced_words(?MODULE, alloc_loop);
truth(counted) -> counted();
truth(profiled) -> profiled();
truth(_) -> [].

ns(Call) ->
    Before = erlang:monotonic_time(nanosecond),
    _ = Call(),
    erlang:monotonic_time(nanosecond) - Before.

%% The same loop in two functions, 40 and 60 turns of a hundred.
cpu_loop() ->
    _ = forty(40000),
    _ = sixty(60000),
    cpu_loop().

forty(0) -> 0;
forty(N) -> (forty_step(N)) band 7 + forty_tail(N - 1).
forty_step(N) -> N bxor 5.
forty_tail(N) -> forty_rest(N, 0).
forty_rest(0, Sum) -> Sum;
forty_rest(N, Sum) -> forty_rest(N - 1, (Sum + N) band 16#ffff).

sixty(0) -> 0;
sixty(N) -> (sixty_step(N)) band 7 + sixty_tail(N - 1).
sixty_step(N) -> N bxor 5.
sixty_tail(N) -> sixty_rest(N, 0).
sixty_rest(0, Sum) -> Sum;
sixty_rest(N, Sum) -> sixty_rest(N - 1, (Sum + N) band 16#ffff).

%% Functions that allocate, among others that only compute.
calls() ->
    [{cells, fun() -> cells(200) end}, {pairs, fun() -> pairs(60) end}, {keyed, fun() -> keyed(40, map()) end},
     {floats, fun() -> floats(30, 1.0) end}, {spin, fun() -> spin(2000) end}, {sum, fun() -> sum(1000) end}].

alloc_loop() ->
    alloc_loop(map()).
alloc_loop(Map) ->
    _ = cells(200),
    _ = spin(2000),
    _ = pairs(60),
    _ = keyed(40, Map),
    _ = sum(1000),
    _ = floats(30, 1.0),
    alloc_loop(Map).

map() -> #{one => 1, two => 2, three => 3, four => 4, five => 5, six => 6, seven => 7, eight => 8}.

cells(0) -> [];
cells(N) -> [N | cells(N - 1)].

pairs(0) -> [];
pairs(N) -> [{N, N, N} | pairs(N - 1)].

%% Tail-recursive, without a stack frame of its own: what updates the map is called from here alone.
keyed(0, Map) -> Map;
keyed(N, Map) -> keyed(N - 1, Map#{four => N}).

floats(0, Sum) -> Sum;
floats(N, Sum) -> floats(N - 1, box(Sum, N)).
box(Sum, N) -> Sum * 1.0001 + float(N).

spin(0) -> 0;
spin(N) -> spin((N - 1) bor 0).

sum(N) -> sum(N, 0).
sum(0, Sum) -> Sum;
sum(N, Sum) -> sum(N - 1, (Sum + N) band 16#ffff).

%% Words that a call leaves behind, by what the collector takes back after many of them.
words(Call) ->
    Self = self(),
    spawn_opt(fun() -> Self ! {words, (garbage(Call, 4000) - garbage(fun() -> ok end, 4000)) div 4000} end, [{min_heap_size, 100000}]),
    receive {words, Words} -> Words end.

garbage(Call, Times) ->
    true = erlang:garbage_collect(),
    {_, Before, _} = erlang:statistics(garbage_collection),
    repeat(Call, Times),
    true = erlang:garbage_collect(),
    {_, After, _} = erlang:statistics(garbage_collection),
    After - Before.

repeat(_, 0) -> ok;
repeat(Call, N) ->
    _ = Call(),
    repeat(Call, N - 1).

%% What tprof's call_memory says of a loop (OTP 27 and later): words by function, of a process that is traced for a while.
traced_words(Module, Loop) ->
    {ok, _} = tprof:start(#{type => call_memory}),
    _ = tprof:set_pattern(Module, '_', '_'),
    Pid = spawn_opt(Module, Loop, [], [{min_heap_size, 1000000}]),
    _ = tprof:enable_trace(Pid),
    timer:sleep(1000),
    _ = tprof:disable_trace(Pid),
    {call_memory, Functions} = tprof:collect(),
    exit(Pid, kill),
    ok = tprof:stop(),
    Names = lists:usort([Name || {_, Name, _, _} <- Functions]),
    [{Name, lists:sum([Words || {_, N, _, Each} <- Functions, N =:= Name, {_, _, Words} <- Each])} || Name <- Names].

%% Two processes that have done their work, under counters that go on counting.
workers(Trace) ->
    Self = self(),
    Pids = [spawn(fun() ->
        receive go -> ok end,
        [cells(W * I) || I <- lists:seq(1, 50)],
        [sum(W) || _ <- lists:seq(1, 100)],
        Self ! done,
        receive stop -> ok end
    end) || W <- [10, 30]],
    Trace(Pids),
    [Pid ! go || Pid <- Pids],
    [receive done -> ok end || _ <- Pids],
    [wait_until_it_waits(Pid) || Pid <- Pids].

wait_until_it_waits(Pid) ->
    case process_info(Pid, status) of
        {status, waiting} -> ok;
        _ -> erlang:yield(), wait_until_it_waits(Pid)
    end.

%% By the emulator's own functions: any release.
counted() ->
    Functions = [{?MODULE, cells, 1}, {?MODULE, sum, 2}],
    Set = fun(What) -> [erlang:trace_pattern(MFA, true, [local | What]) || MFA <- Functions] end,
    What = [call_count, call_time | try Set([call_memory]), [call_memory] catch error:badarg -> [] end],
    Set(What),
    workers(fun(Pids) -> [erlang:trace(Pid, true, [call]) || Pid <- Pids] end),
    [{list_to_atom(lists:concat([Name, "/", Arity, " ", One])), {text, io_lib:format("~w", [erlang:trace_info(MFA, One)])}}
     || {_, Name, Arity} = MFA <- Functions, One <- What].

%% By tprof, whose session has a name and counts on (OTP 27 and later).
profiled() ->
    {ok, _} = tprof:start(#{type => call_memory}),
    _ = tprof:set_pattern(?MODULE, cells, 1),
    _ = tprof:set_pattern(?MODULE, sum, 2),
    workers(fun(Pids) -> [_ = tprof:enable_trace(Pid) || Pid <- Pids] end),
    {call_memory, Functions} = tprof:collect(),
    [{list_to_atom(lists:concat([Name, "/", Arity, " call_memory"])), {text, io_lib:format("~w", [{call_memory, Each}])}} || {_, Name, Arity, Each} <- Functions].

%% One process sends both by turns: of two, the scheduler may let one go round many times as often as the other.
sender(Sink, Long, Short) ->
    big(Sink, Long),
    small(Sink, Short),
    sender(Sink, Long, Short).
big(Sink, List) ->
    Sink ! {self(), List},
    receive go -> ok end.
small(Sink, List) ->
    Sink ! {self(), List},
    receive go -> ok end.
sink() ->
    receive {From, _} -> From ! go end,
    sink().

%% A stack of many frames, at whose end all time is spent.
deep(0) -> sum(1000), deep_again();
deep(N) -> 1 + deep(N - 1).
deep_again() ->
    _ = sum(100000),
    receive stop -> 0 after 0 -> deep_again() end.  % one that can return: a call of what never does is made a jump
