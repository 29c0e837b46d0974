// SPDX-License-Identifier: Apache-2.0
// Failed starts that are told by more than the reason: by modules and atoms, by tables that are full, by what init and
// the process that starts applications hold.
#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/causes/own_modules.hpp"
#include "analyses/facts/catalogue/application_circle.hpp"
#include "analyses/facts/catalogue/start_failure.hpp"
#include "analyses/logs/log_forms.hpp"
#include "analyses/slogan/slogan.hpp"
#include "erlang/owned_term.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

constexpr std::string_view otp_source = "/otp/lib/kernel/src/x.erl", own_source = "/shop/src/x.erl";

struct StartNode : test::MadeSnapshot {
    explicit StartNode(std::string_view slogan) {
        s.node.slogan = std::string(slogan);
        process(0, "init");
        module("lists", "/otp/lib/stdlib/src/lists.erl");
        for (const char* name : {"sets", "io", "code", "array", "logger", "os", "dict", "ets"})
            module(name, otp_source);
    }
    void module(std::string_view name, std::string_view source, std::string_view behaviours = {}) {
        Module module;
        module.name = text(name);
        module.source = text(source);
        module.behaviours = text(behaviours);
        s.modules.push_back(module);
    }
    void atoms(std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names) s.atoms.push_back(text(name));
    }
    /// The first sentence, with those of the steps behind it.
    std::string told() {
        const Snapshot& snapshot = seal();
        const Slogan slogan = read_slogan(snapshot.node.slogan);
        const auto cause = told_cause(snapshot, slogan.reason, {}, slogan.kind == SloganKind::application_terminated);
        const auto findings = test::findings_of(snapshot, [&](Facts& facts) {
            facts.put(StartFailure{{}, cause, {}, {}});
        });
        std::string words;
        for (const char* rule : {"start-up", "failed-call", "node-ended"})
            if (const Finding* found = test::first_of(findings, rule); found != nullptr) {
                words = present::plain_text(snapshot, found->title);
                for (const Sentence& step : found->next_steps) words += "\n" + present::plain_text(snapshot, step);
            }
        return words;
    }
    std::string title() {
        const std::string words = told();
        return words.substr(0, words.find('\n'));
    }
};

constexpr std::string_view ended =
    "Kernel pid terminated (application_controller) ({application_terminated,shop,shutdown})";
std::string boot(std::string_view reason) { return "init terminating in do_boot (" + std::string(reason) + ")"; }

}  // namespace

TEST_CASE("a supervisor that gave up is told by what printed the crash, and by the exception", "[starts]") {
    const auto told = [](bool significant, std::initializer_list<std::string_view> later) {
        StartNode node(ended);
        node.module("shop_sup", own_source, "supervisor");
        node.module("shop_tax", own_source, "gen_server");
        for (const std::string_view name : later) node.module(name, otp_source);
        if (significant) node.atoms({"do_auto_shutdown"});
        return node.title();
    };
    const std::string begin = "Application shop ended: its top supervisor gave up", last = "; loaded last: shop_tax.";
    CHECK(told(false, {"erl_error"}) == begin + ": a child failed too often (shutdown)" + last);
    CHECK(told(true, {"erl_error"}) == begin + ": a child failed too often (shutdown)" + last);
    CHECK(told(false, {}) == begin + ", and no crash was printed: a child ended too often" + last);
    CHECK(told(true, {}) == begin + ", and no crash was printed: a child ended too often, or was significant" + last);
    CHECK(told(true, {"Elixir.Exception", "Elixir.ErlangError", "Elixir.KeyError"}) ==
          begin + ": a child failed too often, most likely with Elixir.KeyError" + last);
    // The one around an error of Erlang tells nothing.
    CHECK(told(true, {"Elixir.Exception", "Elixir.ErlangError"}) ==
          begin + ": a child failed too often (shutdown)" + last);
    // An exception that was there before the program is not its own.
    StartNode node(ended);
    node.module("Elixir.KeyError", otp_source);
    node.module("Elixir.Exception", otp_source);
    node.module("shop_tax", own_source, "gen_server");
    CHECK(node.title() == begin + ": a child failed too often (shutdown)" + last);
}

