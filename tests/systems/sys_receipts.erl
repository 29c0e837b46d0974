%% The report: after a new version of a PDF library a node has thousands of processes more each day. Each document is two
%% servers, linked to the request that makes it; a request ends with reason normal, which takes nobody along.
%% To hear: 700 processes each of pdf_objects and pdf_fonts have outlived the requests that started them; the table of
%% products, which is larger than all of them, is a cache.
-module(sys_receipts).
-export([sick/0, healthy/0]).
sick() -> start(false).
healthy() -> start(true).
start(Closes) ->
    Cache = spawn(fun() -> ets:new(product_cache, [named_table, public]), receive stop -> ok end end),
    sys_kit:until(fun() -> ets:info(product_cache, size) =:= 0 end),
    [ets:insert(product_cache, {N, <<"product">>, lists:duplicate(20, N)}) || N <- lists:seq(1, 3000)],
    Channels = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 400)],
    Before = erlang:system_info(process_count),
    lists:foreach(fun(_) -> P = spawn(receipt_request, run, [Closes, self()]), receive {done, P} -> ok end end, lists:seq(1, 700)),
    Left = case Closes of true -> 0; false -> 1400 end,
    sys_kit:until(fun() -> erlang:system_info(process_count) =:= Before + Left andalso
                           lists:all(fun(P) -> sys_kit:status(P) =:= waiting end, [Cache | Channels]) end).
