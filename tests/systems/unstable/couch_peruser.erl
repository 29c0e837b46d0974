-module(couch_peruser).
-behaviour(gen_server).
-export([start/0, changes/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(state, {db_name = <<"_users">>, delete_dbs = false, mem3_cluster_pid, cluster_stable = false, changes = 0, states = []}).
start() -> gen_server:start({local, ?MODULE}, ?MODULE, [], []).
changes() -> gen_server:call(?MODULE, changes).
init([]) -> {ok, reset(#state{})}.
reset(S) -> {ok, P} = mem3_cluster:start_link(self(), 5, 60), S#state{mem3_cluster_pid = P}.
handle_call(changes, _, S) -> {reply, S#state.changes, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info(cluster_unstable, S = #state{mem3_cluster_pid = P, changes = C}) -> unlink(P), {noreply, reset(S#state{changes = C + 1})}.
