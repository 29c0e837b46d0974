-module(order_mail).
-export([start/1, run/1]).
start(N) -> proc_lib:spawn(?MODULE, run, [N]).
run(N) ->
    ok = smtp_relay:send({confirmation, N}),
    receive {another, M} -> run(M) end.
