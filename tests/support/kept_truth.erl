%% SPDX-License-Identifier: Apache-2.0
%% Processes that keep binaries outside their heaps, in terms and in garbage, and what the VM itself says of each:
%% main(Folder) writes kept.txt, a line "PID IDENTITY BYTES LIVE" for each of process_info(Pid, binary), and waits.
-module(kept_truth).
-export([main/1, passed_on/1, stored/1, both/1, sliced/1, appended/1, old/1, none/0]).

main(Folder) ->
    Kinds = [{passed_on, false}, {stored, true}, {both, both}, {sliced, true}, {appended, true}, {old, false}],
    Pids = [{spawn_opt(?MODULE, Kind, [self()], [{fullsweep_after, 100000}]), Live} || {Kind, Live} <- Kinds, _ <- lists:seq(1, 20)],
    [receive {ready, Pid} -> ok end || {Pid, _} <- Pids],
    Idle = spawn(?MODULE, none, []),
    timer:sleep(300),
    Lines = [[io_lib:format("~p ~p ~p ~p~n", [Pid, Identity, Bytes, Live]) || {Identity, Bytes, _} <- binaries(Pid)] || {Pid, Live} <- [{Idle, false} | Pids]],
    ok = file:write_file(filename:join(Folder, "kept.new"), Lines),
    ok = file:rename(filename:join(Folder, "kept.new"), filename:join(Folder, "kept.txt")),
    ok = file:write_file(filename:join(Folder, "kept.pid"), os:getpid()),
    timer:sleep(infinity).

binaries(Pid) ->
    {binary, All} = process_info(Pid, binary),
    lists:usort([{Identity, Bytes, 0} || {Identity, Bytes, _} <- All]).

none() -> receive never -> ok end.

%% Made, looked at, and not kept.
passed_on(Main) ->
    Size = byte_size(binary:copy(<<$g>>, 100000)),
    Main ! {ready, self()},
    receive never -> Size end.

stored(Main) ->
    Kept = binary:copy(<<$s>>, 50000),
    Main ! {ready, self()},
    receive never -> Kept end.

both(Main) ->
    Kept = binary:copy(<<$k>>, 40000),
    Size = byte_size(binary:copy(<<$d>>, 70000)),
    Main ! {ready, self()},
    receive never -> {Kept, Size} end.

%% A part of a binary keeps all of it.
sliced(Main) ->
    <<Part:100/binary, _/binary>> = binary:copy(<<$p>>, 90000),
    Main ! {ready, self()},
    receive never -> Part end.

%% A binary that grows has room to spare, and is in a list of its own until the next collection.
appended(Main) ->
    Grown = lists:foldl(fun(N, Acc) -> <<Acc/binary, N:32>> end, <<>>, lists:seq(1, 5000)),
    Main ! {ready, self()},
    receive never -> Grown end.

%% Garbage of the old heap: collected twice while it was held, then let go.
old(Main) ->
    Kept = binary:copy(<<$o>>, 80000),
    garbage_collect(self(), [{type, minor}]),
    garbage_collect(self(), [{type, minor}]),
    garbage_collect(self(), [{type, minor}]),
    Size = byte_size(Kept),
    Main ! {ready, self()},
    receive never -> Size end.
