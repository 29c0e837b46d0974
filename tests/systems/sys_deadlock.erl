%% The report: the manager of vnodes calls the manager of handoffs, which asks a vnode, which asks the manager of
%% vnodes; under load with calls that wait for ever all three wait for each other, and nothing is served any more.
%% To hear: riak_core_vnode_manager, riak_core_handoff_manager and riak_kv_vnode wait for each other (a deadlock);
%% 40 riak_kv_get_fsm wait behind riak_kv_vnode.
-module(sys_deadlock).
-export([sick/0, healthy/0]).

sick() -> start(true, fun(Gets) ->
    lists:all(fun(P) -> sys_kit:at(P) =:= {riak_core_util, sync, 2} end, names() ++ Gets)
        andalso sys_kit:queue(riak_kv_vnode) =:= 41 end).
healthy() -> start(false, fun(Gets) ->
    lists:all(fun(P) -> sys_kit:at(P) =:= {riak_core_util, loop, 3} end, names())
        andalso lists:all(fun(P) -> sys_kit:at(P) =:= {riak_kv_get_fsm, waiting, 1} end, Gets) end).
names() -> [riak_core_vnode_manager, riak_core_handoff_manager, riak_kv_vnode].

start(Together, Reached) ->
    [riak_core_util:start(N) || N <- names()],
    Me = self(),
    [begin
         N ! {management_tick, Me},
         receive {ticking, N} when Together -> ok; {ticking, N} -> whereis(N) ! go, sys_kit:until(fun() -> sys_kit:at(N) =:= {riak_core_util, loop, 3} end) end
     end || N <- names()],
    Gets = [riak_kv_get_fsm:start(K) || K <- lists:seq(1, 40)],
    sys_kit:until(fun() -> not Together orelse sys_kit:queue(riak_kv_vnode) =:= 40 end),
    [N ! go || Together, N <- names()],
    sys_kit:until(fun() -> Reached(Gets) end).
