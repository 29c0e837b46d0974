-module(route_planner).
-behaviour(gen_server).
-export([start/1, plan/3, init/1, handle_call/3, handle_cast/2]).
start(I) -> {ok, _} = gen_server:start({local, list_to_atom("route_planner_" ++ integer_to_list(I))}, ?MODULE, [], []).
plan(Planner, Places, Deletes) -> gen_server:call(Planner, {plan, Places, Deletes}).
init([]) -> {ok, []}.
handle_call({plan, Places, Deletes}, _, State) ->
    Graph = digraph:new(),
    [digraph:add_vertex(Graph, P) || P <- lists:seq(1, Places)],
    [digraph:add_edge(Graph, P, P rem Places + 1) || P <- lists:seq(1, Places)],
    Way = digraph:get_short_path(Graph, 1, 3),
    case Deletes of true -> digraph:delete(Graph); false -> ok end,
    {reply, length(Way), State}.
handle_cast(_, State) -> {noreply, State}.
