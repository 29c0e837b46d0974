%% SPDX-License-Identifier: Apache-2.0
%% Processes that are known by what they hold: libraries' States and frames, made by hand after their sources (named at each), and
%% what OTP itself makes: supervisors, names by via and global, groups, application masters.
%% main([FILE, dump | stay]): writes what each is to be called, a line of pid and words each; ends with a dump, or waits.
-module(identities_truth).
-export([main/1, start_link/1, init/1, register_name/2, unregister_name/1, whereis_name/1, send/2]).

main([File, What]) ->
    Told = lists:flatten([made(Case) || Case <- cases()] ++ [own(), supervisors(), groups(), masters()]),
    timer:sleep(300),
    ok = file:write_file(File, [[pid_to_list(Pid), $\t, Words, $\n] || {Pid, Words} <- Told]),
    ok = file:write_file([File, ".pid"], os:getpid()),
    case What of
        dump -> erlang:halt("enough");
        stay -> timer:sleep(infinity)
    end.

%% {how, module, term, words}: a State of a gen_server or gen_statem, or a term in a frame of a process that the module has started.
cases() ->
    Peer = {{10, 0, 0, 7}, 52310},
    [%% phoenix: lib/phoenix/socket.ex, channel/server.ex; phoenix_live_view: lib/phoenix_live_view/channel.ex, socket.ex
     {server, 'Elixir.Phoenix.Channel.Server', #{'__struct__' => 'Elixir.Phoenix.Socket', channel => 'Elixir.ShopWeb.RoomChannel',
       topic => <<"room:7">>, id => <<"users:ann">>, assigns => #{}}, "channel ShopWeb.RoomChannel, topic \"room:7\", socket \"users:ann\""},
     {server, 'Elixir.Phoenix.Channel.Server', #{'__struct__' => 'Elixir.Phoenix.Socket', channel => 'Elixir.ShopWeb.RoomChannel',
       topic => <<"room:8">>, id => nil}, "channel ShopWeb.RoomChannel, topic \"room:8\""},
     {server, 'Elixir.Phoenix.LiveView.Channel', #{socket => #{'__struct__' => 'Elixir.Phoenix.LiveView.Socket', id => <<"phx-F1">>,
       view => 'Elixir.ShopWeb.CartLive'}, topic => <<"lv:phx-F1">>, components => {}},
      "LiveView ShopWeb.CartLive, topic \"lv:phx-F1\", socket \"phx-F1\""},
     %% oban: lib/oban/queue/producer.ex, lib/oban/queue/executor.ex, lib/oban/job.ex
     {server, 'Elixir.Oban.Queue.Producer', #{'__struct__' => 'Elixir.Oban.Queue.Producer', meta => #{queue => <<"mailers">>, limit => 10},
       foreman => nil, running => #{}}, "Oban queue \"mailers\""},
     {slot, 'Elixir.Oban.Queue.Executor', #{'__struct__' => 'Elixir.Oban.Queue.Executor', job => #{'__struct__' => 'Elixir.Oban.Job',
       id => 4711, worker => <<"Shop.Mailer">>, queue => <<"mailers">>, args => #{}}}, "Oban job 4711 of \"Shop.Mailer\", queue \"mailers\""},
     %% broadway: lib/broadway/topology/subscriber.ex, processor_stage.ex; gen_stage: lib/gen_stage.ex
     {server, 'Elixir.GenStage', #{'__struct__' => 'Elixir.GenStage', mod => 'Elixir.Broadway.Topology.Subscriber', type => consumer,
       state => #{broadway_name => 'Elixir.Shop.Events', callback => 'Elixir.Broadway.Topology.ProcessorStage', partition => 0}},
      "Broadway Shop.Events, consumer of Broadway.Topology.ProcessorStage"},
     {server, 'Elixir.GenStage', #{'__struct__' => 'Elixir.GenStage', mod => 'Elixir.Shop.Feed', type => producer, state => []},
      "GenStage producer of Shop.Feed"},
     %% db_connection: lib/db_connection/connection.ex
     {statem, 'Elixir.DBConnection.Connection', #{mod => 'Elixir.Postgrex.Protocol', opts => [{hostname, <<"db1">>}, {password, <<"hush">>},
       {database, <<"shop_prod">>}], state => nil, client => closed, pool => self(), tag => make_ref()},
      "connection of Postgrex.Protocol to database \"shop_prod\""},
     %% couchdb: src/couch/src/couch_db_int.hrl, couch_db_updater.erl
     {server, couch_db_updater, {db, 1, <<"shards/00000000-7fffffff/shop.1">>, "/data/shop.couch", {couch_bt_engine, x}, self()},
      "writer of the database \"shards/00000000-7fffffff/shop.1\""},
     %% riak_core: src/riak_core_vnode.erl; vernemq: apps/vmq_server/src/vmq_queue.erl. They are gen_fsms, which newer releases lack:
     %% the loop of a gen_server holds the same State.
     {server, riak_core_vnode, {state, 1438665674247607560106752257205091097473808596992 div 2, riak_kv_vnode, {state, 1}, undefined, undefined},
      "vnode riak_kv_vnode, partition 719332837123803780053376128602545548736904298496"},
     {server, vmq_queue, {state, {[], <<"sensor-17">>}, {queue, [], 0}, fanout}, "queue of the MQTT client \"sensor-17\""},
     %% ranch: src/ranch_conns_sup.erl; cowboy: src/cowboy_http.erl, cowboy_http2.erl, cowboy_websocket.erl, cowboy_stream_h.erl
     {slot, ranch_conns_sup, {state, self(), api, 1, worker, 5000, ranch_tcp, cowboy_clear}, "connections of the listener api"},
     {slot, cowboy_http, {state, self(), api, socket, ranch_tcp, #{}, Peer, Peer, undefined}, "HTTP connection of {{10, 0, 0, 7}, 52310}, listener api"},
     {slot, cowboy_http, {state, self(), api, socket, ranch_tcp, undefined, #{}, <<>>, #{}, Peer, Peer, undefined},
      "HTTP connection of {{10, 0, 0, 7}, 52310}, listener api"},
     {slot, cowboy_http2, {state, self(), api, socket, ranch_tcp, undefined, #{}, Peer, Peer}, "HTTP/2 connection of {{10, 0, 0, 7}, 52310}, listener api"},
     {slot, cowboy_websocket, {state, self(), api, socket, ranch_tcp, #{}, true, shop_ws, undefined, infinity}, "WebSocket of shop_ws, listener api"},
     {slot, cowboy_stream_h, #{method => <<"GET">>, path => <<"/cart/7">>, peer => Peer, ref => api, streamid => 1, headers => #{}},
      "request GET \"/cart/7\", listener api"},
     %% ejabberd: xmpp/src/xmpp_stream_in.erl in the loop of p1_utils/src/p1_server.erl; src/mod_muc_room.erl in that of p1_fsm.erl
     {slot, p1_server, #{auth_module => ejabberd_auth_mnesia, user => <<"ann">>, server => <<"example.org">>, resource => <<"phone">>},
      "XMPP client \"ann\" of \"example.org\", \"phone\""},
     {slot, p1_fsm, {state, <<"kitchen">>, <<"conference.example.org">>, <<"example.org">>, {none, none}, jid}, "room \"kitchen\" of \"conference.example.org\""},
     %% emqx: apps/emqx/src/emqx_connection.erl, emqx_channel.erl, emqx_logger.erl
     {slot, emqx_connection, {state, esockd_transport, socket, Peer, Peer, running, parse, serialize,
       {channel, #{}, #{clientid => <<"meter-3">>, username => <<"u">>}, session}, gc}, "channel of the MQTT client \"meter-3\""},
     {entry, emqx_connection, {'$logger_metadata$', #{clientid => <<"meter-4">>, peername => Peer}}, "channel of the MQTT client \"meter-4\""}].

made({How, Module, Term, Words}) ->
    {ok, Module, Code} = compile:forms(forms(How, Module)),
    {module, Module} = code:load_binary(Module, atom_to_list(Module), Code),
    {made({How, Module}, Term), Words}.

made({server, Module}, State) -> {ok, Pid} = gen_server:start(Module, State, []), Pid;
made({statem, Module}, State) -> {ok, Pid} = gen_statem:start(Module, State, []), Pid;
made({_, Module}, Term) -> proc_lib:spawn(Module, loop, [Term]).

forms(How, Module) -> [form(Text) || Text <- [io_lib:format("-module(~p).", [Module]), "-compile([export_all, nowarn_export_all])." | code(How)]].
code(server) -> ["init(S) -> {ok, S}.", "handle_call(_, _, S) -> {reply, ok, S}.", "handle_cast(_, S) -> {noreply, S}."];
code(statem) -> ["init(S) -> {ok, connected, S}.", "callback_mode() -> handle_event_function.", "handle_event(_, _, _, S) -> {keep_state, S}."];
code(slot) -> ["loop(S) -> receive never -> ok end, {S}."];
code(entry) -> ["loop({K, V}) -> put(K, V), receive never -> ok end, {V}."].
form(Text) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Text)),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.

%% A registry of one's own, as {via, Module, Name} asks for; Elixir's and gproc's names are of these forms.
register_name(_, _) -> yes.
unregister_name(_) -> ok.
whereis_name(_) -> undefined.
send(_, _) -> ok.

own() ->
    [begin {ok, Pid} = gen_server:start({via, ?MODULE, Name}, ?MODULE, server, []), {Pid, Words} end ||
        {Name, Words} <- [{{'Elixir.Shop.Registry', <<"cart-7">>}, "\"cart-7\" in Shop.Registry"}, {{n, l, {room, 7}}, "{:room, 7} in gproc"},
                          {{ledger, 12}, "named {:ledger, 12}"}]] ++
    [begin {ok, Suspended} = gen_server:start({via, ?MODULE, {'Elixir.Shop.Registry', <<"cart-8">>}}, ?MODULE, server, []), sys:suspend(Suspended),
           {Suspended, "\"cart-8\" in Shop.Registry"} end] ++
    [begin {ok, Global} = gen_server:start({global, ledger_of_all}, ?MODULE, server, []), {Global, "ledger_of_all (a name of global's)"} end].

start_link(Children) -> supervisor:start_link(?MODULE, Children).
init(server) -> {ok, state};
init(Children) -> {ok, {{one_for_one, 1, 1}, [{Id, {proc_lib, start_link, [?MODULE, start_child, []]}, permanent, 1000, worker, []} || Id <- Children, Id =/= none]}}.

supervisors() ->
    {ok, Pid} = supervisor:start_link(?MODULE, [none]),
    [supervisor:start_child(Pid, {Id, {gen_server, start_link, [?MODULE, server, []]}, permanent, 1000, worker, []}) || Id <- [basket, till, shelf, lift]],
    [{Pid, "supervisor identities_truth of lift, shelf, till and 1 more"}].

groups() ->
    case code:ensure_loaded(pg) of
        {module, pg} ->
            {ok, _} = pg:start(shop_groups),
            Pid = spawn(fun() -> receive never -> ok end end),
            ok = pg:join(shop_groups, {watchers, 7}, Pid),
            [{Pid, "member of the group {:watchers, 7} of shop_groups"}];
        _ -> []
    end.

masters() ->
    [{Pid, "application master of kernel"} || Pid <- processes(), process_info(Pid, current_function) =:= {current_function, {application_master, main_loop, 2}}].
