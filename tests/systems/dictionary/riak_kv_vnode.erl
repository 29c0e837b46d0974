-module(riak_kv_vnode).
-behaviour(gen_server).
-export([start_link/0, fold/2, init/1, handle_call/3, handle_cast/2]).
-record(state, {index, main, failed = 0}).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
fold(K, Fails) -> gen_server:call(?MODULE, {fold, K, Fails}).
init([]) -> {ok, #state{index = 0, main = bitcask:open("/var/lib/riak/bitcask/0", 0)}}.
handle_call({fold, K, Fails}, _, S = #state{failed = F}) ->
    Ref = bitcask:open("/var/lib/riak/bitcask/" ++ integer_to_list(K * 1141798154), K),
    case catch bitcask:fold(Ref, Fails) of
        ok -> bitcask:close(Ref), {reply, ok, S};
        {'EXIT', _} -> {reply, ok, S#state{failed = F + 1}}
    end.
handle_cast(_, S) -> {noreply, S}.
