// SPDX-License-Identifier: Apache-2.0
// Reasons that programs, Gleam, mnesia and releases of Elixir give, each beside one of the same form that means else.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "analyses/causes/told_causes.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string what(std::string_view reason, const Snapshot& snapshot = Snapshot()) {
    const auto cause = told_cause(snapshot, reason, {});
    if (!cause) return {};
    return present::plain_text(snapshot, cause->cause.what) + present::plain_text(snapshot, cause->cause.where);
}

constexpr std::string_view slogan_of_elixir = ", and the slogan leaves out which";

}  // namespace

TEST_CASE("the failure of another that a match was told is the failure", "[causes]") {
    CHECK(what("{{badmatch,{'EXIT',{{badmatch,{error,enoent}},[{audit_h,init,1,[{file,\"/src/audit_h.erl\"},{line,5}]},"
               "{gen_event,server_add_handler,4,[{file,\"gen_event.erl\"},{line,9}]}]}}},[{pay_app,go,2,[]}]}") ==
          "a file, folder or program does not exist (enoent), in audit_h:init/1 (audit_h.erl:5)");
    CHECK(what("{{badmatch,{error,{{badmatch,{error,{connect_failed,{\"10.0.0.1\",5433},econnrefused}}},"
               "[{conn,open,1,[{file,\"conn.erl\"},{line,7}]}]}}},[{pool,init,1,[]}]}") ==
          "a service refused the connection (econnrefused): {connect_failed,{\"10.0.0.1\",5433},econnrefused}, in "
          "conn:open/1 (conn.erl:7)");
    // of another form: no stack is in it
    CHECK(what("{{badmatch,{error,{my_reason,[a,b]}}},[{pool,init,1,[]}]}") ==
          "{badmatch,{error,{my_reason,[a,b]}}}, in pool:init/1");
    // the files of a stack are sources, not what is missing
    CHECK(what("{{badmatch,{oops,{{error,enoent},[{audit_h,init,1,[{file,\"/src/audit_h.erl\"},{line,5}]}]}}},"
               "[{pay_app,go,2,[]}]}")
              .find("/src/audit_h.erl, in") == std::string::npos);
}

TEST_CASE("an application that gives up with reason normal has said why in its log", "[causes]") {
    CHECK(what("{normal,{mnesia_app,start,[normal,[]]}}") ==
          "mnesia stopped with reason normal, and said why in the log alone");
    CHECK(what("{application_start_failure,till,{normal,{till_app,start,[normal,[]]}}}") ==
          "the reason is normal, and what it had to say of it stands in its log alone");
    CHECK(what("{application_start_failure,shop,{{badmatch,{error,{normal,{mnesia_app,start,[normal,[]]}}}},"
               "{shop,start,[normal,[]]}}}") == "mnesia stopped with reason normal, and said why in the log alone");
    CHECK(what("{application_terminated,nightly,normal}") ==
          "its top process ended by itself, with reason normal, and a permanent one ends the node");
    CHECK(what("{normal,{gen_server,call,[ledger,stop]}}") == "ledger ended while it was called: normal");
}

