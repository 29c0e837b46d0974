-module(ejabberd_auth_cache).
-behaviour(gen_server).
-export([start_link/0, user_exists/1, init/1, handle_call/3, handle_cast/2]).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
user_exists(U) -> gen_server:call(?MODULE, {user_exists, U}, infinity).
init([]) -> {ok, #{}}.
handle_call({user_exists, U}, _, S) ->
    case S of
        #{U := Known} -> {reply, Known, S};
        _ -> Known = eldap:search(eldap_worker, U), {reply, Known, S#{U => Known}}
    end.
handle_cast(_, S) -> {noreply, S}.
