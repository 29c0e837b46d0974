-module(fx_desk).
-behaviour(gen_server).
-export([start/1, rate/1, exposure/0, init/1, handle_call/3, handle_cast/2]).
start(Locks) -> {ok, _} = gen_server:start({local, ?MODULE}, ?MODULE, Locks, []).
rate(Currency) -> gen_server:call(?MODULE, {rate, Currency}, infinity).
init(Locks) -> {ok, Locks}.
handle_call({rate, _}, _, Locks) ->
    case Locks of true -> exposure(); false -> ok end,
    {reply, 1, Locks}.
handle_cast(_, Locks) -> {noreply, Locks}.
exposure() -> global:trans({accounts, self()}, fun() -> ok end).
