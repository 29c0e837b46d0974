%% The report: whoever asks a server of locks for two keys that are the same gets the first, and waits for the second,
%% which it has itself, for ever; all others that want it wait as well.
%% To hear: 91 processes wait for account_locks; one of them, in transfers:transfer/2, has what all of them want and
%% waits for it itself.
-module(sys_mutex).
-export([sick/0, healthy/0]).
sick() -> start(7).
healthy() -> start(8).
start(Seller) ->
    {ok, Locks} = account_locks:start(),
    One = proc_lib:spawn(transfers, transfer, [7, Seller]),
    timer:sleep(200),
    Ps = [One | [proc_lib:spawn(transfers, transfer, [7, 1000 + I]) || I <- lists:seq(1, 90)]],
    sys_kit:until(fun() -> sys_kit:queue(Locks) =:= 0 andalso lists:all(fun(P) -> sys_kit:status(P) =:= waiting end, Ps) end).
