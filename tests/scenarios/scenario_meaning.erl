%% A node whose memory means something: servers with large states of known shapes, idle and in the middle of a callback, a queue of
%% messages of two shapes, and callers of a server that waits for a second, which waits for a third.
-module(scenario_meaning).
-export([meaning/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, callback_mode/0, handle_event/4]).

-import(scenario_kit, [wait_until/2]).

%% Of each server: what it is a server of, the shape of the term where its memory is, the way to it, and the sizes that
%% the VM gives them.
meaning(_) ->
    Sessions = maps:from_list([{iolist_to_binary(["sess-", integer_to_list(I)]), #{user => I, cart => [{I, I}]}}
                               || I <- lists:seq(1, 3000)]),
    Blobs = [binary:copy(<<I:32>>, 8) || I <- lists:seq(1, 4000)],
    Tree = lists:foldl(fun(I, T) -> gb_trees:insert(I, {order, I, open}, T) end, gb_trees:empty(), lists:seq(1, 3000)),
    Queue = queue:from_list([{job, I, make_ref()} || I <- lists:seq(1, 3000)]),
    Specimens =
        [{sessions_busy, busy, #{sessions => Sessions, limit => 3}, Sessions, "its State > key sessions",
          "a map of 3,000 <<\"sess-...\">> => #{cart, user}"},
         {sessions_idle, idle, Sessions, Sessions, "its State", "a map of 3,000 <<\"sess-...\">> => #{cart, user}"},
         {blobs, busy, {state, 7, Blobs}, Blobs, "its State > element 3", "a list of 4,000 binaries of 32 B"},
         {orders, idle, {state, Tree}, Tree, "its State > element 2", "a gb_tree of 3,000 integer => {order, integer, open}"},
         {jobs, busy, Queue, Queue, "its State", "a queue of 3,000 {job, integer, reference}"}],
    Servers = [start(Specimen) || Specimen <- Specimens],
    {ok, Machine} = gen_statem:start({local, machine}, ?MODULE, {machine, {data, Blobs}}, []),
    #{slogan => "asked for by an operator",
      facts => #{findings => [], others => [postponing(3000), counting(3000)], chain => chain(12), queue => queue(900, 300),
                 servers => [facts(Machine, machine, "gen_statem", {data, Blobs}, Blobs, "its State > element 2",
                                   "a list of 4,000 binaries of 32 B") | Servers]}}.

%% N who call a server that calls another, which calls a third, which sits in a callback.
chain(N) ->
    [Front, Middle, Last] = [begin {ok, P} = gen_server:start({local, Name}, ?MODULE, Name, []), P end || Name <- [chain_front, chain_middle, chain_end]],
    Last ! {wait, [the_end]},
    gen_server:cast(Middle, {ask, chain_end}),
    gen_server:cast(Front, {ask, chain_middle}),
    Callers = [spawn(fun() -> Reply = gen_server:call(chain_front, question, infinity), {Reply, I} end) || I <- lists:seq(1, N)],
    %% all have asked: their questions are in the queues
    [wait_until(asked, fun() -> {message_queue_len, L} =:= process_info(P, message_queue_len) end) || {P, L} <- [{Front, N}, {Middle, 1}, {Last, 1}]],
    #{callers => Callers, links => [Front, Middle, Last], waiting => N + 2}.

%% A state machine that never comes to the state in which it handles what it is sent, and puts it off.
postponing(N) ->
    {ok, Machine} = gen_statem:start({local, postponing}, ?MODULE, {machine, connecting}, []),
    [gen_statem:cast(Machine, {request, I, <<I:64>>}) || I <- lists:seq(1, N)],
    wait_until(taken, fun() -> {message_queue_len, 0} =:= process_info(Machine, message_queue_len) andalso
                               {status, waiting} =:= process_info(Machine, status) end),
    #{pid => Machine, name => postponing, where => <<"its postponed events">>,
      shape => iolist_to_binary(io_lib:format("a list of ~w,~3..0w {cast, {request, integer, binary of 8 B}}", [N div 1000, N rem 1000]))}.

%% A process dictionary that grows, no entry of which is large.
counting(N) ->
    Maker = self(),
    Pid = spawn(fun() -> [put({counter, I}, {I, [I, I]}) || I <- lists:seq(1, N)], Maker ! counted, receive never -> ok end end),
    receive counted -> ok end,
    #{pid => Pid, name => counting, where => <<"its process dictionary">>,
      shape => iolist_to_binary(io_lib:format("~w,~3..0w entries", [N div 1000, N rem 1000]))}.

%% Messages of two shapes in the queue of one that takes none.
queue(Orders, Pings) ->
    Reader = spawn(fun() -> register(slow_reader, self()), receive never -> ok end end),
    Messages = [{order, I, [I, I + 1], <<I:64>>} || I <- lists:seq(1, Orders)] ++ [{ping, self()} || _ <- lists:seq(1, Pings)],
    [Reader ! Message || Message <- Messages],
    wait_until(sent, fun() -> {message_queue_len, Orders + Pings} =:= process_info(Reader, message_queue_len) end),
    #{pid => Reader, messages => Orders + Pings, shapes => [[Orders, <<"{order,integer(),list(),binary()}">>], [Pings, <<"{ping,pid()}">>]],
      flat_words => lists:sum([erts_debug:flat_size(Message) || Message <- Messages])}.

start({Name, How, State, Part, Where, Shape}) ->
    {ok, Server} = gen_server:start({local, Name}, ?MODULE, State, []),
    How =:= busy andalso begin
        Server ! {wait, [some, message]},
        wait_until(in_callback, fun() -> {current_function, {?MODULE, handle_info, 2}} =:= process_info(Server, current_function) end)
    end,
    facts(Server, Name, "gen_server", State, Part, Where, Shape).

facts(Pid, Name, Loop, State, Part, Where, Shape) ->
    #{pid => Pid, name => Name, server => iolist_to_binary(["a ", Loop, " of ", atom_to_list(?MODULE)]),
      where => list_to_binary(Where), shape => list_to_binary(Shape), state_words => erts_debug:size(State),
      state_flat_words => erts_debug:flat_size(State), part_words => erts_debug:size(Part)}.

callback_mode() -> handle_event_function.
init({machine, Data}) -> {ok, open, Data};
init(State) -> {ok, State}.
handle_call(_, _, State) -> {reply, State, State}.
handle_cast({ask, Next}, State) -> Reply = gen_server:call(Next, question, infinity), {noreply, {Reply, State}};
handle_cast(_, State) -> {noreply, State}.
handle_info({wait, _}, State) -> receive never -> {noreply, State} end.
handle_event(cast, {request, _, _}, open, connecting) -> {keep_state_and_data, [postpone]};
handle_event(_, _, _, Data) -> {keep_state, Data}.
