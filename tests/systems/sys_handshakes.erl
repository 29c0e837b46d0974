%% The report: connections that have been idle for hours keep the heaps that their handshakes made, megabytes each; the
%% more clients there are, the more memory is full of nothing.
%% To hear: 40 idle tls_gateway_conn processes keep heaps of which a collection would free nearly all. Of two that have
%% as much each, and more, there is nothing to fear.
-module(sys_handshakes).
-export([sick/0, healthy/0]).

sick() -> start(40, 8000).
healthy() -> start(2, 150000).

start(Connections, Certificates) ->
    Those = [tls_gateway_conn:start(Certificates) || _ <- lists:seq(1, Connections)],
    sys_kit:until(fun() -> lists:all(fun(P) -> sys_kit:status(P) =:= waiting end, Those) end).
