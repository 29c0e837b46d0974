-module(riak_core_vnode_manager).
-export([new/0, handle/2, tick/1]).
-record(state, {forwarding = #{}, handoff = [], never_started = []}).
new() -> #state{}.
handle({unregister, Index}, S) -> {ok, S#state{forwarding = maps:remove(Index, S#state.forwarding)}};
handle(all_handoffs, S) -> {S#state.handoff, S}.
tick(S) ->
    Status = riak_core_util:sync(riak_core_handoff_manager, {status, outbound}),
    S#state{handoff = Status}.
