%% The report: an XMPP server asks LDAP whether a user may log in; LDAP answers some requests not at all; the process that
%% asks is itself asked by the router of sessions, whose queue grows while it waits: "overloaded with messages queued".
%% To hear: ejabberd_sm has 40,000 messages queued: it waits in a call to ejabberd_auth_cache, which waits for
%% eldap_worker, which waits in gen_tcp:recv for 127.0.0.1:PORT.
-module(sys_flooded).
-export([sick/0, healthy/0]).
sick() -> start(sys_kit:silent(), 40001, fun() -> sys_kit:queue(ejabberd_sm) >= 40000 andalso element(1, sys_kit:at(eldap_worker)) =:= prim_inet end).
healthy() -> start(sys_kit:echo(), 2000, fun() -> sys_kit:queue(ejabberd_sm) =:= 0 andalso sys_kit:at(eldap_worker) =:= {eldap, loop, 1} end).
start(Port, N, Reached) ->
    {ok, _} = eldap:open(Port),
    {ok, _} = ejabberd_auth_cache:start_link(),
    {ok, _} = ejabberd_sm:start_link(),
    [ejabberd_sm ! {route, {jid, "user" ++ integer_to_list(K rem 7), "example.org"}, {message, K, "hello"}} || K <- lists:seq(1, N)],
    sys_kit:until(Reached).
