-module(config_listener).
-behaviour(gen_event).
-export([init/1, handle_event/2, handle_call/2]).
init(Section) -> {ok, {Section, #{}}}.
handle_event({config_change, Section, Key, Value}, {Section, Seen}) -> {ok, {Section, Seen#{Key => Value}}};
handle_event(_, S) -> {ok, S}.
handle_call(_, S) -> {ok, ok, S}.
