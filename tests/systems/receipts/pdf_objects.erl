-module(pdf_objects).
-behaviour(gen_server).
-export([start_link/0, add/2, init/1, handle_call/3, handle_cast/2]).
-record(state, {last_id = 0, objects = #{}}).
start_link() -> gen_server:start_link(?MODULE, [], []).
add(Objects, Object) -> gen_server:call(Objects, {add, Object}).
init([]) -> {ok, #state{}}.
handle_call({add, Object}, _From, #state{last_id = Id, objects = Objects} = State) ->
    {reply, {object, Id, 0}, State#state{last_id = Id + 1, objects = Objects#{Id => Object}}}.
handle_cast(_, State) -> {noreply, State}.
