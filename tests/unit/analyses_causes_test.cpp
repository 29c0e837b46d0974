// SPDX-License-Identifier: Apache-2.0
// Reasons of failed starts, as releases print them, down to their cause.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "analyses/causes/boot_stage.hpp"
#include "analyses/causes/told_causes.hpp"
#include "analyses/logs/log_forms.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"
#include "support/told_failure.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::told;
using test::ToldFailure;

namespace {

LogEvent event_of(std::string_view printed) {
    LogEvent event;
    event.term = parse_term(printed);
    REQUIRE(read_event(TermReader(*event.term), event.term->term(), event));
    if (!event.reason_term) event.reason_term = event.term;
    return event;
}

}  // namespace

TEST_CASE("layers of supervisors and applications come off", "[causes]") {
    const ToldFailure nested = told(
        "{{badmatch,{error,{{shutdown,{failed_to_start_child,sick_server,{listen_error,http,8081,eaddrinuse}}},{sick_"
        "app,start,[normal,[]]}}}},"
        "[{sick_app,run,0,[{file,\"sick_app.erl\"},{line,44}]},{init,start_em,1,[]},{init,do_boot,3,[]}]}");
    CHECK(nested.kind == "port_taken");
    CHECK(nested.what == "port 8081 of http is in use (eaddrinuse)");
    CHECK(nested.children == std::vector<std::string>{"sick_server"});
    const Failure failure = failure_of_printed(
        "\"{application_start_failure,my_app,{{shutdown,{failed_to_start_child,a,{shutdown,{failed_to_start_child,b,{"
        "undef,[{x,y,[],[]},{b,init,1,[]}]}}}}},{my_app,start,[normal,[]]}}}\"");
    CHECK(failure.application == "my_app");
    CHECK(failure.children == std::vector<std::string>{"a", "b"});
    REQUIRE(failure.stack.size() == 2);
    CHECK(failure.stack[0].module == "x");
}

TEST_CASE("layers of starters that are no supervisors come off", "[causes]") {
    const ToldFailure ranch = told(
        "{{shutdown,{failed_to_start_child,{ranch_listener_sup,http},{shutdown,{failed_to_start_child,ranch_acceptors_"
        "sup,"
        "{listen_error,http,eaddrinuse}}}}},{child,undefined,{ranch_listener_sup,http},{ranch_listener_sup,start_link,["
        "]},permanent,infinity,"
        "supervisor,[ranch_listener_sup]}}");
    CHECK(ranch.what == "a port of http is in use (eaddrinuse)");
    const ToldFailure rabbit = told(
        "{could_not_start,rabbit,{rabbit,{{shutdown,{failed_to_start_child,rabbit_disk,{error,enospc}}},{rabbit,start,["
        "normal,[]]}}}}");
    CHECK(rabbit.what == "the disk is full (enospc)");
    CHECK(told("{rabbit,failure_during_boot,{error,{epmd_error,\"h\",timeout}}}").kind == "refused");
    CHECK(failure_of_printed("{my_app,{bad_return,{{my_app,start,[normal,[]]},{'EXIT',oops}}}}").application ==
          "my_app");
    CHECK(told("{my_app,{\"no such file or directory\",\"my_dep.app\"}}").kind == "no_application");
    // The port of a listener stands in a report of its own.
    const LogEvent listener = event_of(
        "{error_report,<0.8.0>,{<0.17.0>,supervisor_report,[{supervisor,{local,x_sup}},{errorContext,start_error},"
        "{reason,{listen_error,http,eaddrinuse}},{offender,[{pid,undefined},{name,a},{mfargs,{ranch,start,[http,[{port,"
        "8081}]]}}]}]}}");
    CHECK(told("{listen_error,http,eaddrinuse}", {listener}).what == "port 8081 of http is in use (eaddrinuse)");
}

