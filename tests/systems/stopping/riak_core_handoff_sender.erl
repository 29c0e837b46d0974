-module(riak_core_handoff_sender).
-behaviour(gen_server).
-export([start_link/2, init/1, handle_call/3, handle_cast/2, terminate/2]).
-record(state, {socket, target, unsent = []}).
start_link(Port, N) -> gen_server:start_link({local, ?MODULE}, ?MODULE, {Port, N}, []).
init({Port, Count}) ->
    process_flag(trap_exit, true),
    {ok, S} = gen_tcp:connect({127,0,0,1}, Port, [binary, {packet, 4}, {active, false}]),
    {ok, #state{socket = S, target = {'dev2@127.0.0.1', Port}, unsent = [binary:copy(<<N:64>>, 32768) || N <- lists:seq(1, Count)]}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
terminate(_Reason, #state{socket = S, unsent = Batches}) ->
    lists:foreach(fun(B) -> ok = gen_tcp:send(S, B) end, Batches),
    gen_tcp:close(S).
