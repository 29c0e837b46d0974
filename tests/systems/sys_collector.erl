%% The report: a monitor keeps its figures in a persistent term and replaces it each millisecond, so that the VM has all
%% processes look through their heaps, again and again (Logflare #3803).
%% To hear: persistent terms are replaced again and again, which is most of the node's work.
-module(sys_collector).
-export([sick/0, healthy/0]).
sick() -> start(persistent_term), sys_kit:until(fun() -> reductions() > 12000000 end).
healthy() -> start(table), timer:sleep(1000), ready.
start(Where) ->
    spawn(fun() -> register(source_sup, self()), [spawn_link(log_source, run, [I]) || I <- lists:seq(1, 5000)], receive stop -> ok end end),
    spawn(spool_monitor, run, [Where]).
reductions() -> {reductions, N} = process_info(list_to_pid("<0.2.0>"), reductions), N.
