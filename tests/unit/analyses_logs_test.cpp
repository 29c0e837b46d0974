// SPDX-License-Identifier: Apache-2.0
// Log events in all forms that releases and libraries have, told apart and read.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/logs/log_forms.hpp"
#include "erlang/owned_term.hpp"
#include "present/logs.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

LogEvent log_event_of(std::string_view printed) {
    LogEvent event;
    event.term = parse_term(printed);
    const TermReader terms(*event.term);
    REQUIRE(read_event(terms, event.term->term(), event));
    if (!event.reason_term) event.reason_term = event.term;
    return event;
}

bool is_event(std::string_view printed) {
    const auto term = parse_term(printed);
    return analyses::is_event(TermReader(*term), term->term());
}

/// All that was read of an event, in one line: kind, level, process, its name, module, time; then what it says.
std::string read_of(std::string_view printed) {
    if (!is_event(printed)) return "no event";
    const LogEvent event = log_event_of(printed);
    const TermReader own(*event.term), reasons(*event.reason_term);
    const auto word = [](const TermReader& terms, const Element& element) {
        if (TermReader::is_atom(element)) return std::string(element.text);
        if (const auto number = terms.number(element)) return std::to_string(*number);
        if (const auto text = terms.text(element, 60); text && element.kind != ElementKind::nil)
            return '"' + *text + '"';
        const auto parts = terms.tuple(element);
        return parts.empty() ? std::string("?") : "{" + std::string(parts[0].text) + ",..}";
    };
    std::string line = std::string(name_of(event.kind)) + " " + std::string(name_of(event.level));
    if (event.pid.has()) line += " <0." + std::to_string(event.pid.number) + ".0>";
    if (!event.name.empty()) line += " name " + event.name;
    if (!event.module.empty()) line += " in " + event.module;
    if (!event.time.empty()) line += " at " + event.time;
    if (event.format.kind != ElementKind::unknown)
        line += " says " + word(own, event.format) + " of " + std::to_string(event.args.size());
    if (event.report.kind != ElementKind::unknown) line += " report";
    if (event.subject.kind != ElementKind::unknown) line += " subject " + word(own, event.subject);
    if (event.reason.kind != ElementKind::unknown) line += " reason " + word(reasons, event.reason);
    for (const LogFrame& frame : event.stack)
        line += " < " + frame.module + ":" + frame.function + "/" + std::to_string(frame.arity) +
                (frame.line != 0 ? ":" + std::to_string(frame.line) : "");
    return line;
}

}  // namespace

TEST_CASE("error_logger's events", "[logs]") {
    const LogEvent crash = log_event_of(
        "{error_report,<0.8.0>,{<0.20.0>,crash_report,[[{initial_call,{net_kernel,init,['Argument__1']}},{pid,<0.20.0>}"
        ","
        "{registered_name,net_kernel},{error_info,{exit,{error,badarg},[{gen_server,init_it,6},{proc_lib,init_p_do_"
        "apply,3}]}}],[]]}}");
    CHECK(crash.kind == LogKind::crash_report);
    CHECK(crash.level == LogLevel::error);
    CHECK(crash.pid.number == 20);
    CHECK(crash.name == "net_kernel");
    REQUIRE(crash.stack.size() == 2);
    CHECK((crash.stack[0].module == "gen_server" && crash.stack[0].arity == 6));

    const LogEvent child = log_event_of(
        "{error_report,<0.8.0>,{<0.17.0>,supervisor_report,[{supervisor,{local,net_sup}},{errorContext,start_error},"
        "{reason,{'EXIT',nodistribution}},{offender,[{pid,undefined},{name,net_kernel}]}]}}");
    CHECK(child.kind == LogKind::supervisor_report);
    CHECK(child.name == "net_sup");
    CHECK(TermReader::is(child.subject, "net_kernel"));

    const LogEvent end = log_event_of(
        "{info_report,<0.0.0>,{<0.6.0>,std_info,[{application,kernel},{exited,{shutdown,{kernel,start,[normal,[]]}}},{"
        "type,permanent}]}}");
    CHECK(end.kind == LogKind::application_end);
    CHECK(TermReader::is(end.subject, "kernel"));

    const LogEvent error = log_event_of(
        "{error,<0.57.0>,{emulator,\"Error in process ~p with exit "
        "value:~n~p~n\",[<0.5.0>,{{badmatch,x},[{init,start_it,1,[{file,\"init.erl\"},{line,1098}]}]}]}}");
    CHECK(error.kind == LogKind::process_error);
    CHECK(error.pid.number == 5);
    REQUIRE(error.stack.size() == 1);
    CHECK((error.stack[0].file == "init.erl" && error.stack[0].line == 1098 && error.stack[0].arity == 1));
    CHECK(error.module == "init");
    const TermReader reason(*error.reason_term);
    CHECK_FALSE(reason.tagged(error.reason, "badmatch", 2).empty());
}

