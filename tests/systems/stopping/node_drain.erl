-module(node_drain).
-export([stop/0]).
stop() ->
    register(node_drain, self()),
    ok = supervisor:terminate_child(riak_core_handoff_sender_sup, riak_core_handoff_sender),
    receive drained -> ok end.
