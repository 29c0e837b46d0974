-module(riak_core_util).
-export([start/1, sync/2, loop/3, init/1]).

start(Mod) -> proc_lib:start(?MODULE, init, [Mod]).
init(Mod) ->
    register(Mod, self()),
    proc_lib:init_ack({ok, self()}),
    loop(Mod, Mod:new(), []).

loop(Mod, State, Opts) ->
    receive
        {sync, {From, Ref}, Req} ->
            {Reply, New} = Mod:handle(Req, State),
            From ! {Ref, Reply},
            loop(Mod, New, Opts);
        {management_tick, Who} ->
            Who ! {ticking, Mod},
            receive go -> ok end,
            loop(Mod, Mod:tick(State), Opts)
    end.

sync(Server, Req) ->
    Ref = erlang:monitor(process, Server),
    Server ! {sync, {self(), Ref}, Req},
    receive
        {Ref, Reply} -> erlang:demonitor(Ref, [flush]), Reply;
        {'DOWN', Ref, process, _, Reason} -> exit({Reason, {Server, Req}})
    end.
