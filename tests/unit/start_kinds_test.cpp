// SPDX-License-Identifier: Apache-2.0
// Kinds of failed starts that a reason, or what the node still shows, tells apart, each beside a twin of another kind.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "analyses/causes/told_causes.hpp"
#include "analyses/causes/wordings.hpp"
#include "analyses/facts/catalogue/start_failure.hpp"
#include "analyses/slogan/slogan.hpp"
#include "erlang/error_words.hpp"
#include "erlang/registered.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string what_of(std::string_view reason, const Snapshot& snapshot = Snapshot()) {
    const auto cause = told_cause(snapshot, reason, {});
    if (!cause) return {};
    return present::plain_text(snapshot, cause->cause.what) + present::plain_text(snapshot, cause->cause.where);
}

struct Told {
    std::string title, behind;
};
Told finding_of(test::MadeSnapshot& made, std::string_view slogan_text) {
    made.s.node.slogan = std::string(slogan_text);
    const Snapshot& snapshot = made.seal();
    const Slogan slogan = read_slogan(snapshot.node.slogan);
    const auto cause = told_cause(snapshot, slogan.reason, {}, slogan.kind == SloganKind::application_terminated);
    const auto findings = test::findings_of(snapshot, [&](Facts& facts) {
        facts.put(StartFailure{{}, cause, {}, {}});
    });
    for (const char* rule : {"start-up", "failed-call", "node-ended"})
        if (const Finding* found = test::first_of(findings, rule); found != nullptr)
            return {present::plain_text(snapshot, found->title), present::plain_text(snapshot, found->behind)};
    return {};
}
std::string of_application(std::string_view reason) {
    return "Kernel pid terminated (application_controller) ({application_start_failure,shop,{" + std::string(reason) +
           ",{shop_app,start,[normal,[]]}}})";
}

void add_module(test::MadeSnapshot& made, std::string_view name) {
    Module module;
    module.name = made.text(name);
    made.s.modules.push_back(module);
}

constexpr std::string_view undef_of_crypto =
    "{undef,[{crypto,strong_rand_bytes,[8],[]},{shop_app,start,2,[{file,\"shop_app.erl\"},{line,4}]}]}";

}  // namespace

TEST_CASE("a module whose native library was opened did not fail for its path", "[causes]") {
    test::MadeSnapshot made;
    add_module(made, "shop_app");
    made.s.node.taints = "asn1rt_nif,crypto";
    const std::string refused = what_of(undef_of_crypto, made.seal());
    CHECK(refused.find("module crypto is there and does not load, since its on_load function failed") == 0);
    CHECK(refused.find("called in shop_app:start/2") != std::string::npos);
    CHECK(refused.find("code path") == std::string::npos);
    // Not tainted: it never came so far. Loaded: it has no such function.
    test::MadeSnapshot missing;
    add_module(missing, "shop_app");
    missing.s.node.taints = "asn1rt_nif crypto_extra";
    CHECK(what_of(undef_of_crypto, missing.seal()).find("not on the code path") != std::string::npos);
    test::MadeSnapshot loaded;
    add_module(loaded, "crypto");
    loaded.s.node.taints = "crypto";
    CHECK(what_of(undef_of_crypto, loaded.seal()).find("though its module is there") != std::string::npos);
}

TEST_CASE("what was about to be printed is the failure, not that it could not be", "[causes]") {
    const std::string_view stack =
        "{code_server,call,1,[]},{io_lib,format,2,[]},{application_controller,init,2,[{file,\"application_controller."
        "erl\"},{line,555}]}]}";
    CHECK(what_of("{badarg,[{erlang,send,[code_server,{code_call,x}],[]}," + std::string(stack))
              .find("a file that -config names") == 0);
    test::MadeSnapshot made;
    made.process(1, "init");
    CHECK(what_of("{badarg,[{erlang,send,[code_server,go],[]},{shop,init,1,[]}]}", made.seal())
              .find("it sent a message to code_server") == 0);
}

TEST_CASE("lines of configuration files are told as lines", "[causes]") {
    CHECK(what_of("error in config file \"/srv/sys.config\" (2): syntax error before: PORT") ==
          "config file \"/srv/sys.config\" is wrong, line 2: syntax error before: PORT");
    CHECK(what_of("error in config file \"/srv/sys.config\" (3): {erl_scan,{illegal,character}}") ==
          "config file \"/srv/sys.config\", line 3, has a character that is no part of Erlang");
    CHECK(what_of("error in config file \"a.config\" (none): no ending <dot> found") ==
          "config file \"a.config\" is wrong: no ending <dot> found");
    CHECK(what_of("error in config file: something else").find("error in config file") == 0);
}

