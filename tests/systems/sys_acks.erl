%% The report: whoever dispatches a command waits until all event handlers have acknowledged its events. One of these
%% dispatches a command within its own callback, so it waits for itself, and everybody else with it.
%% To hear: 25 processes wait in event_acks:await/2, one of them is welcome_bonus <pid>, which has 25 messages in its queue.
-module(sys_acks).
-export([sick/0, healthy/0]).
sick() -> start(true).
healthy() -> start(false).
start(Dispatches) ->
    Idle = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 200)],
    Handler = welcome_bonus:start(Dispatches),
    Requests = [spawn(fun() -> account_request:create(N), account_request:rest() end) || N <- lists:seq(1, 25)],
    {Queued, At} = case Dispatches of true -> {25, {event_acks, await, 2}}; false -> {0, {account_request, rest, 0}} end,
    sys_kit:until(fun() -> sys_kit:queue(Handler) =:= Queued andalso lists:all(fun(P) -> sys_kit:at(P) =:= At end, Requests) andalso
                           lists:all(fun(P) -> sys_kit:status(P) =:= waiting end, [Handler | Requests ++ Idle]) end).
