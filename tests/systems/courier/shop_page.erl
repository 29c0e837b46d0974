%% A page of the shop: shows what the catalog has, and is then at rest.
-module(shop_page).
-behaviour(gen_server).
-export([start/2, init/1, handle_call/3, handle_cast/2, handle_info/2, load_category/1, load_product/1]).
start(Key, N) -> {ok, P} = gen_server:start(?MODULE, {Key, N}, []), P.
init(Which) -> self() ! show, {ok, {Which, none}}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info(show, {{{category, Id}, _} = Which, none}) -> {noreply, {Which, memo_courier:fetch({category, Id}, fun() -> load_category(Id) end)}};
handle_info(show, {{{product, Id}, _} = Which, none}) -> {noreply, {Which, memo_courier:fetch({product, Id}, fun() -> load_product(Id) end)}}.
%% The product of category 8 does not ask back.
load_category(Id) ->
    timer:sleep(300),
    Product = memo_courier:fetch({product, Id * 10}, fun() -> load_product(Id * 10) end),
    {category, Id, Product}.
load_product(80) -> timer:sleep(300), {product, 80};
load_product(Id) ->
    timer:sleep(300),
    Category = memo_courier:fetch({category, Id div 10}, fun() -> load_category(Id div 10) end),
    {product, Id, Category}.
