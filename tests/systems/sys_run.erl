%% Brings a system into its state; the node then writes a dump, or waits for the core to be taken.
-module(sys_run).
-export([main/1]).

main([Name, Which]) ->
    spawn(fun() -> run(list_to_atom("sys_" ++ atom_to_list(Name)), Which) end).

run(Module, Which) ->
    ready = Module:Which(),
    erlang:garbage_collect(),    %% what it asked for is no part of the system
    settle(),
    case init:get_argument(ready) of
        {ok, [[File]]} ->
            ok = file:write_file(File ++ ".new", os:getpid()),
            ok = file:rename(File ++ ".new", File),
            receive never -> ok end;
        error -> erlang:halt("system snapshot")
    end.

%% What one scheduler frees of another's blocks counts as used until that one has taken it back, which a busy machine puts
%% off: each of them is woken, and does that before it runs anything.
settle() ->
    [receive {'DOWN', Ref, process, _, _} -> ok end
     || _ <- [once, twice], N <- lists:seq(1, erlang:system_info(schedulers)),
        {_, Ref} <- [spawn_opt(fun() -> ok end, [monitor, {scheduler, N}])]].