TEST_CASE("an event's text is told without the end of its line", "[logs]") {
    const test::MadeSnapshot made;
    const present::Names names(made.s, present::Syntax::erlang);
    for (const std::string_view end : {"", "~n", "\\n", "~n~n"}) {
        const LogEvent event = log_event_of("{info_msg,<0.8.0>,{<0.19.0>,\"Protocol: ~p: register error: ~p" +
                                            std::string(end) + "\",[\"inet_tcp\",duplicate_name]}}");
        CHECK(present::log_text(names, event, 200) == "Protocol: \"inet_tcp\": register error: duplicate_name");
    }
}

TEST_CASE("reports that the emulator printed itself are read from their text", "[logs]") {
    const LogEvent event = log_event_of(
        "{error,<0.8.0>,{emulator,\"~s~n\",[\"Error in process <0.2.0> with exit value: "
        "{undef,[{starter,start,[],[]},{init,start_it,1,[]}]}\\n\"]}}");
    CHECK(event.kind == LogKind::process_error);
    CHECK(event.pid.number == 2);
    CHECK(TermReader::is(event.reason, "undef"));
    REQUIRE(event.stack.size() == 2);
    CHECK(event.stack[0].module == "starter");
}

TEST_CASE("reports that are texts already, and starts that failed on their way to the controller", "[logs]") {
    const LogEvent text = log_event_of(
        "{log,<<\"=CRASH REPORT==== 22-Nov-2026 ===\\n  crasher:\\n    exception exit: {{shutdown,\\n   "
        "{failed_to_start_child,s,\\n  {listen_error,http,80,eaddrinuse}}},\\n  {sick_app,start,[normal,[]]}}\\n in "
        "function\">>}");
    CHECK(text.kind == LogKind::output);
    CHECK(text.level == LogLevel::error);
    REQUIRE(text.reason_term);
    CHECK(TermReader(*text.reason_term).tuple(text.reason, 2).size() == 2);
    const LogEvent failed =
        log_event_of("{application_started,sick,{error,{{shutdown,x},{sick_app,start,[normal,[]]}}}}");
    CHECK(failed.kind == LogKind::application_end);
    CHECK(TermReader::is(failed.subject, "sick"));
    CHECK_FALSE(is_event("{application_started,sick,ok}"));
    CHECK_FALSE(is_event("{log,<<\"no report\">>}"));
}

TEST_CASE("logger's events, and what is on its way to it", "[logs]") {
    const LogEvent event = log_event_of(
        "#{level => error,meta => #{pid => <0.45.0>,time => 1562396744039765,mfa => {proc_lib,crash_report,4}},msg => "
        "{report,#{label => {supervisor,start_error},"
        "report => [{supervisor,{local,kernel_sup}},{reason,nouser},{offender,[{id,user}]}]}}}");
    CHECK(event.kind == LogKind::supervisor_report);
    CHECK(event.time == "2019-07-06 07:05:44Z");
    CHECK(event.order == 1562396744039765u);
    CHECK(event.name == "kernel_sup");
    const LogEvent sent = log_event_of(
        "{log,error,\"Error in process ~p with exit value:~n~p~n\",[<0.10.0>,{undef,[{a,b,[],[]}]}],#{pid => "
        "<0.10.0>,time => 1,gl => <0.70.0>}}");
    CHECK(sent.kind == LogKind::process_error);
    CHECK(sent.module == "a");
    const LogEvent old = log_event_of(
        "#{level => notice,meta => #{time => 5},msg => {report,#{label => {error_logger,info_msg},format => \"Can't "
        "set ~s\",args => [\"name\"]}}}");
    CHECK(old.kind == LogKind::message);
    CHECK(old.args.size() == 1);
}

