%% JSON from Erlang terms, as the truth files need it.
%%
%%   maps                         objects, keys sorted
%%   lists                        arrays; {text, Chars} is a string of characters
%%   binaries, atoms              strings; true, false, null and undefined (null) as JSON has them
%%   numbers                      numbers
%%   {Module, Function, Arity}    "m:f/a", quoted as Erlang does
%%   all else                     the term printed by ~0tp
-module(scenario_json).
-export([encode/1, printed/1]).

encode(Map) when is_map(Map) ->
    Members = lists:sort([{key(K), V} || {K, V} <- maps:to_list(Map)]),
    [${, lists:join(",\n", [[string(K), $:, encode(V)] || {K, V} <- Members]), $}];
encode(List) when is_list(List) -> [$[, lists:join(",\n", [encode(X) || X <- List]), $]];
encode({text, Chars}) -> string(utf8(Chars));
encode(true) -> "true";
encode(false) -> "false";
encode(null) -> "null";
encode(undefined) -> "null";
encode(Integer) when is_integer(Integer) -> integer_to_list(Integer);
encode(Float) when is_float(Float) -> io_lib:format("~p", [Float]);
encode(Binary) when is_binary(Binary) -> string(Binary);
encode(Atom) when is_atom(Atom) -> string(atom_to_binary(Atom, utf8));
encode({M, F, A}) when is_atom(M), is_atom(F), is_integer(A) ->
    string(utf8(io_lib:format("~0tp:~0tp/~w", [M, F, A])));
encode(Term) -> string(printed(Term)).

printed(Term) -> utf8(io_lib:format("~0tp", [Term])).

key(K) when is_atom(K) -> atom_to_binary(K, utf8);
key(K) when is_binary(K) -> K;
key(K) -> printed(K).

utf8(Chars) ->
    case unicode:characters_to_binary(Chars) of
        Binary when is_binary(Binary) -> Binary;
        _ -> unicode:characters_to_binary(iolist_to_binary(Chars), latin1)
    end.

string(Binary) -> [$", escape(unicode:characters_to_list(Binary), Binary), $"].

escape(Chars, _) when is_list(Chars) -> [escape(C) || C <- Chars];
escape(_NotUtf8, Binary) -> [escape(C) || <<C>> <= Binary].

escape($") -> "\\\"";
escape($\\) -> "\\\\";
escape(C) when C < 32; C >= 127, C < 160 -> io_lib:format("\\u~4.16.0b", [C]);
escape(C) when C < 127 -> C;
escape(C) -> unicode:characters_to_binary([C]).
