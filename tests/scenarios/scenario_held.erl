%% SPDX-License-Identifier: Apache-2.0
%% A node whose schedulers are held by functions in C that do not come back. main([Folder, What]): `display' writes to standard
%% output until whoever started it does not read any more; `fifo' opens a pipe that has no other end; `well' does both to
%% what takes it. Folder/pid is there when it has begun; Folder/count goes on while a process of the same node gets to run.
-module(scenario_held).
-export([main/0, show/1, open/1]).

main() ->
    [Folder, What] = init:get_plain_arguments(),
    {ok, Beat} = file:open(filename:join(Folder, "beat"), [raw, write]),  % loaded before anything is held
    ok = file:write(Beat, "1"),
    register(shower, spawn(fun() -> begin_with(Folder, What) end)),
    ok = file:write_file(filename:join(Folder, "pid"), os:getpid()),
    receive never -> ok end.

begin_with(Folder, What) ->
    receive after 200 -> ok end,
    case What of
        "display" -> show(1 bsl 60);
        "fifo" -> open(filename:join(Folder, "fifo"));
        "well" -> show(1000), {ok, File} = file:open(filename:join(Folder, "pid"), [raw, read]), file:close(File), receive never -> ok end
    end.

show(0) -> ok;
show(N) -> erlang:display({line, N, "what fills the pipe of standard output"}), show(N - 1).

open(Fifo) -> {ok, File} = file:open(Fifo, [raw, read]), File.
