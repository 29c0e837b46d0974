-module(kpro_connection).
-export([start/1, loop/1]).
start(Answers) -> proc_lib:spawn(?MODULE, loop, [Answers]).
loop(Answers) ->
    receive
        {produce_request, P, L} when Answers -> P ! {msg, self(), {produced, L}}, loop(Answers);
        {produce_request, _, _} -> loop(Answers)
    end.
