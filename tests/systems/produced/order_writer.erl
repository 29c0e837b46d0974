-module(order_writer).
-export([write/1, written/1]).
write(I) -> ok = brod_producer:produce_sync(brod_producer_orders_0, integer_to_binary(I), <<"order">>), written(I).
written(I) -> receive again -> written(I) end.
