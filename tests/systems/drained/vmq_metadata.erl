-module(vmq_metadata).
-behaviour(gen_server).
-export([start/1, fold/1, init/1, handle_call/3, handle_cast/2]).
start(C) -> gen_server:start({local, ?MODULE}, ?MODULE, C, []).
fold(Topic) -> gen_server:call(?MODULE, {fold, Topic}, infinity).
init(C) -> {ok, {C, 0}}.
handle_call({fold, _}, _, {true, 3}) -> compact(), {reply, {ok, []}, {true, 0}};
handle_call({fold, _}, _, {C, N}) -> {reply, {ok, []}, {C, N + 1}}.
handle_cast(_, S) -> {noreply, S}.
compact() -> receive {compacted, _Log} -> ok end.
