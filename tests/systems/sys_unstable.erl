%% The report: a server starts a watcher anew each time the cluster changes, and leaves the one that it had
%% (apache/couchdb #3851).
%% To hear: couch_peruser has started 3,001 processes of mem3_cluster:init/1.
-module(sys_unstable).
-export([sick/0, healthy/0]).
sick() -> start(3000).
healthy() -> start(1).
start(Changes) ->
    {ok, P} = couch_peruser:start(),
    [P ! cluster_unstable || _ <- lists:seq(1, Changes)],
    sys_kit:until(fun() -> couch_peruser:changes() =:= Changes end),
    timer:sleep(1000), ready.
