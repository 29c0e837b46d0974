%% The report: a stage's consumer stops asking for events because it is stuck in its work; the producer goes on taking
%% events from outside and buffers them in its State, where nothing bounds them.
%% To hear: 'Elixir.Mailer.Consumer' waits for an answer of the port program inet_gethost that never comes; so it asks
%% for nothing, and 'Elixir.Mailer.Producer' holds 60,000 events in its State (buffer).
-module(sys_demand).
-export([sick/0, healthy/0]).

sick() -> start(true, 60000, fun() -> 'Elixir.Mailer.Producer':buffered() >= 59000 andalso sys_kit:at('Elixir.Mailer.Consumer') =:= {'Elixir.Mailer.Consumer', scan, 2}
    andalso process_info(whereis('Elixir.Mailer.Producer'), status) =:= {status, waiting} end).
healthy() -> start(false, 600, fun() -> 'Elixir.Mailer.Producer':buffered() =:= 0 andalso sys_kit:queue('Elixir.Mailer.Consumer') =:= 0 end).

start(Stuck, Events, Reached) ->
    {ok, _} = 'Elixir.Mailer.Producer':start_link(),
    {ok, _} = 'Elixir.Mailer.Consumer':start_link(Stuck),
    [gen_server:cast('Elixir.Mailer.Producer', {mail, N, lists:flatten(io_lib:format("user~w@example.org", [N]))}) || N <- lists:seq(1, Events)],
    sys_kit:until(Reached).
