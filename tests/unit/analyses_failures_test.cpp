// SPDX-License-Identifier: Apache-2.0
// The layers that come off a reason, how much of it is known, and how far a start had come.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/causes/boot_stage.hpp"
#include "analyses/causes/explainer.hpp"
#include "analyses/causes/failure.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct Peeled {
    std::string_view reason;
    std::string innermost;  ///< an atom, or the tag of a tuple
    std::string application;
    std::vector<std::string> children;
    std::vector<std::string> stack;  ///< modules
    bool exited = false;
};

std::string word_of(const Failure& failure) {
    if (TermReader::is_atom(failure.reason)) return std::string(failure.reason.text);
    const std::vector<Element> parts = TermReader(*failure.term).tuple(failure.reason);
    return parts.empty() ? "" : std::string(parts.front().text);
}

int weight_of(std::string_view reason) { return failure_of_printed(reason).weight(); }

}  // namespace

TEST_CASE("each layer of a reason comes off, and what it names is kept", "[causes]") {
    const std::vector<Peeled> cases{
        {"{shutdown,oops}", "oops", "", {}, {}},
        {"{'EXIT',oops}", "oops", "", {}, {}},
        {"{error,oops}", "oops", "", {}, {}},
        {"{init_failed,oops}", "oops", "", {}, {}},
        {"{{nocatch,oops},[{m,f,1,[]}]}", "oops", "", {}, {"m"}},
        {"{failed_to_start_child,web,oops}", "oops", "", {"web"}, {}},
        {"{failed_to_start_child,\"web\",oops}", "oops", "", {"web"}, {}},
        {"{failed_to_start_child,{ranch_listener_sup,http},oops}", "oops", "", {"ranch_listener_sup"}, {}},
        {"{failed_to_start_child,{8081,http,8082},oops}", "oops", "", {"http"}, {}},
        {"{failed_to_start_child,7,oops}", "oops", "", {}, {}},
        {"{application_start_failure,shop,oops}", "oops", "shop", {}, {}},
        {"{cannot_start_application,shop,oops}", "oops", "shop", {}, {}},
        {"{could_not_start,shop,oops}", "oops", "shop", {}, {}},
        {"{application_terminated,shop,oops}", "oops", "shop", {}, {}, true},
        {"{shop,failure_during_boot,oops}", "oops", "", {}, {}},
        {"{oops}", "oops", "", {}, {}},  // cut before its second element
        {"{oops,{shop,start,[normal,[]]}}", "oops", "", {}, {}},
        {"{oops,{gen_server,call,[shop,get]}}", "oops", "", {}, {}},
        // a server that is not there, too slow, or on a node that went: the call is what is known
        {"{noproc,{gen_server,call,[shop,get]}}", "noproc", "", {}, {}},
        {"{timeout,{gen_server,call,[shop,get]}}", "timeout", "", {}, {}},
        {"{{nodedown,a@b},{gen_server,call,[shop,get]}}", "nodedown", "", {}, {}},
        {"{oops,{shop,other,[normal,[]]}}", "oops", "", {}, {}},
        {"{oops,{child,undefined,web,{web,start_link,[]},permanent,5000,worker,[web]}}", "oops", "", {"web"}, {}},
        {"{oops,{child,undefined,web}}", "oops", "", {}, {}},  // no child specification
        {"{shop,{oops,{shop_app,start,[normal,[]]}}}", "oops", "shop", {}, {}},
        {"{shop,{\"no such file or directory\",\"dep.app\"}}", "", "", {}, {}},
        {"{bad_return,{{shop,start,[normal,[]]},{'EXIT',oops}}}", "oops", "", {}, {}},
        {"{bad_return,{{shop,start,[normal,[]]},oops}}", "bad_return", "", {}, {}},
        // a match that fails in what only starts others is a layer, one in a program's own code the cause
        {"{{badmatch,{error,oops}},[{init,start_em,1,[]}]}", "oops", "", {}, {"init"}},
        {"{{badmatch,{error,oops}},[{init,start_it,1,[]}]}", "oops", "", {}, {"init"}},
        {"{{badmatch,{error,oops}},[{application_master,f,1,[]}]}", "oops", "", {}, {"application_master"}},
        {"{{badmatch,{error,oops}},[{supervisor,f,1,[]}]}", "oops", "", {}, {"supervisor"}},
        {"{{badmatch,{error,oops}},[{init,boot_loop,1,[]}]}", "badmatch", "", {}, {"init"}},
        {"{{badmatch,{error,oops}},[{shop,f,1,[]}]}", "badmatch", "", {}, {"shop"}},
        {"{{badmatch,oops},[{init,start_em,1,[]}]}", "badmatch", "", {}, {"init"}},
        {"\"{error,oops}\"", "oops", "", {}, {}},
    };
    for (const Peeled& each : cases) {
        INFO(each.reason);
        const Failure failure = failure_of_printed(each.reason);
        CHECK(word_of(failure) == each.innermost);
        CHECK(failure.application == each.application);
        CHECK(failure.children == each.children);
        CHECK(failure.exited == each.exited);
        CHECK_FALSE(failure.words);
        std::vector<std::string> modules;
        for (const LogFrame& frame : failure.stack) modules.push_back(frame.module);
        CHECK(modules == each.stack);
    }
    const Failure words = failure_of_printed("error in config file \"sys.config\" (1): syntax error");
    CHECK(words.words);
    CHECK(words.application.empty());
    // Many layers come off, and those without end are given up.
    const auto deep = [](int layers) {
        std::string text = "oops";
        for (int i = 0; i < layers; ++i) text = "{error," + text + "}";
        return word_of(failure_of_printed(text));
    };
    CHECK(deep(40) == "oops");
    CHECK(deep(400) != "oops");
}

