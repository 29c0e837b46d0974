%% What process_info says of every process, one JSON object a line; loaded into a running node from outside.
-module(process_truth).
-export([run/1]).

run(File) ->
    Items = [registered_name, message_queue_len, stack_size, reductions, current_function, links, memory],
    All = [{P, process_info(P, Items)} || P <- processes(), P =/= self()],
    ok = file:write_file(File, [line(P, maps:from_list(Info)) || {P, Info} <- All, Info =/= undefined]),
    length(All).

line(Pid, #{registered_name := Name, current_function := {M, F, A}} = Info) ->
    Number = fun(Key) -> integer_to_list(maps:get(Key, Info)) end,
    ["{\"pid\":\"", pid_to_list(Pid), "\",\"name\":", text(case Name of [] -> <<>>; _ -> atom_to_binary(Name, utf8) end),
     ",\"current_function\":", text(unicode:characters_to_binary(io_lib:format("~ts:~ts/~w", [M, F, A]))),
     ",\"msgq_len\":", Number(message_queue_len), ",\"stack_words\":", Number(stack_size), ",\"reductions\":", Number(reductions),
     ",\"memory_bytes\":", Number(memory), ",\"links\":", integer_to_list(length(maps:get(links, Info))), "}\n"].

text(Binary) -> [$", [case C of $" -> "\\\""; $\\ -> "\\\\"; _ -> C end || <<C>> <= Binary], $"].
