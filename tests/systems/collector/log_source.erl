-module(log_source).
-export([run/1]).
run(I) -> receive {add, _} -> run(I + 1) end.
