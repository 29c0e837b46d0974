%% The report: an operator suspended the process that writes invoices, to look at its state, and forgot it; what is sent
%% to it piles up, and so do the requests of those who ask another process that asks it.
%% To hear: invoice_writer was suspended by sys:suspend/1, 12,000 messages wait; its caller, and those of that one, wait for it.
-module(sys_held).
-export([sick/0, healthy/0]).

sick() -> start(12000, fun() -> sys:suspend(invoice_writer) end, 3).
healthy() -> start(50, fun() -> sys:suspend(invoice_writer), sys:resume(invoice_writer) end, 0).

start(Much, Hold, Asking) ->
    {ok, _} = invoice_writer:start_link(),
    {ok, _} = invoice_numbers:start_link(),
    Hold(),
    [invoice_writer:write({invoice, N, N * 7}) || N <- lists:seq(1, Much)],
    [spawn(fun() -> invoice_numbers:next(N) end) || N <- lists:seq(1, 3)],
    sys_kit:until(fun() -> sys_kit:queue(invoice_numbers) =:= max(0, Asking - 1) andalso (Asking > 0 orelse sys_kit:queue(invoice_writer) =:= 0) end).
