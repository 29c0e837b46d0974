%% Memory in one place, whatever that is: each grows something by some megabytes, for which there may be no rule. Each takes
%% `healthy` as its last argument for the twin that has a little of it. Facts: the area and the owner that the ledger has to name.
-module(scenario_ledger).
-export([scenarios/0, place_code/1, place_state/1, place_sessions/1, place_pool/1, place_tables/1, place_atoms/1, place_terms/1,
         place_binaries/1, place_stack/1, place_queue/1, place_timers/1, place_monitors/1, place_idlers/1]).
-export([session/1, deep/2, idler/0]).

-import(scenario_kit, [specimen/2, hold/1, many/2, healthy/1, plan/2, all_rest/1]).

scenarios() -> [place_code, place_state, place_sessions, place_pool, place_tables, place_atoms, place_terms, place_binaries, place_stack, place_queue,
                place_timers, place_monitors, place_idlers].

-define(SICK(Args, Many, Few), case healthy(Args) of true -> Few; false -> Many end).

place(Args, Area, Owner) -> plan(Args, #{findings => [], area => Area, owner => Owner}).

%% A template engine that compiles a module for each page.
place_code(Args) ->
    [begin
         Name = list_to_atom("page_template_" ++ integer_to_list(I)),
         {ok, Name, Beam} = compile:forms(template(Name)),
         {module, Name} = code:load_binary(Name, "", Beam)
     end || I <- lists:seq(1, ?SICK(Args, 400, 2))],
    place(Args, code, <<"page_template_<int>">>).

template(Name) ->
    Row = fun(I) -> {clause, 1, [{integer, 1, I}], [], [{tuple, 1, [{atom, 1, row}, {integer, 1, I}, {string, 1, lists:duplicate(400, $x) ++ integer_to_list(I)}]}]} end,
    [{attribute, 1, module, Name}, {attribute, 1, export, [{row, 1}]}, {function, 1, row, 1, [Row(I) || I <- lists:seq(1, 5)]}].

%% One that keeps what it should not.
place_state(Args) ->
    N = ?SICK(Args, 400000, 100),
    Owner = specimen(price_history, fun(Ready) -> Rows = [{I, price, I * 7} || I <- lists:seq(1, N)], garbage_collect(), Ready(), hold(Rows) end),
    place(Args, processes, Owner).

%% Many of a kind, each with as much.
place_sessions(Args) ->
    N = ?SICK(Args, 20000, 20),
    Those = many(200, fun(_) -> spawn(?MODULE, session, [N]) end),
    all_rest(Those),
    place(Args, processes, <<"scenario_ledger:session/1">>).

session(N) -> Rows = lists:seq(1, N), garbage_collect(), receive go_on -> Rows end.

%% The same, registered by number.
place_pool(Args) ->
    N = ?SICK(Args, 50000, 20),
    Those = many(50, fun(I) -> P = spawn(?MODULE, session, [N]), register(list_to_atom("db_worker_" ++ integer_to_list(I)), P), P end),
    all_rest(Those),
    place(Args, processes, <<"db_worker_<int>">>).

%% A table for each tenant.
place_tables(Args) ->
    N = ?SICK(Args, 4000, 2),
    specimen(tenants, fun(Ready) ->
        [begin T = ets:new(list_to_atom("tenant_" ++ integer_to_list(I)), [named_table]), ets:insert(T, [{K, user, K} || K <- lists:seq(1, N)]) end || I <- lists:seq(1, 50)],
        Ready(), hold(tables) end),
    place(Args, ets, <<"tenant_<int>">>).

%% Data that became atoms.
place_atoms(Args) ->
    [list_to_atom("customer_" ++ integer_to_list(I)) || I <- lists:seq(1, ?SICK(Args, 150000, 100))],
    place(Args, atoms, <<"customer_<int>">>).

%% Sessions in persistent terms.
place_terms(Args) ->
    [persistent_term:put({session, I}, lists:seq(1, 1000)) || I <- lists:seq(1, ?SICK(Args, 1000, 2))],
    place(Args, persistent_terms, null).

%% Uploads that one process keeps.
place_binaries(Args) ->
    N = ?SICK(Args, 200, 2),
    Owner = specimen(uploads, fun(Ready) -> Kept = [binary:copy(<<I>>, 100000) || I <- lists:seq(1, N)], Ready(), hold(Kept) end),
    place(Args, binaries, Owner).

%% A recursion that is not at its end.
place_stack(Args) ->
    Owner = specimen(walker, fun(Ready) -> deep(?SICK(Args, 3000000, 100), Ready) end),
    place(Args, processes, Owner).

deep(0, Ready) -> Ready(), hold(bottom);
deep(N, Ready) -> {N, deep(N - 1, Ready)}.

%% Messages that nobody takes, outside of the heap.
place_queue(Args) ->
    Owner = specimen(mailbox, fun(Ready) -> process_flag(message_queue_data, off_heap), Ready(), receive {never, _} -> ok end end),
    [Owner ! {price, I, lists:seq(1, 10)} || I <- lists:seq(1, ?SICK(Args, 50000, 10))],
    place(Args, processes, Owner).

%% Timers that nobody cancels.
place_timers(Args) ->
    N = ?SICK(Args, 50000, 10),
    Owner = specimen(retries, fun(Ready) -> [erlang:send_after(36000000 + I, self(), {retry, I}) || I <- lists:seq(1, N)], garbage_collect(), Ready(), hold(timers) end),
    place(Args, processes, Owner).

%% Monitors that nobody takes back, and nobody keeps: their cost is of who monitors.
place_monitors(Args) ->
    N = ?SICK(Args, 150000, 10),
    Watched = specimen(connection, fun(Ready) -> Ready(), hold(watched) end),
    Owner = specimen(watcher, fun(Ready) -> [monitor(process, Watched) || _ <- lists:seq(1, N)], garbage_collect(), Ready(), hold(monitors) end),
    place(Args, processes, Owner).

%% Many that have nothing.
place_idlers(Args) ->
    Those = many(?SICK(Args, 100000, 10), fun(_) -> spawn(?MODULE, idler, []) end),
    all_rest(lists:sublist(Those, 100)),
    place(Args, processes, <<"scenario_ledger:idler/0">>).

idler() -> receive go_on -> ok end.
