%% The report: each acceptor of a TCP daemon starts the next one with proc_lib when it has taken a connection, so the
%% list of ancestors that proc_lib keeps in the process dictionary grows by one with each connection ever taken.
%% To hear: 300 gen_tcpd processes hold a list of 8,000 ancestors each in '$ancestors': each acceptor was started by
%% the one before it.
-module(sys_ancestors).
-export([sick/0, healthy/0]).

sick() -> start(chain).
healthy() -> start(listener).

start(How) ->
    {ok, _} = gen_tcpd:start_link(How),
    gen_tcpd ! {connections, 8000, 300},
    sys_kit:until(fun() -> gen_tcpd:serving() =:= 300 end).
