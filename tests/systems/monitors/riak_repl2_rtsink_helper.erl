-module(riak_repl2_rtsink_helper).
-behaviour(gen_server).
-export([start_link/1, write_objects/2, watch/1, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(state, {demonitor, parent, count = 0}).

start_link(Demonitor) -> gen_server:start_link({local, ?MODULE}, ?MODULE, Demonitor, []).
write_objects(Objects, Ack) -> gen_server:call(?MODULE, {write_objects, Objects, Ack}).
watch(Pid) -> gen_server:call(?MODULE, {watch, Pid}).

init(Demonitor) -> {ok, #state{demonitor = Demonitor}}.
handle_call({watch, Pid}, _From, State) -> erlang:monitor(process, Pid), {reply, ok, State};
handle_call({write_objects, Objects, _Ack}, {Pid, _}, State = #state{count = C}) ->
    MRef = erlang:monitor(process, Pid),
    N = length(Objects),
    case State#state.demonitor of true -> erlang:demonitor(MRef, [flush]); false -> ok end,
    {reply, ok, State#state{parent = Pid, count = C + N}}.
handle_cast(_, S) -> {noreply, S}.
handle_info({'DOWN', _, process, _, _}, S) -> {noreply, S}.
