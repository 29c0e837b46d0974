-module(settlement).
-export([start/1, settle/1]).
start(I) -> spawn(?MODULE, settle, [I]).
settle(I) ->
    global:trans({accounts, self()}, fun() -> fx_desk:rate(I) end),
    receive never -> ok end.