TEST_CASE("what a program calls a failed start goes off it, with the start function's end within", "[causes]") {
    // of application:ensure_all_started/1, behind a match whose text ends in its stack
    CHECK(
        what("{bad_return,{{mq_app,start,[normal,[]]},{'EXIT',{{badmatch,{error,{store,{bad_return,{{store_app,start,["
             "normal,[]]},{'EXIT',{{badmatch,{error,{{db_open,\"Corruption: truncated "
             "record\"},{child,undefined,{bucket,"
             "9},{store,start_link,[9]},permanent,false,5000,worker,[store]}}}},[{store_sup,start_link,0,[]}]}}}}}}},"
             "[{mq_app,start,2,[]}]}}}}") == "{db_open,\"Corruption: truncated record\"}, in store_sup:start_link/0");
    CHECK(what("{failed_to_start_app,telemetry,{bad_return,{{tele_app,start,[normal,[]]},{'EXIT',{{badmatch,{aborted,"
               "{bad_type,{tele,a}}}},[{tele,ensure,0,[]}]}}}}}") ==
          "mnesia refused a record that is not as its table has them (bad_type): {tele,a}, in tele:ensure/0");
    CHECK(what("{could_not_start_listener,[{port,15672}],{shutdown,{failed_to_start_child,{ranch_listener_sup,http},"
               "{shutdown,{failed_to_start_child,ranch_acceptors_sup,{listen_error,{http,{0,0,0,0},15672},"
               "eaddrinuse}}}}}}") == "port 15672 of http is in use (eaddrinuse)");
    // a word of its own before what is no failure
    CHECK(what("{bad_route,\"/x\",{get,[{shop,index,[]}]}}") == "{bad_route,\"/x\",{get,[{shop,index,[]}]}}");
    CHECK(what("{could_not_go,[a],{shutdown,now}}") == "{could_not_go,[a],{shutdown,now}}");
}

TEST_CASE("a reason that the slogan cuts is not whole, wherever the cut is", "[causes]") {
    for (const std::string_view cut : {"{failed_to_start_child,plm", "{a,{b,\"tex", "[a,b", "{a,'b", "{a,'it\\'s"}) {
        INFO(cut);
        CHECK_FALSE(failure_of_printed(cut).is_whole());
    }
    CHECK(failure_of_printed("{a,'b'}").is_whole());
    // within an atom in quotes, too: the layers go off as far as the text goes
    const Failure cut = failure_of_printed(
        "{application_start_failure,core,{bad_return,{{core_app,start,[normal,[]]},{'EXIT',{{function_clause,"
        "[{orddict,fetch,['core@10.200.200.185',[{'");
    CHECK(cut.application == "core");
    CHECK(TermReader::is(cut.reason, "function_clause"));
    REQUIRE(cut.stack.size() == 1);
    CHECK(cut.stack[0].module == "orddict");
}

TEST_CASE("an error within a text is told with the text, where that may name the port", "[causes]") {
    CHECK(what("{failed_to_start,\"ssl:default(0.0.0.0:18883) : eaddrinuse\"}") ==
          "a port that it listens on is in use (eaddrinuse): ssl:default(0.0.0.0:18883) : eaddrinuse");
}

TEST_CASE("a module of OTP's that nobody can load any more", "[causes]") {
    const std::string_view undef =
        "{undef,[{io_lib,printable_list,[a],[]},{application_controller,to_string,1,[]},{gen_server,loop,7,[]}]}";
    test::MadeSnapshot made;
    made.s.source.process_table_complete = true;
    made.process(0, "init");
    const auto aside = [&](std::string_view reason) {
        const auto cause = told_cause(made.s, reason, {});
        return cause ? present::plain_text(made.s, cause->cause.aside) : "";
    };
    made.seal();
    CHECK(aside(undef) == " (not loaded, and code_server, which loads modules, is gone)");
    CHECK(aside("{undef,[{shop_lib,open,[a],[]},{application_controller,to_string,1,[]}]}").find("code_server") ==
          std::string::npos);
    made.process(5, "code_server");
    made.seal();
    CHECK(aside(undef).find("code_server") == std::string::npos);
}

TEST_CASE("an application that did not start is named in whatever words it is passed on", "[causes]") {
    const Failure passed = failure_of_printed(
        "{cannot_start,pay,{{shutdown,{failed_to_start_child,pay_srv,{badkey,relay}}},{pay_app,start,[normal,[]]}}}");
    CHECK(passed.application == "pay");
    CHECK(passed.children == std::vector<std::string>{"pay_srv"});
    CHECK(failure_of_printed("{cannot_start,pay,{oops,{pay_app,stop,[normal,[]]}}}").application.empty());
    const Failure phase =
        failure_of_printed("{application_start_failure,pay,{{version,11},{pay_app,start_phase,[schema,normal,11]}}}");
    CHECK(phase.children == std::vector<std::string>{"schema"});
    const Failure crashed = failure_of_printed(
        "{bad_return_value,{{pay_app,start_phase,[warm,normal,[]]},{'EXIT',{undef,[{pay_cache,fill,[],[]}]}}}}");
    CHECK(crashed.children == std::vector<std::string>{"warm"});
    REQUIRE(crashed.stack.size() == 1);
    CHECK(crashed.stack[0].module == "pay_cache");
}

