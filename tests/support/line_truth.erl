%% Processes that wait in tricky places, and what the VM says of all of its stacks: a line for each frame, youngest first.
%% line_truth:main([OUT, dump]) halts the node with a dump; [OUT, stay] waits, to be looked at from outside.
-module(line_truth).
-export([main/1, all/1, init/1, handle_call/3, handle_cast/2, handle_info/2, wait_here/1, many/1, last/1, deep/2, caught/1, tried/1,
         twice/1, guarded/2, three_receives/1, no_arguments/0, in_a_fun/1, applied/3, timed/1, sleeping/1, listed/1]).

main([Out, What]) ->
    erlang:system_flag(backtrace_depth, 64),
    [application:ensure_all_started(A) || A <- [sasl, ssl, inets, mnesia, runtime_tools]],
    start(),
    timer:sleep(1500),
    ok = file:write_file(Out, [truth(P) || P <- processes(), P =/= self()]),
    case What of
        dump -> erlang:halt("lines");
        stay -> ok = file:write_file([atom_to_list(Out), ".pid"], os:getpid()), receive never -> ok end
    end.

%% The same of a node that does its own work; the depth to which a stack is told, too.
all(Out) ->
    erlang:system_flag(backtrace_depth, 64),
    ok = file:write_file(Out, [truth(P) || P <- processes(), P =/= self()]).

truth(P) ->
    case process_info(P, [current_stacktrace, status]) of
        [{_, Stack}, {_, Status}] ->
            [io_lib:format("~s\t~s\t~b\t~ts\t~ts\t~b~n", [pid_to_list(P), Status, N, name(F), proplists:get_value(file, At, "-"),
                                                           proplists:get_value(line, At, 0)])
             || {N, {_, _, _, At} = F} <- lists:zip(lists:seq(0, length(Stack) - 1), Stack)];
        _ -> []
    end.

name({M, F, A, _}) when is_list(A) -> name({M, F, length(A), []});
name({M, F, A, _}) -> unicode:characters_to_binary(io_lib:format("~ts:~ts/~b", [M, F, A])).

start() ->
    {ok, Server} = gen_server:start(?MODULE, [], []),
    {ok, Events} = gen_event:start({local, some_events}),
    {ok, Listen} = gen_tcp:listen(0, []),
    {ok, Port} = inet:port(Listen),
    Url = "http://127.0.0.1:" ++ integer_to_list(Port),
    Works = [fun() -> gen_tcp:accept(Listen) end,
             fun() -> catch gen_server:call(Events, x, infinity) end,
             fun() -> httpc:request(Url) end,
             fun() -> lists:foreach(fun(_) -> timer:sleep(1000000) end, [1, 2, 3]) end,
             fun() -> io:get_line("x") end,
             fun() -> global:trans({a, self()}, fun() -> lists:map(fun(_) -> receive x -> ok end end, [1, 2]) end) end,
             fun() -> mnesia:transaction(fun() -> maps:fold(fun(_, _, _) -> receive x -> 1 end end, 0, #{a => 1}) end) end,
             fun() -> ssl:connect("127.0.0.1", Port, [{verify, verify_none}]) end,
             fun() -> supervisor:which_children(kernel_sup), rpc:call(node(), timer, sleep, [1000000]) end,
             fun() -> gen_server:call(Server, slow, infinity) end,
             fun() -> many(3) end, fun() -> many(2) end, fun() -> many(1) end,
             fun() -> last(5) end,
             fun() -> deep(4, []) end,
             fun() -> caught(1) end, fun() -> caught(2) end,
             fun() -> tried(1) end, fun() -> tried(2) end, fun() -> tried(3) end,
             fun() -> twice(1) end, fun() -> twice(2) end,
             fun() -> guarded(a, 1) end, fun() -> guarded(b, 1) end,
             fun() -> three_receives(1) end, fun() -> three_receives(2) end, fun() -> three_receives(3) end,
             fun no_arguments/0,
             fun() -> in_a_fun(1) end, fun() -> in_a_fun(2) end,
             fun() -> applied(?MODULE, wait_here, 1), ok end,
             fun() -> timed(1) end, fun() -> timed(2) end,
             fun() -> sleeping(1) end, fun() -> sleeping(2) end,
             fun() -> listed(1) end, fun() -> listed(2) end,
             fun() -> of_another_file(1), ok end, fun() -> of_a_third(1), ok end,
             fun() -> erlang:hibernate(?MODULE, wait_here, [1]) end,
             fun() -> not_there:at_all(), ok end],
    [spawn(Work) || Work <- Works].

init(_) -> {ok, none}.
handle_call(slow, _, State) ->
    Result = wait_here(1),
    {reply, Result, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(_, State) -> {noreply, State}.

wait_here(X) -> receive {never, X} -> X end.

%% The same function is called at several places with as large a frame.
many(N) ->
    A = case N of 1 -> wait_here(N); _ -> N end,
    B = case A of
            2 -> wait_here(A);
            _ -> A
        end,
    C = wait_here(B),
    {A, B, C}.

%% The last call of each leaves no frame.
last(N) when N > 3 -> last(N - 1);
last(N) -> further(N).
further(N) -> wait_here(N).

deep(0, Seen) -> wait_here(Seen);
deep(N, Seen) ->
    Next = deep(N - 1, [N | Seen]),
    [N | Next].

caught(1) ->
    A = (catch wait_here(1)),
    {A, wait_here(2)};
caught(N) ->
    A = {before, N},
    B = wait_here(N),
    {A, B, catch wait_here(3)}.

tried(N) ->
    try
        case N of
            1 -> wait_here(N);
            _ -> throw(N)
        end
    catch
        throw:2 -> {second, wait_here(N)};
        throw:M ->
            {third, wait_here(M)}
    after
        put(done, N)
    end.

twice(N) -> {wait_if(N, 1),
             wait_if(N, 2)}.
wait_if(N, N) -> wait_here(N);
wait_if(_, M) -> M.

guarded(a, X) -> [wait_here(X), 1];
guarded(b, X) ->
    [wait_here(X), 2].

three_receives(N) ->
    case N of
        1 -> receive one -> ok end;
        2 ->
            receive two -> ok end;
        3 ->
            self() ! three,
            receive three -> ok end,
            receive four -> put(four, 4) end
    end,
    N.

no_arguments() ->
    receive
        again -> no_arguments()
    end.

in_a_fun(N) ->
    F = fun(1) -> wait_here(1), a;
           (2) ->
                G = fun(X) ->
                        wait_here(X),
                        b
                    end,
                {G(2), c}
        end,
    R = F(N),
    {R, N}.

applied(M, F, A) ->
    R = apply(M, F, [A]),
    {R, M:F(A)}.

timed(1) -> receive x -> 1 after 1000000 -> 2 end;
timed(N) ->
    receive x -> N after 1000000 -> 2 end,
    receive y -> N after 1000000 -> 2 end.

sleeping(1) -> timer:sleep(1000000), ok;
sleeping(_) ->
    ok = timer:sleep(1000000),
    ok.

listed(N) ->
    L = [wait_here(X) || X <- [N]],
    M = [X || X <- [N], wait_here(X)],
    {L, M}.

%% What other languages and generated code have: functions whose source is another file.
-file("lib/shop/cart.ex", 100).
of_another_file(X) ->
    receive {never, X} -> X end.

-file("lib/shop/tax.ex", 7).
of_a_third(X) ->
    receive {never, X} -> X end.
