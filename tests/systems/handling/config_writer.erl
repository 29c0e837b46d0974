-module(config_writer).
-behaviour(gen_event).
-export([init/1, handle_event/2, handle_call/2]).
init(Takes) -> {ok, Takes}.
handle_event(_, Takes) -> write(Takes), {ok, Takes}.
write(Takes) -> timer:sleep(Takes).
handle_call(_, S) -> {ok, ok, S}.