// Reason, kind, sentence.
const std::vector<std::array<std::string_view, 3>> reasons{
    {"{undef,[{no_such_module,start,[],[]},{init,start_em,1,[]},{init,do_boot,3,[]}]}", "no_function",
     "no_such_module:start/0 does not exist"},
    {"{undef,[{gpio,start,[17,output],[]},{my_srv,init,1,[{file,\"src/my_srv.erl\"},{line,9}]}]}", "no_function",
     "gpio:start/2 does not exist, called in my_srv:init/1 (my_srv.erl:9)"},
    {"{dist_port_already_used,25672,\"rabbit\",\"localhost\"}", "port_taken",
     "port 25672 of the distribution is in use, most likely by rabbit@localhost, which runs already"},
    {"{{badmatch,{error,{1,erl_parse,[\"syntax error before: "
     "\",\"'.'\"]}}},[{init,start_it,1,[]},{init,start_em,1,[]}]}",
     "bad_code", "it is not valid Erlang: syntax error before: '.'"},
    {"{noproc,{gen_server,call,[my_registry,get]}}", "not_registered",
     "it called my_registry, and no process is registered under that name"},
    {"{badarg,[{ets,lookup,[my_cache,key],[]},{my_srv,init,1,[{file,\"my_srv.erl\"},{line,3}]}]}", "no_table",
     "the ETS table my_cache does not exist, in my_srv:init/1 (my_srv.erl:3)"},
    {"{{badmatch,{error,enoent}},[{my_srv,init,1,[{file,\"my_srv.erl\"},{line,3}]}]}", "no_file",
     "a file, folder or program does not exist (enoent), in my_srv:init/1 (my_srv.erl:3)"},
    {"{not_started,crypto}", "no_application", "application crypto has to be started first"},
    {"{\"no such file or directory\",\"my_dep.app\"}", "no_application",
     "application my_dep is not installed: no such file or directory"},
    {"{bad_return,{{my_app,start,[normal,[]]},whatever}}", "bad_return", "my_app:start/2 returned whatever"},
    {"\"Error when reading /srv/x/.erlang.cookie: eacces\"", "cookie",
     "the cookie file can't be used: Error when reading /srv/x/.erlang.cookie: eacces"},
    {"{badarg,[{erlang,list_to_integer,[\"80a\"],[]},{my_srv,init,1,[{file,\"my_srv.erl\"},{line,3}]}]}", "bad_value",
     "badarg in erlang:list_to_integer/1 of [\"80a\"], called in my_srv:init/1 (my_srv.erl:3)"},
    {"{badarg,[{io,put_chars,[standard_error,unicode,[<<\"** (Mix) no such task\\n\">>]],[]}]}", "no_output",
     "** (Mix) no such task (it could not print that: its standard output or error is gone)"},
    {"{bad_generator,{failed_to_start_child,0,{init_failed,<<\"Failed to start socket listener: Eaddrinuse\">>}}}",
     "port_taken", "a port that it listens on is in use (eaddrinuse)"},
    {"{#{'__exception__' => true,'__struct__' => 'Elixir.RuntimeError',message => "
     "<<\"boom\">>},[{'Elixir.My.App',start,2,[{file,\"lib/my/app.ex\"},{line,7}]}]}",
     "bad_value", "Elixir.RuntimeError: boom, in 'Elixir.My.App':start/2 (app.ex:7)"},
    {"{badarg,[{io,format,[<0.62.0>,\"~w\\n\",102334155],[]},{init,start_em,1,[]}]}", "bad_value",
     "badarg in io:format/3 of [<0.62.0>,\"~w\\n\",102334155]"},
    {"some_reason_of_mine", "unknown", "some_reason_of_mine"},
    // layers of other starters, and stacks that are not there or are texts
    {"{exception,remote_broke,[{shop,remote,0,[]}]}", "unknown", "remote_broke, in shop:remote/0"},
    {"{{nocatch,{my,thing}},[]}", "unknown", "{my,thing}"},
    {"{function_clause,[{shop,need,abc,[{_},{_}]},{init,start_em,1,[]}]}", "bad_value", "function_clause in shop:need"},
    {"{{badmatch,{error,noproc}},[{shop,need,0,[]}]}", "not_registered",
     "a process that it called, or was to use, does not exist (noproc), in shop:need/0"},
    // who was called ended meanwhile
    {"{out_of_disk,{gen_server,call,[<0.79.0>,die]}}", "unknown", "<0.79.0> ended while it was called: out_of_disk"},
    {"{normal,{gen_server,call,[ledger,stop]}}", "unknown", "ledger ended while it was called: normal"},
    {"{eaddrinuse,{gen_server,call,[ledger,stop]}}", "port_taken", "a port that it listens on is in use (eaddrinuse)"},
    {"{shutdown,{shop,start,[normal,[]]}}", "unknown", "shutdown"},
    {"{shutdown,{shop,stop,[normal,[]]}}", "unknown", "{shop,stop,[normal,[]]}"},
    {"{nodedown,'a@b'}", "refused", "node a@b can't be reached (nodedown)"},
    {"{{nodedown,'a@b'},{gen_server,call,[{s,'a@b'},x]}}", "refused", "node a@b can't be reached (nodedown)"},
    // erl_scan's errors, up to 26 and later, and cut by a slogan
    {"{{badmatch,{error,{1,erl_scan,{string,39,\"abc\"}},1}},[{shop,read,0,[{file,\"shop.erl\"},{line,14}]}]}",
     "bad_code",
     "a text that it reads is not valid Erlang, line 1: a quote has no end: abc, in shop:read/0 (shop.erl:14)"},
    {"{{badmatch,{error,{3,erl_scan,{unterminated,atom,\"abc\"}},1}},[{shop,read,0,[]}]}", "bad_code",
     "a text that it reads is not valid Erlang, line 3: a quote has no end: abc, in shop:read/0"},
    {"{{badmatch,{error,{1,erl_scan,{_}},1}},[{shop,read,0,[]}]}", "bad_code",
     "a text that it reads is not valid Erlang, line 1: a syntax error, in shop:read/0"},
    {"{function_clause,[{init,b2s,[true],[]},{init,do_boot,3,[]}]}", "bad_specification",
     "a flag of the command line that needs a value has none: -boot, -mode, -loader"},
    // calls without a module
    {"{undef,[{erl_eval,c,[nofile],[]},{erl_eval,local_func,8,[]},{init,start_it,1,[]}]}", "no_function",
     "c/1 is a command of the shell, which -eval does not know"},
    {"{undef,[{erl_eval,shop,[],[]},{erl_eval,local_func,8,[]},{init,start_it,1,[]}]}", "no_function",
     "function shop/0 is called without a module, and does not exist"},
    {"{undef,[{shell_default,c,[a,b,c],[]},{shell,eval_loop,3,[]}]}", "no_function",
     "function c/3 is called without a module, and does not exist"},
    // a part of OTP that is packaged by itself
    {"{undef,[{crypto,supports,[],[]},{tls_record,init,1,[]}]}", "no_function",
     "crypto:supports/0 does not exist: OTP's application crypto is not on the code path, called in tls_record:init/1"},
    // a device that says why itself (EEP 54)
    {"{terminated,[{io,format,[\"hello\"],[{error_info,#{cause => {device,edquot},module => erl_stdlib_errors}}]}]}",
     "no_output", "its output could not be written: the disk quota is used up (edquot); it was about to say: hello"},
    {"{terminated,[{io,format,[\"hello\"],[{error_info,#{cause => {device,epipe}}}]}]}", "no_output",
     "its standard output or error is gone; it was about to say: hello"},
    // texts that init printed without their quotes
    {"{{nocatch,{config_error,missing section [database] in a, b}},[{shop,th,0,[{_},{_}]},{init,start_em,1,[]}]}",
     "unknown", "{config_error,\"missing section [database] in a, b\"}, in shop:th/0"},
    {"{undef,[{my-module,start,[],[]},{init,start_em,1,[]}]}", "no_function", "'my-module':start/0 does not exist"},
    {"{undef,[{shop,start(),[],[]},{init,start_em,1,[]}]}", "no_function", "shop:'start()'/0 does not exist"},
    {"{undef,[{./ebin/shop,start,[],[]},{init,start_em,1,[]}]}", "no_function",
     "'./ebin/shop':start/0 does not exist: that is a file's name, not a module's"},
    {"{undef,[{shop.erl,start,[],[]},{init,start_em,1,[]}]}", "no_function",
     "'shop.erl':start/0 does not exist: that is a file's name, not a module's"},
    {"{{badmatch,pang},[{shop,join,0,[]}]}", "refused", "another node did not answer a ping (pang), in shop:join/0"},
    {"{cannot get bootfile,start_mine.boot}", "no_file", "the boot file can't be read: start_mine.boot"},
    // a text is the reason where it is about an error, or stands under a tag that names one
    {"{songs,[\"Florence and the Machine\",\"Ohio Players\",{a,b,c,d}]}", "unknown",
     "{songs,[\"Florence and the Machine\",\"Ohio Players\",{a,b,c,d}]}"},
    {"{my_error,[\"Florence and the Machine\",{a,b,c,d}]}", "message", "Florence and the Machine (my_error)"},
    {"{mysql,[x,{y,z,u}],{row,\"Table 'm.t' doesn't exist\"}}", "message", "Table 'm.t' doesn't exist (row)"},
    // init's own
    {"{load_failed,[nonexistent_mod,error_handler]}", "bad_specification",
     "modules that the boot script names can't be loaded: nonexistent_mod, error_handler"},
    {"{cannot get bootfile,/srv/x/start.boot}", "no_file", "the boot file can't be read: /srv/x/start.boot"},
    {"{'cannot get bootfile','/srv/x/start.boot'}", "no_file", "the boot file can't be read: /srv/x/start.boot"},
    {"{badarg,[{erlang,binary_to_term,[],[{_}]},{init,get_boot,1,[]},{init,do_boot,3,[]}]}", "bad_specification",
     "the boot file (.boot) is damaged or empty"},
    {"{error,invalid_current_directory}", "no_file",
     "its current directory does not exist, or this user can't read it (invalid_current_directory)"},
    {"{error,terminating}", "stopped", "it was told to stop while it was starting"},
    {"{bad_environment_value,\"{a,\"}", "bad_specification",
     "a value on the command line (-App Key Value) is not valid Erlang: {a,"},
    // Up to 25, without quotes.
    {"{badarith,[{erlang,+,[1,a],[]},{erl_eval,do_apply,6,[{_},{_}]},{init,start_it,1,[]}]}", "bad_value",
     "badarith in erlang:'+'/2 of [1,a], called by -eval"},
    {"{{unbound_var,X},[{erl_eval,exprs,2,[{_},{_}]},{init,start_it,1,[]}]}", "bad_code",
     "it has a variable without a value: X"},
    {"{shutdown,{my_reason,because it is so}}", "unknown", "{my_reason,\"because it is so\"}"},
    {"{badarg,[{io,put_chars,[standard_error,unicode,[_]],[]},{Elixir.Kernel.CLI,exec_fun,2,[{_},{_}]}]}", "no_output",
     "its standard output or error is gone"},
    // Texts of application_controller and reltool.
    {"Missing rel: my_rel", "bad_specification", "Missing rel: my_rel"},
    {"Release my_rel uses non existing application my_app", "bad_specification",
     "Release my_rel uses non existing application my_app"},
    {"invalid config data: application: kernel; invalid parameter: {foo}", "bad_specification",
     "invalid config data: application: kernel; invalid parameter: {foo}"},
    {"{bad_config,{kernel,{logger_level,loud}}}", "bad_specification",
     "a setting of kernel is wrong: {logger_level,loud}"},
    // Syntax errors: of -eval, and of a file.
    {"{{badmatch,{error,{5,erl_parse,[\"syntax error before: "
     "\",\"','\"]}}},[{my_cfg,load,1,[{file,\"my_cfg.erl\"},{line,8}]}]}",
     "bad_code",
     "a file that it reads is not valid Erlang, line 5: syntax error before: ',', in my_cfg:load/1 (my_cfg.erl:8)"},
    {"{\"1: syntax error before: '}'\",\"my_dep.app\"}", "bad_code",
     "the resource file my_dep.app is wrong: 1: syntax error before: '}'"},
    {"{not_loaded,my_app}", "no_application",
     "application my_app is not loaded: its .app file is missing, or has another name inside"},
    // Native libraries, programs, services.
    {"{{badmatch,{error,{load_failed,\"Failed to load NIF library: '/x/y.so: cannot open shared object file: No such "
     "file or directory'\"}}},"
     "[{my_nif,init,0,[{file,\"my_nif.erl\"},{line,4}]}]}",
     "no_library",
     "a native library can't be loaded: /x/y.so: cannot open shared object file: No such file or directory, in "
     "my_nif:init/0 (my_nif.erl:4)"},
    {"{on_load_function_failed,my_nif,{error,{load_failed,\"Failed to load NIF library: '/x/y.so: wrong ELF "
     "class'\"}}}",
     "no_library", "a native library of my_nif can't be loaded: /x/y.so: wrong ELF class"},
    {"{enoent,[{erlang,open_port,[{spawn_executable,\"/opt/"
     "tool\"},[]],[]},{my_srv,init,1,[{file,\"my_srv.erl\"},{line,3}]}]}",
     "no_file", "a file, folder or program does not exist (enoent): /opt/tool, in my_srv:init/1 (my_srv.erl:3)"},
    {"{enoent,[{'Elixir.System',cmd,[<<\"elixir\">>,[<<\"--version\">>],[]],[]},{'Elixir.My',init,1,[]}]}", "no_file",
     "a file, folder or program does not exist (enoent): elixir, in 'Elixir.My':init/1"},
    {"{duplicate_node_name,\"rabbit\",\"host1\"}", "name_taken", "the node name rabbit@host1 is already in use"},
    {"{epmd_error,\"host1\",nxdomain}", "refused", "epmd on host1 can't be reached: nxdomain"},
    {"{badmatch,{error,econnrefused}}", "refused", "a service refused the connection (econnrefused)"},
    {"{{case_clause,{error,{'SetConsoleMode','not "
     "valid\\r\\r\\n'}}},[{prim_tty,init_term,1,[{file,\"prim_tty.erl\"},{line,283}]}]}",
     "no_output",
     "it could not get its terminal: SetConsoleMode: not valid, in prim_tty:init_term/1 (prim_tty.erl:283)"},
    // Tables.
    {"{{badmatch,{aborted,{no_exists,my_table}}},[{my_db,start,0,[]}]}", "no_table",
     "the mnesia table my_table does not exist on this node, in my_db:start/0"},
    {"{timeout_waiting_for_tables,[a@b],[rabbit_user,rabbit_vhost]}", "timeout",
     "mnesia tables were not there in time: rabbit_user, rabbit_vhost"},
    {"{change_table_copy_type,{aborted,{badarg,schema,unknown}}}", "bad_specification",
     "mnesia's schema on this disc is of another node: this one's name is not in it"},
    {"{change_table_copy_type,{aborted,{badarg,sche}}}", "bad_specification",
     "mnesia's schema on this disc is of another node: this one's name is not in it"},
    {"{aborted,{badarg,orders,unknown}}", "unknown", "{aborted,{badarg,orders,unknown}}"},
    // Specifications and values.
    {"{start_spec,{invalid_mfa,my_worker}}", "bad_specification",
     "the start of a child specification is no tuple of module, function and arguments: my_worker"},
    {"{already_started,my_app}", "bad_value", "what it was to start is running already: my_app"},
    {"{badarg,[{io,format,[<0.26.0>,[83,116,97,114,116", "bad_value", "badarg in io:format of \"Start...\""},
    {"{{badmatch,{error,{[_],[_]}}},[{my_app,run,0,[{_},{_}]},{init,start_em,1,[]}]}", "unknown",
     "my_app:run/0 failed, with a reason that the slogan leaves out"},
    {"{{badmatch,{error,{mysql_result,[],[],0,0,\"Table 'a.b' doesn't exist\",[],42}}},[{my_db,load,0,[]}]}", "message",
     "Table 'a.b' doesn't exist (mysql_result), in my_db:load/0"},
    // Elixir's exceptions.
    {"#{'__exception__' => true,'__struct__' => 'Elixir.File.Error',action => <<\"read file\">>,path => "
     "<<\"/etc/x\">>,reason => eacces}",
     "no_file", "could not read file /etc/x: eacces"},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.System.EnvError',env => <<\"DATABASE_URL\">>}", "bad_value",
     "the environment variable DATABASE_URL is not set"},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.KeyError',key => port,term => []}", "bad_value",
     "Elixir.KeyError: key port not found"},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.SyntaxError',file => <<\"mix.exs\">>,line => 3,description => "
     "<<\"unexpected token: )\">>}",
     "bad_code", "Elixir.SyntaxError in mix.exs:3: unexpected token: )"},
};