TEST_CASE("Elixir's and lager's events", "[logs]") {
    const LogEvent event = log_event_of(
        "{error,<0.45.0>,{'Elixir.Logger',[\"Process "
        "\",<<\"x\">>],{{2019,10,1},{20,40,10,337}},[{crash_reason,{badarg,[{io,put_chars,[a,b,c],[]}]}},{pid,<0.92.0>}"
        "]}}");
    CHECK(event.kind == LogKind::process_error);
    CHECK(event.time == "2019-10-01 20:40:10");
    CHECK(event.pid.number == 92);
    REQUIRE(event.stack.size() == 1);
    CHECK(event.stack[0].arity == 3);
    const LogEvent lager = log_event_of(
        "{lager_msg,[],[{pid,<0.7.0>},{module,my_mod}],warning,{\"2012-01-01\",\"10:00:00\"},{1,2,3},[\"full\",\" "
        "disk\"]}");
    CHECK(lager.level == LogLevel::warning);
    CHECK(lager.module == "my_mod");
    CHECK(lager.time == "2012-01-01 10:00:00");
}

TEST_CASE("exits that nobody read count, orderly ends don't", "[logs]") {
    CHECK(log_event_of("{'EXIT',<0.9.0>,{badarg,[{a,b,1}]}}").module == "a");
    CHECK(log_event_of("{'DOWN',#Ref<0.1.2.3>,process,<0.9.0>,killed}").pid.number == 9);
    CHECK(is_event("{'EXIT',<0.9.0>,{shutdown,{failed_to_start_child,x,y}}}"));
    for (const char* orderly :
         {"{'EXIT',<0.9.0>,normal}", "{'EXIT',<0.9.0>,shutdown}", "{'EXIT',<0.9.0>,{shutdown,restart}}",
          "{'DOWN',#Ref<0.1.2.3>,process,<0.9.0>,noproc}", "{error,enoent,{a,b,c}}", "{error,<0.1.0>,x}", "{log,x}",
          "#{level => error}", "{lager_msg,1}"})
        CHECK_FALSE(is_event(orderly));
}

TEST_CASE("what loggers wrap events in is taken off", "[logs]") {
    for (const char* wrapped :
         {"{notify,{e,1}}", "{'$gen_cast',{'$olp_load',{e,1}}}", "{<0.1.0>,#Ref<0.1.2.3>,{sync_notify,{log,{e,1}}}}",
          "{'$gen_call',{<0.1.0>,x},{'$olp_load',{e,1}}}"}) {
        const auto term = parse_term(wrapped);
        const TermReader terms(*term);
        CHECK_FALSE(terms.tagged(unwrap_message(terms, term->term()), "e", 2).empty());
    }
}

TEST_CASE("an event that lies in memory twice is told once", "[logs]") {
    const auto sent = [](std::string_view time, std::string_view pid, std::string_view reason, std::string_view meta) {
        const std::string who(pid);
        return log_event_of("#{level => error,meta => #{error_logger => #{tag => error},pid => " + who + ",time => " +
                            std::string(time) + std::string(meta) +
                            "},msg => {report,#{label => {error_logger,error_msg},format => \"Error in process ~p with "
                            "exit value:~n~p~n\",args => [" +
                            who + ",{" + std::string(reason) + ",[{a,b,[],[]}]}]}}}");
    };
    std::vector<LogEvent> events{sent("1000001", "<0.9.0>", "undef", ""),
                                 sent("1000001", "<0.9.0>", "undef", ",domain => [otp],gl => <0.70.0>")};
    keep_each_once(events);
    CHECK(events.size() == 1);
    // Another time, another process, another reason: another event.
    events = {sent("1000001", "<0.9.0>", "undef", ""), sent("1000002", "<0.9.0>", "undef", ""),
              sent("1000001", "<0.10.0>", "undef", ""), sent("1000001", "<0.9.0>", "badarg", "")};
    keep_each_once(events);
    CHECK(events.size() == 4);
    // Exits have neither text nor time: their reasons tell them apart.
    events = {log_event_of("{'EXIT',<0.9.0>,{badarg,[{a,b,1}]}}"), log_event_of("{'EXIT',<0.9.0>,{badarg,[{a,c,1}]}}"),
              log_event_of("{'EXIT',<0.9.0>,{badarg,[{a,b,1}]}}")};
    keep_each_once(events);
    CHECK(events.size() == 2);
}

