%% What the VM itself says of its processes, tables, ports, memory, just before it dies.
%%
%% Taken twice, by a process of its own: the first time loads all code and makes all atoms that taking it needs.
-module(scenario_truth).
-export([write/3]).

write(File, Scenario, Plan) ->
    Text = scenario_json:encode(take(Scenario, Plan)),
    {ok, Out} = file:open(File, [raw, write, binary]),   % raw: no other process has to work for it
    ok = file:write(Out, unicode:characters_to_binary(Text)),
    ok = file:close(Out).

take(Scenario, Plan) ->
    erlang:system_flag(backtrace_depth, 64),
    Memory = maps:from_list(erlang:memory()),
    Modules = lists:sort([M || {M, _} <- code:all_loaded()]),      % the code server works for this: it is asked first
    timer:sleep(50),
    Pids = maps:get(asked, Plan, processes() -- [self()]),
    #{format => 1,
      scenario => Scenario,
      facts => maps:get(facts, Plan, #{}),
      slogan => {text, maps:get(slogan, Plan, "")},
      died_by_itself => maps:is_key(death, Plan),
      otp => {text, erlang:system_info(otp_release)},
      erts => {text, erlang:system_info(version)},
      word_size => erlang:system_info(wordsize),
      node => node(),
      nodes => [node_of(N) || N <- nodes(connected)],
      os_pid => {text, os:getpid()},
      main => whereis(scenario_main),
      processes => [process(P, Plan) || P <- Pids],
      ports => [port(P) || P <- erlang:ports()],
      ets => [table(T) || T <- ets:all()],
      modules => Modules,
      persistent_terms => maps:get(count, persistent_term:info()),
      system => system(Pids),
      memory => Memory}.

system(Pids) ->
    #{processes => length(Pids),
      process_limit => erlang:system_info(process_limit),
      ports => erlang:system_info(port_count),
      port_limit => erlang:system_info(port_limit),
      atoms => erlang:system_info(atom_count),
      atom_limit => erlang:system_info(atom_limit),
      ets_tables => length(ets:all()),
      schedulers => erlang:system_info(schedulers),
      dirty_cpu_schedulers => erlang:system_info(dirty_cpu_schedulers),
      dirty_io_schedulers => erlang:system_info(dirty_io_schedulers)}.

node_of(Node) ->
    #{name => Node, hidden => lists:member(Node, nodes(hidden))}.

%% ---- processes ---------------------------------------------------------------------------------------------

items() ->
    [registered_name, status, message_queue_len, total_heap_size, heap_size, stack_size, memory, reductions,
     current_function, initial_call, links, monitors, monitored_by, group_leader, trap_exit, priority,
     garbage_collection_info, message_queue_data, suspending, current_stacktrace, dictionary, binary].

