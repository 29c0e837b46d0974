%% What all scenarios need: processes that come to rest in a known place, and a second node.
-module(scenario_kit).
-export([option/2, number/3, specimen/2, specimen/3, hold/1, wait_until/2, wait_until/3, roles/1, many/2, healthy/1, plan/2, resting/1, all_rest/1,
         debug/1, start_peer/1, stopped_peer/1, stop_node/1, silent_ticks/2, calling_nodes/0, peer_main/1, free_port/0]).
%% the names of nodes are looked up here instead of in a daemon (see start_peer/1)
-export([start_link/0, register_node/2, register_node/3, port_please/2, port_please/3, address_please/3,
         listen_port_please/2, names/0, names/1]).

%% The value of `-Key Value` on the command line.
option(Key, Default) ->
    case init:get_argument(Key) of
        {ok, [[Value | _] | _]} -> Value;
        _ -> Default
    end.

%% The N-th argument of a scenario as a number.
number(N, Args, _Default) when length(Args) >= N -> list_to_integer(lists:nth(N, Args));
number(_, _, Default) -> Default.

%% With SCENARIO_DEBUG in the environment: says where the scenario is, without any other process's help.
debug(What) -> os:getenv("SCENARIO_DEBUG") =:= false orelse erlang:display(What).

%% Spawns Body(Ready) under the registered name Name ('' for none) and returns when Body has called Ready().
specimen(Name, Body) -> specimen(Name, Body, []).

specimen(Name, Body, Options) ->
    Maker = self(),
    Tag = make_ref(),
    Pid = spawn_opt(fun() ->
                        Name =:= '' orelse register(Name, self()),
                        Body(fun() -> Maker ! Tag end)
                    end, Options),
    receive Tag -> debug({made, Name}), Pid
    after 20000 -> exit({specimen_is_late, Name})
    end.

%% Waits for ever, with What in the frame.
hold(What) ->
    receive {release, What} -> What end.

wait_until(What, Condition) -> wait_until(What, Condition, 4000).

wait_until(What, _, 0) -> exit({never_happened, What});
wait_until(What, Condition, N) ->
    case catch Condition() of
        true -> ok;
        _ -> timer:sleep(5), wait_until(What, Condition, N - 1)
    end.

roles(List) -> maps:from_list([{Pid, Role} || {Pid, Role} <- List, is_pid(Pid)]).

many(N, Fun) -> [Fun(I) || I <- lists:seq(1, N)].

%% ---- diseases and their healthy twins: the same load, asked for with the argument `healthy` -----------------------
healthy(Args) -> lists:member("healthy", Args).

plan(Args, Facts) ->
    Findings = case healthy(Args) of true -> #{findings => [], healthy => true}; false -> #{} end,
    #{slogan => "asked for by an operator", facts => maps:merge(Facts, Findings)}.

resting(Pid) ->
    case process_info(Pid, status) of {status, S} -> S =:= waiting orelse S =:= suspended; _ -> false end.

%% Who waits for code to be loaded has not come to rest.
all_rest(Pids) -> All = [whereis(code_server), whereis(erl_prim_loader) | Pids],
                  wait_until(all_rest, fun() -> lists:all(fun resting/1, All) end), timer:sleep(200),
                  wait_until(all_rest, fun() -> lists:all(fun resting/1, All) end).

%% ---- a second node -----------------------------------------------------------------------------------------
%% Two nodes on the loopback interface without epmd: this module is the name service (-epmd_module). Every node
%% listens on the port that `-dist_port` gives it, and knows its peer's port by `-peer_port`.

%% Makes this node distributed as Name@127.0.0.1, starts peer@127.0.0.1 beside it, and returns the peer's name.
%% The peer ends when the connection to this node does. `unavailable` where a node can't be started.
start_peer(Name) ->
    [Mine, Theirs] = [free_port(), free_port()],
    put_environment(Mine, Theirs),
    Self = list_to_atom(lists:concat([Name, "@127.0.0.1"])),
    case net_kernel:start([Self, longnames]) of
        {ok, _} -> start_peer(Self, Mine, Theirs);
        _ -> unavailable
    end.

