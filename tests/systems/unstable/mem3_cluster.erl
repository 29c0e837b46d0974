-module(mem3_cluster).
-behaviour(gen_server).
-export([start_link/3, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(state, {mod, ctx, start_time, last_change, period, start_period, timer}).
start_link(C, P, S) -> gen_server:start_link(?MODULE, [couch_peruser, C, P, S], []).
init([M, C, P, S]) -> {ok, #state{mod = M, ctx = C, start_time = os:timestamp(), period = P, start_period = S, timer = erlang:send_after(S * 60000, self(), stability_check)}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info(_, S) -> {noreply, S}.
