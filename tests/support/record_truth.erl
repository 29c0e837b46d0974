%% SPDX-License-Identifier: Apache-2.0
%% Processes whose States are records, and what the VM itself prints of these (io_lib_pretty, as the shell does with `rr`).
%% main(File): writes the file, a line for each name: the State as a record; then waits.
-module(record_truth).
-behaviour(gen_server).
-export([main/1, init/1, callback_mode/0, handle_call/2, handle_call/3, handle_cast/2, handle_info/2, handle_event/2, handle_event/4]).
-include("record_truth.hrl").
-record(state, {socket, backlog = [], sessions = #{} :: map(), max = fun(A, B) -> {A, B} end, 'odd name'}).
-record(data, {kind = machine, last :: #session{} | undefined}).
-record(handled, {count = 0, names}).

main([Name]) ->
    File = atom_to_list(Name),
    {ok, _} = gen_server:start({local, truth_server}, ?MODULE, server, []),
    {ok, _} = gen_server:start({local, truth_other}, ?MODULE, other, []),
    {ok, _} = gen_statem:start({local, truth_machine}, ?MODULE, machine, []),
    {ok, _} = gen_event:start({local, truth_event}),
    ok = gen_event:add_handler(truth_event, ?MODULE, handled),
    Sup = element(2, code:get_object_code(supervisor)),
    Lines = [line(truth_server, sys:get_state(truth_server), own()),
             line(truth_other, sys:get_state(truth_other), own()),
             line(truth_machine, element(2, sys:get_state(truth_machine)), own()),
             line(truth_event, element(3, hd(sys:get_state(truth_event))), own()),
             line(kernel_safe_sup, sys:get_state(kernel_safe_sup), records(Sup)),
             line(kernel_sup, sys:get_state(kernel_sup), records(Sup))],
    ok = file:write_file(File ++ ".part", unicode:characters_to_binary(Lines)),
    ok = file:rename(File ++ ".part", File),
    ok = file:write_file(File ++ ".pid", os:getpid()),
    gen_server:cast(truth_server, suspend),
    [truth_server ! {job, #session{id = N}} || N <- [1, 2]],
    timer:sleep(infinity).

own() -> records(element(2, code:get_object_code(?MODULE))).
records(Beam) ->
    {ok, {_, [{abstract_code, {raw_abstract_v1, Forms}}]}} = beam_lib:chunks(Beam, [abstract_code]),
    [{Name, [field(Field) || Field <- Fields]} || {attribute, _, record, {Name, Fields}} <- Forms].
field({typed_record_field, Field, _}) -> field(Field);
field(Field) -> {atom, _, Name} = element(3, Field), Name.

line(Name, Term, Records) ->
    Print = fun(Tag, Size) -> case lists:keyfind(Tag, 1, Records) of
                                  {_, Fields} when length(Fields) =:= Size -> Fields;
                                  _ -> no
                              end
            end,
    Text = io_lib_pretty:print(Term, [{column, 1}, {line_length, 1000000}, {depth, -1}, {max_chars, -1}, {record_print_fun, Print}]),
    [atom_to_list(Name), $\t, Text, $\n].

init(server) ->
    Sessions = maps:from_list([{N, #session{id = N, buffer = [{N, data}], password = hunter2}} || N <- [1, 2]]),
    {ok, #state{socket = self(), backlog = lists:seq(1, 3), sessions = Sessions, max = none, 'odd name' = <<"text">>}};
init(other) ->  % a tag that is a record's, of another size
    {ok, {state, {session, 1}, #session{id = in_it}}};
init(machine) -> {ok, resting, #data{last = #session{id = last}}};
init(handled) -> {ok, #handled{names = [#session{id = handled}]}}.

callback_mode() -> handle_event_function.
handle_event(_, State) -> {ok, State}.
handle_event(_, _, _, _) -> keep_state_and_data.
handle_call(_, State) -> {ok, ok, State}.
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(suspend, State) -> receive never -> ok end, {noreply, State}.
handle_info(_, State) -> {noreply, State}.
