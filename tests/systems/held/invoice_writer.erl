-module(invoice_writer).
-behaviour(gen_server).
-export([start_link/0, write/1, last/0, init/1, handle_call/3, handle_cast/2]).
-record(state, {last = 0, written = 0}).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
write(Invoice) -> gen_server:cast(?MODULE, {write, Invoice}).
last() -> gen_server:call(?MODULE, last, infinity).
init([]) -> {ok, #state{}}.
handle_call(last, _, S) -> {reply, S#state.last, S}.
handle_cast({write, {invoice, N, _}}, S) -> {noreply, S#state{last = N, written = S#state.written + 1}}.
