%% The report: each probe of a metric is started with a min_heap_size of 40,000 words (Feuerlabs/exometer_core #100).
%% To hear: 200 exometer_probe processes have heaps as large as they were asked for, and use next to nothing of them.
-module(sys_probes).
-export([sick/0, healthy/0]).
sick() -> start([{min_heap_size, 40000}]).
healthy() -> start([]).
start(Options) -> [exometer_probe:start(I, Options) || I <- lists:seq(1, 200)], timer:sleep(200), ready.