// An event as printed, and what is read of it.
const std::vector<std::pair<std::string_view, std::string_view>> event_forms{
    {"{error_report,<0.8.0>,{<0.20.0>,crash_report,[[{pid,<0.21.0>},{registered_name,[]},{error_info,{exit,{oops,[{a,b,"
     "1,[{line,7}]}]},[{c,d,2}]}}],[]]}}",
     "crash_report error <0.21.0> in a report reason oops < a:b/1:7"},
    {"{error_report,<0.8.0>,{<0.20.0>,crash_report,[[{pid,<0.21.0>},{registered_name,shop},{error_info,{oops,[{a,b,1}]}"
     "}],[]]}}",
     "crash_report error <0.21.0> name shop in a report reason oops < a:b/1"},
    {"{error_report,<0.8.0>,{<0.20.0>,crash_report,[[{pid,<0.21.0>}],[]]}}", "message error <0.20.0> report"},
    {"{error_report,<0.8.0>,{<0.20.0>,crash_report,[]}}", "message error <0.20.0> report"},
    {"{error_report,<0.8.0>,{<0.20.0>,supervisor_report,[{supervisor,{<0.3.0>,shop_sup}},{reason,killed},{offender,[{"
     "pid,<0.4.0>},{id,web},{name,other}]}]}}",
     "supervisor_report error <0.4.0> name shop_sup report subject web reason killed"},
    {"{error_report,<0.8.0>,{<0.20.0>,supervisor_report,[{supervisor,<0.3.0>},{reason,killed},{offender,[{name,web}]}]}"
     "}",
     "supervisor_report error <0.3.0> report subject web reason killed"},
    {"{info_report,<0.8.0>,{<0.20.0>,progress,[{supervisor,{local,shop_sup}},{started,[{pid,<0.5.0>},{id,web}]}]}}",
     "progress info <0.20.0> name shop_sup report subject web"},
    {"{info_report,<0.8.0>,{<0.20.0>,progress,[{supervisor,{local,shop_sup}},{started,[{pid,<0.5.0>},{name,old}]}]}}",
     "progress info <0.20.0> name shop_sup report subject old"},
    {"{info_report,<0.8.0>,{<0.20.0>,progress,[{application,shop},{started_at,a@b}]}}",
     "progress info <0.20.0> report subject shop"},
    {"{info_report,<0.8.0>,{<0.20.0>,std_info,[{application,shop},{exited,{oops,[{a,b,1}]}},{type,temporary}]}}",
     "application_end info <0.20.0> in a report subject shop reason oops < a:b/1"},
    {"{warning_report,<0.8.0>,{<0.20.0>,std_warning,[{anything,1}]}}", "message warning <0.20.0> report"},
    {"{warning_msg,<0.8.0>,{emulator,\"disk ~p almost full~n\",[sda]}}",
     "message warning says \"disk ~p almost full~n\" of 1"},
    {"{info_msg,<0.8.0>,{<0.20.0>,\"started\",[]}}", "message info <0.20.0> says \"started\" of 0"},
    {"{info,<0.8.0>,{<0.20.0>,\"old\",[]}}", "message info <0.20.0> says \"old\" of 0"},
    {"{error,<0.8.0>,{<0.20.0>,\"** Generic server ~p terminating ~n** Last message in was ~p~n** When Server state == "
     "~p~n** Reason for termination == ~n** ~p~n\",[shop,stop,[],{oops,[{a,b,1}]}]}}",
     "process_error error <0.20.0> name shop in a says \"** Generic server ~p terminating ~n** Last message in was "
     "~p\" of 4 reason oops < a:b/1"},
    {"{error,<0.8.0>,{<0.20.0>,\"** Generic server ~p terminating ~n\",[shop,stop,oops]}}",
     "message error <0.20.0> says \"** Generic server ~p terminating ~n\" of 3"},
    {"{error,<0.8.0>,{<0.20.0>,\"Generic server ~p terminating ~n\",[shop,stop,state,oops]}}",
     "message error <0.20.0> says \"Generic server ~p terminating ~n\" of 4"},
    {"{error,<0.8.0>,{emulator,\"Error in process ~p on node ~p with exit "
     "value:~n~p~n\",[<0.33.0>,a@b,{oops,[{a,b,1}]}]}}",
     "process_error error <0.33.0> in a says \"Error in process ~p on node ~p with exit value:~n~p~n\" of 3 reason "
     "oops < a:b/1"},
    {"{error,<0.8.0>,{emulator,\"Error in process <0.34.0> on node 'a@b' with exit value: "
     "{oops,[{a,b,1}]}\\n\\n\",[]}}",
     "process_error error <0.34.0> in a says \"Error in process <0.34.0> on node 'a@b' with exit value: {oo\" of 0 "
     "reason oops < a:b/1"},
    {"{error,shop,{<0.20.0>,\"no group leader\",[]}}", "no event"},
    {"{error,<0.8.0>,{\"nobody\",\"x\",[]}}", "no event"},
    {"{strange,<0.8.0>,{<0.20.0>,\"x\",[]}}", "no event"},
    {"#{level => error,meta => #{pid => <0.45.0>,time => 1562396744039765,mfa => {shop,init,1}},msg => {string,\"a "
     "text\"}}",
     "message error <0.45.0> in shop at 2019-07-06 07:05:44Z says \"a text\" of 0"},
    {"#{level => warning,meta => #{pid => <0.45.0>,crash_reason => {oops,[{a,b,1}]}},msg => {\"~p is late\",[shop]}}",
     "process_error warning <0.45.0> in a says \"~p is late\" of 1 reason oops < a:b/1"},
    {"#{level => notice,meta => #{time => 0},msg => {report,#{label => {gen_server,terminate},reason => oops,name => "
     "{local,shop}}}}",
     "process_error notice name shop report reason oops"},
    {"#{level => notice,meta => #{time => 0},msg => {report,#{what => ever,reason => oops,name => {local,shop}}}}",
     "message notice report"},
    {"#{level => info,meta => #{},msg => {report,#{label => {supervisor,progress},report => "
     "[{supervisor,{local,shop_sup}},{started,[{id,web}]}]}}}",
     "progress info name shop_sup report subject web"},
    {"#{level => strange,meta => #{},msg => {string,\"x\"}}", "no event"},
    {"#{level => error,meta => none,msg => {string,\"x\"}}", "message error says \"x\" of 0"},
    {"#{level => error,meta => #{}}", "no event"},
    {"{log,alert,\"~p~n\",[x],#{pid => <0.9.0>}}", "message alert <0.9.0> says \"~p~n\" of 1"},
    {"{log,emergency,\"a text\",#{pid => <0.9.0>}}", "message emergency <0.9.0> says \"a text\" of 0"},
    {"{log,critical,#{label => {gen_statem,terminate},reason => oops},#{pid => <0.9.0>}}",
     "process_error critical <0.9.0> report reason oops"},
    {"{log,critical,#{reason => oops},#{pid => <0.9.0>}}", "message critical <0.9.0> report"},
    {"{log,debug,\"x\",none}", "no event"},
    {"{debug,<0.8.0>,{'Elixir.Logger',<<\"text\">>,{{2019,10,1},{20,40,10}},[{pid,<0.9.0>},{module,'Elixir.Shop'},{"
     "registered_name,shop}]}}",
     "message debug <0.9.0> name shop in Elixir.Shop at 2019-10-01 20:40:10 says \"text\" of 0"},
    {"{warn,<0.8.0>,{'Elixir.Logger',<<\"text\">>,{{2019,13,1},{20,40,10}},[]}}", "message warning says \"text\" of 0"},
    {"{info,<0.8.0>,{'Elixir.Logger',<<\"text\">>,{{9999,12,31},{23,59,60,999}},[]}}",
     "message info at 9999-12-31 23:59:60 says \"text\" of 0"},
    {"{info,<0.8.0>,{'Elixir.Logger',<<\"text\">>,{{2019,12,31},{24,0,0}},[]}}", "message info says \"text\" of 0"},
    {"{info,<0.8.0>,{'Elixir.Logger',<<\"text\">>,{{2019,12,31},{23,60,0}},[]}}", "message info says \"text\" of 0"},
    {"{lager_msg,[],[{pid,<0.7.0>},{module,shop}],emergency,{\"2012-01-01\",\"10:00:00\"},{1,2,3},\"full\"}",
     "message emergency <0.7.0> in shop at 2012-01-01 10:00:00 says \"full\" of 0"},
    {"{lager_msg,[],[],none,later,{1,2,3},\"full\"}", "message  says \"full\" of 0"},
    {"{'EXIT',<0.9.0>,{oops,[{a,b,[1,2],[{file,\"a.erl\"},{line,3}]},{c,d,0}]}}",
     "exit_message  <0.9.0> in a reason oops < a:b/2:3 < c:d/0"},
    {"{'EXIT',<0.9.0>,noconnection}", "no event"},
    {"{'EXIT',shop,oops}", "no event"},
    {"{'DOWN',#Ref<0.1.2.3>,port,<0.9.0>,oops}", "no event"},
    {"{'DOWN',#Ref<0.1.2.3>,process,{shop,a@b},oops}", "exit_message  reason oops"},
    {"{put_chars,unicode,\"=ERROR REPORT==== x ===\\nexited: {oops,[{a,b,1}]}\\n\"}",
     "output error in a says \"=ERROR REPORT==== x ===\nexited: {oops,[{a,b,1}]}\n\" of 0 reason oops < a:b/1"},
    {"{put_chars,unicode,\"=PROGRESS REPORT==== x ===\\nstarted\\n\"}",
     "output info says \"=PROGRESS REPORT==== x ===\nstarted\n\" of 0"},
    {"{put_chars,unicode,\"=NOTICE REPORT==== x ===\\nreason: calm\\n\"}",
     "output info says \"=NOTICE REPORT==== x ===\nreason: calm\n\" of 0 reason calm"},
    {"{put_chars,unicode,\"=INFO REPORT==== x ===\\nfine\\n\"}",
     "output info says \"=INFO REPORT==== x ===\nfine\n\" of 0"},
    {"{put_chars,unicode,\"hello\"}", "output  says \"hello\" of 0"},
    {"{put_chars,\"hello\",unicode}", "no event"},
    {"{log,\"=ERROR REPORT==== x ===\\nReason: oops\\n\"}",
     "output error says \"=ERROR REPORT==== x ===\nReason: oops\n\" of 0 reason oops"},
    {"{io_request,<0.9.0>,<0.9.0>,{put_chars,unicode,\"hello\"}}", "output  <0.9.0> says \"hello\" of 0"},
    {"{io_request,<0.9.0>,<0.9.0>,{put_chars,\"hello\"}}", "output  <0.9.0> says \"hello\" of 0"},
    {"{io_request,<0.9.0>,<0.9.0>,{put_chars,unicode,io_lib,format,[\"~p is ~p~n\",[a,b]]}}",
     "output  <0.9.0> says \"~p is ~p~n\" of 2"},
    {"{io_request,<0.9.0>,<0.9.0>,{put_chars,unicode,shop,text,[\"x\",[a,b]]}}", "output  <0.9.0> says \"x\" of 0"},
    {"{io_request,<0.9.0>,<0.9.0>,{requests,[{put_chars,unicode,\"first\"},{put_chars,unicode,\"second\"}]}}",
     "output  <0.9.0> says \"first\" of 0"},
    {"{io_request,<0.9.0>,<0.9.0>,{get_line,unicode,\"> \"}}", "no event"},
    {"{io_request,shop,<0.9.0>,{put_chars,unicode,\"hello\"}}", "no event"},
    {"{application_started,shop,{error,{oops,[{a,b,1}]}}}",
     "application_end error in a subject shop reason oops < a:b/1"},
    {"{application_started,\"shop\",{error,oops}}", "no event"},
};

