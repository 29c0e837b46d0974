%% The report: a pool hands a worker to a caller whose call has just timed out or who has died meanwhile; the worker
%% stays among the busy ones for ever. When that has happened to all of them, everybody waits.
%% To hear: all 8 workers of the pool poolex_reports are lent to callers that are dead; no worker is idle, and 20
%% callers (report_builder) wait in waiting_callers.
-module(sys_lent).
-export([sick/0, healthy/0]).
sick() -> start(false, 20, report_builder_waits).
healthy() -> start(true, 8, report_builder_works).
start(Monitors, Callers, What) ->
    {ok, P} = 'Elixir.Poolex':start_link(poolex_reports, 8, Monitors),
    [begin
         {Pid, R} = spawn_monitor(fun() -> {ok, _} = 'Elixir.Poolex':checkout(poolex_reports) end),
         receive {'DOWN', R, process, Pid, normal} -> ok end
     end || _ <- lists:seq(1, 8)],
    sys_kit:until(fun() -> sys_kit:queue(P) =:= 0 end),
    Builders = [report_builder:start(N) || N <- lists:seq(1, Callers)],
    sys_kit:until(fun() -> sys_kit:queue(P) =:= 0 andalso lists:all(fun(B) -> sys_kit:status(B) =:= waiting andalso
        (What =:= report_builder_waits) =:= (sys_kit:at(B) =/= {report_builder, idle, 1}) end, Builders) end).
