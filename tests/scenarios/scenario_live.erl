%% A node that goes on working while somebody looks at it, and says of itself what it can: many processes with invariants that a
%% torn reading would break, and some that rest in states which are known exactly.
%%
%% Workers wait at a random depth: their stack is down/1 up to 30 times, then worker/1, whatever the instant. Couples send and
%% receive all the time. Short-lived processes come and go. Sleepers never run again: n messages, n dictionary entries, 10n
%% frames. A file `ask` in the folder is answered by `truth`: one term, of what process_info gives for the sleepers, and how
%% much work has been done.
-module(scenario_live).
-export([start/1, main/0]).

main() -> start(init:get_plain_arguments()).

start([Folder | _]) ->
    Work = counters:new(1, [write_concurrency]),
    [spawn(fun() -> keep_busy(Work) end) || _ <- lists:seq(1, 500)],
    [couple() || _ <- lists:seq(1, 20)],
    spawn(fun() -> breed(Work) end),
    Sleepers = [sleeper(N) || N <- lists:seq(1, 20)],
    [wait_until_it_sleeps(S) || S <- Sleepers],
    ets:new(live_table, [named_table, public]),
    ets:insert(live_table, [{I, I * I} || I <- lists:seq(1, 1000)]),
    ok = file:write_file(Folder ++ "/pid.new", os:getpid()),
    ok = file:rename(Folder ++ "/pid.new", Folder ++ "/pid"),
    answer(Folder, Work, Sleepers).

keep_busy(Work) ->
    [put(Key, Key) || Key <- [a, b, c, d, e]],
    worker(Work).

worker(Work) ->
    down(rand:uniform(30)),
    counters:add(Work, 1, 1),
    worker(Work).

down(0) ->
    receive wake -> 0 after 5 + rand:uniform(20) -> 0 end;
down(N) ->
    1 + down(N - 1).

couple() ->
    Consumer = spawn(fun consume/0),
    spawn(fun() -> produce(Consumer, 1) end).

consume() -> receive {item, _, _} -> consume() end.

produce(Consumer, N) ->
    Consumer ! {item, N, lists:seq(1, N rem 20)},
    receive stop -> ok after 1 -> ok end,
    produce(Consumer, N + 1).

%% Where the folder has a file `restless`, for some seconds: one that answers without a pause, one that collects without a
%% pause, one whose heap is moved all the time.
never_at_rest() ->
    Server = spawn(fun() -> register(live_server, self()), serve(#{}) end),
    All = [Server, spawn(fun() -> register(live_collector, self()), collect([]) end),
           spawn(fun() -> register(live_maker, self()), make([]) end) | [spawn(fun() -> client(Server) end) || _ <- lists:seq(1, 2)]],
    spawn(fun() -> receive stop -> ok after 60000 -> ok end, [exit(Pid, kill) || Pid <- All] end).

serve(State) ->
    receive {From, Key} -> From ! {self(), ok}, serve(State#{Key rem 2000 => {Key, lists:seq(1, 20)}}) end.

client(Server) ->
    Server ! {self(), rand:uniform(100000)},
    receive {Server, ok} -> client(Server) end.

collect(Kept) ->
    erlang:garbage_collect(),
    collect(lists:sublist([make_ref() | Kept], 1000)).

make(Kept) -> make(lists:sublist([lists:seq(1, 30) | Kept], 300)).

breed(Work) ->
    [spawn(fun() -> lists:sum(lists:seq(1, 50)) end) || _ <- lists:seq(1, 20)],
    counters:add(Work, 1, 1),
    receive stop -> ok after 10 -> ok end,
    breed(Work).

sleeper(N) ->
    Pid = spawn(fun() ->
        register(list_to_atom("live_sleeper_" ++ integer_to_list(N)), self()),
        [put({key, I}, {value, I}) || I <- lists:seq(1, N)],
        rest(10 * N)
    end),
    [Pid ! {message, I, "text"} || I <- lists:seq(1, N)],
    Pid.

rest(0) -> receive never -> 0 end;
rest(N) ->
    1 + rest(N - 1).

wait_until_it_sleeps(Pid) ->
    case process_info(Pid, [status, current_function]) of
        [{status, waiting}, {current_function, {?MODULE, rest, 1}}] -> ok;
        _ -> erlang:yield(), wait_until_it_sleeps(Pid)
    end.

answer(Folder, Work, Sleepers) ->
    case file:delete(Folder ++ "/restless") of
        ok -> never_at_rest();
        {error, enoent} -> ok
    end,
    case file:delete(Folder ++ "/ask") of
        ok ->
            Truth = #{work => counters:get(Work, 1), at => erlang:monotonic_time(microsecond), node => node(),
                      sleepers => [of_sleeper(Pid) || Pid <- Sleepers]},
            ok = file:write_file(Folder ++ "/truth.new", json(Truth)),
            ok = file:rename(Folder ++ "/truth.new", Folder ++ "/truth");
        {error, enoent} -> ok
    end,
    receive stop -> ok after 20 -> ok end,
    answer(Folder, Work, Sleepers).

of_sleeper(Pid) ->
    Items = [registered_name, message_queue_len, memory, reductions, total_heap_size, heap_size, stack_size, dictionary, links, monitors],
    Info = maps:from_list(process_info(Pid, Items)),
    #{registered_name := Name, dictionary := Dictionary} = Info,
    maps:merge(maps:with([message_queue_len, memory, reductions, total_heap_size, heap_size, stack_size], Info),
               #{pid => list_to_binary(pid_to_list(Pid)), name => Name, dictionary => length(Dictionary)}).

json(Map) when is_map(Map) ->
    ["{", lists:join(",", [[$", atom_to_list(K), $", $:, json(V)] || {K, V} <- maps:to_list(Map)]), "}"];
json(List) when is_list(List) -> ["[", lists:join(",", [json(E) || E <- List]), "]"];
json(Number) when is_integer(Number) -> integer_to_list(Number);
json(Atom) when is_atom(Atom) -> [$", atom_to_list(Atom), $"];
json(Text) when is_binary(Text) -> [$", Text, $"].
