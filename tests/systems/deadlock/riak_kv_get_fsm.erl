-module(riak_kv_get_fsm).
-export([start/1, init/1, waiting/1]).
start(K) -> proc_lib:spawn(?MODULE, init, [K]).
init(K) ->
    {ok, _} = riak_core_util:sync(riak_kv_vnode, {get, {<<"users">>, <<"u", (integer_to_binary(K))/binary>>}}),
    waiting(K).
waiting(K) -> receive {client, _} -> waiting(K) end.
