-module(eldap).
-export([open/1, search/2, init/1, loop/1]).
-record(eldap, {host = {127,0,0,1}, port, fd, id = 0, anon_auth = true, timeout = infinity}).
open(Port) -> proc_lib:start_link(?MODULE, init, [Port]).
init(Port) ->
    register(eldap_worker, self()),
    {ok, S} = gen_tcp:connect({127,0,0,1}, Port, [binary, {active, false}, {packet, line}]),
    proc_lib:init_ack({ok, self()}),
    loop(#eldap{port = Port, fd = S}).
search(Handle, Filter) ->
    Handle ! {self(), {search, Filter}},
    P = whereis(Handle),
    receive {P, Result} -> Result end.
loop(E = #eldap{fd = S, id = Id}) ->
    receive
        {From, {search, Filter}} ->
            ok = gen_tcp:send(S, ["uid=", Filter, "\n"]),
            {ok, _} = gen_tcp:recv(S, 0),
            From ! {self(), true},
            loop(E#eldap{id = Id + 1})
    end.
