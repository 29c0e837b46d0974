-module(upload_worker).
-behaviour(gen_server).
-export([start/1, take/2, init/1, handle_call/3, handle_cast/2]).
start(I) -> {ok, _} = gen_server:start({local, list_to_atom("upload_worker_" ++ integer_to_list(I))}, ?MODULE, [], []).
take(Worker, Body) -> gen_server:call(Worker, {take, #{method => put, headers => [], body => Body}}).
init([]) -> {ok, #{seen => 0}}.
%% what the request was is for whoever logs
handle_call({take, Request}, _, #{seen := N} = State) ->
    put(logger_metadata, #{request => Request}),
    {reply, byte_size(maps:get(body, Request)), State#{seen := N + 1}, hibernate}.
handle_cast(_, State) -> {noreply, State}.
