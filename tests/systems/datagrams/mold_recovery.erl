-module(mold_recovery).
-behaviour(gen_server).
-export([start/1, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start(Active) -> gen_server:start({local, ?MODULE}, ?MODULE, Active, []).
init(Active) -> {ok, S} = gen_udp:open(0, [binary, {ip, {127,0,0,1}}, {recbuf, 4000000}, {active, Active}]), {ok, {state, S, Active}}.
handle_call(port, _, S) -> {ok, P} = inet:port(element(2, S)), {reply, P, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info({udp, Socket, _, _, Packet}, S = {state, Socket, Active}) ->
    replay(Packet),
    [ok = inet:setopts(Socket, [{active, once}]) || Active =:= once],
    {noreply, S}.
replay(Packet) -> timer:sleep(20), byte_size(Packet).
