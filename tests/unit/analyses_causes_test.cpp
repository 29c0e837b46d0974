// Reasons of failed starts, as releases print them, down to their cause.
#include <catch2/catch.hpp>

#include <string>
#include <string_view>

#include "analyses/causes/told_causes.hpp"
#include "analyses/logs/log_forms.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

LogEvent event_of(std::string_view printed) {
    LogEvent event;
    event.term = parse_term(printed);
    REQUIRE(read_event(TermReader(*event.term), event.term->term(), event));
    if (!event.reason_term) event.reason_term = event.term;
    return event;
}

struct Told {
    std::string kind, what;
    std::vector<std::string> children;
};
Told told(std::string_view reason, const std::vector<LogEvent>& events = {}, const Snapshot& snapshot = Snapshot()) {
    const auto cause = told_cause(snapshot, reason, events);
    if (!cause) return {};
    return {std::string(name_of(cause->cause.kind)), present::plain_text(snapshot, cause->cause.what), cause->failure.children};
}

}  // namespace

TEST_CASE("layers of supervisors and applications come off", "[causes]") {
    const Told nested = told(
        "{{badmatch,{error,{{shutdown,{failed_to_start_child,sick_server,{listen_error,http,8081,eaddrinuse}}},{sick_app,start,[normal,[]]}}}},"
        "[{sick_app,run,0,[{file,\"sick_app.erl\"},{line,44}]},{init,start_em,1,[]},{init,do_boot,3,[]}]}");
    CHECK(nested.kind == "port_taken");
    CHECK(nested.what == "port 8081 of http is in use (eaddrinuse)");
    CHECK(nested.children == std::vector<std::string>{"sick_server"});
    const Failure failure = failure_of_printed(
        "\"{application_start_failure,my_app,{{shutdown,{failed_to_start_child,a,{shutdown,{failed_to_start_child,b,{undef,[{x,y,[],[]},{b,init,1,[]}]}}}}},{my_app,start,[normal,[]]}}}\"");
    CHECK(failure.application == "my_app");
    CHECK(failure.children == std::vector<std::string>{"a", "b"});
    REQUIRE(failure.stack.size() == 2);
    CHECK(failure.stack[0].module == "x");
}

TEST_CASE("what a reason means", "[causes]") {
    const std::vector<std::array<std::string_view, 3>> table{
        {"{undef,[{no_such_module,start,[],[]},{init,start_em,1,[]},{init,do_boot,3,[]}]}", "no_function", "no_such_module:start/0 does not exist"},
        {"{undef,[{gpio,start,[17,output],[]},{my_srv,init,1,[{file,\"src/my_srv.erl\"},{line,9}]}]}", "no_function",
         "gpio:start/2 does not exist, called in my_srv:init/1 (my_srv.erl:9)"},
        {"{dist_port_already_used,25672,\"rabbit\",\"localhost\"}", "port_taken",
         "port 25672 of the distribution is in use, most likely by rabbit@localhost, which runs already"},
        {"{{badmatch,{error,{1,erl_parse,[\"syntax error before: \",\"'.'\"]}}},[{init,start_it,1,[]},{init,start_em,1,[]}]}", "bad_code",
         "what -eval was given is no Erlang: syntax error before: '.'"},
        {"{noproc,{gen_server,call,[my_registry,get]}}", "not_registered", "it called my_registry, and no process is registered under that name"},
        {"{badarg,[{ets,lookup,[my_cache,key],[]},{my_srv,init,1,[{file,\"my_srv.erl\"},{line,3}]}]}", "no_table",
         "the ETS table my_cache does not exist, in my_srv:init/1 (my_srv.erl:3)"},
        {"{{badmatch,{error,enoent}},[{my_srv,init,1,[{file,\"my_srv.erl\"},{line,3}]}]}", "no_file",
         "a file, folder or program does not exist (enoent), in my_srv:init/1 (my_srv.erl:3)"},
        {"{not_started,crypto}", "no_application", "application crypto has to be started first"},
        {"{\"no such file or directory\",\"my_dep.app\"}", "no_application", "application my_dep is not installed: no such file or directory"},
        {"{bad_return,{{my_app,start,[normal,[]]},whatever}}", "bad_return", "my_app:start/2 returned whatever"},
        {"\"Error when reading /srv/x/.erlang.cookie: eacces\"", "cookie", "the cookie file can't be used: Error when reading /srv/x/.erlang.cookie: eacces"},
        {"{badarg,[{erlang,list_to_integer,[\"80a\"],[]},{my_srv,init,1,[{file,\"my_srv.erl\"},{line,3}]}]}", "bad_value",
         "badarg in erlang:list_to_integer/1 of [\"80a\"], called in my_srv:init/1 (my_srv.erl:3)"},
        {"{badarg,[{io,put_chars,[standard_error,unicode,[<<\"** (Mix) no such task\\n\">>]],[]}]}", "no_output",
         "its standard output or error is gone; it was about to say: ** (Mix) no such task"},
        {"{bad_generator,{failed_to_start_child,0,{init_failed,<<\"Failed to start socket listener: Eaddrinuse\">>}}}", "port_taken",
         "a port that it listens on is in use (eaddrinuse)"},
        {"{#{'__exception__' => true,'__struct__' => 'Elixir.RuntimeError',message => <<\"boom\">>},[{'Elixir.My.App',start,2,[{file,\"lib/my/app.ex\"},{line,7}]}]}",
         "bad_value", "Elixir.RuntimeError: boom, in 'Elixir.My.App':start/2 (app.ex:7)"},
        {"{badarg,[{io,format,[<0.62.0>,\"~w\\n\",102334155],[]},{init,start_em,1,[]}]}", "bad_value",
         "badarg in io:format/3 of [<0.62.0>,\"~w\\n\",102334155]"},
        {"some_reason_of_mine", "unknown", "some_reason_of_mine"},
    };
    for (const auto& [reason, kind, what] : table) {
        INFO(reason);
        const Told found = told(reason);
        CHECK(found.kind == kind);
        CHECK(found.what == what);
    }
    CHECK(told("").kind.empty());
    CHECK(told("{_}").kind.empty());
    CHECK(told("{{_},[_]}").kind.empty());
    CHECK(told("error in config file \"sys.config\" (1): syntax error").kind.empty());
}

