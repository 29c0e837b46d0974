-module(gun).
-export([open/2, request/3, await/3, init/3]).
-record(state, {owner, host, port, socket, streams = [], buffer = <<>>}).

open(Host, Port) -> proc_lib:start_link(?MODULE, init, [self(), Host, Port]).

init(Owner, Host, Port) ->
    {ok, S} = gen_tcp:connect(Host, Port, [binary, {active, once}, {packet, line}]),
    proc_lib:init_ack({ok, self()}),
    loop(#state{owner = Owner, host = Host, port = Port, socket = S}).

loop(State = #state{socket = S, streams = Streams}) ->
    receive
        {request, ReplyTo, StreamRef, Method, Path} ->
            ok = gen_tcp:send(S, [Method, " ", Path, "\n"]),
            loop(State#state{streams = Streams ++ [{StreamRef, ReplyTo}]});
        {tcp, S, Line} ->
            [{StreamRef, ReplyTo} | Rest] = Streams,
            ReplyTo ! {gun_response, self(), StreamRef, 200, Line},
            ok = inet:setopts(S, [{active, once}]),
            loop(State#state{streams = Rest});
        {tcp_closed, S} -> exit(closed)
    end.

request(Conn, Method, Path) ->
    StreamRef = make_ref(),
    Conn ! {request, self(), StreamRef, Method, Path},
    StreamRef.

await(Conn, StreamRef, Timeout) ->
    MRef = erlang:monitor(process, Conn),
    receive
        {gun_response, Conn, StreamRef, Status, Body} -> erlang:demonitor(MRef, [flush]), {response, Status, Body};
        {'DOWN', MRef, process, Conn, Reason} -> {error, Reason}
    after Timeout -> erlang:demonitor(MRef, [flush]), {error, timeout}
    end.
