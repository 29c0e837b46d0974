-module(page_view).
-export([start/2, init/2, rendered/1]).
start(N, Size) -> proc_lib:spawn(?MODULE, init, [N, Size]).
init(N, Size) ->
    {ok, Answer} = eredis:q(eredis_client, [<<"SET fragment:">>, integer_to_binary(N), <<" ">>, binary:copy(<<"x">>, Size)]),
    rendered(byte_size(Answer)).
rendered(N) -> receive {again, _} -> rendered(N) end.