TEST_CASE("what a reason means", "[causes]") {
    for (const auto& [reason, kind, what] : reasons) {
        INFO(reason);
        const ToldFailure found = told(reason);
        CHECK(found.kind == kind);
        CHECK(found.what == what);
    }
    CHECK(told("").kind.empty());
    CHECK(told("{_}").kind.empty());
    CHECK(told("{{_},[_]}").kind.empty());
    CHECK(told("error in config file \"sys.config\" (1): syntax error").kind == "bad_code");
}

// Reason, kind, sentence, what to do.
const std::vector<std::array<std::string_view, 4>> advised{
    {"{nocatch,nouser}", "no_output", "it could not get its terminal (nouser)",
     "Start it with a working terminal, or with -noinput (-noshell): a service has none."},
    {"{{case_clause,odd},[{user_drv,init,1,[]}]}", "no_output",
     "it could not get its terminal: {case_clause,odd}, in user_drv:init/1",
     "Start it with a working terminal, or with -noinput (-noshell): a service has none."},
    {"{epipe,[{io,put_chars,[user,unicode,[<<\"half a sentence\">>]],[]}]}", "no_output",
     "its standard output or error is gone; it was about to say: half a sentence",
     "Start it with a terminal, or with its output going to a file: who started it has closed its end."},
    {"{terminated,[{io,format,[<0.62.0>,\"~p~n\",[x]],[]},{shop,init,1,[{file,\"shop.erl\"},{line,4}]}]}", "no_output",
     "its standard output or error is gone; it was about to say: ~p~n",
     "Start it with a terminal, or with its output going to a file: who started it has closed its end."},
    {"{badarg,[{io,format,[user,\"~p~n\",[x]],[]},{shop,init,1,[{file,\"shop.erl\"},{line,4}]}]}", "no_output",
     "its standard output or error is gone; it was about to say: ~p~n",
     "Start it with a terminal, or with its output going to a file: who started it has closed its end."},
    {"{badarg,[{io,format,[\"~p~p~n\",[x]],[]},{shop,init,1,[{file,\"shop.erl\"},{line,4}]}]}", "bad_value",
     "badarg in io:format/2 of [\"~p~p~n\",[x]], called in shop:init/1 (shop.erl:4)", ""},
    {"{badarg,[{io,format,[<0.62.0>,\"~w\\n\",102334155],[]},{shop,init,1,[]}]}", "bad_value",
     "badarg in io:format/3 of [<0.62.0>,\"~w\\n\",102334155], called in shop:init/1",
     "What a format prints stands in a list, also where it is one value: io:format(\"~p~n\", [Value])."},
    {"{badarg,[{io,put_chars,[<0.62.0>,unicode,[255,bad]],[]},{shop,init,1,[{file,\"shop.erl\"},{line,4}]}]}",
     "bad_value", "badarg in io:put_chars/3 of [<0.62.0>,unicode,[255,bad]], called in shop:init/1 (shop.erl:4)", ""},
    {"{load_failed,[a,b,c,d,e,f]}", "bad_specification",
     "modules that the boot script names can't be loaded: a, b, c, d and 2 more",
     "The code path (ROOTDIR, ERL_LIBS, -pa, the release's lib) does not lead to them."},
    {"{timeout,{gen_server,call,[shop,get]}}", "timeout", "a call of shop was not answered in time", ""},
    {"{noproc,{gen_server,call,[<0.9.0>,get]}}", "not_registered", "it called <0.9.0>, which is no process any more",
     ""},
    {"{noproc,{gen_server,call,[]}}", "unknown", "{noproc,{gen_server,call,[]}}", ""},
    {"{bad_return,{shop,init,nonsense}}", "bad_return", "shop:init/1 returned nonsense", ""},
    {"{bad_return_value,nonsense}", "bad_return", "a callback returned or threw nonsense", ""},
    {"{bad_return_value,{{shop,init,[a,b]},nonsense}}", "bad_return", "shop:init/2 returned nonsense", ""},
    {"{start_spec,{duplicate_child_name,web}}", "bad_specification", "a supervisor has two children of one name, web",
     "The supervisor's init/1 returns it: supervisor:check_childspecs/1 tells what is wrong with a list of them."},
    {"{bad_start_spec,[nonsense]}", "bad_specification", "a supervisor's child specification is wrong: [nonsense]",
     "The supervisor's init/1 returns it: supervisor:check_childspecs/1 tells what is wrong with a list of them."},
    {"{supervisor_data,{invalid_type,13}}", "bad_specification",
     "a supervisor's child specification is wrong: invalid_type: 13",
     "The supervisor's init/1 returns it: supervisor:check_childspecs/1 tells what is wrong with a list of them."},
    {"{bad_config,nonsense}", "bad_specification", "a setting is wrong: nonsense",
     "It stands in the configuration file (-config), under the application of that name."},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.File.CopyError',action => <<\"copy recursively\">>,source => "
     "<<\"/from\">>,reason => enoent}",
     "no_file", "could not copy recursively /from: enoent", ""},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.Mix.Error',message => <<\"no such task\">>}", "message",
     "Elixir.Mix.Error: no such task", ""},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.MatchError',term => {error,x}}", "bad_value",
     "Elixir.MatchError: {error,x}", ""},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.ErlangError',original => oops}", "bad_value",
     "Elixir.ErlangError: oops", ""},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.FunctionClauseError',module => 'Elixir.Shop',function => "
     "start,arity => 2}",
     "bad_value", "Elixir.FunctionClauseError: 'Elixir.Shop':start/2", ""},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.UndefinedFunctionError',module => 'Elixir.Shop',function => "
     "start,arity => 2}",
     "no_function", "'Elixir.Shop':start/2 does not exist",
     "Module Elixir.Shop is missing from the code path (-pa, the release), its name is misspelt, or it is there and "
     "does not load "
     "(compiled by another release, damaged, without its NIF): the log has \"Loading of ... failed\" then."},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.Shop.Odd',left => 3}", "bad_value",
     "#{'__exception__' => true,'__struct__' => 'Elixir.Shop.Odd',left => 3}", ""},
    {"{function_clause,[{shop,price,[apple],[{file,\"src/shop.erl\"},{line,7}]}]}", "bad_value",
     "function_clause in shop:price/1 of [apple], shop.erl:7", ""},
    {"{badarith,[{shop,price,1,[]}]}", "bad_value", "badarith in shop:price/1", ""},
    {"{{badkey,port},[{shop,price,1,[{file,\"shop.erl\"},{line,7}]}]}", "bad_value",
     "{badkey,port}, in shop:price/1 (shop.erl:7)", ""},
    {"{{case_clause,7},[{erl_eval,expr,6,[]},{init,start_it,1,[]}]}", "bad_value", "{case_clause,7}, in -eval", ""},
    {"{{badmatch,{error,eaddrnotavail}},[{web,init,1,[{file,\"web.erl\"},{line,12}]}]}", "refused",
     "this machine does not have that address (eaddrnotavail), in web:init/1 (web.erl:12)", ""},
    {"{{badmatch,{error,enotdir}},[{web,init,1,[]}]}", "no_file",
     "a part of a path is no folder (enotdir), in web:init/1", ""},
    {"{{badmatch,{error,emfile}},[{web,init,1,[]}]}", "no_file",
     "there is no file descriptor left (emfile), in web:init/1",
     "Raise the limit of open files: ulimit -n, LimitNOFILE= of a unit."},
    {"{{badmatch,{error,etimedout}},[{web,init,1,[]}]}", "refused",
     "another machine did not answer (etimedout), in web:init/1", ""},
    {"{listen_error,{http,\"10.0.0.1\",8080},eaddrinuse}", "port_taken", "port 8080 of http is in use (eaddrinuse)",
     "Another copy of this node, or another program, listens there: ss -ltnp tells which."},
    {"{listen_error,http,70000,eaddrinuse}", "port_taken", "a port of http is in use (eaddrinuse)",
     "Another copy of this node, or another program, listens there: ss -ltnp tells which."},
    {"{{badmatch,{error,{file_error,\"/var/lib/shop/db\",enospc}}},[{web,init,1,[]}]}", "no_file",
     "the disk is full (enospc): /var/lib/shop/db, in web:init/1", ""},
    {"invalid config data: application: shop", "bad_specification", "invalid config data: application: shop",
     "The configuration file, or -App Key Value on the command line, has a setting of a wrong form."},
    {"Illegal option: {x}", "bad_specification", "Illegal option: {x}",
     "The release's specification (reltool.config) has a wrong option."},
    {"Undefined application: shop", "no_application", "Undefined application: shop",
     "Check the release's specification and its lib_dirs."},
    {"{aborted,{no_exists,[shop,{a}]}}", "no_table", "the mnesia table shop does not exist on this node",
     "Create it, or load its schema, before it is used: mnesia:create_table/2, mnesia:wait_for_tables/2."},
    {"{timeout,[shop]}", "timeout", "mnesia tables were not there in time: shop",
     "Another node of the cluster has to start first, or the tables do not exist in this schema."},
    {"{{already_started,<0.80.0>},[{shop,start,2,[]}]}", "bad_value",
     "what it was to start, or who has its name, is running already: <0.80.0>, in shop:start/2",
     "Two that are started register one name, or one is started twice: give each its own name."},
    {"{tls_alert,\"handshake failure\"}", "refused", "a TLS connection failed", ""},
    {"{options,{_}}", "bad_specification", "an option of ssl is wrong, and the slogan leaves out which", ""},
    {"{bad_lib,\"Library version (1.0) not compatible with (2.0)\"}", "no_library",
     "a native library can't be loaded: Library version (1.0) not compatible with (2.0)",
     "It was not built, is for another system or release of OTP, or one that it needs is missing: ldd FILE.so"},
    {"{{1,erl_scan,{illegal,char}},[{init,start_it,1,[]}]}", "bad_code", "it is not valid Erlang: a syntax error",
     "Mind the shell's quotes around -eval, and the full stop at the end."},
    {"{{badmatch,{error,{{9,3},erl_parse,[]}}},[{shop,load,1,[]}]}", "bad_code",
     "a file that it reads is not valid Erlang, line 9: a syntax error, in shop:load/1",
     "Check the file with file:consult/1: it names the line."},
    {"{dist_port_already_used,4370,\"a\",\"b\"}", "port_taken",
     "port 4370 of the distribution is in use, most likely by a@b, which runs already",
     "Stop the other node, or give this one another name and port."},
    {"{'EXIT',nodistribution}", "name_taken",
     "distribution did not start for this node: the name is taken, epmd can't be reached, or the host's name does not "
     "resolve",
     "See whether another node has the name, and epmd answers: epmd -names"},
    {"{undef,[{init,start_it,[a],[]}]}", "no_function", "the module that -s or -run names does not exist",
     "It is missing from the code path (-pa, the release), its name is misspelt, or it is there and does not load: "
     "compiled "
     "by another release, or its on_load failed."},
    {"{undef,[{gen_serverr,call,[a],[]}]}", "no_function", "gen_serverr:call/1 does not exist (is gen_server meant?)",
     "If gen_server is meant, correct the name where it is called; else module gen_serverr is missing from the code "
     "path "
     "(-pa, the release)."},
    {"{undef,[{map,get,[a],[]}]}", "no_function", "map:get/1 does not exist (is maps meant?)",
     "If maps is meant, correct the name where it is called; else module map is missing from the code path (-pa, the "
     "release)."},
    {"{undef,[{gen_udp,openn,[0],[]}]}", "no_function", "gen_udp:openn/1 does not exist",
     "Module gen_udp is a part of OTP or Elixir: what is installed is not whole, or not of that release."},
    {"\"Error when reading C:/Users/x/.erlang.cookie: eacces\"", "cookie",
     "the cookie file can't be used: Error when reading C:/Users/x/.erlang.cookie: eacces",
     "The account that runs the node (a service has another one) must be allowed to read it; it lies in the folder of "
     "HOME, or of HOMEDRIVE and HOMEPATH."},
    {"\"Error when reading /srv/y/.erlang.cookie: eacces\"", "cookie",
     "the cookie file can't be used: Error when reading /srv/y/.erlang.cookie: eacces",
     "It must belong to the user that runs the node and be readable by that user alone (chmod 400); that user's home "
     "folder must exist."},
    {"\"error in config file \\\"/etc/shop.config\\\" (1): [\\\"syntax error before: \\\",\\\"'}'\\\"]\"", "bad_code",
     "config file \"/etc/shop.config\" is wrong, line 1: syntax error before: '}'",
     "file:consult/1 reads it alike. What was to be replaced in it may stand there still: ${NAME} of a template "
     "(sys.config.src) is no Erlang."},
    {"{config,\"a.cfg\",{3,erl_parse,[\"syntax error before: \",\"foo\"]}}", "bad_code",
     "a.cfg is not valid Erlang, line 3: syntax error before: foo",
     "Check the file with file:consult/1: it names the line."},
    {"{badmatch,{error,{bad_config,[{file,\"b.cfg\"},{why,{7,erl_scan,{illegal,character}}}]}}}", "bad_code",
     "b.cfg is not valid Erlang, line 7: {illegal,character}",
     "Check the file with file:consult/1: it names the line."},
    {"{config,\"a.cfg\",{3,erl_sparse,[\"unknown key: \",\"foo\"]}}", "message", "unknown key: foo (erl_sparse)", ""},
    {"{application_terminated,shop,shutdown}", "unknown",
     "its top supervisor gave up: a child failed too often (shutdown)", ""},
    {"{\"bad application name\",\"shop.app\"}", "bad_code", "the resource file shop.app is wrong: bad application name",
     "Check the file with file:consult/1: it names the line."},
};