TEST_CASE("what a function says of its own error is told", "[causes]") {
    test::MadeSnapshot made;
    made.process(1);
    const Snapshot& snapshot = made.seal();
    CHECK(what("{badarg,[{erlang,register,[desk,<0.84.0>],[{error_info,#{cause => registered_name,module => "
               "erl_erts_errors}}]},{pay_srv,init,1,[]}]}",
               snapshot) == "the name desk is registered already, called in pay_srv:init/1");
    CHECK(what("{badarg,[{erlang,register,[desk,<0.84.0>],[{error_info,#{module => erl_erts_errors}}]},"
               "{pay_srv,init,1,[]}]}",
               snapshot) == "badarg in erlang:register/2 of [desk,<0.84.0>], called in pay_srv:init/1");
    CHECK(
        what("{badarg,[{ets,new,[rates,[named_table]],[{error_info,#{cause => already_exists}}]},{pay,load,0,[]}]}") ==
        "an ETS table named rates exists already, in pay:load/0");
    CHECK(what("{badarg,[{ets,new,[rates,[named_table]],[]},{pay,load,0,[]}]}") ==
          "an ETS table named rates exists already, or its options are wrong, in pay:load/0");
    CHECK(what("{badarg,[{io,format,[\"~d\",[{1}]],[{error_info,#{cause => {device,format}}}]},{pay,say,0,[]}]}") ==
          "badarg in io:format/2 of [\"~d\",[{1}]]: the format does not fit its values, called in pay:say/0");
}

TEST_CASE("a limit is named by what could not be made", "[causes]") {
    test::MadeSnapshot made;
    made.process(1);
    made.s.node.process_limit = Count(1024);
    made.s.node.port_limit = Count(2048);
    const Snapshot& snapshot = made.seal();
    CHECK(what("{system_limit,[{erlang,spawn_link,[erlang,apply,[f,[]]],[]},{pay,init,1,[]}]}", snapshot) ==
          "system_limit in erlang:spawn_link/3 (the limit is 1,024 processes), called in pay:init/1");
    CHECK(what("{system_limit,[{erlang,open_port,[{spawn,\"x\"},[]],[]},{pay,init,1,[]}]}", snapshot) ==
          "system_limit in erlang:open_port/2 (the limit is 2,048 ports), called in pay:init/1");
    CHECK(what("{system_limit,[{erlang,list_to_atom,[\"x\"],[]},{pay,init,1,[]}]}", snapshot) ==
          "system_limit in erlang:list_to_atom/1 of [\"x\"], called in pay:init/1");
}

TEST_CASE("a missing module of the program's own is no misspelt one of OTP's", "[causes]") {
    test::MadeSnapshot made;
    for (const char* name : {"logger_server", "ledger_app", "ledger_store"})
        made.s.modules.push_back({made.text(name), 1, {}});
    const Snapshot& snapshot = made.seal();
    CHECK(what("{undef,[{ledger_server,start_link,[],[]}]}", snapshot) == "ledger_server:start_link/0 does not exist");
    CHECK(what("{undef,[{ledger_stor,start_link,[],[]}]}", snapshot) ==
          "ledger_stor:start_link/0 does not exist (is ledger_store meant?)");
    CHECK(what("{undef,[{lodger_server,start_link,[],[]}]}", snapshot) ==
          "lodger_server:start_link/0 does not exist (is logger_server meant?)");
}