TEST_CASE("child specifications are told by what is wrong with them", "[causes]") {
    CHECK(what_of("{bad_start_spec,[#{id => room,start => {a,b,[]}},#{id => lobby,start => {c,d,[]}}]}") ==
          "a supervisor is simple_one_for_one, which takes one child specification, and its init/1 returns several: "
          "room, lobby");
    CHECK(what_of("{bad_start_spec,[nonsense]}").find("simple_one_for_one") == std::string::npos);
    CHECK(what_of("{start_spec,missing_start}") == "a child specification has no start");
    CHECK(what_of("{start_spec,missing_id}") == "a child specification has no id");
    CHECK(what_of("{start_spec,{bad_combination,[{auto_shutdown,never},{significant,true}]}}")
              .find("auto_shutdown is never") != std::string::npos);
    CHECK(what_of("{start_spec,{bad_combination,[{restart,permanent},{significant,true}]}}")
              .find("significant and permanent") != std::string::npos);
}

TEST_CASE("a socket of the file system has no port, and words of a reason are no listener", "[causes]") {
    CHECK(what_of("{cannot_listen,\"/run/shop.sock\",eaddrinuse}") ==
          "unix socket /run/shop.sock is in use (eaddrinuse)");
    CHECK(what_of("{cannot_listen,8080,eaddrinuse}") == "port 8080 is in use (eaddrinuse)");
    CHECK(what_of("{listen_error,http,eaddrinuse}") == "a port of http is in use (eaddrinuse)");
}

TEST_CASE("sockets that a node has itself are told where a port is in use", "[causes]") {
    const auto hints = [](std::size_t sockets, std::string_view driver) {
        test::MadeSnapshot made;
        made.process(7, "admin_listener");
        for (std::size_t i = 0; i < sockets; ++i) {
            Port port;
            port.port = PortName{0, i + 3};
            port.connected = {0, 7, 0};
            port.driver = made.text(driver);
            made.s.ports.push_back(port);
        }
        const auto cause = told_cause(made.seal(), "{badmatch,{error,eaddrinuse}}", {});
        std::string text;
        for (const Sentence& hint : cause->cause.hints) text += present::plain_text(made.s, hint) + "\n";
        return text;
    };
    const std::string said = "The node has sockets itself, one of which may be the one that listens there: ";
    CHECK(hints(1, "tcp_inet").find(said + "admin_listener <0.7.0> has #Port<0.3>.\n") == 0);
    CHECK(hints(5, "udp_inet").find("has #Port<0.5>, 2 more.\n") != std::string::npos);
    CHECK(hints(1, "efile").find(said) == std::string::npos);
}

TEST_CASE("an application of OTP that gave up is told with what it usually ends of", "[causes]") {
    const auto hints = [](std::string_view application) {
        std::string text;
        const auto cause = told_cause(Snapshot(), "shutdown", {}, true, application);
        for (const Sentence& hint : cause->cause.hints) text += present::plain_text(Snapshot(), hint) + "\n";
        return text;
    };
    CHECK(hints("os_mon").find("memsup, cpu_sup") != std::string::npos);
    CHECK(hints("shop").find("memsup") == std::string::npos);
}

TEST_CASE("errors of base64, dets, Task, logger and ssl are put in words", "[causes]") {
    CHECK(what_of("{badarg,[{base64,decode_binary,5,[{error_info,#{cause => {4,integer,type,bad},module => "
                  "erl_erts_errors}}]},{signin,init,1,[{file,\"signin.erl\"},{line,7}]}]}") ==
          "what base64 was to decode is no base64: a character of it, or its length, is wrong, in signin:init/1 "
          "(signin.erl:7)");
    CHECK(what_of("{badarg,[{shop,pack,5,[{error_info,#{cause => {4,integer,type,bad},module => erl_erts_errors}}]}]}")
              .find("segment 4 of the binary that it builds is to be of type integer, and is bad") !=
          std::string::npos);
    CHECK(what_of("{timeout,{'Elixir.Task.Supervised',stream,[100]}}") ==
          "a task of Task.async_stream was not ready in its timeout of 100 ms");
    CHECK(what_of("{timeout,{gen_server,call,[shop,go,100]}}").find("a call of shop") == 0);
    // The text of a slogan ends within the stack.
    CHECK(
        what_of("{{badmatch,{error,{type_mismatch,\"items.dets\"}}},[{catalog_db,ini}|...]}") ==
        "the DETS file items.dets was made with another type (set, bag) than it is opened with, in module catalog_db");
    CHECK(what_of("{bad_config,{handler,{kernel,{handler_not_added,{invalid_config,logger_std_h,#{max_no_byte => "
                  "10}}}}}}")
              .find("logger_std_h does not know") != std::string::npos);
    CHECK(what_of("{{badmatch,{error,{options,{'tlsv1.4',{versions,['tlsv1.3']}}}}},[{portal,init,1,[]}]}") ==
          "ssl's option versions does not know tlsv1.4, in portal:init/1");
    CHECK(what_of("{{badmatch,{error,{shop,{not_loaded,shop}}}},[{shop,start,0,[]}]}") ==
          "shop.app was read, and has the name of another application inside, in shop:start/0");
    CHECK(what_of("{noproc,{gen_server,call,[pg,{join_local,a,b},infinity]}}") ==
          "it called pg, and its default scope was not started");
}

