-module(journal_part).
-behaviour(gen_statem).
-export([start/1, write/2, roll/2, init/1, callback_mode/0, writer/3, reader/3]).

start(I) -> {ok, _} = gen_statem:start(?MODULE, I, []).
write(Part, Keys) -> gen_statem:call(Part, {write, Keys}).
roll(Part, How) -> gen_statem:call(Part, {roll, How}).

callback_mode() -> state_functions.
init(I) -> {ok, writer, #{part => I, hashtree => ets:new(hashtree, [private]), slots => ets:new(slots, [protected])}}.

writer({call, From}, {write, Keys}, #{hashtree := Tree, slots := Slots}) ->
    [ets:insert(Tree, {erlang:phash2(K), K, K * 128}) || K <- lists:seq(1, Keys)],
    ets:insert(Slots, {keys, Keys}),
    {keep_state_and_data, [{reply, From, ok}]};
writer({call, From}, {roll, How}, #{hashtree := Tree} = Data) ->
    case How of delete -> ets:delete(Tree); forget -> forgotten end,
    {next_state, reader, Data#{hashtree := undefined}, [{reply, From, ok}]}.

reader(_, _, _) -> keep_state_and_data.
