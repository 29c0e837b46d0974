%% The report: settlements ask the desk for a rate while they hold the lock of the accounts; since the desk looks at the
%% accounts itself before it answers, under the same lock, nobody goes on.
%% To hear: a deadlock through the lock: fx_desk wants it, and the settlement that holds it waits for fx_desk.
-module(sys_rates).
-export([sick/0, healthy/0]).
sick() -> start(true, fun(Ps) -> sys_kit:at(fx_desk) =:= {global, random_sleep, 1} andalso
    lists:sort([sys_kit:at(P) || P <- Ps]) =:= [{gen, do_call, 4} | lists:duplicate(length(Ps) - 1, {global, random_sleep, 1})] end).
healthy() -> start(false, fun(Ps) -> lists:all(fun(P) -> sys_kit:at(P) =:= {settlement, settle, 1} end, Ps) end).
start(Locks, Reached) ->
    fx_desk:start(Locks),
    Ps = [settlement:start(I) || I <- lists:seq(1, 30)],
    sys_kit:until(fun() -> Reached(Ps) end).
