-module('Elixir.Mailer.Consumer').
-export([start_link/1, init/1, scan/2, loop/2]).
start_link(Stuck) -> proc_lib:start_link(?MODULE, init, [Stuck]).
init(Stuck) ->
    register(?MODULE, self()),
    [Dir] = filelib:wildcard(code:root_dir() ++ "/erts-*/bin"),
    Filter = open_port({spawn_executable, Dir ++ "/inet_gethost"}, [{packet, 4}, binary, {args, ["4"]}]),
    Ref = make_ref(),
    'Elixir.Mailer.Producer' ! {'$gen_producer', {self(), Ref}, {subscribe, 10}},
    proc_lib:init_ack({ok, self()}),
    loop({Filter, Stuck}, Ref).
loop(State, Ref) ->
    receive
        {'$gen_consumer', {Producer, Ref}, Events} ->
            [ok = deliver(State, E) || E <- Events],
            Producer ! {'$gen_producer', {self(), Ref}, {ask, length(Events)}},
            loop(State, Ref)
    end.
deliver({_, false}, _) -> ok;
deliver({Filter, true}, {mail, N, _To}) -> scan(Filter, N).
%% a request that is too short to be answered
scan(Filter, N) ->
    port_command(Filter, <<1, N:32, 3>>),
    receive {Filter, {data, <<N:32, Verdict/binary>>}} -> Verdict end.
