%% The report: it can't be told which process has so many files open (erlang/otp #5229): each that was opened without
%% `raw` has a process of its own, and one of these per report was left behind.
%% To hear: report_exporter has 300 files open.
-module(sys_files).
-export([sick/0, healthy/0]).
sick() -> start(false).
healthy() -> start(true).
start(Closes) ->
    {ok, P} = report_exporter:start(),
    Names = ["report-" ++ integer_to_list(I) ++ ".csv" || I <- lists:seq(1, 300)],
    [ok = gen_server:call(P, {export, Closes, N}) || N <- Names],
    [ok = file:delete(N) || N <- Names],
    ready.