start_peer(Self, Mine, Theirs) ->
    erlang:set_cookie(Self, scenario_cookie),
    Peer = 'peer@127.0.0.1',
    erlang:set_cookie(Peer, scenario_cookie),
    Ebin = filename:dirname(code:which(?MODULE)),
    Arguments = ["-noshell", "-noinput", "+S", "1:1", "-pa", Ebin, "-kernel", "dist_auto_connect", "never",
                 "-start_epmd", "false", "-epmd_module", atom_to_list(?MODULE),
                 "-dist_port", integer_to_list(Theirs), "-peer_port", integer_to_list(Mine),
                 "-name", atom_to_list(Peer), "-setcookie", "scenario_cookie",
                 "-s", atom_to_list(?MODULE), "peer_main", atom_to_list(Self)],
    Erlexec = filename:join(os:getenv("BINDIR"), "erlexec"),
    _ = open_port({spawn_executable, Erlexec}, [{args, Arguments}, nouse_stdio]),
    case catch wait_until(peer, fun() -> lists:member(Peer, nodes(connected)) end) of
        ok -> Peer;
        _ -> unavailable
    end.

put_environment(Mine, Theirs) ->
    application:set_env(kernel, scenario_ports, {Mine, Theirs}),
    ok.

ports() ->
    case application:get_env(kernel, scenario_ports) of
        {ok, Ports} -> Ports;
        undefined -> {list_to_integer(option(dist_port, "0")), list_to_integer(option(peer_port, "0"))}
    end.

%% A second node, and what makes it stop for two minutes: whoever calls it waits. Not in a healthy twin.
stopped_peer(Args) ->
    Peer = start_peer(running),
    {Peer, case healthy(Args) of
               true -> fun() -> ok end;
               false -> fun() -> rpc:cast(Peer, ?MODULE, stop_node, [120000]), timer:sleep(500) end
           end}.

stop_node(Milliseconds) ->
    erts_debug:set_internal_state(available_internal_state, true),
    erts_debug:set_internal_state(block, Milliseconds).

%% How many are in a call to several nodes; global's own process is, too, where a node has hung since it was connected.
calling_nodes() ->
    length([P || P <- processes(), {_, {gen_server, F, _}} <- [process_info(P, current_function)], lists:member(F, [rec_nodes, rec_nodes_rest, do_multi_call])]).

%% Waits until the connection's process has been told to look at least three times whether something has come, and gives the least
%% time of silence that it knows of, in milliseconds: at the first of these it may still have found something. Where ticks are a quarter of net_ticktime, two times are enough.
silent_ticks(true, _) -> 0;
silent_ticks(false, Peer) ->
    Port = proplists:get_value(Peer, erlang:system_info(dist_ctrl)),
    {connected, Controller} = erlang:port_info(Port, connected),
    Release = list_to_integer(erlang:system_info(otp_release)),
    {Looks, Interval} = if Release >= 24 -> {3, 1000}; true -> {2, 15000} end,
    erlang:trace(Controller, true, ['receive']),
    many(Looks, fun(_) -> receive {trace, Controller, 'receive', {_, tick}} -> ok after 60000 -> exit(no_tick) end end),
    erlang:trace(Controller, false, ['receive']),
    wait_until(handled, fun() -> {message_queue_len, 0} =:= process_info(Controller, message_queue_len) end),
    all_rest([Controller]),
    (Looks - 1) * Interval.

peer_main([Other]) ->
    pong = connect(Other, 200),
    erlang:monitor_node(Other, true),
    spawn(fun() -> register(peer_service, self()), hold(peer_service) end),
    receive {nodedown, Other} -> halt(0) end.

connect(Other, N) ->
    case net_kernel:connect_node(Other) of
        true -> pong;
        _ when N > 0 -> timer:sleep(50), connect(Other, N - 1)
    end.

free_port() ->
    {ok, Socket} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Socket),
    gen_tcp:close(Socket),
    Port.

start_link() -> ignore.
register_node(Name, Port) -> register_node(Name, Port, inet).
register_node(_Name, _Port, _Family) -> {ok, 1}.
port_please(Name, Host) -> port_please(Name, Host, infinity).
port_please(_Name, _Host, _Timeout) -> {port, element(2, ports()), 5}.
address_please(_Name, _Host, _Family) -> {ok, {127, 0, 0, 1}, element(2, ports()), 5}.
listen_port_please(_Name, _Host) -> {ok, element(1, ports())}.
names() -> {error, address}.
names(_Host) -> {error, address}.
