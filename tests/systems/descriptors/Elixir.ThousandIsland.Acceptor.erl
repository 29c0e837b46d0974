-module('Elixir.ThousandIsland.Acceptor').
-export([start_link/2, run/3, back_off/2]).
start_link(L, N) -> proc_lib:spawn_link(?MODULE, run, [L, N, #{accepted => 0, last_error => nil}]).
run(L, N, Stats) ->
    case gen_tcp:accept(L) of
        {ok, S} ->
            P = 'Elixir.ThousandIsland.Handler':start(S),
            ok = gen_tcp:controlling_process(S, P),
            P ! {thousand_island_ready, S},
            run(L, N, Stats#{accepted := maps:get(accepted, Stats) + 1});
        {error, Reason} ->
            New = Stats#{last_error := Reason},
            ok = back_off(Reason, New),
            run(L, N, New)
    end.
back_off(_, _) -> receive {stop, _} -> stop after 1000 -> ok end.