TEST_CASE("where all modules were loaded at once, they do not tell what a child ended of", "[starts]") {
    StartNode node(ended);
    for (const char* name :
         {"ma", "mb", "mc", "md", "me", "mf", "mg", "mh", "mi", "mj", "mk", "ml", "mm", "mn", "mo", "mp"})
        node.module(name, own_source);
    CHECK_FALSE(has_printed_crashes(node.s));
    node.module("Elixir.KeyError", otp_source);
    CHECK(exceptions_since(node.s, 2).empty());
    node.atoms({"do_auto_shutdown"});
    CHECK(node.title().starts_with(
        "Application shop ended: its top supervisor gave up: a child failed too often, or was significant (shutdown)"));
}

// What is said of a start that failed since the child `tax` gave this reason.
static std::string title_of_tax(std::string_view reason) {
    return StartNode(
               "Kernel pid terminated (application_controller) ({application_start_failure,shop,{{shutdown,"
               "{failed_to_start_child,tax," +
               std::string(reason) + "}},{shop_app,start,[normal,[]]}}})")
        .title();
}

TEST_CASE("a child that did not start is told by what its start function gave", "[starts]") {
    const auto title = title_of_tax;
    const std::string begin = "Application shop did not start: tax: ";
    CHECK(title("started") == begin + "its start failed with started, and the dump does not hold where.");
    CHECK(title("normal") == begin + "it ended with reason normal in its start.");
    CHECK(title("timeout") == begin + "it was not ready in the time that its start allows (timeout).");
    CHECK(title("{timeout,{gen_server,call,[bank,get]}}") == begin + "a call of bank was not answered in time.");
    CHECK(title("enoent").find("does not exist (enoent)") != std::string::npos);
    CHECK(title("{{badmatch,{badrpc,{'EXIT',{undef,[{bank,open,[1],[]}]}}}},[{tax,init,1,[]}]}") ==
          begin + "bank:open/1 does not exist (its module is missing, or does not load).");
    CHECK(title("{{badmatch,{badrpc,nodedown}},[{tax,init,1,[]}]}").find("badrpc") != std::string::npos);
    CHECK(title("{{erpc,noconnection},[{tax,init,1,[]}]}") ==
          begin + "another node can't be reached, or did not answer (erpc: noconnection), in tax:init/1.");
    CHECK(title("{odd,started}") == begin + "{odd,started}.");
    CHECK(title("{{badmatch,{error,{open_error,-10}}},[{tax,init,1,[]}]}") ==
          begin + "a driver (a shared library) can't be loaded (open_error -10), in tax:init/1.");
}

TEST_CASE("what a child's reason holds within others is told", "[starts]") {
    const auto title = title_of_tax;
    const std::string begin = "Application shop did not start: tax: ";
    const std::string in_init = ",[{tax,init,1,[{file,\"src/tax.erl\"},{line,6}]}]}";
    // A place needs room, and that the module is missing needs less.
    CHECK(title("{undef,[{bank_of_the_shop,version,[],[]},{tax_of_the_shop,open_the_bank,1,[{file,\"src/tax_of_the_shop"
                ".erl\"},{line,6}]}]}") ==
          begin +
              "bank_of_the_shop:version/0 does not exist (module not loaded), called in tax_of_the_shop:open_the_"
              "bank/1.");
    CHECK(title("{undef,[{'Elixir.Mix',env,[],[]},{tax,init,1,[]}]}") ==
          begin + "'Elixir.Mix':env/0 does not exist: Mix is not part of a release, called in tax:init/1.");
    CHECK(title("{undef,[{'Elixir.Mixer',env,[],[]},{tax,init,1,[]}]}").find("release") == std::string::npos);
    CHECK(title("{{badmatch,[{'PrivateKeyInfo',<<48,130>>,{\"AES-256-CBC\",<<1>>}}]}" + in_init) ==
          begin +
              "a private key (PrivateKeyInfo, PEM) is encrypted with a passphrase, and was taken for one that is "
              "not, in tax:init/1.");
    CHECK(title("{{badmatch,[{'PrivateKeyInfo',<<48,130>>,not_encrypted}]}" + in_init).find("encrypted with") ==
          std::string::npos);
    CHECK(title("{{badmatch,{error,{{shutdown,{failed_to_start_child,net_kernel,{'EXIT',nodistribution}}},{child,"
                "undefined,net_sup_dynamic,{erl_distribution,start_link,[x]},permanent,false,1000,supervisor,"
                "[erl_distribution]}}}}" +
                in_init)
              .find("distribution did not start for") != std::string::npos);
}

