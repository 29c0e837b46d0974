%% The entry: makes a node in a known state, writes down what the VM itself says of it, and lets it die.
%%
%%   erl -noshell -pa EBIN -s beamheap_scenarios main SCENARIO [ARG ...] -truth FILE [-death dump|core]
%%
%% tests/scenarios/make starts it with the flags that a scenario needs. A scenario is a function of one of the
%% modules in themes/0 that takes the list of arguments (strings) and returns its plan:
%%
%%   facts     what this scenario knows of itself: who is the culprit, how many wait, ... (goes into the truth file)
%%   slogan    what the node says as it dies
%%   roles     #{pid() => atom()}: names of processes for the truth file, registered or not
%%   volatile  processes that run on after the truth was taken: only their names are to be compared
%%   unasked   processes that can't answer process_info without being disturbed; the value is the state they are in
%%   asked     the processes that the truth file is about; all of them unless given
%%   settle    milliseconds to wait until everything has come to rest
%%   last      fun() run after the truth was written, as the very last thing
%%   death     halt (the default), or fun() that brings the node down by itself
%%
%% Runs on OTP 23 to 29.
-module(beamheap_scenarios).
-export([main/1, list/0]).

themes() ->
    [scenario_zoo, scenario_waits, scenario_growth, scenario_leaks, scenario_deaths, scenario_large, scenario_collecting, scenario_resting,
             scenario_busy, scenario_overload, scenario_restarts, scenario_running, scenario_stalled, scenario_outside, scenario_kept, scenario_untold, scenario_hand, scenario_hidden, scenario_many, scenario_same, scenario_walls,
             scenario_ledger, scenario_secrets, scenario_plants, scenario_doors].

%% Prints the names of all scenarios.
list() ->
    [io:format("~ts~n", [N]) || T <- themes(), N <- T:scenarios()],
    halt(0).

main([Scenario | Args]) ->
    register(scenario_main, self()),
    Theme = theme_of(Scenario),
    File = scenario_kit:option(truth, none),
    Death = scenario_kit:option(death, "dump"),       % asked now: init would remember the question
    code:ensure_loaded(Theme),
    Plan = Theme:Scenario([atom_to_list(A) || A <- Args]),
    timer:sleep(maps:get(settle, Plan, 300)),
    erlang:garbage_collect(),
    File =:= none orelse [witness(File, Scenario, Plan) || _ <- [to_load_all_code, to_be_kept]],
    (maps:get(last, Plan, fun() -> ok end))(),
    die(Death, File, maps:with([slogan, death], Plan)).

%% (At high priority, process_info of release 23 says that everybody is running.)
%%
%% A process of its own takes the truth, so that its garbage is gone when the node dies.
witness(File, Scenario, Plan) ->
    {Pid, Ref} = spawn_opt(fun() -> scenario_truth:write(File, Scenario, Plan) end, [monitor]),
    receive {'DOWN', Ref, process, Pid, Reason} -> normal = Reason end,
    timer:sleep(100).       % until its memory is given back

theme_of(Scenario) ->
    case [T || T <- themes(), lists:member(Scenario, T:scenarios())] of
        [Theme] -> Theme;
        [] ->
            io:format(standard_error, "no scenario ~ts; there are:~n", [Scenario]),
            [io:format(standard_error, "  ~ts~n", [N]) || T <- themes(), N <- T:scenarios()],
            halt(2)
    end.

die("core", File, _Plan) ->
    {ok, Ready} = prim_file:open(File ++ ".ready", [write]),      %% the file server may be what is stuck, and nothing is to be loaded after the truth
    ok = prim_file:write(Ready, os:getpid()),
    ok = prim_file:close(Ready),
    sit();
die("dump", _File, Plan) ->
    case maps:get(death, Plan, halt) of
        halt -> erlang:halt(unicode:characters_to_list(maps:get(slogan, Plan, "scenario")));
        Death -> Death(), sit()
    end.

sit() -> receive never -> sit() end.
