-module(sr_entities_handler).
-export([start/1, init/1, loop/1]).
start(How) -> proc_lib:spawn(?MODULE, init, [How]).
init(How) -> register(?MODULE, self()), loop({How, 0, 0}).
loop({How, Good, Bad}) ->
    receive {get, Url} ->
        [_, Query] = string:split(Url, "?"),
        [Name, _] = string:split(Query, "="),
        case catch erlang:How(Name) of
            A when is_atom(A) -> loop({How, Good + 1, Bad});
            _ -> loop({How, Good, Bad + 1})
        end
    end.