TEST_CASE("Gleam names the place in its own source", "[causes]") {
    CHECK(what("{#{function => <<\"start\">>,line => 31,message => <<\"DATABASE_URL is not set\">>,module => "
               "<<\"pay/web\">>,file => <<\"src/pay/web.gleam\">>,gleam_error => panic},[{pay@web,start,0,[]}]}") ==
          "DATABASE_URL is not set, in pay/web.start (src/pay/web.gleam:31)");
    CHECK(what("{#{function => <<\"routes\">>,line => 58,message => <<\"Pattern match failed.\">>,module => "
               "<<\"pay/web\">>,value => {error,nil},file => <<\"src/pay/web.gleam\">>,gleam_error => "
               "let_assert},[{pay@web,routes,1,[]}]}") ==
          "Pattern match failed: {error,nil}, in pay/web.routes (src/pay/web.gleam:58)");
    // up to Gleam 1.6 without the file
    CHECK(what("{#{function => <<\"start\">>,line => 31,message => <<\"Not yet made\">>,module => <<\"pay/web\">>,"
               "gleam_error => todo},[{pay@web,start,0,[]}]}") == "Not yet made, in pay/web.start, line 31");
    CHECK(what("{#{function => <<\"start\">>,line => 31,message => <<\"DATABASE_URL is not set\">>,module => "
               "<<\"pay/web\">>},[{pay@web,start,0,[]}]}")
              .find("pay/web.start") == std::string::npos);
}

TEST_CASE("mnesia's schema, the home folder and listeners are told by the form of the reason", "[causes]") {
    CHECK(what("{{badmatch,{aborted,{bad_type,pay_tx,disc_copies,'a@b'}}},[{pay,init,1,[]}]}") ==
          "the mnesia table pay_tx is to be on disc, and a@b has no schema there, in pay:init/1");
    CHECK(what("{{badmatch,{aborted,{bad_type,pay_tx,index,'a@b'}}},[{pay,init,1,[]}]}") ==
          "{badmatch,{aborted,{bad_type,pay_tx,index,a@b}}}, in pay:init/1");
    CHECK(what("{{badmatch,{error,{'a@b',{already_exists,'a@b'}}}},[{pay,init,1,[]}]}") ==
          "mnesia's schema on a@b exists already, in pay:init/1");
    CHECK(what("{{badmatch,{error,{pay,{already_exists,other}}}},[{pay,init,1,[]}]}") ==
          "{badmatch,{error,{pay,{already_exists,other}}}}, in pay:init/1");
    CHECK(what("{{badmatch,error},[{filename,basedir_join_home,1,[]},{auth,read_cookie,0,[]}]}") ==
          "the environment variable HOME is not set");
    CHECK(what("{{badmatch,error},[{filename,basedir,3,[]},{pay,read,0,[]}]}") == "{badmatch,error}, in pay:read/0");
    CHECK(what("{error,{could_not_start_listener,::,35672,{{shutdown,{_}},{child,undefined,x_:::35672,{_}}}}}") ==
          "the listener on ::,35672 could not start");
    CHECK(what("{error,{could_not_start_listener,\"::\",35672,{{shutdown,{oops}},{child,a}}}}") ==
          "the listener on port 35672 could not start");
    CHECK(what("{error,{could_not_start_listener,\"::\",35672,eaddrinuse}}").find("is in use") != std::string::npos);
    CHECK(what("{{bad_ssl_dist_optfile,{parse_error,{1,erl_parse,[\"syntax error before: \",\"'{'\"]}}},"
               "[{ssl_dist_sup,consult,1,[]}]}") ==
          "a text that it reads is not valid Erlang (bad_ssl_dist_optfile), line 1: syntax error before: '{', in "
          "ssl_dist_sup:consult/1");
    CHECK(what("{{badmatch,{error,{2,erl_scan,{unterminated,string,\"c.\"}}}},[{pay,rules,0,[]}]}") ==
          "a file that it reads is not valid Erlang, line 2: a quote has no end: c, in pay:rules/0");
    CHECK(what("{{badmatch,{error,{2,erl_scan,{illegal,character}}}},[{pay,rules,0,[]}]}") ==
          "a file that it reads is not valid Erlang, line 2: a syntax error, in pay:rules/0");
}

