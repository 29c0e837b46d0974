// SPDX-License-Identifier: Apache-2.0
// What libraries call their processes, in words: terms as their sources make them, and as ssl of OTP 27 was seen to.
#include "analyses/causes/labels.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "present/erlang_text.hpp"
#include "present/secrets/redact.hpp"
#include "present/spelling.hpp"
#include "present/waits.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;

namespace {

std::string label_words(std::string_view label, present::Syntax syntax = present::Syntax::erlang) {
    test::MadeSnapshot made;
    const present::Names names(made.s, syntax);
    return names.label(made.text(label));
}

}  // namespace

TEST_CASE("labels of known libraries are told in words", "[labels]") {
    CHECK(label_words(R"({rabbit_amqqueue_process,{resource,<<"/">>,queue,<<"orders">>}})") ==
          R"(queue <<"orders">> in vhost <<"/">>)");
    CHECK(label_words(R"({rabbit_amqqueue_process,{resource,<<"/">>,queue,<<"orders">>}})", present::Syntax::elixir) ==
          R"(queue "orders" in vhost "/")");
    CHECK(label_words(R"({rabbit_channel,{<<"10.0.0.1:5 -> 10.0.0.2:5672">>,3}})") ==
          R"(channel 3 of connection <<"10.0.0.1:5 -> 10.0.0.2:5672">>)");
    CHECK(label_words(R"({rabbit_federation_link,{resource,<<"v">>,exchange,<<"logs">>}})") ==
          R"(rabbit_federation_link of exchange <<"logs">> in vhost <<"v">>)");
    CHECK(label_words(R"({'Elixir.Phoenix.LiveView','Elixir.ShopWeb.CartLive',<<"lv:phx-F1">>})") ==
          R"(LiveView Elixir.ShopWeb.CartLive, topic <<"lv:phx-F1">>)");
    CHECK(label_words(R"({'Elixir.Phoenix.LiveView','Elixir.ShopWeb.CartLive',<<"lv:phx-F1">>})",
                      present::Syntax::elixir) == R"(LiveView ShopWeb.CartLive, topic "lv:phx-F1")");
    CHECK(label_words("{tls,server,443}") == "TLS server connection, port 443");
    CHECK(label_words(R"({tls,server,<<"shop.example">>,443})") ==
          R"(TLS server connection for <<"shop.example">>, port 443)");
    CHECK(label_words(R"({tls,client,"db.example"})") == R"(TLS client connection to "db.example")");
    CHECK(label_words("{tls_sender,client,{connection,<0.123.0>}}") == "sender of the TLS client connection <0.123.0>");
}

TEST_CASE("other labels are the terms that they are", "[labels]") {
    for (const std::string label :
         {"worker", "{worker,7}", "\"a text\"", "{tls,server,udp,x,y}", "{rabbit_channel,odd}", "{resource,1,queue,2}",
          "{tls_sender,client,{connection,no_pid}}", "{"})
        CHECK(label_words(label) == label);
}

TEST_CASE("what a person chose in a label is hidden as values are", "[labels]") {
    test::MadeSnapshot made;
    Process& queue = made.process(7);
    queue.label = made.text(R"({rabbit_amqqueue_process,{resource,<<"/">>,queue,<<"orders">>}})");
    made.s.seal();
    const present::Names names(made.s, present::Syntax::erlang);
    const present::Text text = present::spell(names, analyses::sentence("{} has messages", made.s.find(Pid{0, 7, 0})));
    present::RedactOptions options;
    options.level = present::RedactLevel::none;
    CHECK(present::Redactor(options).apply(text) == R"(<0.7.0> (queue <<"orders">> in vhost <<"/">>) has messages)");
    options.level = present::RedactLevel::values;
    const std::string hidden = present::Redactor(options).apply(text);
    CHECK(hidden.starts_with("<0.7.0> (queue <<6 bytes #"));
    CHECK(hidden.find("orders") == std::string::npos);
    // As a cell of a table, too.
    const std::string cell = present::Redactor(options).apply(names.label(queue.label), present::Content::term);
    CHECK(cell.starts_with("queue <<6 bytes #"));
    CHECK(cell.find("orders") == std::string::npos);
}

TEST_CASE("where many alike wait for one it has its name, where for several alike what these run", "[labels][waits]") {
    const auto waits_for = [](std::uint32_t queues) {
        test::MadeSnapshot made;
        const FunctionId init = made.function("amqqueue", "init", 1);
        const FunctionId call = made.function("gen", "do_call", 4);
        for (std::uint32_t i = 0; i < 2; ++i) {
            Process& queue = made.process(7 + i);
            queue.label = made.text(R"({rabbit_amqqueue_process,{resource,<<"/">>,queue,<<"orders">>}})");
            queue.initial_call = init;
        }
        analyses::Waits waits;
        for (std::uint32_t i = 0; i < 4; ++i) {
            made.process(20 + i).initial_call = made.function("channel", "init", 1);
            analyses::WaitTarget target;
            target.process = ProcId{i % queues};
            target.pid = {0, 7 + i % queues, 0};
            waits.edges.push_back({ProcId{2 + i}, target, call, "monitor"});
        }
        const present::Names names(made.seal(), present::Syntax::erlang);
        const present::Table table = present::wait_edges_for_people(names, waits, 4);
        REQUIRE(table.rows == 1);
        std::string said;
        for (const std::size_t column : {1, 3})
            said += std::get<std::string>(table.cell(0, column).data()) + (column == 1 ? " -> " : "");
        return said;
    };
    CHECK(waits_for(1) == "channel:init/1 \u00d74 -> queue <<\"orders\">> in vhost <<\"/\">>");
    CHECK(waits_for(2) == "channel:init/1 \u00d74 -> amqqueue:init/1");
}

TEST_CASE("a fun is told with where it stands", "[labels][lines]") {
    test::MadeSnapshot made;
    const FunctionId fun = made.function("cart", "-total/1-fun-0-", 1);
    const FunctionId function = made.function("cart", "total", 1);
    made.s.frame_lines.add_head(fun, "/src/cart.erl", 12);
    made.s.frame_lines.add_head(function, "/src/cart.erl", 10);
    const present::Names names(made.s, present::Syntax::erlang);
    const auto told = [&](FunctionId id) {
        std::string text;
        for (const auto& piece : present::spell(names, analyses::sentence("in {}", id)).pieces) text += piece.text;
        return text;
    };
    CHECK(told(fun) == "in cart:'-total/1-fun-0-'/1 (cart.erl:12)");
    CHECK(told(function) == "in cart:total/1");
    CHECK(names.fun_head(made.function("cart", "-total/1-fun-1-", 1)).empty());
}
