%% The report: a server that takes its mailbox into a queue of its own (gen_server2) has a large heap, and no message in its queue
%% (vernemq/vernemq #1773): it waits for another server.
%% To hear: vmq_reg_trie keeps 40,000 casts, and waits for vmq_metadata, which sits in vmq_metadata:compact/0.
-module(sys_drained).
-export([sick/0, healthy/0]).
sick() -> start(true, 40000).
healthy() -> start(false, 200).
start(Compacts, N) ->
    {ok, _} = vmq_metadata:start(Compacts), {ok, _} = vmq_reg_trie:start(),
    [gen_server:cast(vmq_reg_trie, {event, {updated, {"", [<<"devices">>, integer_to_binary(I rem 500), <<"state">>]}, undefined, [{node(), [I]}]}}) || I <- lists:seq(1, N)],
    sys_kit:until(fun() -> sys_kit:queue(vmq_reg_trie) =:= 0 end),
    timer:sleep(1200), ready.
