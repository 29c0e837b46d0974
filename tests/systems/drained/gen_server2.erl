-module(gen_server2).
-export([start/1, loop/1]).
-record(gs2_state, {parent, name, state, mod, time, timeout_state, queue, debug, prioritisers}).
start(Mod) -> proc_lib:start(?MODULE, loop, [#gs2_state{name = Mod, mod = Mod, time = infinity, queue = queue:new()}]).
loop(S = #gs2_state{name = N, mod = M, state = undefined}) -> register(N, self()), {ok, St} = M:init([]), proc_lib:init_ack({ok, self()}), loop(S#gs2_state{state = St});
loop(S) -> process_next_msg(drain(S)).
drain(S = #gs2_state{queue = Q}) -> receive In -> drain(S#gs2_state{queue = queue:in(In, Q)}) after 0 -> S end.
process_next_msg(S = #gs2_state{queue = Q, mod = M, state = St}) ->
    case queue:out(Q) of
        {{value, {'$gen_cast', C}}, R} -> {noreply, St2} = M:handle_cast(C, St), loop(S#gs2_state{queue = R, state = St2});
        {{value, _}, R} -> loop(S#gs2_state{queue = R});
        {empty, _} -> receive In -> loop(S#gs2_state{queue = queue:in(In, Q)}) end
    end.
