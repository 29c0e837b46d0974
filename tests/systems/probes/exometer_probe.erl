-module(exometer_probe).
-export([start/2, init/1]).
-record(st, {name, type = exometer_histogram, mod_state, ref, sample_interval = infinity}).
start(I, O) -> spawn_opt(?MODULE, init, [[webapp, {latency, I}]], O).
init(N) -> process_flag(trap_exit, true), loop(#st{name = N, mod_state = {slide, lists:seq(1, 40)}, ref = make_ref()}).
loop(S) -> receive {exometer_probe, {value, V}} -> loop(S#st{mod_state = {slide, [V]}}); stop -> ok end.
