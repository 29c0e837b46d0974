-module(report_builder).
-export([start/1, init/1, idle/1]).
start(N) -> proc_lib:spawn(?MODULE, init, [N]).
init(N) ->
    {ok, W} = 'Elixir.Poolex':checkout(poolex_reports),
    {pdf, N} = gen_server:call(W, {build, N}),
    'Elixir.Poolex':checkin(poolex_reports, W),
    idle(N).
idle(N) -> receive again -> idle(N) end.
