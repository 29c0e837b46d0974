%% Nodes that wait for what is outside of them, behind a library or a process of their own: another node behind a proxy or a lock,
%% name servers, files, the other side of TLS; and those whose turn never comes. Each takes `healthy` as its last argument for the
%% twin with the same load and no disease.
-module(scenario_outside).
-export([scenarios/0, proxy_hung/1, remote_lock/1, nodes_asked/1, name_servers/1, file_server/1, tls_readers/1, tls_handshakes/1, connects/1, starved/1, log_unwritten/1, silent_peers/1, silent_sockets/1, silent_tls/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, client/2, asks_nodes/2, lookup/2, reads/2, tls_writer/1, shakes/3, connecting/2, ticks/1, spins/1, service/3, handles/3, queries/4]).

-import(scenario_kit, [hold/1, wait_until/2, wait_until/3, many/2, healthy/1, plan/2, all_rest/1, stopped_peer/1, silent_ticks/2, calling_nodes/0]).

scenarios() -> [proxy_hung, remote_lock, nodes_asked, name_servers, file_server, tls_readers, tls_handshakes, connects, starved, log_unwritten, silent_peers, silent_sockets, silent_tls].

%% ---- other nodes -------------------------------------------------------------------------------------------------------------
%% Few call the node that hangs; the others call those.
proxy_hung(Args) ->
    {Peer, Stop} = stopped_peer(Args),
    Stop(),
    Proxies = many(3, fun(_) -> {ok, P} = gen_server:start(?MODULE, {proxy, Peer}, []), P end),
    Callers = many(60, fun(I) -> proc_lib:spawn(?MODULE, client, [lists:nth(I rem 3 + 1, Proxies), I]) end),
    all_rest(Callers),
    plan(Args, #{findings => ['node-hung'], peer => Peer, waiting => 63 + calling_nodes(), callers => 3 + calling_nodes(), silent => silent_ticks(healthy(Args), Peer)}).

client(Server, I) -> R = gen_server:call(Server, ask, infinity), hold({R, I}).

%% Transactions on a table that is also on a node which hangs: it, too, is asked for each lock.
remote_lock(Args) ->
    {Peer, Stop} = stopped_peer(Args),
    ok = mnesia:start(),
    ok = rpc:call(Peer, mnesia, start, []),
    {ok, _} = mnesia:change_config(extra_db_nodes, [Peer]),
    {atomic, ok} = mnesia:create_table(account, [{ram_copies, [node(), Peer]}]),
    ok = mnesia:wait_for_tables([account], 5000),
    Stop(),
    Those = many(60, fun(I) -> proc_lib:spawn(scenario_running, transaction, [I, {account, I, I}]) end),
    all_rest(Those),
    plan(Args, #{findings => ['lock-held'], peer => Peer, waiting => 60, silent => silent_ticks(healthy(Args), Peer)}).

%% Calls to the same server on all nodes.
nodes_asked(Args) ->
    {Peer, Stop} = stopped_peer(Args),
    Stop(),
    Kinds = [erpc, gen_server],
    Those = many(40, fun(I) -> proc_lib:spawn(?MODULE, asks_nodes, [lists:nth(I rem 2 + 1, Kinds), Peer]) end),
    all_rest(Those),
    plan(Args, #{findings => ['node-hung'], peer => Peer, waiting => 20 + calling_nodes(), silent => silent_ticks(healthy(Args), Peer)}).

asks_nodes(erpc, Peer) -> R = erpc:multicall([Peer], erlang, node, []), hold(R);
asks_nodes(gen_server, Peer) -> R = gen_server:multi_call([Peer], peer_nobody, ask), hold(R).

%% A service that has answered what it was asked over each connection, and does not answer the next question. In the healthy twin
%% nobody asks it, and those who serve its connections wait for the next question as clients wait for an answer.
silent_peers(Args) ->
    Those = clients_of_service([gen_tcp], 60, Args),
    Sent = [Bytes || P <- erlang:ports(), {connected, Pid} <- [erlang:port_info(P, connected)], lists:member(Pid, Those), {output, Bytes} <- [erlang:port_info(P, output)]],
    plan(Args, #{findings => ['silent-peers'], waiting => 60, sent => lists:sum(Sent), severity => medium}).

%% The same by sockets that are no ports.
silent_sockets(Args) ->
    clients_of_service([socket, backend], 40, Args),
    plan(Args, #{findings => ['silent-peers'], waiting => 40, severity => medium}).

%% The same by TLS.
silent_tls(Args) ->
    clients_of_service([tls], 40, Args),
    (plan(Args, #{findings => ['silent-peers'], waiting => 40, severity => medium}))#{asked => [self()]}.

clients_of_service(Kinds, N, Args) ->
    Healthy = healthy(Args),
    Ports = [{Kind, begins_service(Kind, Healthy)} || Kind <- Kinds],
    Those = many(N, fun(I) -> {Kind, Port} = lists:nth(1 + I rem length(Ports), Ports), proc_lib:spawn(?MODULE, queries, [Kind, Port, I, Healthy]) end),
    wait_until(answered, fun() -> lists:all(fun answered/1, Those) end, 12000),
    all_rest(Those),
    Those.

answered(Pid) -> {dictionary, All} = process_info(Pid, dictionary), proplists:get_value(answers, All) =:= 2.

begins_service(Kind, Healthy) ->
    Maker = self(),
    spawn(fun() -> {L, Port} = listens(Kind), Maker ! {port, Port}, service(Kind, L, Healthy) end),
    receive {port, P} -> P end.

listens(tls) -> tls_listen([{packet, 4}, {active, false}, binary]);
listens(socket) ->
    {ok, L} = socket:open(inet, stream, tcp),
    Bound = socket:bind(L, #{family => inet, addr => {127, 0, 0, 1}, port => 0}),
    ok = case Bound of {ok, _} -> ok; ok -> ok end,
    ok = socket:listen(L, 100),
    {ok, #{port := Port}} = socket:sockname(L),
    {L, Port};
listens(Kind) ->
    {ok, L} = gen_tcp:listen(0, backend(Kind) ++ [binary, {packet, 4}, {active, false}, {backlog, 100}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    {L, Port}.

backend(backend) -> [{inet_backend, socket}];
backend(_) -> [].

%% Accepts, and has somebody serve each connection.
service(Kind, L, Healthy) ->
    S = case Kind of
            tls -> accept(L);
            socket -> {ok, A} = socket:accept(L), A;
            _ -> {ok, A} = gen_tcp:accept(L), A
        end,
    P = spawn(?MODULE, handles, [Kind, Healthy, 2]),
    hand_over(Kind, S, P),
    P ! {serve, S},
    service(Kind, L, Healthy).

hand_over(socket, S, P) -> ok = socket:setopt(S, otp, controlling_process, P);
hand_over(tls, S, P) -> ok = ssl:controlling_process(S, P);
hand_over(_, S, P) -> ok = gen_tcp:controlling_process(S, P).

handles(Kind, Healthy, N) -> receive {serve, S} -> serves(Kind, S, Healthy, N) end.
serves(Kind, S, false, 0) -> hold({Kind, S});
serves(Kind, S, Healthy, N) ->
    Asked = request(Kind, S),
    ok = sends(Kind, S, Asked),
    serves(Kind, S, Healthy, N - 1).
request(Kind, S) -> {ok, Asked} = reads_from(Kind, S), Asked.

sends(tls, S, Data) -> ssl:send(S, Data);
sends(socket, S, Data) -> socket:send(S, Data);
sends(_, S, Data) -> gen_tcp:send(S, Data).
reads_from(tls, S) -> ssl:recv(S, 0);
reads_from(socket, S) -> socket:recv(S, 4);
reads_from(_, S) -> gen_tcp:recv(S, 0).

queries(Kind, Port, I, Healthy) ->
    S = connects(Kind, Port),
    [begin <<I:32>> = query(Kind, S, I), put(answers, N) end || N <- [1, 2]],
    Next = case Healthy of true -> nothing; false -> query(Kind, S, I) end,
    hold({Next, S}).

connects(tls, Port) -> {ok, S} = ssl:connect({127, 0, 0, 1}, Port, [binary, {packet, 4}, {active, false}, {verify, verify_none}]), S;
connects(socket, Port) ->
    {ok, S} = socket:open(inet, stream, tcp),
    ok = socket:connect(S, #{family => inet, addr => {127, 0, 0, 1}, port => Port}),
    S;
connects(Kind, Port) -> {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, backend(Kind) ++ [binary, {packet, 4}, {active, false}]), S.

query(Kind, S, I) -> ok = sends(Kind, S, <<I:32>>), {ok, R} = reads_from(Kind, S), R.

%% A log on a disk that is full.
log_unwritten(Args) ->
    File = case healthy(Args) of true -> "/dev/null"; false -> "/dev/full" end,
    ok = logger:add_handler(audit_file, logger_std_h, #{config => #{file => File}}),
    [logger:error("order ~p", [I]) || I <- lists:seq(1, 20)],
    ok = logger_std_h:filesync(audit_file),
    timer:sleep(300),
    plan(Args, #{findings => ['alarm'], waiting => 1, severity => medium}).

%% ---- name servers, files, TCP -----------------------------------------------------------------------------------------------------
name_servers(Args) ->
    {ok, Socket} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, Port} = inet:port(Socket),
    inet_db:set_lookup(case healthy(Args) of true -> [file]; false -> [dns] end),
    inet_db:add_host({127, 0, 0, 1}, ["db.internal.example"]),
    inet_db:set_resolv_conf(""),
    [inet_db:del_ns(IP, P) || {IP, P} <- inet_db:res_option(nameservers)],
    inet_db:add_ns({127, 0, 0, 1}, Port),
    inet_db:set_timeout(1000000),
    Those = many(60, fun(I) -> proc_lib:spawn(?MODULE, lookup, ["db.internal.example", I]) end),
    all_rest(Those),
    plan(Args, #{findings => ['stuck-servers'], waiting => 60, severity => medium}).

lookup(Name, I) -> R = inet:gethostbyname(Name), hold({R, I}).

%% One opens a file on a device that does not answer (a pipe without a writer); the others ask the same server for small things.
file_server(Args) ->
    Pipe = filename:join(filename:dirname(scenario_kit:option(truth, "./truth")), "file_server.pipe"),
    healthy(Args) orelse spawn(fun() -> R = file:open(Pipe, [read]), hold(R) end),
    Healthy = healthy(Args),
    timer:sleep(300),
    Those = many(60, fun(I) -> proc_lib:spawn(?MODULE, reads, ["beamheap", I]) end),
    all_rest(Those),
    %% they, who opens the pipe, and the server itself
    plan(Args, #{findings => ['wait-convoy'], server => whereis(file_server_2), waiting => case Healthy of true -> 0; false -> 62 end}).

reads(File, I) -> R = file:read_file_info(File), hold({R, I}).

%% Connections that are asked for and not answered: their listener's backlog is full.
connects(Args) ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {backlog, case healthy(Args) of true -> 128; false -> 0 end}]),
    {ok, Port} = inet:port(Listen),
    healthy(Args) orelse many(4, fun(_) -> gen_tcp:connect({127, 0, 0, 1}, Port, [], 200) end),
    Those = many(60, fun(_) -> proc_lib:spawn(?MODULE, connecting, [Port, []]) end),
    all_rest(Those),
    Waiting = [P || P <- Those, process_info(P, current_function) =/= {current_function, {scenario_kit, hold, 1}}],
    plan(Args, #{findings => ['stuck-servers'], waiting => length(Waiting), severity => medium}).

connecting(Port, Options) -> R = gen_tcp:connect({127, 0, 0, 1}, Port, Options), hold(R).

%% ---- TLS -------------------------------------------------------------------------------------------------------------------------------
tls() ->
    {ok, _} = application:ensure_all_started(ssl),
    Key = [{digest, sha256}, {key, {namedCurve, secp256r1}}],
    Chain = #{root => Key, intermediates => [], peer => Key},
    #{server_config := Server} = public_key:pkix_test_data(#{server_chain => Chain, client_chain => Chain}),
    Server.

tls_listen(Options) ->
    {ok, Listen} = ssl:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}, {backlog, 128} | Options ++ tls()]),
    {ok, {_, Port}} = ssl:sockname(Listen),
    {Listen, Port}.

accept(Listen) ->
    {ok, Socket} = ssl:transport_accept(Listen),
    {ok, Ready} = ssl:handshake(Socket),
    Ready.

%% Connections of TLS whose clients do not read.
tls_readers(Args) ->
    N = 30,
    Healthy = healthy(Args),
    Narrow = case Healthy of true -> []; false -> [{sndbuf, 8192}, {recbuf, 8192}] end,
    {Listen, Port} = tls_listen(Narrow),
    many(N, fun(_) -> spawn(fun() ->
        {ok, S} = ssl:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {verify, verify_none} | Narrow]),
        tls_reader(Healthy, S) end) end),
    Writers = many(N, fun(_) -> S = accept(Listen), W = proc_lib:spawn(?MODULE, tls_writer, [S]), ok = ssl:controlling_process(S, W), W end),
    Bytes = binary:copy(<<"x">>, 200000),
    [W ! {write, Bytes} || _ <- lists:seq(1, case Healthy of true -> 3; false -> 30 end), W <- Writers],
    Taken = fun(W) -> process_info(W, message_queue_len) =:= {message_queue_len, 0} end,
    Healthy andalso wait_until(taken, fun() -> lists:all(Taken, Writers) end, 12000),
    timer:sleep(3000),
    all_rest(Writers),
    (plan(Args, #{findings => ['slow-socket'], waiting => N}))#{asked => [self()]}.

tls_reader(true, Socket) -> {ok, _} = ssl:recv(Socket, 0), tls_reader(true, Socket);
tls_reader(false, Socket) -> hold(Socket).
tls_writer(Socket) -> receive {write, Bytes} -> ok = ssl:send(Socket, Bytes), tls_writer(Socket) end.

%% Clients of TLS whose server takes the connection, and says nothing.
tls_handshakes(Args) ->
    {ok, Silent} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {backlog, 128}]),
    {ok, SilentPort} = inet:port(Silent),
    {Listen, Port} = tls_listen([]),
    Healthy = healthy(Args),
    To = case Healthy of true -> Port; false -> SilentPort end,
    Those = many(40, fun(I) -> proc_lib:spawn(?MODULE, shakes, [To, I, []]) end),
    Healthy andalso many(40, fun(_) -> accept(Listen) end),
    all_rest(Those),
    (plan(Args, #{findings => ['stuck-servers'], waiting => 40, severity => medium}))#{asked => [self()]}.

shakes(Port, I, More) -> R = ssl:connect({127, 0, 0, 1}, Port, [{verify, verify_none} | More], infinity), hold({R, I}).

%% ---- turns -----------------------------------------------------------------------------------------------------------------------------
%% As many as there are schedulers have a higher priority, and never wait; nobody else gets a turn.
starved(Args) ->
    Priority = case healthy(Args) of true -> low; false -> high end,
    process_flag(priority, max),    % the scenario itself goes on
    Others = many(300, fun(I) -> spawn(?MODULE, ticks, [I]) end),
    Loops = many(erlang:system_info(schedulers_online), fun(I) ->
        spawn_opt(fun() -> receive go -> ?MODULE:spins(I) end end, [{priority, Priority}]) end),
    (plan(Args, #{findings => ['run-queue'], others => length(Others)}))
        #{asked => [self()], last => fun() -> begins(scenario_kit:option(death, "dump"), Loops) end}.

%% Who is to be looked at from outside has to say so first, which takes the file server.
begins("dump", Loops) -> [L ! go || L <- Loops], timer:sleep(1500);
begins(_, Loops) -> spawn_opt(fun() -> timer:sleep(500), [L ! go || L <- Loops] end, [{priority, max}]).

spins(I) -> spins((I * 7 + 1) rem 1000003).
ticks(I) -> timer:sleep(10), ticks(I).

%% ---- callbacks ---------------------------------------------------------------------------------------------------------------------------
init(State) -> {ok, State}.
handle_call(ask, _, {proxy, Peer} = State) -> R = rpc:call(Peer, erlang, node, [], infinity), {reply, R, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(_, State) -> {noreply, State}.