TEST_CASE("the program that watches the node is told by its port", "[starts]") {
    CHECK(
        StartNode("Kernel pid terminated (heart) ({port_terminated,{heart,loop,[<0.0.0>,{state,,[_],[_],undefined}]}})")
            .title() ==
        "The kernel process heart ended: its program heart, which watches the node from outside (-heart), ended or "
        "was killed.");
}

TEST_CASE("of a call whose arguments the slogan leaves out, their number is not told", "[starts]") {
    const auto title = [](std::string slogan, std::initializer_list<std::string_view> named = {}) {
        StartNode node(slogan);
        node.module("shop", own_source);
        node.process(40, "kernel_safe_sup");
        node.atoms({"preloaded"});
        for (const std::string_view name : named) node.atoms({name});
        node.atoms({"home", "progname"});
        return node.title();
    };
    const std::string undef = "{undef,[{shop,open,[],[]},{erl_eval,do_apply,7,[]},{init,start_it,1,[]}]}";
    CHECK(title(boot(undef)) == "What -eval called failed: shop:open does not exist, though its module is there.");
    // 26 and later print all of it.
    CHECK(title("Runtime terminating during boot (" + undef + ")") ==
          "What -eval called failed: shop:open/0 does not exist, though its module is there.");
    // Of -s and -run it is known: names and strings are not left out.
    const std::string named = boot("{undef,[{shop,open,[],[]},{init,start_em,1,[]},{init,do_boot,3,[]}]}");
    CHECK(title(named, {"open", "shop"}) ==
          "What -s or -run called failed: shop:open/0 does not exist, though its module is there.");
    // ... but not of what the function that they name calls in its place.
    CHECK(title(named, {"begin_all", "shop"}) ==
          "What -s or -run called failed: shop:open does not exist, though its module is there.");
}

TEST_CASE("a module that was not loaded may be there, and a word too many gives way", "[starts]") {
    const auto title = [](const std::string& module, std::string_view place = {}) {
        return StartNode("Runtime terminating during boot ({undef,[{" + module + ",open,[x],[]}," + std::string(place) +
                         "{init,start_em,1,[]}]})")
            .title();
    };
    const std::string begin = "What -s or -run called failed: shop:open/1 does not exist";
    CHECK(title("shop") == begin + " (its module is missing, or does not load).");
    CHECK(title("os") == "What -s or -run called failed: os:open/1 does not exist, though its module is there.");
    CHECK(title("shop",
                "{a_very_long_name_of_a_module,a_long_name_of_a_function,1,[{file,\"src/a_module.erl\"},{line,3}]},") ==
          begin + " (module not loaded), called in a_very_long_name_of_a_module:a_long_name_of_a_function/1.");
}

