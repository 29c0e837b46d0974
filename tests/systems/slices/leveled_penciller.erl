-module(leveled_penciller).
-behaviour(gen_server).
-export([start_link/1, push/1, size/0, init/1, handle_call/3, handle_cast/2]).
-record(state, {manifest = [], levelzero_cache = gb_trees:empty(), ledger_sqn = 0, take}).
start_link(Take) -> gen_server:start_link({local, ?MODULE}, ?MODULE, Take, []).
push(Object) -> gen_server:call(?MODULE, {push, Object}, infinity).
size() -> gen_server:call(?MODULE, size, infinity).
init(Take) -> {ok, #state{take = Take}}.
handle_call({push, <<_:12/binary, Key:80/binary, _/binary>>}, _, S = #state{levelzero_cache = C, ledger_sqn = N, take = Take}) ->
    {reply, ok, S#state{levelzero_cache = gb_trees:enter(N, {o, Take(Key), N}, C), ledger_sqn = N + 1}};
handle_call(size, _, S) -> {reply, gb_trees:size(S#state.levelzero_cache), S}.
handle_cast(_, S) -> {noreply, S}.
