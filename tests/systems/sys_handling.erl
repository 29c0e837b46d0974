%% The report: handlers of configuration changes that are never taken out (couchdb-config #10), seen while one of them is
%% at work: an event goes through all of them, and others queue up.
%% To hear: config_event has thousands of event handlers config_listener; 1,500 messages queue up.
-module(sys_handling).
-export([sick/0, healthy/0]).
sick() -> start(8000, 60000, 1500), sys_kit:until(fun() -> sys_kit:at(config_event) =:= {timer, sleep, 1} end).
healthy() -> start(12, 1, 20), sys_kit:until(fun() -> sys_kit:queue(config_event) =:= 0 end).
start(Handlers, Takes, Events) ->
    {ok, _} = gen_event:start_link({local, config_event}),
    ok = gen_event:add_handler(config_event, config_writer, Takes),
    [ok = gen_event:add_handler(config_event, {config_listener, make_ref()}, "replicator") || _ <- lists:seq(1, Handlers)],
    [ok = gen_event:notify(config_event, {config_change, "log", "level", I}) || I <- lists:seq(1, Events)].
