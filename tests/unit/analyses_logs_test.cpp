// Log events in all forms that releases and libraries have, told apart and read.
#include <catch2/catch.hpp>

#include <string_view>

#include "analyses/base/owned_term.hpp"
#include "analyses/logs/log_forms.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

LogEvent event_of(std::string_view printed) {
    LogEvent event;
    event.term = parse_term(printed);
    const TermReader terms(*event.term);
    REQUIRE(read_event(terms, event.term->term(), event));
    if (!event.reason_term) event.reason_term = event.term;
    return event;
}

bool is_event(std::string_view printed) {
    const auto term = parse_term(printed);
    return is_event(TermReader(*term), term->term());
}

}  // namespace

TEST_CASE("error_logger's events", "[logs]") {
    const LogEvent crash = event_of(
        "{error_report,<0.8.0>,{<0.20.0>,crash_report,[[{initial_call,{net_kernel,init,['Argument__1']}},{pid,<0.20.0>},"
        "{registered_name,net_kernel},{error_info,{exit,{error,badarg},[{gen_server,init_it,6},{proc_lib,init_p_do_apply,3}]}}],[]]}}");
    CHECK(crash.kind == LogKind::crash_report);
    CHECK(crash.level == LogLevel::error);
    CHECK(crash.pid.number == 20);
    CHECK(crash.name == "net_kernel");
    REQUIRE(crash.stack.size() == 2);
    CHECK((crash.stack[0].module == "gen_server" && crash.stack[0].arity == 6));

    const LogEvent child = event_of(
        "{error_report,<0.8.0>,{<0.17.0>,supervisor_report,[{supervisor,{local,net_sup}},{errorContext,start_error},"
        "{reason,{'EXIT',nodistribution}},{offender,[{pid,undefined},{name,net_kernel}]}]}}");
    CHECK(child.kind == LogKind::supervisor_report);
    CHECK(child.name == "net_sup");
    CHECK(TermReader::is(child.subject, "net_kernel"));

    const LogEvent end = event_of("{info_report,<0.0.0>,{<0.6.0>,std_info,[{application,kernel},{exited,{shutdown,{kernel,start,[normal,[]]}}},{type,permanent}]}}");
    CHECK(end.kind == LogKind::application_end);
    CHECK(TermReader::is(end.subject, "kernel"));

    const LogEvent error = event_of(
        "{error,<0.57.0>,{emulator,\"Error in process ~p with exit value:~n~p~n\",[<0.5.0>,{{badmatch,x},[{init,start_it,1,[{file,\"init.erl\"},{line,1098}]}]}]}}");
    CHECK(error.kind == LogKind::process_error);
    CHECK(error.pid.number == 5);
    REQUIRE(error.stack.size() == 1);
    CHECK((error.stack[0].file == "init.erl" && error.stack[0].line == 1098 && error.stack[0].arity == 1));
    CHECK(error.module == "init");
    const TermReader reason(*error.reason_term);
    CHECK_FALSE(reason.tagged(error.reason, "badmatch", 2).empty());
}

TEST_CASE("reports that the emulator printed itself are read from their text", "[logs]") {
    const LogEvent event = event_of("{error,<0.8.0>,{emulator,\"~s~n\",[\"Error in process <0.2.0> with exit value: {undef,[{starter,start,[],[]},{init,start_it,1,[]}]}\\n\"]}}");
    CHECK(event.kind == LogKind::process_error);
    CHECK(event.pid.number == 2);
    CHECK(TermReader::is(event.reason, "undef"));
    REQUIRE(event.stack.size() == 2);
    CHECK(event.stack[0].module == "starter");
}

TEST_CASE("reports that are texts already, and starts that failed on their way to the controller", "[logs]") {
    const LogEvent text = event_of(
        "{log,<<\"=CRASH REPORT==== 22-Nov-2026 ===\\n  crasher:\\n    exception exit: {{shutdown,\\n   {failed_to_start_child,s,\\n  {listen_error,http,80,eaddrinuse}}},\\n  {sick_app,start,[normal,[]]}}\\n in function\">>}");
    CHECK(text.kind == LogKind::output);
    CHECK(text.level == LogLevel::error);
    REQUIRE(text.reason_term);
    CHECK(TermReader(*text.reason_term).tuple(text.reason, 2).size() == 2);
    const LogEvent failed = event_of("{application_started,sick,{error,{{shutdown,x},{sick_app,start,[normal,[]]}}}}");
    CHECK(failed.kind == LogKind::application_end);
    CHECK(TermReader::is(failed.subject, "sick"));
    CHECK_FALSE(is_event("{application_started,sick,ok}"));
    CHECK_FALSE(is_event("{log,<<\"no report\">>}"));
}

