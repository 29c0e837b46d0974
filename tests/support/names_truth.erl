%% SPDX-License-Identifier: Apache-2.0
%% Processes that are named by what their libraries say of them, one of which many wait for. The terms of RabbitMQ and of Phoenix
%% are made by hand, as their sources make them (rabbit_misc:store_proc_name/2, Phoenix.LiveView.Channel).
%% main(dump | stay): ends with a dump, or waits.
-module(names_truth).
-export([main/1, loop/1]).

main([What]) ->
    Queue = {rabbit_amqqueue_process, {resource, <<"/">>, queue, <<"orders">>}},
    Server = spawn(fun() -> put(process_name, Queue), put(other, 1), loop(Queue) end),
    spawn(fun() -> put(process_name, {rabbit_channel, {list_to_binary("127.0.0.1:1 -> 127.0.0.1:5672"), 2}}), receive never -> ok end end),
    spawn(fun() -> put(process_name, {somebody, other}), receive never -> ok end end),
    case erlang:function_exported(proc_lib, set_label, 1) of
        true ->
            spawn(fun() ->
                          proc_lib:set_label({'Elixir.Phoenix.LiveView', 'Elixir.ShopWeb.CartLive', <<"lv:phx-F1">>}),
                          receive never -> ok end
                  end),
            spawn(fun() -> proc_lib:set_label({tls, server, 443}), receive never -> ok end end);
        false -> ok
    end,
    [spawn(fun() -> gen_server:call(Server, {publish, N}, infinity) end) || N <- lists:seq(1, 60)],
    timer:sleep(500),
    ok = file:write_file("names.pid", os:getpid()),
    case What of
        dump -> erlang:halt("enough");
        stay -> timer:sleep(infinity)
    end.

loop(Queue) ->
    receive
        {'$gen_call', From, _} ->
            timer:sleep(infinity),  % HERE
            gen_server:reply(From, Queue),
            loop(Queue)
    end.
