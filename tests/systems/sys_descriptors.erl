%% ulimit: -n 256
%% The report: a web server's acceptors get emfile once the connections that clients keep open have taken all the file
%% descriptors which the process may have; nothing can be accepted or opened any more until some are closed.
%% To hear: the node has used up its file descriptors (limit 256): about 230 TCP connections to its port are open, each
%% of a 'Elixir.ThousandIsland.Handler' that waits for a request; the acceptors get emfile.
-module(sys_descriptors).
-export([sick/0, healthy/0]).

sick() -> start(400, true).
healthy() -> start(20, false).

start(Clients, Full) ->
    {module, _} = code:ensure_loaded('Elixir.ThousandIsland.Handler'),
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {backlog, 1024}]),
    {ok, Port} = inet:port(L),
    Acceptors = ['Elixir.ThousandIsland.Acceptor':start_link(L, N) || N <- lists:seq(1, 5)],
    sys_kit:connect_from_outside(Port, Clients),
    sys_kit:until(fun() ->
        case Full of
            true -> lists:all(fun(A) -> lists:member(sys_kit:at(A), [{'Elixir.ThousandIsland.Acceptor', back_off, 2}]) end, Acceptors);
            false -> length(['x' || P <- processes(), process_info(P, current_function) =:= {current_function, {'Elixir.ThousandIsland.Handler', handle, 2}}]) =:= Clients
        end end).
