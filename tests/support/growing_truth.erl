%% SPDX-License-Identifier: Apache-2.0
%% A node that grows by known amounts: a queue by 50 messages a second net, ETS by 40 objects, a process without a name by 1,000
%% words, processes by one; and what only looks so: a process that makes garbage and collects it.
-module(growing_truth).
-export([main/1, taker/0, maker/0, keeper/1, spawner/0, filler/1]).

main([File]) ->
    register(backlog, spawn(?MODULE, taker, [])),
    Keeper = spawn(?MODULE, keeper, [[]]),
    spawn(?MODULE, maker, []),
    spawn(?MODULE, spawner, []),
    register(rows_filler, spawn(?MODULE, filler, [0])),
    feed(),
    ok = file:write_file(File, io_lib:format("~s ~p", [os:getpid(), Keeper])),
    every(20, fun feed/0).

feed() -> backlog ! {order, 1}.

taker() -> receive never -> ok end.

%% 20 MB a second of garbage.
maker() -> every(10, fun() -> lists:seq(1, 12000) end).

%% Ten times a second a binary of 800 bytes on its heap, in eight pieces.
keeper(Kept) -> timer:sleep(100), keeper([list_to_tuple(lists:seq(1, 97)) | Kept]).

spawner() -> every(1000, fun() -> spawn(fun() -> receive never -> ok end end) end).

filler(0) -> ets:new(rows, [named_table, public]), filler(1);
filler(N) -> timer:sleep(25), ets:insert(rows, {N, N}), filler(N + 1).

every(Milliseconds, Do) -> Do(), timer:sleep(Milliseconds), every(Milliseconds, Do).