TEST_CASE("each form of an event is read with all that it has", "[logs]") {
    for (const auto& [printed, expected] : event_forms) {
        INFO(printed);
        CHECK(read_of(printed) == expected);
    }
}

TEST_CASE("a local time is one where each of its numbers can be, and times are in order", "[logs]") {
    std::uint64_t order = 0;
    const auto time = [&order](std::string_view printed) {
        const auto term = parse_term(printed);
        return local_time(TermReader(*term), term->term(), order);
    };
    CHECK(time("{{2011,11,9},{14,57,37}}") == "2011-11-09 14:57:37");
    CHECK(order == 20111109145737);
    CHECK(time("{{2011,11,9},{14,57,37,999}}") == "2011-11-09 14:57:37");
    CHECK(time("{{0,0,0},{0,0,0}}") == "0000-00-00 00:00:00");
    CHECK(order == 0);
    CHECK(time("{{9999,12,31},{23,59,60}}") == "9999-12-31 23:59:60");
    CHECK(order == 99991231235960);
    for (const char* none :
         {"{{10000,1,1},{0,0,0}}", "{{1,13,1},{0,0,0}}", "{{1,1,32},{0,0,0}}", "{{1,1,1},{24,0,0}}",
          "{{1,1,1},{0,60,0}}", "{{1,1,1},{0,0,61}}", "{{-1,1,1},{0,0,0}}", "{{1,1,1},{0,0,-1}}", "{{1,1,1},{0,0}}",
          "{{1,1,1},{0,0,0,0,0}}", "{{1,1},{0,0,0}}", "{{1,1,1},{a,0,0}}", "{{1,1,1}}", "{{1,1,1},{0,0,0},0}", "now"}) {
        INFO(none);
        CHECK(time(none).empty());
    }
}