TEST_CASE("a child's failure is found where the text ends behind it", "[causes]") {
    const Failure failure = failure_of_printed("{{shutdown,{failed_to_start_child,topic,{badkey,a}}},{pubs}}");
    CHECK(failure.children == std::vector<std::string>{"topic"});
    CHECK(failure_of_printed("{{shutdown,oops},{pubs}}").children.empty());
}

TEST_CASE("a struct that was read by brackets lacks no function", "[causes]") {
    const std::string reason =
        "{#{'__exception__' => true,'__struct__' => 'Elixir.UndefinedFunctionError',arity => 2,function => "
        "fetch,message => nil,module => 'Elixir.Shop.Settings',reason => "
        "nil},[{'Elixir.Shop.Settings',fetch,[a,b],[]},";
    CHECK(what_of(reason + "{'Elixir.Access',get,3,[]},{'Elixir.Shop',start,2,[]}]}")
              .find("a struct Elixir.Shop.Settings was read by [...]") == 0);
    CHECK(what_of(reason + "{'Elixir.Shop',start,2,[]}]}").find("a struct") == std::string::npos);
}

TEST_CASE("who was killed by a purge is told by the VM's purger", "[starts]") {
    const auto told = [](std::uint64_t reductions) {
        test::MadeSnapshot made;
        made.process(1, "init");
        made.process(2, std::string(erlang::registered::code_purger)).reductions = reductions;
        return finding_of(made,
                          "Kernel pid terminated (application_controller) ({application_terminated,shop,shutdown})")
            .title;
    };
    CHECK(told(213'331).find("killed, again and again, by the purge of old code") != std::string::npos);
    CHECK(told(23).find("purge") == std::string::npos);
}

TEST_CASE("the place that a title has no room for is said behind it", "[starts]") {
    test::MadeSnapshot made;
    made.process(1, "init");
    const std::string long_text(90, 'x');
    const Told told = finding_of(
        made, of_application("{shutdown,{failed_to_start_child,'Elixir.Pay.Clock',{#{'__exception__' => "
                             "true,'__struct__' => 'Elixir.ArgumentError',message => <<\"" +
                             long_text +
                             " no\">>},[{'Elixir.DateTime','now!',2,[]},{'Elixir.Pay.Clock',init,1,[{file,\"app.ex\"},{"
                             "line,8}]}]}}}"));
    CHECK(told.title.find(long_text + " no") != std::string::npos);
    CHECK(told.behind.find("It was raised in") == 0);
    CHECK(told.behind.find("init/1") != std::string::npos);
    // A title that says it all has nothing behind it.
    test::MadeSnapshot brief;
    brief.process(1, "init");
    CHECK(finding_of(brief, of_application("{shutdown,{failed_to_start_child,srv,{listen_error,http,eaddrinuse}}}"))
              .behind.empty());
}

TEST_CASE("the innermost exception of a text and no colours are told", "[causes]") {
    CHECK(one_line("EXIT when installing backend: an exception was raised:\n    ** (UndefinedFunctionError) function "
                   "A.init/1 is undefined\n        A.init(:a)\n        (stdlib 4.2) gen_event.erl:698: f/4",
                   300)
              .find("UndefinedFunctionError: function A.init/1 is undefined") == 0);
    CHECK(one_line("an exception was raised: nobody knows which", 300) ==
          "an exception was raised: nobody knows which");
    CHECK(erlang::without_colours("\x1b[31mFATAL: no display\x1b[0m") == "FATAL: no display");
    CHECK(erlang::without_colours("[31m stays") == "[31m stays");
    CHECK(erlang::without_colours("\x1b[") == "");
}
