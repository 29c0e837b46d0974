%% The report: a store keeps the state of each opened folder in the process dictionary of the vnode that opened it,
%% under a fresh reference; what is opened for a fold that fails is never closed, and the dictionary grows.
%% To hear: riak_kv_vnode has 40,000 entries in its process dictionary, {reference, #bc_state{}}, put there by
%% bitcask:open and never erased.
-module(sys_dictionary).
-export([sick/0, healthy/0]).
sick() -> start(true).
healthy() -> start(false).
start(Fails) ->
    {ok, P} = riak_kv_vnode:start_link(),
    [ok = riak_kv_vnode:fold(K, Fails) || K <- lists:seq(1, 40000)],
    sys_kit:until(fun() -> {dictionary, D} = process_info(P, dictionary), (length(D) > 40000) =:= Fails end).
