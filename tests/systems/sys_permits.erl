%% The report: a regulator of jobs (uwiger/jobs) gives ten permits for calls to a service that does not answer any more;
%% who has one waits for the answer without a time, and all others for a permit.
%% To hear: 90 geocoder processes wait for jobs_server, whose 10 permits have processes that are held up in
%% gen_tcp:recv (geocoder:lookup/1).
-module(sys_permits).
-export([sick/0, healthy/0]).
sick() ->
    start(sys_kit:silent(), fun(P) -> sys_kit:at(P) =/= {geocoder, lookup, 1} andalso sys_kit:status(P) =:= waiting end).
healthy() -> start(sys_kit:echo(), fun(P) -> sys_kit:at(P) =:= {geocoder, looked_up, 0} end).
start(Port, There) ->
    {ok, Server} = jobs_server:start(),
    Ps = [proc_lib:spawn(geocoder, lookup, [Port]) || _ <- lists:seq(1, 100)],
    sys_kit:until(fun() -> lists:all(There, Ps) andalso sys_kit:queue(Server) =:= 0 end),
    timer:sleep(300), ready.