TEST_CASE("what a reason means, and what to do", "[causes]") {
    for (const auto& [reason, kind, what, hint] : advised) {
        INFO(reason);
        const ToldFailure found = told(reason);
        CHECK(found.kind == kind);
        CHECK(found.what == what);
        CHECK(found.hint == hint);
    }
}

TEST_CASE("why distribution did not start, by what net_kernel logged", "[causes]") {
    const auto logged = [](const std::string& words, bool name_known) {
        std::vector<LogEvent> events{event_of("{info_msg,<0.8.0>,{<0.20.0>," + words + "}}")};
        if (name_known)
            events.push_back(
                event_of("{error_report,<0.8.0>,{<0.17.0>,supervisor_report,[{supervisor,{local,net_sup}},{"
                         "errorContext,start_error},{reason,nodistribution},"
                         "{offender,[{pid,undefined},{name,net_kernel},{mfargs,{net_kernel,start_link,[#{name => "
                         "'a@b',name_domain => shortnames}]}}]}]}}"));
        return told("{'EXIT',nodistribution}", events);
    };
    const std::string registering =
        "\"Protocol: ~p: register error: ~p~n\",[\"inet_tcp\",{{badmatch,{error,ehostunreach}},[]}]";
    CHECK(logged(registering, true).kind == "refused");
    CHECK(logged(registering, true).what == "epmd could not register a@b");
    CHECK(logged(registering, false).what == "epmd could not register the node");
    CHECK(logged(registering, false).hint == "See whether epmd runs and port 4369 can be reached: epmd -names");
    const std::string listening = "\"Protocol: ~p: register/listen error: ~p~n\",[\"inet_tcp\",eaddrinuse]";
    CHECK(logged(listening, true).kind == "port_taken");
    CHECK(logged(listening, true).what == "the port on which a@b takes other nodes is in use");
    CHECK(logged(listening, false).what == "the port on which it takes other nodes is in use");
    for (const char* words : {"\"Protocol: ~p: not supported~n\",[\"x\"]", "\"Invalid distribution\",[]",
                              "\"Could not start distribution\",[]"}) {
        INFO(words);
        CHECK(logged(words, true).kind == "bad_name");
        CHECK(logged(words, true).what == "the distribution that -proto_dist names does not work for a@b");
        CHECK(logged(words, false).what == "the distribution that -proto_dist names does not work for this node");
    }
    CHECK(logged("\"Can't set long node name!~n\",[]", true).what == "a@b is no long node name: its host has no dot");
    CHECK(logged("\"Can't set short node name!~n\",[]", true).what ==
          "a@b is no short node name, or the host's name is not known");
    CHECK(logged("\"Can't set long node name!~n\",[]", false).what ==
          "what -name was given is no long node name, or this host has no full name");
    CHECK(logged("\"Can't set short node name!~n\",[]", false).what ==
          "what -sname was given is no short node name, or the host's name is not known");
    CHECK(logged("\"Can't set short node name!~n\",[]", false).hint ==
          "-name needs a host with a dot (or an address), -sname one without; the host's name must resolve.");
    CHECK(logged("\"something else\",[]", true).kind == "name_taken");
}

