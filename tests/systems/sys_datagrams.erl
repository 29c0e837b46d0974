%% The report: a server of retransmissions takes datagrams in active mode, faster than it answers them (molderl #16):
%% they stand in its queue instead of being dropped by the kernel.
%% To hear: mold_recovery has thousands of {udp, ...} messages in its queue and sleeps in mold_recovery:replay/1.
-module(sys_datagrams).
-export([sick/0, healthy/0]).
sick() -> start(true, 15000), sys_kit:until(fun() -> sys_kit:queue(mold_recovery) > 10000 andalso sys_kit:at(mold_recovery) =:= {timer, sleep, 1} end).
healthy() -> start(once, 100), sys_kit:until(fun() -> sys_kit:queue(mold_recovery) =:= 0 end).
start(Active, Count) ->
    {ok, S} = mold_recovery:start(Active),
    Port = gen_server:call(S, port),
    {ok, C} = gen_udp:open(0, [binary]),
    [begin gen_udp:send(C, {127,0,0,1}, Port, <<I:64, 0:3200>>), [timer:sleep(1) || I rem 50 =:= 0] end || I <- lists:seq(1, Count)],
    gen_udp:close(C).
