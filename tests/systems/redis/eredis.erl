-module(eredis).
-export([q/2]).
q(Client, Command) ->
    Ref = erlang:monitor(process, Client),
    Client ! {request, {self(), Ref}, Command},
    receive
        {Ref, Result} -> erlang:demonitor(Ref, [flush]), Result;
        {'DOWN', Ref, process, _, Reason} -> {error, Reason}
    end.
