-module('Elixir.Poolex').
-behaviour(gen_server).
-export([start_link/3, checkout/1, checkin/2, init/1, handle_call/3, handle_cast/2, handle_info/2]).
start_link(Pool, N, Monitors) -> gen_server:start_link({local, Pool}, ?MODULE, {Pool, N, Monitors}, []).
checkout(Pool) -> gen_server:call(Pool, get_idle_worker, infinity).
checkin(Pool, W) -> gen_server:cast(Pool, {release_busy_worker, W}).
init({Pool, N, Monitors}) ->
    {ok, #{'__struct__' => 'Elixir.Poolex.Private.State', pool_id => Pool, max_overflow => 0, monitors => Monitors,
           idle_workers_state => [begin {ok, W} = 'Elixir.Reports.Worker':start_link(), W end || _ <- lists:seq(1, N)],
           busy_workers_state => #{}, waiting_callers_state => queue:new()}}.
handle_call(get_idle_worker, {Pid, _}, S = #{idle_workers_state := [W | Idle], busy_workers_state := Busy}) ->
    case S of #{monitors := true} -> erlang:monitor(process, Pid); _ -> ok end,
    {reply, {ok, W}, S#{idle_workers_state := Idle, busy_workers_state := Busy#{W => Pid}}};
handle_call(get_idle_worker, From, S = #{waiting_callers_state := Q}) -> {noreply, S#{waiting_callers_state := queue:in(From, Q)}}.
handle_cast({release_busy_worker, W}, S) -> {noreply, release(W, S)}.
handle_info({'DOWN', _, process, Pid, _}, S = #{busy_workers_state := Busy}) ->
    {noreply, lists:foldl(fun release/2, S, [W || {W, P} <- maps:to_list(Busy), P =:= Pid])}.
release(W, S = #{idle_workers_state := Idle, busy_workers_state := Busy, waiting_callers_state := Q}) ->
    case queue:out(Q) of
        {{value, From = {Pid, _}}, Rest} -> gen_server:reply(From, {ok, W}), S#{busy_workers_state := Busy#{W => Pid}, waiting_callers_state := Rest};
        {empty, _} -> S#{idle_workers_state := [W | Idle], busy_workers_state := maps:remove(W, Busy)}
    end.
