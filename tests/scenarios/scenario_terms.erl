%% Terms of every kind, what the VM says of them, and processes that hold them.
-module(scenario_terms).
-export([holder/1, binary_holder/1, truth/0, terms/0]).

-define(LITERAL, {a_literal, [1, 2, 3], <<"a binary in the literal area of a module">>, #{a => 1, b => {x, y}},
                  "characters", 1.25, 123456789012345678901234567890}).

%% Holds all terms on its stack and each one in its dictionary under {term, Name}.
holder(Ready) ->
    Terms = terms(),
    [put({term, Name}, Term) || {Name, Term} <- Terms],
    put(truth, [truth(Name, Term) || {Name, Term} <- Terms]),
    erlang:garbage_collect(),
    Ready(), scenario_kit:hold(Terms), Terms.

%% What the holder itself found: copying to another process would lose the sharing.
truth() ->
    {dictionary, Dictionary} = process_info(whereis(holder_terms), dictionary),
    [Truth#{holder => whereis(holder_terms)} || Truth <- proplists:get_value(truth, Dictionary)].

truth(Name, Term) ->
    External = term_to_binary(Term),
    #{name => Name,
      key => scenario_json:printed({term, Name}),
      printed => scenario_json:printed(Term),
      flat_words => erts_debug:flat_size(Term),
      shared_words => erts_debug:size(Term),
      external_base64 => base64:encode(External)}.

terms() ->
    Pair = [head | tail],
    Base = binary:copy(<<"0123456789abcdef">>, 8),
    Five = lists:seq(1, 5),
    {Env, Closed} = {[1, {env, 2}], <<"closed over">>},
    Atom = fun list_to_atom/1,
    lists:flatten(
      [[{nil, []}, {improper, [1, 2 | 3]}, {pair, Pair}, {list, Five}, {nested_lists, [[[[[]]]]]},
        {characters, "a string"}, {unicode, [955, 120, 8364]}, {long_string, lists:duplicate(300, $s)}, {iolist, ["abc", [<<"def">>, $g], <<>>]}],
       [{small, 0}, {small_negative, -1}, {small_most, (1 bsl 59) - 1}, {small_least, -(1 bsl 59)}, {big, 1 bsl 59},
        {big_negative, -(1 bsl 59) - 1}, {big_64, (1 bsl 64) - 1}, {big_65, 1 bsl 64}, {big_200, -(1 bsl 200) - 12345}, {big_1000, (1 bsl 1000) + 7}],
       [{float, 1.5}, {float_zero, -0.0}, {float_large, 1.0e308}, {float_tiny, 5.0e-324}, {float_third, 1 / 3}, {float_2_1023, math:pow(2, 1023)}, {float_54, 54.654}],
       [{atom, hello}, {atom_empty, ''}, {atom_space, 'hello world'}, {atom_latin1, Atom([229, 228, 246])}, {atom_unicode, Atom([26085, 26412])},
        {atom_255, Atom(lists:duplicate(255, $y))}, {atom_lines, Atom("two\nlines")}, {atom_separators, Atom("a,b|c:d")}],
       [{tuple_empty, {}}, {tuple, {a, b, c}}, {tuple_nested, {1, {2, {3, {4}}}}}, {tuple_20, list_to_tuple(lists:seq(1, 20))},
        {record, {state, self(), #{}, undefined, [], 0}}, {function_name, {lists, map, 2}}],
       [{map_empty, #{}}, {map, #{a => 1, "b" => 2, <<"c">> => 3.0, {d} => [4]}}, {map_32, squares(32)}, {map_33, squares(33)}, {map_1000, squares(1000)},
        {map_tuples, maps:from_list([{{I}, 1 bsl (64 + I)} || I <- lists:seq(1, 100)])}, {map_nested, #{m => #{m => #{m => 1}}}},
        {map_updated, maps:merge(squares(100), #{a => 1, 7 => changed, "new" => x})}],
       [{fun_local, fun() -> ok end}, {fun_environment, fun(Z) -> {Env, Closed, Z} end}, {fun_external, fun lists:map/2}, {fun_missing, fun no_module:no_function/3}],
       [{reference, make_ref()}, {atomics, atomics:new(3, [])}, {counters, counters:new(2, [write_concurrency])}, {table_id, ets:new(unnamed, [set])},
        {pattern, binary:compile_pattern([<<"ab">>, <<"cd">>])},
        {pid, self()}, {pid_init, whereis(init)}, {port, hd(erlang:ports())},
        {pid_far, binary_to_term(<<131, 88, 119, 7, "foo@bar", 77:32, 3:32, 9:32>>)},
        {port_far, binary_to_term(<<131, 89, 119, 7, "foo@bar", 12:32, 9:32>>)},
        {reference_far, binary_to_term(<<131, 90, 3:16, 119, 7, "foo@bar", 9:32, 1:32, 2:32, 3:32>>)}],
       [{binary_empty, <<>>}, {binary_heap, list_to_binary([1, 2, 3, 255])}, {binary_64, bytes(64)}, {binary_65, bytes(65)}, {binary_255, bytes(255)},
        {binary_refc, Base}, {slice_a, binary:part(Base, 0, 65)}, {slice_of_slice, binary:part(binary:part(Base, 13, 100), 20, 70)},
        {slices_of_one, thirds(bytes(255))}, {funs_of_one, {adder(Env), adder(Closed)}},
        {bits, <<5:3>>}, {bits_long, <<1:1, (bytes(80))/binary, 2:2>>}, {bits_slice, bit_slice(Base)}],
       [{shared, begin S = {shared, Five, Five}, {S, S, [S | S]} end}, {literal, ?LITERAL}, {literal_part, element(3, ?LITERAL)}]]).

squares(N) -> maps:from_list([{I, I * I} || I <- lists:seq(1, N)]).
bytes(N) -> list_to_binary([I band 255 || I <- lists:seq(1, N)]).
thirds(Binary) -> <<A:65/binary, B:65/binary, C/binary>> = Binary, {A, B, C}.
adder(A) -> fun(B) -> {A, B} end.
bit_slice(Binary) -> <<_:5, Slice:123/bitstring, _/bitstring>> = Binary, Slice.

%% Binaries in all the ways that a heap refers to them: whole, three slices of one, on the heap and off it around the
%% limit of 64 bytes, slices at many places, appended to, and half matched.
binary_holder(Ready) ->
    Parent = bytes(255),
    <<A:65/binary, B:65/binary, C/binary>> = Parent,
    Sizes = [bytes(N) || N <- lists:seq(100, 120) ++ lists:seq(200, 240)],
    Slices = [binary:part(Parent, From, Length) || From <- [0, 1, 2, 3, 4, 5, 10, 22], Length <- [0, 1, 2, 3, 4, 6, 9, 65]],
    OnHeap = [binary:part(bytes(64), From, 8) || From <- [0, 1, 7]],
    Appended = <<(bytes(300))/binary, "appended">>,
    put(binaries, {A, B, C}),
    half_matched(<<1, 2, 3, (bytes(100))/binary>>, Ready),
    {Parent, A, B, C, Sizes, Slices, OnHeap, Appended}.

half_matched(<<X, Rest/binary>>, Ready) when X < 3 -> [X | half_matched(Rest, Ready)];
half_matched(<<X, Rest/binary>>, Ready) -> Ready(), scenario_kit:hold(X), rest(Rest);
half_matched(<<>>, _) -> [].

rest(<<X, Rest/binary>>) -> [X | rest(Rest)];
rest(<<>>) -> [].
