%% A node most of whose processes are in a garbage collection, or wait for their turn at one.
%%
%% Heaps of more than 128 Kiwords are collected by dirty CPU schedulers. With a single one of those, whoever needs room
%% while it is busy goes on in a heap fragment, behind which its real heap is abandoned until its turn comes.
-module(scenario_collecting).
-export([scenarios/0, collecting/1]).
-export([churn/3]).

-import(scenario_kit, [specimen/3, many/2]).

scenarios() -> [collecting].

%% N workers, each with a list of known length that stays alive, and one with a far longer one. Half of them have it on
%% their old heap. They rest while the VM is asked about them, and begin to work as the very last thing. With "held" for
%% an argument somebody else keeps the scheduler busy for ever, so that all of them come to wait.
collecting(Args) ->
    {N, Largest} = {40, 1000000},
    Kept = fun(I) -> 60000 + 100 * I end,
    Held = Args =:= ["held"],
    Collector = fun(Name, Length, Options) ->
                    specimen(Name, fun(Ready) ->
                                       put(kept_length, Length),
                                       List = lists:seq(1, Length),
                                       Ready(),
                                       receive work -> ?MODULE:churn(List, Name, 0) end
                                   end, Options)
                end,
    Workers = many(N, fun(I) ->
                          Name = list_to_atom("collector_" ++ integer_to_list(I)),
                          Options = case I rem 2 of
                                        0 -> [{fullsweep_after, 0}];
                                        1 -> [{min_heap_size, 200000}]
                                    end,
                          {Collector(Name, Kept(I), Options), Kept(I)}
                      end),
    Giant = Collector(collector_giant, Largest, [{fullsweep_after, 0}]),
    All = [{Giant, Largest} | Workers],
    #{slogan => "asked for by an operator",
      volatile => [P || {P, _} <- All],
      last => fun() ->
                  Held andalso spawn(fun() -> register(scheduler_holder, self()), erts_debug:dirty_cpu(wait, 600000000) end),
                  timer:sleep(200),
                  [P ! work || {P, _} <- All],
                  timer:sleep(1000)
              end,
      facts => #{giant => Giant, giant_words => 2 * Largest,
                 collectors => [#{pid => P, kept_words => 2 * Length} || {P, Length} <- All]}}.

%% Makes garbage for ever; the list is alive all the time.
churn(List, Name, Rounds) ->
    Junk = junk(2000, Name, []),
    ?MODULE:churn(List, element(1, hd(Junk)), Rounds + 1).

junk(0, _, Junk) -> Junk;
junk(N, Name, Junk) -> junk(N - 1, Name, [{Name, N, [N]} | Junk]).
