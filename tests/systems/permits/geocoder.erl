-module(geocoder).
-export([lookup/1]).
lookup(Port) ->
    {ok, Ref} = jobs_server:ask(http_calls),
    {ok, S} = gen_tcp:connect({127,0,0,1}, Port, [binary, {active, false}, {packet, line}]),
    {ok, _} = fetch(S),
    gen_tcp:close(S),
    jobs_server:done(Ref),
    looked_up().
fetch(S) -> ok = gen_tcp:send(S, <<"GET /geo\n">>), gen_tcp:recv(S, 0).
looked_up() -> receive stop -> ok end.