TEST_CASE("a reason's stack is a list of functions, and nothing else", "[logs]") {
    const auto frames = [](std::string_view printed) {
        const auto term = parse_term(printed);
        std::string all;
        for (const LogFrame& frame : frames_of(TermReader(*term), term->term()))
            all += (all.empty() ? "" : " ") + frame.module + ":" + frame.function +
                   (frame.cut ? "/?" : "/" + std::to_string(frame.arity)) +
                   (frame.file.empty() ? "" : "@" + frame.file) +
                   (frame.line == 0 ? "" : ":" + std::to_string(frame.line));
        return all;
    };
    CHECK(frames("[{a,b,0},{c,d,255,[]},{e,f,[1,2,3],[{file,\"e.erl\"},{line,7}]}]") == "a:b/0 c:d/255 e:f/3@e.erl:7");
    CHECK(frames("[{a,b,1},note,{c,d,1}]") == "a:b/1 c:d/1");
    CHECK(frames("[note,{a,b,1}]").empty());
    CHECK(frames("[{a,b,256}]").empty());
    CHECK(frames("[{a,b,-1}]").empty());
    CHECK(frames("[{a,b,c}]").empty());
    CHECK(frames("[{a,b}]").empty());
    CHECK(frames("[{a,b,1,[],[]}]").empty());
    CHECK(frames("[{\"a\",b,1}]").empty());
    CHECK(frames("[{a,3,1}]").empty());
    CHECK(frames("{a,b,1}").empty());
    CHECK(frames("[{a,b,1,[{line,0}]},{a,b,2,[{line,100000000}]},{a,b,3,[{line,99999999}]}]") ==
          "a:b/1 a:b/2 a:b/3:99999999");
    std::string many = "[{a,b,1}";
    for (int i = 0; i < 80; ++i) many += ",{a,b,1}";
    const auto term = parse_term(many + "]");
    CHECK(frames_of(TermReader(*term), term->term()).size() == 64);
}

