%% Large dumps for benchmarks, of random terms from a fixed seed: two runs hold the same terms.
%%
%%   procs N T                    N processes, each with T terms in its state, a dictionary and two messages
%%   queue N                      one process with N messages
%%   heap MB                      MB megabytes of terms in 64 processes
%%   bins N KB                    N refc binaries of KB kilobytes in 20 processes, and slices of them
%%   share N                      a list that doubles N times: N cons cells, 2^N flat words
%%   deep N                       a tuple nested N deep beside a list of N numbers
%%   twolists N                   a list of N tuples, and the same tuples in reverse order
%%   convoy N                     N processes blocked in gen_event:sync_notify
%%   mixed P T Q MB B KB C        procs P T, queue Q, heap MB, bins B KB, convoy C in one node
-module(scenario_large).
-export([scenarios/0, large/1, worker/2, listener/0, binary_keeper/2, handler_client/1]).
-export([init/1, handle_event/2, handle_call/2]).

-import(scenario_kit, [all_rest/1, hold/1, many/2]).

scenarios() -> [large].

large([What | Numbers]) ->
    rand:seed(exsss, {20, 26, 11}),
    Facts = make(list_to_atom(What), [list_to_integer(N) || N <- Numbers]),
    #{slogan => string:join(["large", What | Numbers], " "), settle => 3000, asked => [], facts => Facts#{large => list_to_atom(What)}}.

%% A process of this name that has made its term, and keeps it.
keeper(Name, Make) ->
    Pid = spawn(fun() -> hold(Make()) end),
    register(Name, Pid),
    all_rest([Pid]),
    Pid.

make(procs, [N, T]) ->
    Pids = many(N, fun(_) -> spawn(?MODULE, worker, [rand:uniform(1 bsl 40), T]) end),
    [begin P ! {'$gen_cast', {refresh, #{attempt => 1}}}, P ! {info, <<"hello">>, 1} end || P <- Pids],
    #{processes => N, messages_each => 2};
make(queue, [N]) ->
    Pid = spawn(?MODULE, listener, []),
    register(backlog, Pid),
    many(N, fun(I) -> Pid ! {'$gen_call', {self(), make_ref()}, {store, I, [I, I + 1, <<"row">>], #{id => I}}} end),
    #{culprit => Pid, name => backlog, messages => N};
make(heap, [MB]) ->
    Words = MB * 1024 * 1024 div 8 div 64,
    Maker = self(),
    Pids = many(64, fun(I) ->
                        spawn(fun() ->
                                  rand:seed(exsss, {I, 7, 11}),
                                  Terms = grow(Words, []),
                                  erlang:garbage_collect(),
                                  Maker ! {full, self()},
                                  hold(Terms)
                              end)
                    end),
    [receive {full, P} -> ok end || P <- Pids],
    #{processes => 64, words_each_at_least => Words};
make(bins, [N, KB]) ->
    Maker = self(),
    Pids = many(20, fun(_) -> spawn(?MODULE, binary_keeper, [Maker, {N div 20, KB * 1024}]) end),
    [receive {full, P} -> ok end || P <- Pids],
    #{processes => 20, binaries => N div 20 * 20, bytes_each => KB * 1024};
make(share, [N]) ->
    Pid = keeper(sharer, fun() -> lists:foldl(fun(_, A) -> [A | A] end, [], lists:seq(1, N)) end),
    #{culprit => Pid, name => sharer, cells => N};
make(deep, [N]) ->
    Pid = keeper(deep, fun() -> [lists:foldl(fun(_, A) -> {A} end, [], lists:seq(1, N)), lists:seq(1, N)] end),
    #{culprit => Pid, name => deep, depth => N};
make(twolists, [N]) ->
    Pid = keeper(twolists, fun() -> L = [{I} || I <- lists:seq(1, N)], R = lists:reverse(L), erlang:garbage_collect(), {L, R} end),
    #{culprit => Pid, name => twolists, elements => N};
make(convoy, [N]) ->
    {ok, Manager} = gen_event:start({local, log_event}),
    ok = gen_event:add_handler(Manager, ?MODULE, []),
    many(N, fun(I) -> spawn(?MODULE, handler_client, [I]) end),
    #{culprit => Manager, name => log_event, waiters => N};
make(mixed, [P, T, Q, MB, B, KB, C]) ->
    #{parts => [make(procs, [P, T]), make(queue, [Q]), make(bins, [B, KB]), make(convoy, [C]), make(heap, [MB])]}.

worker(Seed, T) ->
    rand:seed(exsss, {Seed, 5, 9}),
    Terms = many(T, fun(I) -> sample(I) end),
    put(session, {id, Seed}), put({cache, 1}, #{hits => 1, keys => [Seed]}),
    erlang:garbage_collect(),
    hold(Terms).

listener() -> receive never_sent -> ok end.

binary_keeper(Maker, {N, Bytes}) ->
    Whole = many(N, fun(_) -> rand_bytes(Bytes) end),
    Slices = [binary:part(B, 10, 100) || B <- Whole],
    Maker ! {full, self()},
    hold({Whole, Slices}).

rand_bytes(N) -> list_to_binary([<<(rand:uniform(1 bsl 56)):56>> || _ <- lists:seq(1, N div 7)]).

handler_client(I) ->
    gen_event:sync_notify(log_event, {log, {log_msg, [], [{pid, self()}], info, "request " ++ integer_to_list(I)}}).

grow(Words, Terms) when Words =< 0 -> Terms;
grow(Words, Terms) ->
    Term = sample(rand:uniform(24)),
    grow(Words - 2 - erts_debug:flat_size(Term), [Term | Terms]).

%% The terms of everyday states: one kind for each number, then from the start again.
sample(N) ->
    case N rem 24 of
        0 -> {state, self(), undefined, #{name => <<"worker">>, limits => [{soft, 100}, {hard, 200}]}, {0, 0, 0}};
        1 -> rand:uniform(1 bsl 57);
        2 -> rand:uniform(1 bsl 120);
        3 -> -(1 bsl 190) + rand:uniform(1000);
        4 -> rand:uniform();
        5 -> list_to_binary(many(rand:uniform(60), fun(_) -> rand:uniform(255) end));
        6 -> binary:copy(<<"y">>, 64 + rand:uniform(250));
        7 -> make_ref();
        8 -> self();
        9 -> "text of one row, number " ++ integer_to_list(rand:uniform(1000000));
        10 -> maps:from_list(many(8, fun(K) -> {K, K / 4} end));
        11 -> maps:from_list(many(60, fun(K) -> {{key, K}, [K]} end));
        12 -> X = rand:uniform(1000), fun(Y) -> {X, Y} end;
        13 -> fun lists:map/2;
        14 -> {ok, [{number, 1}, {text, "two"}, {bytes, <<"three">>}]};
        15 -> <<Bits:93/bitstring, _/bitstring>> = <<(rand:uniform(1 bsl 100)):128>>, Bits;
        16 -> [];
        17 -> {};
        18 -> [first | rest];
        19 -> 'an atom in quotes';
        20 -> Shared = [1, 2, 3, {shared, "part"}], {Shared, Shared, [Shared]};
        21 -> queue:from_list(lists:seq(1, 15));
        22 -> lists:seq(1, 45);
        23 -> <<Head:16, Rest/binary>> = list_to_binary(lists:seq(1, 120)), {Head, Rest}
    end.

init([]) -> {ok, []}.
handle_event(_, State) -> timer:sleep(infinity), {ok, State}.
handle_call(_, State) -> {ok, ok, State}.
