%% The report: listeners of configuration changes are added as handlers to one event manager by a process that never
%% ends, so they are never taken away; a busy cluster had tens of millions of them and 15 gigabytes in that manager.
%% To hear: the event manager config_event has 30,000 handlers config_listener: they are added and never removed.
-module(sys_handlers).
-export([sick/0, healthy/0]).
sick() -> start(30000).
healthy() -> start(12).
start(N) ->
    {ok, _} = gen_event:start_link({local, config_event}),
    {ok, _} = config:start_link(),
    [ok = config:listen_for_changes(couch_log_config_listener, {K, self()}) || K <- lists:seq(1, N)],
    sys_kit:until(fun() -> length(gen_event:which_handlers(config_event)) =:= N end).
