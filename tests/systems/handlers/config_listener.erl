-module(config_listener).
-behaviour(gen_event).
-export([init/1, handle_event/2, handle_call/2, handle_info/2]).
init({Mod, {K, Pid}}) -> {ok, {Mod, {[{"section", "log" ++ integer_to_list(K)}], Pid}}}.
handle_event(_, S) -> {ok, S}.
handle_call(_, S) -> {ok, ok, S}.
handle_info(_, S) -> {ok, S}.
