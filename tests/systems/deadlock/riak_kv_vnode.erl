-module(riak_kv_vnode).
-export([new/0, handle/2, tick/1]).
-record(state, {index, mod = riak_kv_vnode, handoff_target = none}).
new() -> #state{index = 1164634117248063262943561351070788031288321245184}.
handle(get_modindex, S) -> {{S#state.mod, S#state.index}, S};
handle({get, Key}, S) -> {{ok, Key}, S}.
tick(S) ->
    ok = riak_core_util:sync(riak_core_vnode_manager, {unregister, S#state.index}),
    S#state{handoff_target = 'dev2@127.0.0.1'}.
