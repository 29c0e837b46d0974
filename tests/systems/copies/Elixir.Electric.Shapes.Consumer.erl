-module('Elixir.Electric.Shapes.Consumer').
-behaviour(gen_server).
-export([start/2, init/1, handle_call/3, handle_cast/2]).
start(N, Config) -> gen_server:start(?MODULE, {N, Config}, []).
init({N, Config}) -> {ok, #{'__struct__' => 'Elixir.Electric.Shapes.Consumer.State', shape_handle => <<"shape-", (integer_to_binary(N))/binary>>, stack_config => Config, buffer => [], latest_offset => {N, 0}}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