process(Pid, Plan) ->
    scenario_kit:debug({asking, Pid}),
    Known = #{pid => Pid,
              role => maps:get(Pid, maps:get(roles, Plan, #{}), null),
              volatile => Pid =:= whereis(scenario_main) orelse lists:member(Pid, maps:get(volatile, Plan, []))},
    case maps:find(Pid, maps:get(unasked, Plan, #{})) of
        {ok, _} -> Known#{volatile => true, name => name(Pid)};
        error ->
            %% the VM's signal handlers work whenever somebody asks a process on a dirty scheduler anything
            case process_info(Pid, items()) of
                undefined -> Known#{status => exiting, volatile => true};
                Info ->
                    Asked = maps:from_list(Info),
                    Serves = maps:get(initial_call, Asked) =:= {erts_dirty_process_signal_handler, start, 0},
                    maps:merge(Known#{volatile => Serves orelse maps:get(volatile, Known)}, asked(Pid, Asked))
            end
    end.

%% process_info would wait for the process, whatever the item.
name(Pid) ->
    case [N || N <- registered(), whereis(N) =:= Pid] of
        [Name] -> Name;
        [] -> null
    end.

asked(Pid, Info) ->
    Dictionary = maps:get(dictionary, Info),
    Collection = maps:from_list(maps:get(garbage_collection_info, Info)),
    #{name => case maps:get(registered_name, Info) of [] -> null; Name -> Name end,
      status => maps:get(status, Info),
      messages => maps:get(message_queue_len, Info),
      first_messages => first_messages(Pid, maps:get(message_queue_len, Info)),
      memory_bytes => maps:get(memory, Info),
      total_heap_words => maps:get(total_heap_size, Info),
      heap_words => maps:get(heap_size, Info),
      stack_words => maps:get(stack_size, Info),
      old_heap_words => maps:get(old_heap_block_size, Collection),
      old_heap_used_words => maps:get(old_heap_size, Collection),
      heap_used_words => maps:get(heap_size, Collection),
      fragment_words => maps:get(mbuf_size, Collection),
      reductions => maps:get(reductions, Info),
      current_function => maps:get(current_function, Info),
      initial_call => maps:get(initial_call, Info),
      real_initial_call => real_initial_call(Dictionary),
      label => label(Dictionary),
      ancestors => proplists:get_value('$ancestors', Dictionary, []),
      links => maps:get(links, Info),
      monitors => [monitor_of(M) || M <- maps:get(monitors, Info)],
      monitored_by => maps:get(monitored_by, Info),
      group_leader => maps:get(group_leader, Info),
      trap_exit => maps:get(trap_exit, Info),
      priority => maps:get(priority, Info),
      message_queue_data => maps:get(message_queue_data, Info),
      suspends => [P || {P, _, _} <- maps:get(suspending, Info)],
      stack => [function_of(F) || F <- maps:get(current_stacktrace, Info)],
      refc_binaries => length(lists:usort([A || {A, _, _} <- maps:get(binary, Info)])),
      dictionary_size => length(Dictionary),
      dictionary => [#{key => scenario_json:printed(K), value => scenario_json:printed(V),
                       flat_words => erts_debug:flat_size(V)}
                     || {K, V} <- Dictionary, erts_debug:flat_size(V) < 200]}.

first_messages(_, 0) -> [];
first_messages(Pid, N) when N =< 1000 ->
    {messages, Messages} = process_info(Pid, messages),
    [scenario_json:printed(M) || M <- lists:sublist(Messages, 3), erts_debug:flat_size(M) < 200];
first_messages(_, _) -> [].

real_initial_call(Dictionary) ->
    case proplists:get_value('$initial_call', Dictionary) of
        {M, F, A} when is_list(A) -> {M, F, length(A)};
        {_, _, _} = Function -> Function;
        _ -> null
    end.

label(Dictionary) ->
    case lists:keyfind('$process_label', 1, Dictionary) of
        {_, Label} -> scenario_json:printed(Label);
        false -> null
    end.

function_of({M, F, A, _}) when is_list(A) -> {M, F, length(A)};
function_of({M, F, A, _}) -> {M, F, A}.

monitor_of({process, {Name, Node}}) -> #{kind => process, name => Name, node => Node};
monitor_of({Kind, Item}) -> #{kind => Kind, item => Item}.

%% ---- ports and tables --------------------------------------------------------------------------------------

port(Port) ->
    case erlang:port_info(Port) of
        undefined -> #{port => Port, closed => true};
        List ->
            Info = maps:from_list(List),
            Extra = [erlang:port_info(Port, queue_size), erlang:port_info(Port, registered_name)],
            maps:merge(#{port => Port,
                         driver => {text, maps:get(name, Info, "")},
                         connected => maps:get(connected, Info),
                         links => maps:get(links, Info),
                         input_bytes => maps:get(input, Info),
                         output_bytes => maps:get(output, Info)},
                       maps:from_list([{K, V} || {K, V} <- Extra]))
    end.

table(Table) ->
    case ets:info(Table) of
        undefined -> #{id => Table, gone => true};
        List ->
            Info = maps:from_list(List),
            #{id => scenario_json:printed(maps:get(id, Info)),
              name => maps:get(name, Info),
              type => maps:get(type, Info),
              objects => maps:get(size, Info),
              words => maps:get(memory, Info),
              owner => maps:get(owner, Info),
              protection => maps:get(protection, Info),
              compressed => maps:get(compressed, Info),
              write_concurrency => maps:get(write_concurrency, Info),
              read_concurrency => maps:get(read_concurrency, Info)}
    end.
