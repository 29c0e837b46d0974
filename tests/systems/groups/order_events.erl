-module(order_events).
-export([start/2, run/3]).
start(Leaves, Count) -> register(?MODULE, proc_lib:spawn(?MODULE, run, [Leaves, self(), Count])).
run(_, Who, 0) -> Who ! joined, wait();
run(Leaves, Who, N) ->
    Group = {order, N, <<"created">>},
    ok = pg:join(Group, self()),
    [ok = pg:leave(Group, self()) || Leaves],
    run(Leaves, Who, N - 1).
wait() -> receive stop -> ok end.