TEST_CASE("a text about an error that was to be printed tells why, where nobody else does", "[causes]") {
    const LogEvent said = event_of(
        "{io_request,<0.80.0>,#Ref<0.1.2.3>,{put_chars,unicode,<<\"modbus: cannot open /dev/ttyS0, giving up\">>}}");
    const LogEvent greeting =
        event_of("{io_request,<0.80.0>,#Ref<0.1.2.3>,{put_chars,unicode,\"welcome to the shop\"}}");
    CHECK(told("", {greeting, said}).kind == "message");
    CHECK(told("", {greeting, said}).what == "it was about to print: modbus: cannot open /dev/ttyS0, giving up");
    CHECK(told("{badmatch,7}", {said}).what == "{badmatch,7}");
    CHECK_FALSE(told_cause(Snapshot(), "", std::vector{greeting}));
}

TEST_CASE("a whole reason of the application's own goes before the end of another process", "[causes]") {
    const std::vector<LogEvent> other{event_of(
        "{error_report,<0.8.0>,{<0.90.0>,crash_report,[[{initial_call,{cache,init,['Argument__1']}},{pid,<0.90.0>},"
        "{registered_name,cache},{error_info,{exit,{listen,eaddrinuse},[{cache,init,1,[]}]}}],[]]}}")};
    CHECK(told("{application_start_failure,shop,{no_license,2031}}", other).what == "{no_license,2031}");
    CHECK(told("{application_start_failure,shop,shutdown}", other).kind == "port_taken");
    CHECK(told("{application_start_failure,shop,{{listen,...},{shop_app,start,[normal,[]]}}}", other).kind ==
          "port_taken");
}