TEST_CASE("of several tellings of one death the one that knows most weighs most", "[causes]") {
    CHECK(weight_of("eaddrinuse") == 4);
    CHECK(weight_of("{failed_to_start_child,a,eaddrinuse}") == 5);
    std::string nested = "eaddrinuse";
    for (const char* child : {"a", "b", "c", "d", "e"})
        nested = "{failed_to_start_child," + std::string(child) + "," + nested + "}";
    CHECK(weight_of(nested) == 8);  // from four on they say no more
    CHECK(weight_of("{eaddrinuse,[{m,f,1,[]}]}") == 6);
    CHECK(weight_of("{eaddrinuse,[{m,f,1,[{file,\"m.erl\"},{line,3}]}]}") == 7);
    CHECK(weight_of("{{my_reason,[_]},[{m,f,1,[]}]}") == 3);  // part of the reason was left out
    CHECK(weight_of("{badarg,[{m,f,[[_]],[]}]}") == 4);       // part of the arguments
    CHECK(weight_of("{badarg,[{m,f,[1],[]}]}") == 6);
    CHECK(weight_of("an error, in words") == 1);
    // words for an end that followed from another
    for (const char* ended : {"shutdown", "killed", "normal", "noproc"}) CHECK(weight_of(ended) == 0);
    CHECK(weight_of("{failed_to_start_child,a,shutdown}") == 1);
}

TEST_CASE("a message of several lines is told on one, without frames and full stops", "[causes]") {
    CHECK(one_line("boom", 100) == "boom");
    CHECK(one_line("  boom  \n  and\tmore  stuff.\n", 100) == "boom and more stuff");
    CHECK(one_line("first\r\n\r\nsecond...", 100) == "first second");
    CHECK(one_line("boom\n    (shop 0.1.0) lib/shop.ex:3: Shop.f/1\nnot this", 100) == "boom");
    CHECK(one_line("(shop 0.1.0) starts with a bracket", 100) == "(shop 0.1.0) starts with a bracket");
    CHECK(one_line("0123456789", 10) == "0123456789");
    CHECK(one_line("0123456789a", 10) == "0123456789...");
    CHECK(one_line("012345678\xC3\xA9!", 10) == "012345678...");  // not within a character
    CHECK(one_line("01234567\xC3\xA9!", 10) == "01234567\xC3\xA9...");
    CHECK(one_line("", 10).empty());
}

TEST_CASE("how far a start had come is told by the processes that are there", "[causes]") {
    const auto told = [](const std::vector<const char*>& processes, const std::vector<const char*>& modules = {}) {
        test::MadeSnapshot made;
        std::uint32_t pid = 0;
        for (const char* name : processes) made.process(++pid, name);
        for (const char* name : modules) made.s.modules.push_back({made.text(name), 1, {}});
        const Snapshot& snapshot = made.seal();
        return present::plain_text(snapshot, boot_stage(snapshot, {}).told);
    };
    const std::string unknown = ", and the dump does not hold why";
    CHECK(told({"init"}) == "The node stopped while it loaded its first modules" + unknown);
    CHECK(told({"application_controller"}) == "The node stopped before its kernel application started" + unknown);
    CHECK(told({"application_controller", "kernel_sup"}) ==
          "The node stopped while its kernel application started" + unknown);
    CHECK(told({"application_controller", "kernel_sup", "user", "kernel_safe_sup"}) ==
          "What the boot script, -s, -run or -eval called failed" + unknown);
    CHECK(told({"application_controller", "kernel_sup", "standard_error", "kernel_safe_sup"}) ==
          "What the boot script, -s, -run or -eval called failed" + unknown);
    CHECK(told({"application_controller", "kernel_sup", "kernel_safe_sup"}) ==
          "The node stopped at the end of its start, and why is lost: it had no terminal or standard output (no "
          "process user)");
}
