%% What the web does for a new account, and is then at rest.
-module(account_request).
-export([create/1, dispatch/1, rest/0]).
create(N) -> {ok, _} = dispatch({account, N}).
dispatch(Command) -> {ok, Seen} = event_acks:append(Command), {ok, [Seen]}.
rest() -> receive stop -> ok end.
