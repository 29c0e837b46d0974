%% The report: a web server counts the sockets that it serves and stops accepting at a maximum; connections that are
%% closed before their first request are not counted off, so the count stays at the maximum while few are left.
%% To hear: mochiweb_socket_server takes no more connections: its active_sockets is at max, 64, and no acceptor is
%% left, although only 4 connections are alive; 12 clients wait.
-module(sys_listener).
-export([sick/0, healthy/0]).

sick() -> start(60).
healthy() -> start(0).

start(Lost) ->
    {ok, Server} = mochiweb_socket_server:start_link(64, Lost =:= 0),
    Port = mochiweb_socket_server:port(),
    sys_kit:connect_from_outside(Port, 4),
    sys_kit:until(fun() -> mochiweb_socket_server:active() =:= 4 end),
    [begin
         {ok, S} = gen_tcp:connect({127,0,0,1}, Port, []),
         sys_kit:until(fun() -> mochiweb_socket_server:active() =:= 4 + N end),
         gen_tcp:close(S)
     end || N <- lists:seq(1, Lost)],
    [erlang:garbage_collect() || Lost > 0],
    sys_kit:connect_from_outside(Port, if Lost > 0 -> 12; true -> 0 end),
    sys_kit:until(fun() -> length([P || P <- processes(), process_info(P, current_function) =:= {current_function, {mochiweb_acceptor, serve, 2}}]) =:= 4
                           andalso sys_kit:queue(Server) =:= 0 end).
