-module(spool_monitor).
-export([run/1]).
run(Keeps) ->
    register(?MODULE, self()),
    ets:new(spool_stats, [named_table]),
    tick(Keeps, 0).
tick(Keeps, N) -> keep(Keeps, #{used => N, ratio => N / 7}), timer:sleep(1), tick(Keeps, N + 1).
keep(persistent_term, Stats) -> persistent_term:put({?MODULE, spool}, Stats);
keep(table, Stats) -> ets:insert(spool_stats, {spool, Stats}).
