-module(rpc_backend).
-export([start/0, loop/0]).
start() -> P = proc_lib:spawn(?MODULE, loop, []), register(?MODULE, P), P.
loop() -> receive {request, A, N} -> A ! {reply, A, N}, loop() end.
