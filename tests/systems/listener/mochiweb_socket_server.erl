-module(mochiweb_socket_server).
-behaviour(gen_server).
-export([start_link/2, port/0, active/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).
-record(mochiweb_socket_server, {port, loop, name, max = 2048, ip = any, listen = null, nodelay = false, backlog = 128,
                                 active_sockets = 0, acceptor_pool_size = 16, ssl = false, acceptor_pool = sets:new(), counts_off}).

start_link(Max, CountsOff) -> gen_server:start_link({local, ?MODULE}, ?MODULE, {Max, CountsOff}, []).
port() -> gen_server:call(?MODULE, port).
active() -> gen_server:call(?MODULE, active).

init({Max, CountsOff}) ->
    process_flag(trap_exit, true),
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {reuseaddr, true}, {backlog, 128}]),
    {ok, Port} = inet:port(L),
    {ok, pool(#mochiweb_socket_server{port = Port, max = Max, listen = L, name = http, loop = {web, loop}, counts_off = CountsOff})}.

pool(S = #mochiweb_socket_server{active_sockets = A, max = Max}) when A >= Max -> S;
pool(S = #mochiweb_socket_server{acceptor_pool = Pool, acceptor_pool_size = Size, active_sockets = A, max = Max}) ->
    case sets:size(Pool) of
        N when N < Size, A + N < Max ->
            pool(S#mochiweb_socket_server{acceptor_pool = sets:add_element(mochiweb_acceptor:start_link(self(), S#mochiweb_socket_server.listen), Pool)});
        _ -> S
    end.

handle_call(port, _, S) -> {reply, S#mochiweb_socket_server.port, S};
handle_call(active, _, S) -> {reply, S#mochiweb_socket_server.active_sockets, S}.
handle_cast({accepted, Pid}, S = #mochiweb_socket_server{active_sockets = A, acceptor_pool = Pool}) ->
    {noreply, pool(S#mochiweb_socket_server{active_sockets = A + 1, acceptor_pool = sets:del_element(Pid, Pool)})}.
handle_info({'EXIT', _Pid, normal}, S = #mochiweb_socket_server{active_sockets = A, counts_off = true}) ->
    {noreply, pool(S#mochiweb_socket_server{active_sockets = A - 1})};
handle_info({'EXIT', _Pid, normal}, S) -> {noreply, pool(S)}.
