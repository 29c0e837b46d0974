%% The report: workers put the request that they work on into the metadata of the logger, and never take it out: each
%% keeps the body of its last one until the next, in its process dictionary, which no collection and no hibernation frees.
%% To hear: 80 upload_worker processes keep most of the node's binaries, in their dictionary's key logger_metadata.
-module(sys_uploads).
-export([sick/0, healthy/0]).
sick() -> start(300000).
healthy() -> start(300).
start(Size) ->
    Workers = [element(2, upload_worker:start(I)) || I <- lists:seq(1, 80)],
    [Size = upload_worker:take(W, binary:copy(<<"u">>, Size)) || W <- Workers],
    garbage_collect(self()),
    sys_kit:until(fun() -> lists:all(fun(W) -> sys_kit:at(W) =:= {erlang, hibernate, 3} end, Workers) end).