TEST_CASE("functions of Elixir tell what kind of exception a slogan leaves out", "[causes]") {
    const auto of = [](std::string_view words) { return std::string(words) + std::string(slogan_of_elixir); };
    CHECK(what("{,[{Elixir.File,read!,1,[{_},{_}]},{Elixir.Vault,load,2,[{_},{_}]},{Elixir.Config.Provider,boot,2,[]}]"
               "}") == of("a file can't be read") + ", in 'Elixir.Vault':load/2");
    CHECK(what("{,[{Elixir.Code,find_file!,2,[{_},{_}]},{erl_eval,do_apply,7,[{_},{_}]}]}") ==
          of("a file that it evaluates does not exist"));
    CHECK(what("{,[{Elixir.Application,fetch_env!,2,[{_},{_}]},{erl_eval,do_apply,7,[{_},{_}]}]}") ==
          of("a setting of an application is missing"));
    CHECK(what("{,[{Elixir.Config.Provider,boot,2,[]}]}") ==
          "it stopped the boot, most likely since a setting that was read at compile time (compile_env) has another "
          "value now");
    CHECK(what("{<<\"aborting boot\">>,[{'Elixir.Config.Provider',boot,2,[]}]}").starts_with("it stopped the boot"));
    // the provider's own frame, which is no abort; a text of somebody else's
    CHECK(what("{,[{Elixir.Vault,load,2,[]},{Elixir.Config.Provider,boot,2,[]}]}") ==
          "'Elixir.Vault':load/2 failed, with a reason that the slogan leaves out");
    CHECK(what("{<<\"aborting boot\">>,[{pay,boot,2,[]}]}") == "aborting boot, in pay:boot/2");
    // where the reason is there, that is told
    CHECK(what("{{badmatch,x},[{'Elixir.File',read!,1,[]},{pay,boot,2,[]}]}").starts_with("{badmatch,x}"));
}

TEST_CASE("what fails within a library is told with who called it", "[causes]") {
    CHECK(
        what(
            "{function_clause,[{inet_tcp,getserv,[\"8080\"],[{file,\"inet_tcp.erl\"},{line,59}]},{gen_tcp,listen,2,[]},"
            "{pay_app,start,2,[]}]}") ==
        "function_clause in inet_tcp:getserv/1 of [\"8080\"], called in pay_app:start/2");
    CHECK(what("{badarith,[{math,log,[0],[]},{pay_srv,init,1,[]}]}") ==
          "badarith in math:log/1 of [0], called in pay_srv:init/1");
    CHECK(what("{#{'__exception__' => true,'__struct__' => 'Elixir.ArgumentError',message => <<\"cannot parse x\">>},"
               "[{'Elixir.Date','from_iso8601!',2,[]},{'Elixir.Pay',start,2,[]}]}") ==
          "Elixir.ArgumentError: cannot parse x, in 'Elixir.Pay':start/2");
    // Its own module begins as a library's does.
    CHECK(what("{#{'__exception__' => true,'__struct__' => 'Elixir.ArgumentError',message => <<\"cannot parse x\">>},"
               "[{'Elixir.DateOfBirth',parse,2,[]},{'Elixir.Pay',start,2,[]}]}") ==
          "Elixir.ArgumentError: cannot parse x, in 'Elixir.DateOfBirth':parse/2");
    // What erpc tells of the other end is behind it.
    CHECK(what("{{exception,badarg,[{lists,nth,[3,[]],[]}]},[{erpc,call,5,[]},{pay_boot,asks,0,[]}]}") ==
          "badarg in lists:nth/2 of [3,[]], called in pay_boot:asks/0");
}