TEST_CASE("what wraps an event is taken off, as often as there is one", "[logs]") {
    const auto inside = [](std::string_view printed) {
        const auto term = parse_term(printed);
        const Element inner = unwrap_message(TermReader(*term), term->term());
        return TermReader::is_atom(inner) ? std::string(inner.text) : inner.id == term->term().id ? "itself" : "a part";
    };
    for (const char* tag : {"notify", "sync_notify", "'$gen_cast'", "'$olp_load'", "log", "async"})
        CHECK(inside("{" + std::string(tag) + ",inner}") == "inner");
    CHECK(inside("{<0.9.0>,tag,inner}") == "inner");
    CHECK(inside("{notify_ack,tag,inner}") == "inner");
    CHECK(inside("{'$gen_call',{<0.9.0>,tag},{sync_notify,inner}}") == "inner");
    CHECK(inside("{notify,tag,inner}") == "itself");
    CHECK(inside("{other,inner}") == "itself");
    CHECK(inside("{shop,tag,inner}") == "itself");
    CHECK(inside("{<0.9.0>,inner}") == "itself");
    CHECK(inside("inner") == "inner");
    CHECK(inside("{log,\"=ERROR REPORT==== x ===\\nReason: oops\\n\"}") == "itself");  // an event of its own
    CHECK(inside("{async,{async,{async,{async,{async,{async,inner}}}}}}") == "inner");
    CHECK(inside("{async,{async,{async,{async,{async,{async,{async,inner}}}}}}}") == "a part");  // six, and no more
}

