%% The report: pages hang, with no error, in a cache that is read through: what is missing is brought by a worker of the
%% cache's courier, for all who ask for the same key. The worker of a category asks for a product of it, and that of the
%% product for its category.
%% To hear: the courier memo_courier keeps its callers, among them its own two workers, which wait for each other's key.
-module(sys_courier).
-export([sick/0, healthy/0]).
sick() -> start({category, 7}, {product, 70}).
healthy() -> start({category, 8}, {product, 80}).
start(Category, Product) ->
    Courier = memo_courier:start(),
    Pages = [shop_page:start(Key, N) || N <- lists:seq(1, 15), Key <- [Category, Product]],
    sys_kit:until(fun() -> sys_kit:queue(Courier) =:= 0 andalso lists:all(fun(P) -> sys_kit:status(P) =:= waiting end, Pages)
                           andalso settled(Category, Pages) end).
settled({category, 7}, _) ->
    {links, Links} = process_info(whereis(memo_courier), links),
    length(Links) >= 2 andalso lists:all(fun(P) -> element(1, sys_kit:at(P)) =:= gen end, Links);
settled(_, Pages) -> lists:all(fun(P) -> sys_kit:at(P) =:= {gen_server, loop, 7} orelse sys_kit:at(P) =:= {gen_server, loop, 5}
                                         orelse sys_kit:at(P) =:= {gen_server, loop, 6} end, Pages).
