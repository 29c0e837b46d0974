%% SPDX-License-Identifier: Apache-2.0
%% Nodes that grow by known rates, each in one way, and nodes that only look so: "main([Kind, File])" writes the pid of the VM to File
%% when it has begun. Rates are kept by the clock: what is late is made up for, so that a busy machine changes none of them.
-module(watch_truth).
-export([main/1, worker/0, keeper/1, init/1, handle_info/2, handle_call/3, handle_cast/2]).

main([Kind, File]) ->
    Go = start(Kind),
    Kind =:= "fragments" andalso spawn(fun() -> unused_of("binary_alloc", File ++ ".truth") end),
    ok = file:write_file(File ++ ".part", os:getpid()),
    ok = file:rename(File ++ ".part", File),
    Go().

%% ---- what grows

start("processes") ->  % 20 a second
    fun() -> at_rate(20, fun(_) -> spawn(?MODULE, worker, []) end) end;
start("queue") ->  % 500 messages a second come, 300 are taken
    register(orders, spawn(fun() -> at_rate(300, fun(_) -> receive _ -> ok after 0 -> ok end end) end)),
    fun() -> at_rate(500, fun(N) -> orders ! {order, N} end) end;
start("ets") ->  % 2,000 rows a second
    ets:new(sessions, [named_table, public]),
    fun() -> at_rate(2000, fun(N) -> ets:insert(sessions, {N, session, 1.5}) end) end;
start("unhurried") ->  % some 20 a second, and what is late stays late
    fun() -> unhurried() end;
start("binaries") ->  % 2 MB a second, kept by slices of a hundred bytes
    Pid = spawn(?MODULE, keeper, [[]]),
    register(slices, Pid),
    fun() -> at_rate(200, fun(_) -> Pid ! {keep, 10000} end) end;
start("atoms") ->  % 100 a second
    fun() -> at_rate(100, fun(N) -> list_to_atom("session_" ++ integer_to_list(N)) end) end;
start("state") ->  % 2,000 tuples a second in a list of a server's State, 48 bytes each; it rests in between
    {ok, Pid} = gen_server:start({local, orders_cache}, ?MODULE, [], []),
    fun() -> every(500, fun(N) -> Pid ! {pending, N} end) end;
