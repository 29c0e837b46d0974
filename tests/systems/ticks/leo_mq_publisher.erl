-module(leo_mq_publisher).
-export([publish/1, done/0]).
publish(N) -> [leo_mq_consumer ! {publish, {K, "object"}} || K <- lists:seq(1, N)], leo_mq_consumer ! {done, self()}.
done() -> case get(done) of true -> true; _ -> receive done -> put(done, true), true end end.
