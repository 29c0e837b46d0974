-module(eredis_client).
-export([start_link/2, init/2, loop/1]).
-record(state, {host, port, socket, queue = queue:new()}).
start_link(Host, Port) -> proc_lib:start_link(?MODULE, init, [Host, Port]).
init(Host, Port) ->
    register(?MODULE, self()),
    {ok, S} = gen_tcp:connect(Host, Port, [binary, {active, once}, {packet, line}, {buffer, 65536}]),
    proc_lib:init_ack({ok, self()}),
    loop(#state{host = Host, port = Port, socket = S}).
loop(State = #state{socket = S, queue = Q}) ->
    receive
        {request, From, Command} ->
            ok = gen_tcp:send(S, [Command, "\n"]),
            loop(State#state{queue = queue:in({1, From}, Q)});
        {tcp, S, Line} ->
            {{value, {1, {Pid, Ref}}}, Rest} = queue:out(Q),
            Pid ! {Ref, {ok, Line}},
            ok = inet:setopts(S, [{active, once}]),
            loop(State#state{queue = Rest})
    end.
