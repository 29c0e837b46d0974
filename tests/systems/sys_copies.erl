%% The report: each consumer of a shape holds the configuration of the whole stack in its State; terms are copied into
%% each process, so hundreds of consumers hold hundreds of copies of the same configuration.
%% To hear: 300 'Elixir.Electric.Shapes.Consumer' processes each hold a copy of the same 220 KiB in their State
%% (stack_config): about 65 MiB for one thing.
-module(sys_copies).
-export([sick/0, healthy/0]).
sick() -> start(1500).
healthy() -> start(3).
start(Size) ->
    Config = 'Elixir.Electric.StackConfig':new(Size),
    Consumers = [begin {ok, P} = 'Elixir.Electric.Shapes.Consumer':start(N, Config), P end || N <- lists:seq(1, 300)],
    [erlang:garbage_collect(P) || P <- Consumers],
    sys_kit:until(fun() -> lists:all(fun(P) -> sys_kit:status(P) =:= waiting end, Consumers) end).
