-module(riak_core_handoff_sender_sup).
-behaviour(supervisor).
-export([start_link/2, init/1]).
start_link(Port, N) -> supervisor:start_link({local, ?MODULE}, ?MODULE, {Port, N}).
init({Port, N}) ->
    {ok, {#{strategy => one_for_one}, [#{id => riak_core_handoff_sender, start => {riak_core_handoff_sender, start_link, [Port, N]}, shutdown => infinity}]}}.
