%% Brings a system into its state; the node then writes a dump, or waits for the core to be taken.
-module(sys_run).
-export([main/1]).

main([Name, Which]) ->
    spawn(fun() -> run(list_to_atom("sys_" ++ atom_to_list(Name)), Which) end).

run(Module, Which) ->
    ready = Module:Which(),
    erlang:garbage_collect(),    %% what it asked for is no part of the system
    case init:get_argument(ready) of
        {ok, [[File]]} ->
            ok = file:write_file(File ++ ".new", os:getpid()),
            ok = file:rename(File ++ ".new", File),
            receive never -> ok end;
        error -> erlang:halt("system snapshot")
    end.
