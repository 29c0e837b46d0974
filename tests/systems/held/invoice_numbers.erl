-module(invoice_numbers).
-behaviour(gen_server).
-export([start_link/0, next/1, init/1, handle_call/3, handle_cast/2]).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
next(Customer) -> gen_server:call(?MODULE, {next, Customer}, infinity).
init([]) -> {ok, []}.
handle_call({next, Customer}, _, S) -> {reply, {Customer, invoice_writer:last() + 1}, S}.
handle_cast(_, S) -> {noreply, S}.
