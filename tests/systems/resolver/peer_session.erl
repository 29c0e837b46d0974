%% Asks for a peer to talk to, and is then at rest.
-module(peer_session).
-export([start/1, rest/0]).
start(N) -> spawn(fun() -> none = peers:random(), put(number, N), rest() end).
rest() -> receive stop -> ok end.