start("map") ->  % 500 keys a second in a map
    {ok, Pid} = gen_server:start({local, orders_cache}, ?MODULE, #{}, []),
    fun() -> every(2000, fun(N) -> Pid ! {pending, N} end) end;
start("timers") ->  % 50 a second that fire in a day
    register(ticker, spawn(?MODULE, worker, [])),
    fun() -> at_rate(50, fun(_) -> erlang:send_after(86400000, ticker, tick) end) end;
start("fragments") ->  % what one scheduler after the other allocates is freed but for one binary in sixteen, which holds the carriers
    fun() -> every(500, fun(N) -> on_scheduler(N, fun() -> some_of(small_binaries(500)) end) end) end;
start("ports") ->  % 5 a second
    fun() -> at_rate(5, fun(_) -> {ok, _} = gen_udp:open(0) end) end;

%% ---- what does not

start("steady") -> [spawn(?MODULE, worker, []) || _ <- lists:seq(1, 500)], fun() -> receive never -> ok end end;
start("many") ->  % each works a little, once a second
    [spawn(fun() -> timer:sleep(rand:uniform(1000)), now_and_then() end) || _ <- lists:seq(1, 20000)],
    fun() -> receive never -> ok end end;
start("collections") ->  % garbage, collected by many processes at different times
    fun() -> [spawn(fun() -> garbage(K, []) end) || K <- lists:seq(1, 5)], receive never -> ok end end;
start("cache") ->  % fills to its bound, and goes on with others in the place of the oldest
    ets:new(cache, [named_table, public]),
    fun() -> at_rate(3000, fun(N) -> ets:insert(cache, {N rem 12000, N}) end) end;
start("bursts") ->  % 300 processes at a time that end, a queue that is worked off
    register(orders, spawn(?MODULE, worker, [])),
    fun() -> burst() end;
start("job") ->  % a table that is filled for two seconds, and deleted
    fun() -> job() end;
start("binary_waves") ->  % binaries that are kept for a while
    Pid = spawn(?MODULE, keeper, [[]]),
    fun() -> at_rate(100, fun(N) -> Pid ! {keep, 40000}, [Pid ! forget || N rem 150 =:= 0] end) end;
start("same_fragments") ->  % some stay until the next ones come
    fun() ->
        every(500, fun(N) ->
            case put(before, on_scheduler(1 + N rem 4, fun() -> some_of(small_binaries(500)) end)) of
                undefined -> ok;
                Before -> exit(Before, kill)
            end
        end)
    end;
start("short_timers") ->
    register(ticker, spawn(fun() -> takes_all() end)),
    fun() -> at_rate(200, fun(_) -> erlang:send_after(1000, ticker, tick) end) end;
start("short_ports") -> fun() -> at_rate(20, fun(_) -> {ok, Port} = gen_udp:open(0), gen_udp:close(Port) end) end;
start("known_atoms") -> fun() -> at_rate(500, fun(N) -> list_to_atom("known_" ++ integer_to_list(N rem 50)) end) end;
start("short_processes") -> fun() -> at_rate(200, fun(_) -> spawn(fun() -> timer:sleep(500) end) end) end;
start("worked_off") ->  % a queue that keeps up
    register(orders, spawn(fun() -> takes_all() end)),
    fun() -> at_rate(500, fun(N) -> orders ! {order, N} end) end;
start("step") ->  % one large term, once
    Pid = spawn(?MODULE, keeper, [[]]),
    fun() -> timer:sleep(6000), Pid ! {keep, 50000000}, [spawn(?MODULE, worker, []) || _ <- lists:seq(1, 1000)], receive never -> ok end end.

%% A process that keeps what is made on that scheduler, whose instances of the allocators have it.
on_scheduler(N, Make) ->
    spawn_opt(fun() ->
        Kept = Make(),
        erlang:garbage_collect(),
        receive never -> Kept end
    end, [{scheduler, N}]).

small_binaries(N) -> [binary:copy(<<1>>, 2000) || _ <- lists:seq(1, N)].
some_of([A, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _ | Rest]) -> [A | some_of(Rest)];
some_of(_) -> [].

worker() -> receive never -> ok end.

unhurried() -> spawn(?MODULE, worker, []), timer:sleep(49), unhurried().

now_and_then() ->
    receive _ -> ok after 1000 -> lists:seq(1, 20) end,
    now_and_then().

takes_all() -> receive _ -> ok end, takes_all().

keeper(Kept) ->
    receive
        {keep, Size} -> <<Slice:100/binary, _/binary>> = binary:copy(<<1>>, Size), keeper([Slice | Kept]);
        forget -> erlang:garbage_collect(), keeper([])
    end.

garbage(K, _) -> timer:sleep(7 * K), garbage(K, lists:seq(1, 3000 * K)).

burst() ->
    Pids = [spawn(?MODULE, worker, []) || _ <- lists:seq(1, 300)],
    [orders ! {order, N} || N <- lists:seq(1, 500)],
    timer:sleep(700),
    [exit(Pid, kill) || Pid <- Pids],
    exit(whereis(orders), kill),
    timer:sleep(50),
    register(orders, spawn(?MODULE, worker, [])),
    timer:sleep(1500),
    burst().

job() ->
    ets:new(job, [named_table, public]),
    fill(1, erlang:monotonic_time(millisecond) + 2000),
    ets:delete(job),
    timer:sleep(3000),
    job().

fill(N, End) ->
    [ets:insert(job, {{N, M}, N}) || M <- lists:seq(1, 500)],
    timer:sleep(20),
    erlang:monotonic_time(millisecond) < End andalso fill(N + 1, End).

%% The server whose State grows.
init(Pending) -> {ok, {state, orders, Pending}}.
handle_info({pending, N}, {state, Name, Pending}) ->
    {noreply, {state, Name, lists:foldl(fun add/2, Pending, lists:seq(N * 1000 + 1, N * 1000 + 1000))}}.

add(N, Pending) when is_list(Pending) -> [{order, N, open} | Pending];
add(N, Pending) -> Pending#{N => {order, N, open}}.

handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.

%% What the VM itself says of an allocator, as lines of milliseconds and bytes.
unused_of(Name, File) ->
    {ok, Truth} = file:open(File, [write]),
    every(500, fun(_) ->
        Instances = erlang:system_info({allocator, list_to_atom(Name)}),
        Of = fun(Key, Multiblock) -> element(2, lists:keyfind(Key, 1, Multiblock)) end,
        Blocks = fun(Multiblock) ->
            case lists:keyfind(blocks, 1, Multiblock) of
                {_, ByType} when is_list(ByType) -> lists:sum([Of(size, Type) || {_, Type} <- ByType]);
                _ -> Of(blocks_size, Multiblock)
            end
        end,
        Unused = lists:sum([Of(carriers_size, M) - Blocks(M) || {instance, _, Parts} <- Instances, {mbcs, M} <- Parts]),
        io:format(Truth, "~w ~w~n", [erlang:system_time(millisecond), Unused])
    end).

%% Calls Do(1), Do(2), ... so many times a second.
at_rate(Rate, Do) -> at_rate(Rate, Do, erlang:monotonic_time(millisecond), 0).
at_rate(Rate, Do, Begin, Done) ->
    Due = (erlang:monotonic_time(millisecond) - Begin) * Rate div 1000,
    [Do(N) || N <- lists:seq(Done + 1, Due)],
    timer:sleep(20),
    at_rate(Rate, Do, Begin, max(Done, Due)).

%% Calls Do(1), Do(2), ... so many milliseconds apart.
every(Milliseconds, Do) -> every(Milliseconds, Do, erlang:monotonic_time(millisecond), 1).
every(Milliseconds, Do, Begin, N) ->
    Do(N),
    timer:sleep(max(0, Begin + N * Milliseconds - erlang:monotonic_time(millisecond))),
    every(Milliseconds, Do, Begin, N + 1).
