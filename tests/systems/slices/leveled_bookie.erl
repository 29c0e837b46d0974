-module(leveled_bookie).
-export([put_all/1, put/1]).
put_all(N) -> lists:foreach(fun put/1, lists:seq(1, N)).
put(N) ->
    {P, R} = spawn_monitor(fun() ->
        Object = iolist_to_binary([<<N:32, "bucket-0">>, <<"key/plant-4711/line-12/machine-0815/measurement-temperature/">>, integer_to_list(10000000000000000000 + N), binary:copy(<<N:64>>, 131072)]),
        leveled_penciller:push(Object) end),
    receive {'DOWN', R, process, P, normal} -> ok end.
