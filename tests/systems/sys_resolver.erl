%% The report: a server of peers asks for the address of each new one within its own callback, the operating system's
%% resolver of names has lost its name server, and all who call the server wait with it.
%% To hear: peers <pid> waits for inet_gethost_native, which has asked the resolver (DNS), in peers:on_add_peer/2; 12
%% wait for it. (A process of that name that says nothing stands for the program inet_gethost.)
-module(sys_resolver).
-export([sick/0, healthy/0]).
sick() -> start(fun(_, _) -> silent end, waits).
healthy() -> start(fun(From, Request) -> From ! {Request, {error, nxdomain}} end, at_rest).
start(Answer, Which) ->
    Native = spawn(fun() -> native(Answer) end),
    register(inet_gethost_native, Native),
    Peers = peers:start(),
    peers:add("seed2.mainnet.example"),
    sys_kit:until(fun() -> (Which =:= at_rest) =:= (element(1, sys_kit:at(Peers)) =:= gen_server) andalso sys_kit:status(Peers) =:= waiting end),
    Callers = [peer_session:start(N) || N <- lists:seq(1, 12)],
    sys_kit:until(fun() -> lists:all(fun(P) -> sys_kit:status(P) =:= waiting andalso
        (Which =:= at_rest) =:= (sys_kit:at(P) =:= {peer_session, rest, 0}) end, Callers) end).
native(Answer) ->
    receive {{From, Ref}, _} -> Answer(From, Ref); _ -> ok end,
    native(Answer).