TEST_CASE("logger's events, and what is on its way to it", "[logs]") {
    const LogEvent event = event_of(
        "#{level => error,meta => #{pid => <0.45.0>,time => 1562396744039765,mfa => {proc_lib,crash_report,4}},msg => {report,#{label => {supervisor,start_error},"
        "report => [{supervisor,{local,kernel_sup}},{reason,nouser},{offender,[{id,user}]}]}}}");
    CHECK(event.kind == LogKind::supervisor_report);
    CHECK(event.time == "2019-07-06 07:05:44Z");
    CHECK(event.order == 1562396744039765u);
    CHECK(event.name == "kernel_sup");
    const LogEvent sent = event_of("{log,error,\"Error in process ~p with exit value:~n~p~n\",[<0.10.0>,{undef,[{a,b,[],[]}]}],#{pid => <0.10.0>,time => 1,gl => <0.70.0>}}");
    CHECK(sent.kind == LogKind::process_error);
    CHECK(sent.module == "a");
    const LogEvent old = event_of("#{level => notice,meta => #{time => 5},msg => {report,#{label => {error_logger,info_msg},format => \"Can't set ~s\",args => [\"name\"]}}}");
    CHECK(old.kind == LogKind::message);
    CHECK(old.args.size() == 1);
}

TEST_CASE("Elixir's and lager's events", "[logs]") {
    const LogEvent event = event_of("{error,<0.45.0>,{'Elixir.Logger',[\"Process \",<<\"x\">>],{{2019,10,1},{20,40,10,337}},[{crash_reason,{badarg,[{io,put_chars,[a,b,c],[]}]}},{pid,<0.92.0>}]}}");
    CHECK(event.kind == LogKind::process_error);
    CHECK(event.time == "2019-10-01 20:40:10");
    CHECK(event.pid.number == 92);
    REQUIRE(event.stack.size() == 1);
    CHECK(event.stack[0].arity == 3);
    const LogEvent lager = event_of("{lager_msg,[],[{pid,<0.7.0>},{module,my_mod}],warning,{\"2012-01-01\",\"10:00:00\"},{1,2,3},[\"full\",\" disk\"]}");
    CHECK(lager.level == LogLevel::warning);
    CHECK(lager.module == "my_mod");
    CHECK(lager.time == "2012-01-01 10:00:00");
}

TEST_CASE("exits that nobody read count, orderly ends don't", "[logs]") {
    CHECK(event_of("{'EXIT',<0.9.0>,{badarg,[{a,b,1}]}}").module == "a");
    CHECK(event_of("{'DOWN',#Ref<0.1.2.3>,process,<0.9.0>,killed}").pid.number == 9);
    CHECK(is_event("{'EXIT',<0.9.0>,{shutdown,{failed_to_start_child,x,y}}}"));
    for (const char* orderly : {"{'EXIT',<0.9.0>,normal}", "{'EXIT',<0.9.0>,shutdown}", "{'EXIT',<0.9.0>,{shutdown,restart}}",
                                "{'DOWN',#Ref<0.1.2.3>,process,<0.9.0>,noproc}", "{error,enoent,{a,b,c}}", "{error,<0.1.0>,x}", "{log,x}",
                                "#{level => error}", "{lager_msg,1}"})
        CHECK_FALSE(is_event(orderly));
}

TEST_CASE("what loggers wrap events in is taken off", "[logs]") {
    for (const char* wrapped : {"{notify,{e,1}}", "{'$gen_cast',{'$olp_load',{e,1}}}", "{<0.1.0>,#Ref<0.1.2.3>,{sync_notify,{log,{e,1}}}}",
                                "{'$gen_call',{<0.1.0>,x},{'$olp_load',{e,1}}}"}) {
        const auto term = parse_term(wrapped);
        const TermReader terms(*term);
        CHECK_FALSE(terms.tagged(unwrap_message(terms, term->term()), "e", 2).empty());
    }
}

TEST_CASE("an event that lies in memory twice is told once", "[logs]") {
    const auto sent = [](std::string_view time, std::string_view pid, std::string_view reason, std::string_view meta) {
        const std::string who(pid);
        return event_of("#{level => error,meta => #{error_logger => #{tag => error},pid => " + who + ",time => " + std::string(time) + std::string(meta) +
                        "},msg => {report,#{label => {error_logger,error_msg},format => \"Error in process ~p with exit value:~n~p~n\",args => [" + who +
                        ",{" + std::string(reason) + ",[{a,b,[],[]}]}]}}}");
    };
    std::vector<LogEvent> events{sent("1000001", "<0.9.0>", "undef", ""), sent("1000001", "<0.9.0>", "undef", ",domain => [otp],gl => <0.70.0>")};
    keep_each_once(events);
    CHECK(events.size() == 1);
    // Another time, another process, another reason: another event.
    events = {sent("1000001", "<0.9.0>", "undef", ""), sent("1000002", "<0.9.0>", "undef", ""), sent("1000001", "<0.10.0>", "undef", ""),
              sent("1000001", "<0.9.0>", "badarg", "")};
    keep_each_once(events);
    CHECK(events.size() == 4);
    // Exits have neither text nor time: their reasons tell them apart.
    events = {event_of("{'EXIT',<0.9.0>,{badarg,[{a,b,1}]}}"), event_of("{'EXIT',<0.9.0>,{badarg,[{a,c,1}]}}"), event_of("{'EXIT',<0.9.0>,{badarg,[{a,b,1}]}}")};
    keep_each_once(events);
    CHECK(events.size() == 2);
}
