%% The report: timers of the module timer outlive those who have set them (after ArweaveTeam/arweave #933).
%% To hear: 30,000 timers are set for timer_server, which are to call arweave_limiter_group:tick/2.
-module(sys_limits).
-export([sick/0, healthy/0]).
sick() -> start(15000).
healthy() -> start(2).
start(Groups) ->
    [arweave_limiter_group:start(I) || I <- lists:seq(1, Groups)],
    sys_kit:until(fun() -> sys_kit:queue(timer_server) =:= 0 end),
    timer:sleep(300), ready.
