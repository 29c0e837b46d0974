%% The report: a coordinator starts a task for each run that has finished, and awaits none of them (sykli #260): their
%% answers, and the messages that they have ended, stay in its queue for ever.
%% To hear: team_coordinator has 24,000 messages, half of them answers of tasks and half 'DOWN', and takes none.
-module(sys_unawaited).
-export([sick/0, healthy/0]).
sick() -> start(false).
healthy() -> start(true).
start(Awaits) ->
    ok = team_coordinator:start(Awaits),
    [begin team_coordinator:run_finished(I, self()), receive {ok, I} -> ok end end || I <- lists:seq(1, 12000)],
    timer:sleep(200), ready.
