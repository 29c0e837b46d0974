-module(mc_worker).
-behaviour(gen_server).
-export([start/2, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start(Port, Delay) -> gen_server:start({local, ?MODULE}, ?MODULE, {Port, Delay}, []).
init({Port, Delay}) -> self() ! reconnect, {ok, #{port => Port, delay => Delay, attempts => 0}}.
handle_info(reconnect, S = #{port := P, attempts := N, delay := Delay}) ->
    case gen_tcp:connect({127,0,0,1}, P, [binary, {active, false}]) of
        {error, econnrefused} -> refused;
        {ok, Own} -> gen_tcp:close(Own)    %% once in a while it is its own peer
    end,
    erlang:send_after(Delay, self(), reconnect),
    {noreply, S#{attempts := N + 1}}.
handle_call(attempts, _, S = #{attempts := N}) -> {reply, N, S}.
handle_cast(_, S) -> {noreply, S}.
