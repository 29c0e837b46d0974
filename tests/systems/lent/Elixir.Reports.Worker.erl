-module('Elixir.Reports.Worker').
-behaviour(gen_server).
-export([start_link/0, init/1, handle_call/3, handle_cast/2]).
start_link() -> gen_server:start_link(?MODULE, [], []).
init([]) -> {ok, #{jobs => 0}}.
handle_call({build, N}, _, S) -> {reply, {pdf, N}, S}.
handle_cast(_, S) -> {noreply, S}.
