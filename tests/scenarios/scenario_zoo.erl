%% One process of every kind: states, queues, heaps, names, relations, everything a dump can show.
-module(scenario_zoo).
-export([scenarios/0, zoo/1, healthy/1, odd_modules/1]).
-export([init/1, callback_mode/0, handle_call/3, handle_cast/2, handle_info/2, handle_event/2, handle_event/4,
         handle_call/2, terminate/2, code_change/3, asleep/1, start_worker/1, start_supervisor/1, descend/2,
         burn/1]).

-import(scenario_kit, [specimen/2, specimen/3, hold/1, wait_until/2, many/2]).

-define(FORGED, "forged\n=proc:<0.1.0>\nState: Running\nName: nobody\nMessage queue length: 99999").

scenarios() -> [zoo, healthy].

%% ---- healthy: a small supervised application at rest ----------------------------------------------------------
healthy(_) ->
    Top = tree(),
    ets:new(healthy_cache, [named_table, public]),
    [ets:insert(healthy_cache, {I, integer_to_binary(I)}) || I <- lists:seq(1, 200)],
    #{slogan => "asked for by an operator", volatile => [],
      facts => #{findings => [], supervisor => Top}}.

%% ---- zoo ------------------------------------------------------------------------------------------------------
%% With the argument small, the table of the process that exits is small, and is gone before a dump is written: for cores.
zoo(Args) ->
    Peer = scenario_kit:start_peer(zoo),
    %% the busy ones come last: no code can be loaded while dirty schedulers never rest
    Roles = lists:flatten([code(), queues(), heaps(), names(), holders(), relations(Peer), timers(), ports(),
                           tables(), flags(), tree_roles(), far_queue(Peer), preload(), states(Args)]),
    {States, Plain} = lists:partition(fun is_state/1, Roles),
    wait_until(collecting, fun() -> whereis(state_collecting) =/= undefined end),
    Late = whereis(queue_late),
    #{slogan => slogan(),
      settle => 1500,
      roles => maps:from_list(Plain ++ [{P, R} || {state, P, R, _, _} <- States]),
      volatile => [P || {state, P, _, _, volatile} <- States],
      unasked => maps:from_list([{P, S} || {state, P, _, S, unasked} <- States]),
      last => fun() ->
                  forgotten(),
                  [Late ! {late, I, <<"sent after the truth was taken">>} || I <- lists:seq(1, 7)],
                  exit(whereis(state_exiting), kill),
                  wait_until(exiting, fun() -> ets:info(table_of_exiting, size) =:= undefined end)
              end,
      facts => #{peer => Peer,
                 states => [#{pid => P, name => R, states => S} || {state, P, R, S, _} <- States],
                 late => #{pid => Late, messages => 7},
                 stack_depth => 10000,
                 sensitive => whereis(flag_sensitive),
                 terms => scenario_terms:truth(),
                 supervision => supervision(),
                 timers => timer_truth(),
                 odd_atoms => [#{utf8_base64 => base64:encode(atom_to_binary(A, utf8))} || A <- odd_atoms()]}}.

%% What came by an alias (since OTP 24) lies behind that alias in its fragment, until the next collection.
by_alias() ->
    erlang:function_exported(erlang, alias, 0) andalso
        begin
            Alias = apply(erlang, alias, []),
            spawn(fun() -> Alias ! {by_alias, [1, 2, 3]} end),
            receive {by_alias, Numbers} -> Numbers end
        end.

%% A table that is gone: its carriers were given back, and still look like carriers where their memory is kept for later.
forgotten() ->
    Table = ets:new(forgotten, []),
    many(10000, fun(I) -> ets:insert(Table, {I, lists:seq(1, 50)}) end),
    ets:delete(Table).

preload() ->
    [code:ensure_loaded(M) || M <- [scenario_truth, scenario_json, base64, io_lib_pretty, proplists, file, prim_file, filename,
                                    ?MODULE]],
    [].

is_state(T) -> element(1, T) =:= state.

%% A line break and the head of a section, an escape sequence and markup, as a slogan can hold them.
slogan() ->
    "the zoo is closed\n=proc:<0.777.0>\nState: Waiting\nName: forged\n\e[31mred\e[0m <script>alert(1)</script>".

%% ---- states: {state, Pid, Name, States it may be in, asked | unasked | volatile} ---------------------------------
states(Args) ->
    Entries = case Args of ["small"] -> 300; _ -> 300000 end,
    Idle = specimen(state_waiting, fun(Ready) -> Ready(), hold(state_waiting), ok end),
    Asleep = specimen(state_hibernating, fun(Ready) -> Ready(), erlang:hibernate(?MODULE, asleep, [deep]) end),
    Suspended = specimen(state_suspended, fun(Ready) -> Ready(), hold(state_suspended), ok end),
    erlang:suspend_process(Suspended),
    Spinning = many(3, fun(I) ->
                           specimen(list_to_atom("state_spinning_" ++ integer_to_list(I)),
                                    fun(Ready) -> Ready(), spin(0, {spinning, I}) end, [{priority, low}])
                       end),
    Dirty = [specimen(Name, fun(Ready) -> Ready(), dirty(Kind) end)
             || {Name, Kind} <- [{state_dirty_cpu, dirty_cpu}, {state_dirty_io, dirty_io}, {state_killed, dirty_io}]],
    %% its table takes longer to delete than it takes to write the process table
    Exiting = specimen(state_exiting,
                       fun(Ready) ->
                           T = ets:new(table_of_exiting, [ordered_set, named_table]),
                           many(Entries, fun(I) -> ets:insert(T, {I}) end), Ready(), hold(T)
                       end),
    Collecting = spawn(fun() -> register(state_collecting, self()), process_flag(sensitive, true), process_flag(priority, high), burn(live_data()) end),
    timer:sleep(200),
    exit(lists:last(Dirty), kill),
    [{state, Idle, state_waiting, [waiting], asked},
     {state, Asleep, state_hibernating, [waiting], asked},
     {state, Suspended, state_suspended, [suspended], asked},
     {state, Collecting, state_collecting, [garbage_collecting, running, runnable], unasked},
     {state, lists:nth(1, Dirty), state_dirty_cpu, [running], unasked},
     {state, lists:nth(2, Dirty), state_dirty_io, [running], unasked},
     {state, lists:nth(3, Dirty), state_killed, [exiting, gone], unasked},
     {state, Exiting, state_exiting, [exiting], volatile}
     | [{state, P, state_spinning, [running, runnable], volatile} || P <- Spinning]].

asleep(Depth) -> hold({asleep, Depth}).

spin(N, Term) when N >= 0 -> spin((N + 7) band 16#ffffff, Term);
spin(_, Term) -> Term.

dirty(dirty_cpu) -> R = erts_debug:dirty_cpu(wait, 600000000), {done, R};
dirty(dirty_io) -> R = erts_debug:dirty_io(wait, 600000000), {done, R}.

%% So large that its collections run on a dirty scheduler; it does little else. It is sensitive, so that its heap is
%% not in the dump should it be caught between two of them. (The scenario oom is in a collection for certain.)
live_data() -> [{I, [I]} || I <- lists:seq(1, 60000)].
burn(Data) -> erlang:garbage_collect(), ?MODULE:burn(Data).

%% ---- queues ------------------------------------------------------------------------------------------------------
queues() ->
    Make = fun(Name, Data) ->
               {specimen(Name, fun(Ready) -> process_flag(message_queue_data, Data), Ready(), hold(Name), ok end), Name}
           end,
    Roles = [{Many, _}, {Mixed, _}, {Off, _}, {Late, _}] =
        [Make(queue_many, on_heap), Make(queue_mixed, on_heap), Make(queue_off_heap, off_heap), Make(queue_late, on_heap)],
    many(5000, fun(I) -> Many ! {work, I} end),
    many(300, fun(I) -> Mixed ! {entry, I, binary:copy(<<I:16>>, 40), #{key => [I], other => float(I)}} end),
    Mixed ! {short, message, 1, 2.5, "hello world", hd(erlang:ports()), {}},
    Mixed ! [lists:seq(1, 256), <<"a binary beside a list">>],
    Mixed ! 'a plain atom',
    Shared = binary:copy(<<"shared ">>, 5000),
    many(100, fun(I) -> Off ! {off_heap, I, Shared, [I, I + 1]} end),
    %% scanned once and left: these have moved from the outer to the inner queue
    Scanned = specimen(queue_scanned, fun(Ready) -> Ready(), receive first -> ok end, hold(queue_scanned), ok end),
    many(20, fun(I) -> Scanned ! {fragment, I, lists:seq(1, 50)} end),
    Scanned ! first,
    erlang:suspend_process(Late),
    [{Scanned, queue_scanned} | Roles].

%% Messages from another node keep their atoms apart until they are received.
far_queue(unavailable) -> [];
far_queue(Peer) ->
    Far = specimen(queue_far, fun(Ready) -> Ready(), hold(queue_far), ok end),
    erlang:suspend_process(Far),
    spawn(Peer, fun() ->
                    [Far ! {far_away, I, 'atom of the other node', #{bin => <<"from afar">>}, self()}
                     || I <- lists:seq(1, 5)]
                end),
    timer:sleep(300),
    [{Far, queue_far}].

%% ---- heaps and stacks ----------------------------------------------------------------------------------------------
heaps() ->
    [{specimen(heap_deep_stack, fun(Ready) -> descend(10000, Ready), ok end), heap_deep_stack},
     {specimen(heap_old, fun old_heap/1), heap_old},
     {specimen(heap_garbage, fun garbage/1, [{min_heap_size, 200000}]), heap_garbage},
     {specimen(heap_shared, fun(Ready) ->
                                X = lists:foldl(fun(_, A) -> [A | A] end, [], lists:seq(1, 20)),
                                Ready(), hold(heap_shared), X
                            end), heap_shared}].

descend(0, Ready) -> Ready(), hold(bottom), 0;
descend(N, Ready) -> [N | descend(N - 1, Ready)].

old_heap(Ready) ->
    List = [{I, integer_to_list(I)} || I <- lists:seq(1, 2000)],
    Map = maps:from_list([{I, I * I} || I <- lists:seq(1, 500)]),
    many(3, fun(_) -> erlang:garbage_collect(self(), [{type, minor}]) end),
    Young = [{young, I} || I <- lists:seq(1, 100)],
    Ready(), hold(heap_old), {List, Map, Young}.

garbage(Ready) ->
    erlang:garbage_collect(),
    Kept = [I || I <- lists:seq(1, 2000), lists:sum([I, length(integer_to_list(I))]) rem 100 =:= 0],
    Ready(), hold(heap_garbage), Kept.

%% ---- names that are hard to print -----------------------------------------------------------------------------------
odd_atoms() ->
    [list_to_atom(Text) || Text <- [?FORGED, "it's quoted", "back\\slash", "two words", "\e[31mred", "tab\tand\rreturn",
                                    "\x{e5}\x{e4}\x{f6}", "\x{65e5}\x{672c}", "<script>", "a,b|c:d",
                                    "node@host", "Capital", "", lists:duplicate(255, $z)]].

names() ->
    [{specimen(Name, fun(Ready) -> put(Name, Name), Ready(), hold(Name), ok end), odd_name} || Name <- odd_atoms()].

%% ---- processes that hold terms ----------------------------------------------------------------------------------------
holders() ->
    [{specimen(holder_terms, fun scenario_terms:holder/1), holder_terms},
     {specimen(holder_binaries, fun scenario_terms:binary_holder/1), holder_binaries},
     {specimen(holder_dictionary,
               fun(Ready) ->
                   [put(K, V) || {K, V} <- [{a, 1}, {{key, 2}, "two"}, {<<"binary">>, [x | y]}, {"list", 3.5}, {7, self()}]],
                   Ready(), hold(holder_dictionary), ok
               end), holder_dictionary},
     {specimen(holder_alias, fun(Ready) -> Got = by_alias(), Ready(), hold(holder_alias), Got end), holder_alias},
     {specimen(holder_exception,
               fun(Ready) ->
                   try erlang:error({zoo_error, [1, 2]})
                   catch Class:Reason:Stack -> Ready(), hold(holder_exception), erlang:raise(Class, Reason, Stack)
                   end
               end), holder_exception},
     {specimen(holder_persistent,
               fun(Ready) ->
                   persistent_term:put({zoo, key}, {persistent, [a, b], binary:copy(<<"p">>, 100)}),
                   persistent_term:put(zoo_list, [<<"element">>, #{map => value}]),
                   Term = persistent_term:get({zoo, key}),
                   Ready(), hold(holder_persistent), Term
               end), holder_persistent}].

%% ---- links and monitors ---------------------------------------------------------------------------------------------------
relations(Peer) ->
    [A, B, C] = many(3, fun(I) ->
                            specimen('', fun(Ready) -> Ready(), hold({related, I}), ok end)
                        end),
    Hub = specimen(relation_hub,
                   fun(Ready) ->
                       process_flag(trap_exit, true),
                       [link(P) || P <- [A, B, C]],
                       put(monitors, [erlang:monitor(process, A), erlang:monitor(process, A), erlang:monitor(process, queue_many),
                                      erlang:monitor(time_offset, clock_service)]),
                       put(gone, erlang:monitor(process, nobody_has_this_name)),
                       %% an alias (24 and later) is a kind of monitor
                       put(alias, catch erlang:apply(erlang, monitor, [process, B, [{alias, explicit_unalias}]])),
                       Ready(), hold(relation_hub), ok
                   end),
    [{A, related}, {B, related}, {C, related}, {Hub, relation_hub} | remote_relations(Peer)].

remote_relations(unavailable) -> [];
remote_relations(Peer) ->
    Far = specimen(relation_far,
                   fun(Ready) ->
                       process_flag(trap_exit, true),
                       put(far, rpc:call(Peer, erlang, whereis, [peer_service])),
                       link(get(far)),
                       put(monitors, [erlang:monitor(process, get(far)), erlang:monitor(process, {peer_service, Peer})]),
                       erlang:monitor_node(Peer, true),
                       Ready(), hold(relation_far), ok
                   end),
    [{Far, relation_far}].

%% ---- timers ------------------------------------------------------------------------------------------------------------------
timers() ->
    Keeper = specimen(timer_keeper,
                      fun(Ready) ->
                          Refs = [{send_after, self, erlang:send_after(3600000, self(), {wake, self()})},
                                  {start_timer, self, erlang:start_timer(7200000, self(), started)},
                                  {send_after, queue_many, erlang:send_after(1800000, queue_many, "to a name")},
                                  {send_after, nobody, erlang:send_after(900000, nobody_has_this_name, to_nobody)}],
                          put(timers, Refs),
                          Ready(),
                          receive never -> ok after 5400000 -> ok end, Refs
                      end),
    [{Keeper, timer_keeper}].

timer_truth() ->
    {dictionary, Dictionary} = process_info(whereis(timer_keeper), dictionary),
    [#{receiver => case Receiver of self -> whereis(timer_keeper); nobody -> nobody_has_this_name; Name -> Name end, kind => Kind, left_ms_at_most => Left}
     || {Kind, Receiver, Left} <- [{K, R, left(K, R)} || {K, R, _} <- proplists:get_value(timers, Dictionary)]].

left(send_after, self) -> 3600000;
left(start_timer, self) -> 7200000;
left(send_after, queue_many) -> 1800000;
left(send_after, nobody) -> 900000.

%% ---- ports --------------------------------------------------------------------------------------------------------------------
ports() ->
    Keeper = specimen(port_keeper,
                      fun(Ready) ->
                          {ok, Udp} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}]),
                          {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
                          Ram = open_port({spawn_driver, "ram_file_drv"}, [binary]),
                          register(port_with_a_name, Ram),
                          External = case os:find_executable("cat") of
                                         false -> none;
                                         Cat -> open_port({spawn_executable, Cat}, [binary])
                                     end,
                          put(ports, [Udp, Listen, Ram, External]),
                          Ready(), hold(port_keeper), ok
                      end),
    Watcher = specimen(port_watcher,
                       fun(Ready) ->
                           erlang:monitor(port, whereis(port_with_a_name)), link(whereis(port_with_a_name)),
                           Ready(), hold(port_watcher), ok
                       end),
    [{Keeper, port_keeper}, {Watcher, port_watcher}].

%% ---- ETS -----------------------------------------------------------------------------------------------------------------------
tables() ->
    Owner = specimen(table_owner, fun(Ready) -> [fill(T) || T <- table_kinds()], [keep(T) || T <- contents()], Ready(), hold(table_owner), ok end),
    [{Owner, table_owner}].

table_kinds() ->
    [{table_set, [set], 400}, {table_ordered, [ordered_set], 400}, {table_bag, [bag], 400},
     {table_duplicates, [duplicate_bag], 400}, {table_empty, [set], 0}, {table_large, [set], 5000},
     {table_private, [set, private], 10}, {table_protected, [ordered_set, protected], 10},
     {table_concurrent, [set, {write_concurrency, true}, {read_concurrency, true}], 400},
     {table_tree, [ordered_set, {write_concurrency, true}], 400},
     {table_compressed, [set, compressed], 400}, {table_second_key, [set, {keypos, 2}], 400},
     {'table with spaces\nand a line', [set], 3}].

%% A term of every kind in a table of every kind. The key of some is the term itself.
contents() ->
    [{contents_set, [set]}, {contents_ordered, [ordered_set, {keypos, 2}]}, {contents_bag, [bag]}, {contents_duplicates, [duplicate_bag, {keypos, 3}]},
     {contents_tree, [ordered_set, {write_concurrency, true}]}, {contents_compressed, [set, compressed]},
     {contents_compressed_ordered, [ordered_set, compressed, {keypos, 2}]}, {contents_compressed_tree, [ordered_set, compressed, {write_concurrency, true}]}].

keep({Name, Options}) ->
    ets:new(Name, [named_table, public | Options]),
    [ets:insert(Name, {{term, N}, {N, Term}, [Term | N]}) || {N, Term} <- scenario_terms:terms()].

fill({Name, Options, N}) ->
    Access = case [x || O <- Options, O =:= private orelse O =:= protected] of [] -> [public]; _ -> [] end,
    Unnamed = Name =:= table_private,
    Table = ets:new(Name, [named_table || not Unnamed] ++ Access ++ Options),
    many(N, fun(I) -> ets:insert(Table, {I, I, integer_to_binary(I), #{i => I}}) end),
    [ets:insert(Table, {I, extra}) || I <- lists:seq(1, min(N, 40)), lists:member(bag, Options) orelse lists:member(duplicate_bag, Options)],
    many(min(N, 20), fun(I) -> ets:delete(Table, I) end).

%% ---- flags of processes ------------------------------------------------------------------------------------------------------------
flags() ->
    Sensitive = specimen(flag_sensitive,
                         fun(Ready) -> put(secret, <<"not in any dump">>), process_flag(sensitive, true), Ready(), hold(secret), ok end),
    Saved = specimen(flag_saved_calls,
                     fun(Ready) -> process_flag(save_calls, 4), lists:seq(1, 3), Ready(), hold(flag_saved_calls), ok end),
    Traced = specimen(flag_token, fun(Ready) -> Ready(), hold(flag_token), ok end),
    Sender = specimen(flag_token_sender,
                      fun(Ready) -> seq_trace:set_token(label, 4711), Traced ! with_token, Ready(), hold(flag_token_sender), ok end),
    Leader = specimen(flag_own_leader,
                      fun(Ready) -> process_flag(priority, high), group_leader(self(), self()), Ready(), hold(leader), ok end),
    %% labels are of 27 and later
    Label = specimen(flag_label,
                     fun(Ready) -> catch erlang:apply(proc_lib, set_label, [{zoo_label, 42}]), Ready(), hold(label), ok end),
    [{Sensitive, flag_sensitive}, {Saved, flag_saved_calls}, {Traced, flag_token}, {Sender, flag_token_sender},
     {Leader, flag_own_leader}, {Label, flag_label}].

%% ---- modules: one with old code, one whose name needs quotes; tests/scenarios/make has written them by odd_modules/1 -------------------
odd_module() -> list_to_atom("odd m\x{f6}dule").

odd_modules(Ebin) ->
    [begin
         Forms = [{attribute, 1, module, Name}, {attribute, 2, export, [{wait, 1}]}, {attribute, 3, vsn, [<<"zoo">>]},
                  {function, 4, wait, 1, [{clause, 4, [{var, 4, 'X'}], [],
                   [{'receive', 4, [{clause, 4, [{tuple, 4, [{atom, 4, release}, {var, 4, 'X'}]}], [], [{var, 4, 'X'}]}]}]}]}],
         {ok, Name, Binary} = compile:forms(Forms, [binary, report_errors]),
         ok = file:write_file(filename:join(Ebin, unicode:characters_to_list([File, ".beam"])), Binary)
     end || {Name, File} <- [{odd_module(), "odd_name"}, {scenario_reloaded, "scenario_reloaded"}]].

code() ->
    Ebin = filename:dirname(code:which(?MODULE)),
    Load = fun(Module, File) ->
               {ok, Binary} = file:read_file(filename:join(Ebin, File)),
               {module, Module} = code:load_binary(Module, File, Binary)
           end,
    Load(odd_module(), "odd_name.beam"),
    Load(scenario_reloaded, "scenario_reloaded.beam"),
    Odd = odd_module(),
    Old = specimen(code_old, fun(Ready) -> Ready(), erlang:apply(scenario_reloaded, wait, [old]) end),
    New = specimen(code_odd_name, fun(Ready) -> Ready(), erlang:apply(Odd, wait, [new]) end),
    timer:sleep(50),
    Load(scenario_reloaded, "scenario_reloaded.beam"),      % what code_old runs is old code now
    [{Old, code_old}, {New, code_odd_name}].

%% ---- a supervision tree: tree_top - (tree_left - 3 workers, tree_right - 2 workers and a gen_statem, tree_pool - 5 dynamic) ------------------
tree() ->
    {ok, Top} = supervisor:start_link({local, tree_top}, ?MODULE, {top, [tree_left, tree_right, tree_pool]}),
    unlink(Top),
    many(5, fun(I) -> {ok, _} = supervisor:start_child(tree_pool, [{pooled, I}]) end),
    %% one worker has been restarted once
    [{_, First, _, _} | _] = lists:sort(supervisor:which_children(tree_left)),
    exit(First, kill),
    wait_until(restarted, fun() -> not lists:keymember(First, 2, supervisor:which_children(tree_left)) end),
    Top.

tree_roles() ->
    tree(),
    {ok, Events} = gen_event:start({local, tree_events}),
    ok = gen_event:add_handler(tree_events, ?MODULE, {handler, [a, b]}),
    [{Events, tree_events}].

supervision() ->
    [#{supervisor => Sup,
       children => [#{id => {text, io_lib:format("~0tp", [Id])}, pid => Pid, type => Type}
                    || {Id, Pid, Type, _} <- supervisor:which_children(Sup)]}
     || Sup <- [tree_top, tree_left, tree_right, tree_pool]].

start_supervisor(Name) -> supervisor:start_link({local, Name}, ?MODULE, {branch, Name}).

start_worker({statem, I}) -> gen_statem:start_link(?MODULE, {statem, I}, []);
start_worker(State) -> gen_server:start_link(?MODULE, State, []).

init({top, Names}) ->
    {ok, {#{strategy => one_for_one, intensity => 10, period => 1},
          [#{id => Name, start => {?MODULE, start_supervisor, [Name]}, type => supervisor} || Name <- Names]}};
init({branch, tree_pool}) ->
    {ok, {#{strategy => simple_one_for_one, intensity => 10, period => 1},
          [#{id => pooled, start => {?MODULE, start_worker, []}, restart => temporary}]}};
init({branch, Name}) ->
    Workers = case Name of
                  tree_left -> [{left, I} || I <- [1, 2, 3]];
                  tree_right -> [{right, 1}, {right, 2}, {statem, 3}]
              end,
    {ok, {#{strategy => one_for_all, intensity => 10, period => 1},
          [#{id => Id, start => {?MODULE, start_worker, [Id]}} || Id <- Workers]}};
init({statem, _} = Data) -> {ok, resting, Data};
init(State) -> {ok, State}.

callback_mode() -> handle_event_function.

handle_event(_Event, State) -> {ok, State}.
handle_event(_Type, _Event, _State, Data) -> {keep_state, Data}.
handle_call(_Request, State) -> {ok, ok, State}.
handle_call(_Request, _From, State) -> {reply, ok, State}.
handle_cast(_Request, State) -> {noreply, State}.
handle_info(_Message, State) -> {noreply, State}.
terminate(_Reason, _State) -> ok.
code_change(_, State, _) -> {ok, State}.
