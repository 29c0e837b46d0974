-module('Elixir.Mailer.Producer').
-behaviour(gen_server).
-export([start_link/0, buffered/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
buffered() -> gen_server:call(?MODULE, buffered).
init([]) -> {ok, #{'__struct__' => 'Elixir.GenStage', type => producer, buffer => queue:new(), demand => 0, consumers => #{}, dispatcher_mod => 'Elixir.GenStage.DemandDispatcher'}}.
handle_call(buffered, _, S = #{buffer := B}) -> {reply, queue:len(B), S}.
handle_cast(Event, S = #{buffer := B}) -> {noreply, dispatch(S#{buffer := queue:in(Event, B)})}.
handle_info({'$gen_producer', {Pid, Ref}, {subscribe, Max}}, S = #{demand := D}) ->
    erlang:monitor(process, Pid),
    {noreply, dispatch(S#{consumers := #{Ref => Pid}, demand := D + Max})};
handle_info({'$gen_producer', _, {ask, N}}, S = #{demand := D}) -> {noreply, dispatch(S#{demand := D + N})}.
dispatch(S = #{demand := D, buffer := B, consumers := C}) when D > 0 ->
    case queue:out(B) of
        {{value, E}, Rest} ->
            [{Ref, Pid}] = maps:to_list(C),
            Pid ! {'$gen_consumer', {self(), Ref}, [E]},
            dispatch(S#{demand := D - 1, buffer := Rest});
        {empty, _} -> S
    end;
dispatch(S) -> S.
