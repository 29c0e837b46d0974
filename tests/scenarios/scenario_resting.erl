%% A node at rest that has something of everything, for what its core image and its crash dump say to be compared.
-module(scenario_resting).
-behaviour(supervisor).
-export([scenarios/0, resting/1, init/1, start_worker/1, worker/1, idle/1]).

-import(scenario_kit, [specimen/2, specimen/3, hold/1, wait_until/2, many/2]).

scenarios() -> [resting].

resting(_) ->
    {ok, Top} = supervisor:start_link({local, resting_top}, ?MODULE, [worker_a, worker_b]),
    unlink(Top),
    Mute = specimen(mute_server, fun(Ready) -> Ready(), hold(mute) end),
    %% A call that is made while messages wait leaves a marker in the queue, from OTP 24 on.
    Callers = many(3, fun(I) ->
                          specimen('', fun(Ready) ->
                                           self() ! {waits_already, I}, self() ! {waits_too, lists:seq(1, I)},
                                           Ready(), gen_server:call(mute_server, {never, I}, infinity)
                                       end)
                      end),
    many(4, fun(I) -> Mute ! {order, I, list_to_binary(lists:duplicate(100 * I, I))} end),
    Off = specimen(off_heap_queue, fun(Ready) -> process_flag(message_queue_data, off_heap), Ready(), hold(off_heap) end),
    many(20, fun(I) -> Off ! {off_heap, I, [I, {I}]} end),
    Grown = specimen(grown_binary, fun(Ready) ->
                                       Grown = grow(<<>>, 3000), <<_:500/binary, Slice:1000/binary, _/binary>> = Grown,
                                       Ready(), hold(grown), {Grown, Slice}
                                   end),
    Old = specimen(old_heap, fun(Ready) ->
                                 List = [{I, integer_to_list(I)} || I <- lists:seq(1, 2000)],
                                 [garbage_collect(self(), [{type, minor}]) || _ <- [1, 2, 3]],
                                 put(kept, #{a => 1, {b} => "two"}), Ready(), hold(old), List
                             end),
    Linked = many(2, fun(_) -> specimen('', fun(Ready) -> Ready(), hold(linked) end) end),
    specimen(link_holder, fun(Ready) ->
                              process_flag(trap_exit, true), [link(P) || P <- Linked], monitor(process, Old),
                              monitor(process, no_such_name), monitor(process, hd(Linked)), Ready(), hold(links)
                          end),
    Sleeper = specimen(suspended, fun(Ready) -> Ready(), hold(suspended) end),
    erlang:suspend_process(Sleeper),
    specimen(timer_holder, fun(Ready) ->
                               erlang:send_after(36000000, self(), {in_ten_hours, now}),
                               erlang:start_timer(72000000, self(), in_twenty),
                               Ready(), receive never -> ok after 50000000 -> ok end
                           end),
    specimen(table_holder, fun(Ready) -> tables(), Ready(), hold(tables) end),
    specimen(port_holder, fun(Ready) -> {ok, Socket} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}]), Ready(), hold(Socket) end),
    Asleep = spawn(fun() -> register(hibernating, self()), erlang:hibernate(?MODULE, idle, [asleep]) end),
    wait_until(hibernates, fun() -> {current_function, {erlang, hibernate, _}} = process_info(Asleep, current_function), true end),
    #{slogan => "asked for by an operator", settle => 1000,
      facts => #{callers => Callers, markers => list_to_integer(erlang:system_info(otp_release)) >= 24, grown => Grown}}.

tables() ->
    [begin
         T = ets:new(Name, [named_table, Type]),
         [ets:insert(T, {I, {I, <<I:64>>}, lists:seq(1, I rem 5)}) || I <- lists:seq(1, 100)]
     end || {Name, Type} <- [{a_set, set}, {an_ordered_set, ordered_set}, {a_bag, bag}]].

%% Appended to piece by piece: the VM makes room for it again and again, at last in a carrier of its own.
grow(Binary, 0) -> Binary;
grow(Binary, N) -> grow(<<Binary/binary, (binary:copy(<<N:32>>, 100))/binary>>, N - 1).

idle(What) -> hold(What).

init(Names) ->
    {ok, {{one_for_one, 1, 1},
          [{Name, {?MODULE, start_worker, [Name]}, permanent, 1000, worker, [?MODULE]} || Name <- Names]}}.

start_worker(Name) ->
    proc_lib:start_link(?MODULE, worker, [Name]).

worker(Name) ->
    register(Name, self()),
    proc_lib:init_ack({ok, self()}),
    hold(Name).