TEST_CASE("what stands in another report", "[causes]") {
    const std::string nodistribution =
        "{shutdown,{failed_to_start_child,net_sup,{shutdown,{failed_to_start_child,net_kernel,{'EXIT',nodistribution}}}"
        "}}";
    CHECK(told(nodistribution, {event_of("{info_msg,<0.8.0>,{<0.20.0>,\"Protocol: ~tp: the name ~ts seems to be in use "
                                         "by another Erlang node\",[\"inet_tcp\",'cqm@opensuse']}}")})
              .what == "the node name cqm@opensuse is already in use");
    CHECK(told(nodistribution, {event_of("{info_msg,<0.8.0>,{<0.20.0>,\"Protocol: ~p: the name a@b seems to be in use "
                                         "by another Erlang node\",[\"inet_tcp\"]}}")})
              .what == "the node name a@b is already in use");
    const LogEvent report = event_of(
        "{error_report,<0.8.0>,{<0.17.0>,supervisor_report,[{supervisor,{local,net_sup}},{errorContext,start_error},{"
        "reason,{'EXIT',nodistribution}},"
        "{offender,[{pid,undefined},{name,net_kernel},{mfargs,{net_kernel,start_link,[['client@lab35',longnames]]}}]}]}"
        "}");
    const LogEvent taken = event_of(
        "{info_msg,<0.8.0>,{<0.20.0>,\"Protocol: ~p: register error: "
        "~p~n\",[\"inet_tcp\",{{badmatch,{error,duplicate_name}},[{inet_tcp_dist,listen,1}]}]}}");
    CHECK(told("shutdown", {report, taken}).what == "the node name client@lab35 is already in use");
    const LogEvent short_name = event_of(
        "#{level => notice,meta => #{time => 5},msg => {report,#{label => {error_logger,info_msg},format => \"Can't "
        "set short node name!~nPlease check your configuration~n\",args => []}}}");
    CHECK(told(nodistribution, {report, short_name}).kind == "bad_name");
    const LogEvent dotted = event_of(
        "{error_report,<0.8.0>,{<0.17.0>,supervisor_report,[{supervisor,{local,net_sup}},{errorContext,start_error},{"
        "reason,{'EXIT',nodistribution}},{offender,[{pid,undefined},{name,net_kernel},{mfargs,{net_kernel,start_link,"
        "[['one@127.0.0.1',shortnames]]}}]}]}}");
    CHECK(told(nodistribution, {dotted, short_name}).what == "one@127.0.0.1 is no short node name: its host has a dot");

    const std::string undef = "{undef,[{numerl_test,test,[],[]},{init,start_em,1,[]}]}";
    const LogEvent loading = event_of(
        "{log,error,\"~s~n\",[\"beam/beam_load.c(1876): Error loading module numerl_test:\\n  This BEAM file was "
        "compiled for a later version of the run-time system than 22.\\n\"],#{time => 3}}");
    CHECK(told(undef, {loading}).what ==
          "module numerl_test can't be loaded: This BEAM file was compiled for a later version of the run-time system "
          "than 22");
}

