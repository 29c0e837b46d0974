-module(account_locks).
-behaviour(gen_server).
-export([start/0, await/1, await_all/1, release/1, init/1, handle_call/3, handle_cast/2]).
-record(state, {locks = #{}, waiters = #{}}).
start() -> gen_server:start({local, ?MODULE}, ?MODULE, [], []).
await(Key) -> gen_server:call(?MODULE, {lock, Key}, infinity).
await_all(Keys) -> [ok = await(K) || K <- lists:sort(Keys)], ok.
release(Key) -> gen_server:cast(?MODULE, {release, Key, self()}).
init([]) -> {ok, #state{}}.
handle_call({lock, K}, From = {Pid, _}, S = #state{locks = L, waiters = W}) ->
    case L of
        #{K := _} -> {noreply, S#state{waiters = W#{K => maps:get(K, W, []) ++ [From]}}};
        #{} -> {reply, ok, S#state{locks = L#{K => Pid}}}
    end.
handle_cast({release, K, Pid}, S = #state{locks = L, waiters = W}) ->
    #{K := Pid} = L,
    case maps:get(K, W, []) of
        [] -> {noreply, S#state{locks = maps:remove(K, L)}};
        [From = {Next, _} | Rest] -> gen_server:reply(From, ok), {noreply, S#state{locks = L#{K := Next}, waiters = W#{K := Rest}}}
    end.
