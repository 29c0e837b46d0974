-module(pdf_fonts).
-behaviour(gen_server).
-export([start_link/1, init/1, handle_call/3, handle_cast/2]).
-record(state, {objects, fonts = #{}}).
start_link(Objects) -> gen_server:start_link(?MODULE, Objects, []).
init(Objects) -> {ok, #state{objects = Objects, fonts = #{helvetica => pdf_objects:add(Objects, font)}}}.
handle_call(fonts, _From, State) -> {reply, State#state.fonts, State}.
handle_cast(_, State) -> {noreply, State}.