TEST_CASE("what stands in another report", "[causes]") {
    const std::string nodistribution = "{shutdown,{failed_to_start_child,net_sup,{shutdown,{failed_to_start_child,net_kernel,{'EXIT',nodistribution}}}}}";
    CHECK(told(nodistribution, {event_of("{info_msg,<0.8.0>,{<0.20.0>,\"Protocol: ~tp: the name ~ts seems to be in use by another Erlang node\",[\"inet_tcp\",'cqm@opensuse']}}")}).what ==
          "the node name cqm@opensuse is already in use");
    CHECK(told(nodistribution, {event_of("{info_msg,<0.8.0>,{<0.20.0>,\"Protocol: ~p: the name a@b seems to be in use by another Erlang node\",[\"inet_tcp\"]}}")}).what ==
          "the node name a@b is already in use");
    const LogEvent report = event_of("{error_report,<0.8.0>,{<0.17.0>,supervisor_report,[{supervisor,{local,net_sup}},{errorContext,start_error},{reason,{'EXIT',nodistribution}},"
                                     "{offender,[{pid,undefined},{name,net_kernel},{mfargs,{net_kernel,start_link,[['client@lab35',longnames]]}}]}]}}");
    const LogEvent taken = event_of("{info_msg,<0.8.0>,{<0.20.0>,\"Protocol: ~p: register error: ~p~n\",[\"inet_tcp\",{{badmatch,{error,duplicate_name}},[{inet_tcp_dist,listen,1}]}]}}");
    CHECK(told("shutdown", {report, taken}).what == "the node name client@lab35 is already in use");
    const LogEvent short_name = event_of("#{level => notice,meta => #{time => 5},msg => {report,#{label => {error_logger,info_msg},format => \"Can't set short node name!~nPlease check your configuration~n\",args => []}}}");
    CHECK(told(nodistribution, {report, short_name}).kind == "bad_name");

    const std::string undef = "{undef,[{numerl_test,test,[],[]},{init,start_em,1,[]}]}";
    const LogEvent loading = event_of("{log,error,\"~s~n\",[\"beam/beam_load.c(1876): Error loading module numerl_test:\\n  This BEAM file was compiled for a later version of the run-time system than 22.\\n\"],#{time => 3}}");
    CHECK(told(undef, {loading}).what ==
          "module numerl_test can't be loaded: This BEAM file was compiled for a later version of the run-time system than 22");
}

TEST_CASE("a cut slogan yields to a report that is whole; a whole one stays", "[causes]") {
    const LogEvent whole = event_of("{'EXIT',<0.9.0>,{shutdown,{failed_to_start_child,web,{{badmatch,{error,eacces}},[{web,init,1,[{file,\"web.erl\"},{line,12}]}]}}}}");
    CHECK(told("{{badmatch,{error,{{_},{_}}}},[{sick_app,run,0,[{_},{_}]}]}", {whole}).kind == "no_file");
    CHECK(told("{noproc,{gen_server,call,[my_registry,get]}}", {event_of("{'EXIT',<0.9.0>,killed}")}).kind == "not_registered");
}

TEST_CASE("a misspelt module is told by the one that is loaded", "[causes]") {
    test::MadeSnapshot made;
    for (const char* name : {"proplists", "lists", "my_app"}) made.s.modules.push_back({made.text(name), 1, {}});
    const Snapshot& snapshot = made.seal();
    const auto cause = told_cause(snapshot, "{undef,[{propslist,get_value,[id,[]],[]},{term,load,0,[]}]}", {});
    REQUIRE(cause);
    CHECK(present::plain_text(snapshot, cause->cause.what) == "propslist:get_value/2 does not exist (is proplists meant?), called in term:load/0");
    const auto loaded = told_cause(snapshot, "{undef,[{lists,keyfind,[a,b,c,d],[]},{term,load,0,[]}]}", {});
    REQUIRE(loaded);
    CHECK(present::plain_text(snapshot, loaded->cause.hints.at(0)).find("exports no such function") != std::string::npos);
}
