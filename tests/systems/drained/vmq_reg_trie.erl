-module(vmq_reg_trie).
-export([start/0, init/1, handle_cast/2]).
-record(state, {status = init, event_handler, event_queue = []}).
start() -> gen_server2:start(?MODULE).
init([]) -> ets:new(vmq_trie, [named_table, public]), {ok, #state{status = ready}}.
handle_cast({event, {updated, {Mp, Topic}, _, Subs}}, S) ->
    case get(slow) of undefined -> timer:sleep(600), put(slow, true); _ -> ok end,
    _ = drained(), {ok, _} = vmq_metadata:fold(Topic), ets:insert(vmq_trie, {{Mp, Topic}, Subs}), {noreply, S}.
drained() -> ok.
