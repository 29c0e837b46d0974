-module(jobs_server).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, ask/1, done/1]).
-record(queue, {name, regulators, max_time, waiting, in_progress = [], limit}).
-record(st, {queues, group_rates = [], default_queue}).
start() -> gen_server:start({local, ?MODULE}, ?MODULE, [], []).
init([]) -> {ok, #st{queues = [#queue{name = http_calls, limit = 10, waiting = queue:new(), regulators = [{counter, 10}]}]}}.
ask(Q) -> gen_server:call(?MODULE, {ask, Q}, infinity).
done(Ref) -> gen_server:cast(?MODULE, {done, Ref}).
handle_call({ask, Q}, {Pid, _} = From, S = #st{queues = [R = #queue{name = Q, in_progress = P}]}) when length(P) < R#queue.limit ->
    Ref = monitor(process, Pid), _ = From, {reply, {ok, Ref}, S#st{queues = [R#queue{in_progress = [{Pid, Ref} | P]}]}};
handle_call({ask, _}, From, S = #st{queues = [R]}) -> {noreply, S#st{queues = [R#queue{waiting = queue:in({erlang:monotonic_time(), From}, R#queue.waiting)}]}}.
handle_cast({done, Ref}, S = #st{queues = [R]}) ->
    P = lists:keydelete(Ref, 2, R#queue.in_progress),
    case queue:out(R#queue.waiting) of {empty, _} -> {noreply, S#st{queues = [R#queue{in_progress = P}]}};
        {{value, {_, {Pid, _} = From}}, W} -> N = monitor(process, Pid), gen_server:reply(From, {ok, N}), {noreply, S#st{queues = [R#queue{in_progress = [{Pid, N} | P], waiting = W}]}} end.
handle_info(_, S) -> {noreply, S}.