TEST_CASE("a limit of the system is told by the table that is full", "[starts]") {
    const auto title = [](std::string_view reason, std::size_t ports) {
        StartNode node(boot(std::string("{") + std::string(reason) + ",[{shop,open,1,[]},{init,start_em,1,[]}]}"));
        node.s.node.port_limit = 1'024;
        node.s.node.process_limit = 1'024;
        node.s.ports.resize(ports);
        return node.title();
    };
    const std::string begin = "What -s or -run called failed: ";
    CHECK(title("system_limit", 1'020) == begin + "system_limit in shop:open/1 (1,020 of 1,024 ports).");
    CHECK(title("system_limit", 900) == begin + "system_limit in shop:open/1.");
    CHECK(title("badarg", 1'020) == begin + "badarg in shop:open/1.");
}

TEST_CASE("before any program ran, nobody but the VM kills for too large a heap", "[starts]") {
    StartNode early("System process <0.0.0> terminated: killed");
    CHECK(early.told().find("+hmax is too small for the start") != std::string::npos);
    StartNode later("System process <0.0.0> terminated: killed");
    later.atoms({"applications_loaded"});
    CHECK(later.told().find("hmax") == std::string::npos);
    StartNode running("System process <0.0.0> terminated: killed");
    running.process(44, "application_controller");
    CHECK(running.told().find("hmax") == std::string::npos);
}

TEST_CASE("a module in the place of one of OTP's is told where kernel did not start", "[starts]") {
    const auto told = [](std::string_view name, std::string_view source, std::string_view slogan) {
        StartNode node(slogan);
        node.module(name, source);
        return node.told();
    };
    const std::string_view died = "Kernel pid terminated (logger) (oops)";
    const std::string hides = "; module queue of the program's own hides OTP's.\nRename module queue, or take it off";
    CHECK(told("queue", own_source, died).find("oops" + hides) != std::string::npos);
    CHECK(told("queue", otp_source, died).find("hides") == std::string::npos);
    CHECK(told("shop_queue", own_source, died).find("hides") == std::string::npos);
    // A node that ran has loaded its program.
    CHECK(told("queue", own_source, boot("{oops,[{shop,open,0,[]},{init,start_em,1,[]}]}")).find("hides") ==
          std::string::npos);
    // Where it is what was called, that says so.
    CHECK(told("queue", own_source, boot("{undef,[{queue,new,[x],[]},{kernel,init,1,[]}]}"))
              .find("queue:new/1 does not exist, and a module of the program's own hides that of OTP") !=
          std::string::npos);
}

TEST_CASE("a release's configuration is told by the function that failed", "[starts]") {
    const auto title = [](std::string_view frames) {
        return StartNode(boot("{,[" + std::string(frames) + "{'Elixir.Config.Reader','read!',2,[{_},{_}]}]}")).title();
    };
    const std::string begin = "The node did not start: a configuration file of the release (runtime.exs) ";
    CHECK(title("{'Elixir.File','read!',1,[{_},{_}]},") == begin + "can't be read.");
    CHECK(title("{'Elixir.Code',validated_eval_string,3,[{_},{_}]},{'Elixir.Config','__eval__!',3,[{_},{_}]},") ==
          begin + "is not valid Elixir.");
    CHECK(title("{erl_eval,do_apply,7,[{_},{_}]},{elixir,eval_forms,3,[{_},{_}]},") ==
          begin + "raised an exception, which the slogan leaves out.");
    // A reason that is there is told itself.
    CHECK(StartNode(boot("{{badmatch,nil},[{'Elixir.File','read!',1,[]},{'Elixir.Config.Reader','read!',2,[]}]}"))
              .title()
              .find("{badmatch,nil}") != std::string::npos);
}

TEST_CASE("steps fit what is wrong with a file", "[starts]") {
    const auto steps = [](std::string_view reason) { return StartNode(boot(reason)).told(); };
    CHECK(
        steps("error in config file \"/etc/sys.config\" (none): configuration file not found").find("Check the path") !=
        std::string::npos);
    CHECK(steps("error in config file \"/etc/sys.config\" (3): syntax error before: '{'").find("file:consult/1") !=
          std::string::npos);
}

TEST_CASE("a text of -eval whose quote has no end is not one that the program reads", "[starts]") {
    const std::string error =
        "{{badmatch,{error,{1,erl_scan,{string,34,\"hello\"}},1}},[{init,start_it,1,[]},{init,start_em,1,[]}]}";
    CHECK(StartNode("Runtime terminating during boot (" + error + ")").title() ==
          "What -eval was given can't be run: it is not valid Erlang, line 1: a quote has no end: hello.");
}

TEST_CASE("what init starts first is told by its frame", "[starts]") {
    const auto told = [](std::string_view function, std::string_view slots) {
        LoadPlan plan = test::everything();
        plan.terms = true;
        plan.terms_of = [](const Snapshot&, ProcId) { return true; };
        const auto artifact = test::load(
            test::header(
                "System process <0.0.0> terminated: {badarg,[{erlang,exit,[false,kill],[]},{init,kill_em,1,[]}]}") +
                test::process("<0.0.0>", "Name: init\n") +
                "=proc_stack:<0.0.0>\n0x00007f7099c57560:SReturn addr 0x9E20CB48 (init:kill_em/1 + 112)\ny0:N\n"
                "0x00007f7099c57598:SReturn addr 0x9E209BF8 (init:" +
                std::string(function) + "/3 + 832)\n" + std::string(slots) +
                "0x00007f7099c575c0:SReturn addr 0x9E2011F8 (<terminate process normally>)\n"
                "=proc_heap:<0.0.0>\n7F7099C50848:t2:A5:error,AB:start_error\n=end\n",
            plan);
        REQUIRE(artifact != nullptr);
        Facts facts{FactOptions{}};
        facts.bind(*artifact);
        const auto& told = facts.get<StartFailure>().told;
        REQUIRE(told);
        return present::plain_text(artifact->snapshot(), told->cause.what);
    };
    CHECK(told("new_kernelpid", "y0:A5:heart\ny1:H7F7099C50848\n") ==
          "heart, which the boot script names, could not be started: start_error");
    CHECK(told("new_kernelpid", "y0:H7F7099C50848\ny1:A5:heart\n") ==  // as 25 has them
          "heart, which the boot script names, could not be started: start_error");
    CHECK(told("new_kernelpid", "y0:A5:heart\ny1:N\n").find("badarg") != std::string::npos);
    CHECK(told("boot_loop", "y0:A5:heart\ny1:H7F7099C50848\n").find("badarg") != std::string::npos);
}

TEST_CASE("nobody is led to what says no more than the slogan", "[starts]") {
    const auto led = [](std::string_view key) {
        LoadPlan plan = test::everything();
        plan.terms = true;
        plan.terms_of = [](const Snapshot&, ProcId) { return true; };
        const auto artifact =
            test::load(test::header("Kernel pid terminated (application_controller) "
                                    "({application_start_failure,shop,{badkey,relay}})") +
                           test::process("<0.0.0>", "Name: init\nMessage queue length: 1\n") +
                           "=proc_messages:<0.0.0>\nH77770:N\n=proc_heap:<0.0.0>\n77770:t3:A4:EXIT,P<0.9.0>,H77778\n"
                           "77778:t3:A19:application_start_failure,A4:shop,H77780\n77780:t2:A6:badkey," +
                           std::string(key) + "\n=end\n",
                       plan);
        REQUIRE(artifact != nullptr);
        Facts facts{FactOptions{}};
        facts.bind(*artifact);
        const auto findings = run_rules(facts);
        const Finding* const start = test::first_of(findings, "start-up");
        REQUIRE(start != nullptr);
        return std::ranges::any_of(start->next_steps, [&](const Sentence& step) {
            return present::plain_text(artifact->snapshot(), step).find("no time to print") != std::string::npos;
        });
    };
    CHECK_FALSE(led("A5:relay"));
    CHECK(led("A5:other"));
}

TEST_CASE("why a program stops is told where it keeps that in a persistent term", "[starts]") {
    const auto told = [](std::string_view key) {
        LoadPlan plan = test::everything();
        plan.terms = true;
        plan.terms_of = [](const Snapshot&, ProcId) { return true; };
        const auto artifact =
            test::load(test::header("init terminating in do_boot ({error,{mgmt,{bad_return,{{_},{_}}}}})") +
                           test::process("<0.0.0>", "Name: init\n") + "=literals\n77770:t2:A10:rabbit_prelaunch," +
                           std::string(key) +
                           "\n77778:t2:A5:error,H77780\n77780:t2:A4:mgmt,H77788\n77788:t2:AA:bad_return,H77790\n"
                           "77790:t2:H77798,H777A0\n77798:t3:A8:mgmt_app,A5:start,N\n777A0:t2:A4:EXIT,H777A8\n"
                           "777A8:t3:AC:listen_error,I15672,AA:eaddrinuse\n=persistent_terms\nH77770|H77778\n=end\n",
                       plan);
        REQUIRE(artifact != nullptr);
        Facts facts{FactOptions{}};
        facts.bind(*artifact);
        const auto& told = facts.get<StartFailure>().told;
        REQUIRE(told);
        return present::plain_text(artifact->snapshot(), told->cause.what);
    };
    CHECK(told("AB:stop_reason") == "port 15672 is in use (eaddrinuse)");
    CHECK(told("AB:start_begin") == "{bad_return,{{...},{...}}}");
}

TEST_CASE("applications that need each other are told by the frames of who starts them", "[starts]") {
    const auto found = [](std::string_view function, std::size_t deep) {
        std::string stack;
        for (std::size_t i = 0; i < deep; ++i)
            stack += "0x00007f7099c57560:SReturn addr 0x9E20CB48 (application:" + std::string(function) +
                     "/4 + 112)\ny0:N\ny1:A9:temporary\ny2:A" + (i % 2 == 0 ? "4:till" : "4:shop") + "\n";
        LoadPlan plan = test::everything();
        plan.terms = true;
        plan.terms_of = [](const Snapshot&, ProcId) { return true; };
        const auto artifact = test::load(test::header("Received SIGUSR1") +
                                             test::process("<0.9.0>", "Stack+heap: 900000\nHeap unused: 100\n") +
                                             "=proc_stack:<0.9.0>\n" + stack + "=proc_heap:<0.9.0>\n=end\n",
                                         plan);
        REQUIRE(artifact != nullptr);
        Facts facts{FactOptions{}};
        facts.bind(*artifact);
        std::string names;
        for (const std::string& name : facts.get<ApplicationCircle>().names) names += name + ' ';
        return names;
    };
    CHECK(found("ensure_started", 30'000) == "shop till ");
    CHECK(found("stop", 30'000).empty());
    CHECK(found("ensure_started", 8).empty());
}

namespace {

/// What is told of an application that gave up, by events of logger's that somebody kept; newest first.
std::string told_by_kept(std::initializer_list<std::string_view> kept, std::string_view registered = "init") {
    test::MadeSnapshot node;
    node.process(0, registered);
    std::vector<LogEvent> events;
    for (const std::string_view printed : kept) {
        LogEvent event;
        event.term = parse_term(printed);
        REQUIRE(read_event(TermReader(*event.term), event.term->term(), event));
        event.reason_term = event.term;
        events.push_back(std::move(event));
    }
    const Snapshot& snapshot = node.seal();
    const auto told = told_cause(snapshot, "shutdown", events, true, "shop");
    std::string words;
    for (const std::string& child : told->failure.children) words += child + ": ";
    return words + present::plain_text(snapshot, told->cause.what) + present::plain_text(snapshot, told->cause.where);
}

std::string report(std::string_view time, std::string_view supervisor, std::string_view child, std::string_view context,
                   std::string_view reason) {
    return "{" + std::string(time) + ",error,{report,#{label=>{supervisor," + std::string(context) +
           "},report=>[{supervisor,{local," + std::string(supervisor) + "}},{errorContext," + std::string(context) +
           "},{reason," + std::string(reason) + "},{offender,[{pid,<0.90.0>},{id," + std::string(child) + "}]}]}}}";
}

const std::string tax_gave_up =
                      report("1700000000000009", "shop_sup", "shop_tax", "shutdown", "reached_max_restart_intensity"),
                  tax_ended = report("1700000000000008", "shop_sup", "shop_tax", "child_terminated", "{rate_of,chf}"),
                  old_cart = report("1700000000000001", "shop_sup", "shop_cart", "child_terminated",
                                    "{undef,[{shop_rates,load,[],[]}]}");

}  // namespace

TEST_CASE("the child that a supervisor gave up for is told by its reports, not by older ones of others", "[starts]") {
    CHECK(told_by_kept({tax_gave_up, tax_ended, old_cart}) == "shop_tax: {rate_of,chf}");
    // A supervisor within the top one gave up first.
    CHECK(told_by_kept({report("1700000000000011", "shop_sup", "desk_sup", "shutdown", "reached_max_restart_intensity"),
                        report("1700000000000010", "shop_sup", "desk_sup", "child_terminated", "shutdown"),
                        report("1700000000000009", "desk_sup", "shop_tax", "shutdown", "reached_max_restart_intensity"),
                        report("1700000000000008", "desk_sup", "shop_tax", "child_terminated", "{rate_of,chf}"),
                        old_cart}) == "shop_tax: {rate_of,chf}");
}

TEST_CASE("who ended in order, and was started again until its supervisor gave up", "[starts]") {
    const std::string normal = report("1700000000000008", "shop_sup", "shop_tax", "child_terminated", "normal");
    CHECK(told_by_kept({tax_gave_up, normal}) ==
          "shop_tax: it ended each time that it was started (normal), and its supervisor gave up");
}

TEST_CASE("an old failure is not the cause where its process goes on, or another application gave up", "[starts]") {
    const std::string alone = told_by_kept({old_cart});
    CHECK(alone.find("shop_rates:load") != std::string::npos);
    CHECK(told_by_kept({old_cart}, "shop_sup").find("its top supervisor gave up") == 0);
    const std::string other_ended =
        "{1700000000000010,notice,{report,#{label=>{application_controller,exit},report=>[{application,bank},{exited,"
        "shutdown},{type,temporary}]}}}";
    CHECK(told_by_kept({other_ended, tax_gave_up, tax_ended}, "shop_sup").find("its top supervisor gave up") == 0);
}
