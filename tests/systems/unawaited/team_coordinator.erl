-module(team_coordinator).
-export([start/1, run_finished/2, loop/2]).
start(Awaits) -> register(?MODULE, proc_lib:spawn(?MODULE, loop, [Awaits, 0])), ok.
run_finished(Id, Who) -> ?MODULE ! {run_finished, Id, Who}.
loop(Awaits, Synced) ->
    receive
        {run_finished, Id, Who} -> publish(Awaits, Id), Who ! {ok, Id}, loop(Awaits, Synced + 1)
    end.
publish(Awaits, Id) ->
    Self = self(),
    Tag = make_ref(),
    {_, Ref} = spawn_monitor(fun() -> Self ! {Tag, {published, Id, #{status => passed, steps => [1, 2, 3]}}} end),
    [receive {Tag, _} -> receive {'DOWN', Ref, process, _, _} -> ok end end || Awaits].