TEST_CASE("a cut slogan yields to a report that is whole; a whole one stays", "[causes]") {
    const LogEvent whole = event_of(
        "{'EXIT',<0.9.0>,{shutdown,{failed_to_start_child,web,{{badmatch,{error,eacces}},[{web,init,1,[{file,\"web."
        "erl\"},{line,12}]}]}}}}");
    CHECK(told("{{badmatch,{error,{{_},{_}}}},[{sick_app,run,0,[{_},{_}]}]}", {whole}).kind == "no_file");
    CHECK(told("{noproc,{gen_server,call,[my_registry,get]}}", {event_of("{'EXIT',<0.9.0>,killed}")}).kind ==
          "not_registered");
}

TEST_CASE("a name that no node can have is told where nothing else tells why", "[causes]") {
    const auto what = [](const std::string& name) {
        const LogEvent report = event_of(
            "{error_report,<0.8.0>,{<0.17.0>,supervisor_report,[{supervisor,{local,net_sup}},{errorContext,start_error}"
            ","
            "{reason,{'EXIT',nodistribution}},{offender,[{pid,undefined},{id,net_kernel},{mfargs,{net_kernel,start_"
            "link,"
            "[['" +
            name + "',longnames]]}}]}]}}");
        return told("{'EXIT',nodistribution}", {report}).what;
    };
    for (const std::string name : {"@host", "a b@host", "a b", "shop\xC3\xA9@host", "a@b@host"}) {
        INFO(name);
        CHECK(what(name) == name + " is no name that a node can have");
    }
    for (const std::string name : {"shop_1-a@host", "Shop"}) {
        INFO(name);
        CHECK(what(name).find("the name is taken, epmd can't be reached") != std::string::npos);
    }
    CHECK(told("{'EXIT',nodistribution}", {}).what.find("the name is taken") != std::string::npos);
}

TEST_CASE("the node's name is the only atom that can be one", "[causes]") {
    test::MadeSnapshot made;
    for (const char* name : {"nonode@nohost", "client3@pippo", "_list@1", "ok"})
        made.s.atoms.push_back(made.text(name));
    const LogEvent taken = event_of(
        "{info_msg,<0.8.0>,{<0.20.0>,\"Protocol: ~p: register error: "
        "~p~n\",[\"inet_tcp\",{{badmatch,{error,duplicate_name}},[]}]}}");
    CHECK(told("{'EXIT',nodistribution}", {taken}, made.seal()).what ==
          "the node name client3@pippo is already in use");
    made.s.atoms.push_back(made.text("other@pippo"));
    CHECK(told("{'EXIT',nodistribution}", {taken}, made.seal()).what ==
          "the node name that was given is already in use");
}

TEST_CASE("a misspelt module is told by the one that is loaded", "[causes]") {
    test::MadeSnapshot made;
    for (const char* name : {"proplists", "lists", "my_app"}) made.s.modules.push_back({made.text(name), 1, {}});
    const Snapshot& snapshot = made.seal();
    const auto cause = told_cause(snapshot, "{undef,[{propslist,get_value,[id,[]],[]},{term,load,0,[]}]}", {});
    REQUIRE(cause);
    CHECK(present::plain_text(snapshot, cause->cause.what) ==
          "propslist:get_value/2 does not exist (is proplists meant?)");
    CHECK(present::plain_text(snapshot, cause->cause.where) == ", called in term:load/0");
    // two letters fewer than the loaded one, or two more, and no further
    const auto shorter = told_cause(snapshot, "{undef,[{proplis,get_value,[id,[]],[]},{term,load,0,[]}]}", {});
    CHECK(present::plain_text(snapshot, shorter->cause.what) ==
          "proplis:get_value/2 does not exist (is proplists meant?)");
    const auto longer = told_cause(snapshot, "{undef,[{proplistses,get_value,[id,[]],[]},{term,load,0,[]}]}", {});
    CHECK(present::plain_text(snapshot, longer->cause.what) ==
          "proplistses:get_value/2 does not exist (is proplists meant?)");
    const auto other = told_cause(snapshot, "{undef,[{propli,get_value,[id,[]],[]},{term,load,0,[]}]}", {});
    CHECK(present::plain_text(snapshot, other->cause.what) == "propli:get_value/2 does not exist");
    const auto loaded = told_cause(snapshot, "{undef,[{lists,keyfind,[a,b,c,d],[]},{term,load,0,[]}]}", {});
    REQUIRE(loaded);
    CHECK(present::plain_text(snapshot, loaded->cause.hints.at(0)).find("exports no such function") !=
          std::string::npos);
}

