-module('Elixir.Electric.StackConfig').
-export([new/1]).
new(N) -> #{stack_id => <<"single_stack">>, storage => {'Elixir.Electric.ShapeCache.PureFileStorage', #{base_path => <<"/var/lib/electric/single">>, chunk_bytes => 10485760}},
            relations => [{{<<"public">>, <<"orders_", (integer_to_binary(K))/binary>>}, 16384 + K, [{<<"id">>, K}]} || K <- lists:seq(1, N)]}.