TEST_CASE("an end is orderly where nothing failed", "[logs]") {
    const auto orderly = [](std::string_view printed) {
        const auto term = parse_term(printed);
        return is_orderly(TermReader(*term), term->term());
    };
    for (const char* reason : {"normal", "shutdown", "noproc", "noconnection", "{shutdown,whatever}",
                               "{shutdown,{failed_to_start_child,a}}"})
        CHECK(orderly(reason));
    for (const char* reason :
         {"killed", "{shutdown,{failed_to_start_child,a,b}}", "{shutdown,a,b}", "{normal,a}", "oops"})
        CHECK_FALSE(orderly(reason));
}

TEST_CASE("what somebody kept of an event is one, in whatever order", "[logs]") {
    const auto kept = [](std::string_view printed) {
        LogEvent event;
        event.term = parse_term(printed);
        if (!read_event(TermReader(*event.term), event.term->term(), event)) return std::string("no event");
        return std::string(name_of(event.kind)) + " " + std::string(name_of(event.level)) + " " + event.time + " " +
               event.name;
    };
    const std::string ended =
        "#{label=>{supervisor,child_terminated},report=>[{supervisor,{local,shop_sup}},{errorContext,child_terminated},"
        "{reason,killed},{offender,[{pid,<0.9.0>},{id,till}]}]}";
    CHECK(kept("{1700000000000000,error,{report," + ended + "}}") ==
          "supervisor_report error 2023-11-14 22:13:20Z shop_sup");
    CHECK(kept("{{report," + ended + "},#{time=>1700000000000000},error}") ==
          "supervisor_report error 2023-11-14 22:13:20Z shop_sup");
    CHECK(kept("#{level=>error,msg=>{report," + ended + "},time=>1700000000000000}") ==
          "supervisor_report error 2023-11-14 22:13:20Z shop_sup");
    CHECK(kept(ended) == "supervisor_report error  shop_sup");
    CHECK(kept("{7,warning,{string,\"the till is slow\"}}") == "message warning  ");
    CHECK(kept("{warning,7,{\"till ~p\",[3]}}") == "message warning  ");
    // Neither a level alone, nor a message, nor a label of the program's own.
    CHECK(kept("{error,7,{\"till\",[3]}}") == "no event");
    CHECK(kept("{order,7,{string,\"till\"}}") == "no event");
    CHECK(kept("{error,{report,7},x}") == "no event");
    CHECK(kept("#{label=>till,reason=>killed}") == "no event");
}
