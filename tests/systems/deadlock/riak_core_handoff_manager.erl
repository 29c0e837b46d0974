-module(riak_core_handoff_manager).
-export([new/0, handle/2, tick/1]).
-record(state, {excl = [], handoffs = []}).
new() -> #state{}.
handle({status, _}, S) -> {S#state.handoffs, S}.
tick(S) ->
    {Mod, Index} = riak_core_util:sync(riak_kv_vnode, get_modindex),
    S#state{handoffs = [{Mod, Index, self()}]}.
