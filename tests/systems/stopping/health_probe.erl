-module(health_probe).
-export([start/0, init/0, idle/1]).
start() -> proc_lib:spawn(?MODULE, init, []).
init() -> idle(supervisor:which_children(riak_core_handoff_sender_sup)).
idle(Children) -> receive probe -> idle(Children) end.
