%% Appends an event, and waits until the handler says that it has seen it.
-module(event_acks).
-export([append/1, await/2]).
append(Event) ->
    Ref = make_ref(),
    welcome_bonus ! {event, self(), Ref, Event},
    {ok, await(Ref, Event)}.
await(Ref, Event) -> receive {ack, Ref} -> {seen, Event} end.
