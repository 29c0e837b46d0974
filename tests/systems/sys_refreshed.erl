%% The report: a feed reads all rows anew every night and keeps those of the day; what it had before is in its old heap,
%% which is swept late, and the rows that it keeps are a part of the memory that it has.
%% To hear: price_feed holds most of the node's memory; of that, the 80,000 rows in the list are live.
-module(sys_refreshed).
-export([sick/0, healthy/0]).

sick() -> start(500000, 80000).
healthy() -> start(500, 80).

start(Before, Kept) ->
    price_feed:start(Before, Kept, sys_kit:silent()),
    sys_kit:until(fun() -> sys_kit:status(price_feed) =:= waiting andalso sys_kit:at(price_feed) =:= {prim_inet, recv0, 3} end).