TEST_CASE("more of what OTP says of its errors is told by its form", "[causes]") {
    CHECK(what("{calling_self,{gen_server,call,[pay_srv,get]}}") ==
          "it called itself, and can't answer while it waits for that (calling_self)");
    CHECK(what("{data_error,[{zlib,inflate_nif,4,[]},{pay_srv,init,1,[]}]}") ==
          "what zlib was given is not compressed so, or is damaged (data_error), in pay_srv:init/1");
    CHECK(what("{data_error,[{pay_zip,read,1,[]},{pay_srv,init,1,[]}]}") == "data_error, in pay_zip:read/1");
    CHECK(
        what("{{badarg,{\"mac.c\",281},\"Bad digest algorithm for HMAC\"},[{crypto,mac,4,[]},{pay_srv,init,1,[]}]}") ==
        "crypto: Bad digest algorithm for HMAC (badarg), in pay_srv:init/1");
    CHECK(what("{{badmatch,{error,{failed_connect,[{to_address,{\"127.0.0.1\",9}},{inet,[inet],econnrefused}]}}},"
               "[{pay_srv,init,1,[]}]}") == "no connection to 127.0.0.1, port 9: econnrefused, in pay_srv:init/1");
    CHECK(what("{{badmatch,{error,{already_exist,default}}},[{pay_app,start,2,[]}]}") ==
          "a handler or filter of logger called default exists already, in pay_app:start/2");
    CHECK(what("{{badmatch,{error,{already_exist,7}}},[{pay_app,start,2,[]}]}") ==
          "{badmatch,{error,{already_exist,7}}}, in pay_app:start/2");
    CHECK(what("{timeout,{'Elixir.Task',await,[#{'__struct__' => 'Elixir.Task',pid => <0.647.0>,owner => <0.646.0>},"
               "100]}}") == "the task <0.647.0> was not ready in the time that its Task.await allows (timeout)");
    CHECK(what("{timeout,{'Elixir.Pay',await,[pay_srv,100]}}") == "a call of pay_srv was not answered in time");
    CHECK(
        what("{{badmatch,{error,{tls_alert,{bad_certificate,\"TLS client: In state wait_cert_cr at ssl_handshake.erl:1 "
             "generated CLIENT ALERT: Fatal - Bad Certificate\"}}}},[{pay_srv,init,1,[]}]}") ==
        "a TLS connection failed: bad_certificate (Fatal - Bad Certificate), in pay_srv:init/1");
    const std::string segment =
        "[{pay_srv,tag,1,[{file,\"pay_srv.erl\"},{line,4},{error_info,#{cause => {2,binary,type,undefined},function => "
        "format_bs_fail,module => erl_erts_errors}}]}]";
    CHECK(what("{badarg," + segment + "}") ==
          "badarg in pay_srv:tag/1: segment 2 of the binary that it builds is to be of type binary, and is undefined, "
          "pay_srv.erl:4");
    CHECK(what("{badarg,[{pay_srv,tag,1,[{file,\"pay_srv.erl\"},{line,4},{error_info,#{cause => badopt}}]}]}") ==
          "badarg in pay_srv:tag/1, pay_srv.erl:4");
}

TEST_CASE("what could not be printed is the cause, but where it tells of another write that failed", "[causes]") {
    const auto unprinted = [](const std::string& text) {
        return what("{badarg,[{io,put_chars,[standard_error,unicode,[<<\"" + text + "\">>]],[]}]}");
    };
    CHECK(unprinted("** (ArgumentError) no such port\\n") ==
          "** (ArgumentError) no such port (it could not print that: its standard output or error is gone)");
    for (const char* const call : {":io.put_chars(:standard_error, 1)", "io:put_chars(standard_error, 1)"})
        CHECK(unprinted("** (EXIT from #PID<0.91.0>) an exception was raised:\\n    ** (ArgumentError) argument "
                        "error\\n        " +
                        std::string(call) + "\\n") ==
              "its standard output or error is gone; what it was about to say is that it could not write before");
}