TEST_CASE("what releases and libraries for the web make of a start", "[causes]") {
    // init of 25 leaves maps out, and quotes: Elixir's exceptions are maps
    CHECK(
        told("{,[{Elixir.System,fetch_env!,1,[{_},{_}]},{Elixir.Shop,init,1,[{_},{_}]},{init,start_it,1,[]}]}").what ==
        "an environment variable is not set, and the slogan leaves out which, in 'Elixir.Shop':init/1");
    CHECK(told("{,[{Elixir.System,fetch_env!,1,[{_},{_}]},{erl_eval,do_apply,7,[{_},{_}]}]}").what ==
          "an environment variable is not set, and the slogan leaves out which");
    CHECK(told("{error,Bad environment variable: \"{80\"  Application: shop}").what ==
          "a value on the command line (-App Key Value) is not valid Erlang: \"{80\" Application: shop");
    CHECK(told("{{badmatch,{error,no_cert}},[{web,init,1,[{file,\"web.erl\"},{line,12}]},{supervisor,init,1,[]}]}")
              .what == "a TLS listener was given no certificate (no_cert), in web:init/1 (web.erl:12)");
    CHECK(told("{{badmatch,{error,eaddrinuse}},[{web,init,1,[{file,\"web.erl\"},{line,10}]},{supervisor,init,1,[]}]}")
              .what == "a port that it listens on is in use (eaddrinuse), in web:init/1 (web.erl:10)");
    CHECK(told("{{badmatch,{error,{options,{versions,[tlsv9]}}}},[{erl_eval,expr,6,[]},{init,start_it,1,[]}]}").what ==
          "an option of ssl is wrong: {versions,[tlsv9]}");
    CHECK(told("{{badmatch,{error,{options,{cacertfile,\"/etc/"
               "ca.pem\",{error,enoent}}}}},[{erl_eval,expr,6,[]},{init,start_it,1,[]}]}")
              .what == "a file, folder or program does not exist (enoent): /etc/ca.pem");
    CHECK(told("{tls_alert,{unexpected_message,\"TLS client: In state hello at tls_record.erl:564 generated CLIENT "
               "ALERT: Fatal - Unexpected Message\"}}")
              .what == "a TLS connection failed: unexpected_message (Fatal - Unexpected Message)");
    CHECK(told("{{badmatch,{error,{\"Cannot create Mnesia "
               "dir\",\"/proc/none\",enoent}}},[{erl_eval,expr,6,[]},{init,start_it,1,[]}]}")
              .what == "Cannot create Mnesia dir: a file, folder or program does not exist (enoent): /proc/none");
    const auto ended = told_cause(Snapshot(), "shutdown", {}, true);
    REQUIRE(ended);
    CHECK(present::plain_text(Snapshot(), ended->cause.what) ==
          "its top supervisor gave up: a child failed too often (shutdown)");
    // The library's frames are not where the application's own code is.
    CHECK(told("{#{'__struct__' => 'Elixir.File.Error','__exception__' => true,action => <<\"read file\">>,path => "
               "<<\"/p.csv\">>,reason => enoent},"
               "[{'Elixir.File','read!',1,[]},{'Elixir.Shop.Server',init,1,[{file,\"lib/shop.ex\"},{line,20}]}]}")
              .what == "could not read file /p.csv: enoent, in 'Elixir.Shop.Server':init/1 (shop.ex:20)");
}

TEST_CASE("a full standard output is not why the node died", "[causes]") {
    const std::string reason =
        "{{badmatch,error_here},[{erl_eval,expr,6,[{file,\"erl_eval.erl\"},{line,496}]},{init,start_it,1,[]},{init,"
        "start_em,1,[]}]}";
    const std::vector<LogEvent> full{event_of("{'EXIT',<0.65.0>,enospc}"),
                                     event_of("{error_report,<0.8.0>,{<0.64.0>,supervisor_report,[{supervisor,user_sup}"
                                              ",{errorContext,child_terminated},{reason,enospc},"
                                              "{offender,[{pid,<0.65.0>},{name,user}]}]}}")};
    CHECK(told(reason, full).what == "{badmatch,error_here}, in -eval");
    CHECK(told("", full).what == "the disk is full (enospc)");
    // A server that could not write says whose disk it is.
    const LogEvent server = event_of(
        "{error_report,<0.8.0>,{<0.64.0>,supervisor_report,[{supervisor,{local,db_sup}},{errorContext,start_error},{"
        "reason,enospc},"
        "{offender,[{pid,undefined},{id,journal}]}]}}");
    CHECK(told("", {server}).what == "the disk is full (enospc)");
    // ... but where the slogan itself says it all, another process's end is not the cause.
    CHECK(told(reason, {server}).what == "{badmatch,error_here}, in -eval");
    // Nor are those that kernel's own processes meet while the node goes down: it is what was before them.
    const LogEvent setting = event_of(
        "{error_report,<0.8.0>,{<0.64.0>,supervisor_report,[{supervisor,{local,kernel_sup}},{errorContext,start_error},"
        "{reason,{bad_config,{handler,no_such_h}}},{offender,[{pid,undefined},{id,logger}]}]}}");
    test::MadeSnapshot made;
    made.process(3, "init");
    CHECK(told("{badarg,[{erlang,send,[code_server,{code_call,x}],[]},{code_server,call,1,[{file,\"code_server.erl\"},"
               "{line,164}]},{application_controller,to_string,1,[]}]}",
               {setting}, made.seal())
              .what == "a setting is wrong: {handler,no_such_h}");
    // A cause that the slogan tells by its form is not another process's.
    const LogEvent undef = event_of(
        "{error_report,<0.8.0>,{<0.64.0>,supervisor_report,[{supervisor,{local,x_sup}},{errorContext,start_error},"
        "{reason,{undef,[{unicode,f,[],[]},{logger,log,1,[{file,\"logger.erl\"},{line,3}]}]}},"
        "{offender,[{pid,undefined},{id,logger}]}]}}");
    CHECK(told("\"{bad_environment_value,\\\"{a,\\\"}\"", {undef}).what ==
          "a value on the command line (-App Key Value) is not valid Erlang: {a,");
    // A report of the same reason may tell more of the way to it, also where the slogan has no stack.
    const LogEvent child = event_of(
        "{error_report,<0.8.0>,{<0.64.0>,supervisor_report,[{supervisor,{local,db_sup}},{errorContext,start_error},{"
        "reason,{bad_config,{handler,no_such_h}}},{offender,[{pid,undefined},{id,journal}]}]}}");
    CHECK(told("{bad_config,{handler,no_such_h}}", {child}).children == std::vector<std::string>{"journal"});
    CHECK(told("{bad_config,{handler,no_such_h}}", {undef}).what == "a setting is wrong: {handler,no_such_h}");
    // Who had a name that nobody has any more ended of what its supervisor reports.
    CHECK(told("{noproc,{gen_server,call,[shop,x]}}", {setting}).what == "a setting is wrong: {handler,no_such_h}");
    // A slogan that leaves a part out is told by who knows it.
    CHECK(told("{{badmatch,{error,{_}}},[{shop,init,1,[]}]}", {server}).what == "the disk is full (enospc)");
}

TEST_CASE("a code path without kernel is why no module was loaded", "[causes]") {
    test::MadeSnapshot made;
    made.process(0, "init");
    made.process(3, "erl_prim_loader");
    Snapshot& snapshot = made.seal();
    const std::vector<std::string> wrong{"www"},
        usual{"/usr/lib/erlang/lib/kernel-8.5.3/ebin", "/usr/lib/erlang/lib/stdlib-4.2/ebin"};
    const auto said = [&](std::span<const std::string> path) {
        return present::plain_text(snapshot, boot_stage(snapshot, path).told);
    };
    const auto load = [&](std::string_view name) {
        snapshot.modules.emplace_back().name = snapshot.texts.intern(name);
    };
    CHECK(
        said(wrong) ==
        "The node stopped while it loaded its first modules, and the dump does not hold why");  // modules are not known
    for (const char* name : {"init", "erl_prim_loader"}) load(name);
    CHECK(said(wrong) == "The node found no module to start with: its code path is www, and kernel is not in it");
    CHECK(said(usual) == "The node stopped while it loaded its first modules, and the dump does not hold why");
    CHECK(said({}) == "The node stopped while it loaded its first modules, and the dump does not hold why");
    load("error_handler");
    CHECK(said(wrong) == "The node stopped while it loaded its first modules, and the dump does not hold why");
}
