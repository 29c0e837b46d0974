%% An event handler that gives each new account a bonus.
-module(welcome_bonus).
-export([start/1, loop/1]).
start(Dispatches) ->
    P = spawn(fun() -> loop(Dispatches) end),
    register(?MODULE, P),
    P.
loop(Dispatches) ->
    receive {event, From, Ref, Event} -> handle(Event, Dispatches), From ! {ack, Ref}, ?MODULE:loop(Dispatches) end.
handle(Event, true) -> {ok, _} = account_request:dispatch({bonus, Event});
handle(_, false) -> ok.
