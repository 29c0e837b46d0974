%% The report: a tracer puts the time of each function into the dictionary of the process that runs it, under a key of its
%% own, and never takes it out; the processors of a pipeline live for ever. A cache of prices beside them is larger than
%% any of them, and as it should be.
%% To hear: the 40 processors (order_processor) have their memory in their process dictionaries, 2,500 entries each,
%% {duration_acc, Ref}.
-module(sys_spans).
-export([sick/0, healthy/0]).
sick() -> start(2500).
healthy() -> start(0).
start(Left) ->
    Cache = spawn(fun() ->
        ets:new(prices, [named_table, public]),
        [ets:insert(prices, {{sku, N}, N, <<"a price of an article, with its currency and since when">>}) || N <- lists:seq(1, 15000)],
        receive stop -> ok end
    end),
    register(price_cache, Cache),
    Processors = [order_processor:start(N) || N <- lists:seq(1, 40)],
    [order_processor:work(P, Left) || P <- Processors],
    [erlang:garbage_collect(P) || P <- Processors],
    sys_kit:until(fun() -> ets:info(prices, size) =:= 15000 andalso sys_kit:status(Cache) =:= waiting end).
