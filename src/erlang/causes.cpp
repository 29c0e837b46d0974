// SPDX-License-Identifier: Apache-2.0
#include "erlang/causes.hpp"

#include <algorithm>
#include <iterator>

namespace beamheap::erlang {
namespace {

using enum CauseKind;

// Texts of the row whose reason is one.
constexpr const char* its_text = "{Reason:message 130}";
constexpr const char* reltool_hint = "Check the release's specification (reltool.config).";
constexpr const char* quotes_hint = "Mind the shell's quotes around -eval: it may have taken parts of it for its own.";
constexpr const char* consult_hint = "Check the file with file:consult/1: it names the line.";
constexpr const char* tty_hint = "Start it with a working terminal, or with -noinput (-noshell): a service has none.";
constexpr const char* child_hint =
    "The supervisor's init/1 returns it: supervisor:check_childspecs/1 tells what is wrong with a list of them.";
constexpr const char* config_hint =
    "It stands in the configuration file (-config), under the application of that name.";
constexpr const char* logger_hint =
    "It stands in the configuration file (-config), under kernel > logger: look for a misspelt key.";
constexpr const char* runtime_hint =
    "It is releases/VERSION/runtime.exs of the release, or what RELEASE_CONFIG_PROVIDERS name; the node's standard "
    "output has the exception with its place.";
constexpr const char* listener_hint =
    "Most often another program has its port (ss -ltnp tells which); else its address or a certificate is wrong.";
constexpr const char* abort_hint =
    "The node's standard error has the key and both values: set it as it was when the release was made, or make the "
    "release anew.";
constexpr const char* exception_hint =
    "The node's standard output has the exception with its message: releases up to 25 leave it out of the dump.";
constexpr const char* library_hint =
    "It was not built, is for another system or release of OTP, or one that it needs is missing: ldd FILE.so";

// {Line, Module, Message} of erl_scan, erl_parse, and of who reads files for file:consult/1.
#define BH_SYNTAX_ERROR(line) "{" line ", erl_parse | erl_scan | file_io_server | file, Text}"

constexpr CauseRow rows[] = {
    // Texts, by whom they are given: application_controller.erl, init.erl, reltool_server.erl, reltool_target.erl.
    {.reason =
         "Reason = (_ ++ \":/\" ++ _ ++ \".erlang.cookie\" ++ _ | _ ++ \":\\\\\" ++ _ ++ \".erlang.cookie\" ++ _)",
     .kind = cookie,
     .says = "the cookie file can't be used: {Reason:vm}",
     .hint = "The account that runs the node (a service has another one) must be allowed to read it; it lies in the "
             "folder of HOME, or of HOMEDRIVE and HOMEPATH."},
    {.reason = "Reason = (_ ++ \".erlang.cookie\" ++ _ | _ ++ \"cookie file\" ++ _)",
     .kind = cookie,
     .says = "the cookie file can't be used: {Reason:vm}",
     .hint = "It must belong to the user that runs the node and be readable by that user alone (chmod 400); that "
             "user's home folder must exist."},
    // {error,"Bad environment variable: ~tp  Application: ~p"}, printed without its quotes
    {.reason = "_ ++ \"Bad environment variable: \" ++ Value ++ \"}\" | _ ++ \"Bad environment variable: \" ++ Value",
     .kind = bad_specification,
     .says = "a value on the command line (-App Key Value) is not valid Erlang: {Value:message}",
     .hint = "Mind the shell's quotes, also those of vm.args: strings need their own, as in '\"text\"'."},
    {.reason = "Reason = (\"error in config file\" ++ _ ++ \"configuration file not found\" ++ _)",
     .kind = no_file,
     .says = its_text,
     .hint = "Check the path that -config, RELX_CONFIG_PATH or RELEASE_SYS_CONFIG gives, and the files that a "
             "configuration file names: relative ones begin where the node was started.",
     .where = Where::own_code},
    {.reason = "\"error in config file \" ++ File ++ \" (\" ++ Line ++ \"): {erl_scan,{illegal,character}}\" ++ _",
     .kind = bad_code,
     .says = "config file {File:message 80}, line {Line:message 20}, has a character that is no part of Erlang",
     .hint = "Look for typographic quotes, for a byte order mark at its beginning and for what an editor has put in: "
             "outside of quotes and comments only ASCII and Latin-1 letters are read."},
    {.reason = "\"error in config file \" ++ File ++ \" (none): \" ++ Why",
     .kind = bad_code,
     .says = "config file {File:message 80} is wrong: {Why:message 60}",
     .hint = consult_hint},
    {.reason = "\"error in config file \" ++ File ++ \" (\" ++ Line ++ \"): \" ++ Why",
     .kind = bad_code,
     .says = "config file {File:message 80} is wrong, line {Line:message 20}: {Why:message 60}",
     .hint =
         "file:consult/1 reads it alike. What was to be replaced in it may stand there still: ${NAME} of a template "
         "(sys.config.src) is no Erlang."},
    {.reason = "Reason = (\"error in config file\" ++ _)",
     .kind = bad_code,
     .says = its_text,
     .hint = consult_hint,
     .where = Where::own_code},
    {.reason = "Reason = (\"invalid config data\" ++ _)",
     .kind = bad_specification,
     .says = its_text,
     .hint = "The configuration file, or -App Key Value on the command line, has a setting of a wrong form.",
     .where = Where::own_code},
    {.reason = "Reason = (\"badly formatted environment\" ++ _)",
     .kind = bad_specification,
     .says = its_text,
     .hint = "Mind the shell's quotes: values are Erlang terms.",
     .where = Where::own_code},
    {.reason = "Reason = (\"Missing rel\" ++ _)",
     .kind = bad_specification,
     .says = its_text,
     .hint = "The release's specification (reltool.config) names a release in boot_rel that no {rel, ...} defines.",
     .where = Where::own_code},
    {.reason = "Reason = (\"Release \" ++ _)",
     .kind = bad_specification,
     .says = its_text,
     .hint = "The release's specification (reltool.config) names an application that lib_dirs do not lead to, or that "
             "was not compiled.",
     .where = Where::own_code},
    {.reason = "Reason = (\"Illegal option\" ++ _)",
     .kind = bad_specification,
     .says = its_text,
     .hint = "The release's specification (reltool.config) has a wrong option.",
     .where = Where::own_code},
    {.reason = "Reason = (\"Illegal library\" ++ _)",
     .kind = no_file,
     .says = its_text,
     .hint = "Check lib_dirs in the release's specification (reltool.config).",
     .where = Where::own_code},
    {.reason = "Reason = (\"Illegal \" ++ _ | \"Module \" ++ _ | \"Application \" ++ _)",
     .kind = bad_specification,
     .says = its_text,
     .hint = reltool_hint,
     .where = Where::own_code},
    {.reason = "Reason = (\"Undefined application\" ++ _)",
     .kind = no_application,
     .says = its_text,
     .hint = "Check the release's specification and its lib_dirs.",
     .where = Where::own_code},
    // application_controller:init/2 prints what is wrong with a file of -config, when code_server has not been started.
    {.reason = "badarg",
     .kind = bad_code,
     .says =
         "a file that -config names, or a value on the command line, is wrong: it failed while it was about to print "
         "what",
     .hint =
         "Read the files of -config with file:consult/1: it names the line. A byte order mark at the beginning, too, "
         "is no part of Erlang.",
     .frame = "application_controller:init",
     .youngest = "erlang:send"},
    {.reason = "\"aborting boot\"",
     .kind = bad_specification,
     .says = "it stopped the boot, most likely since a setting that was read at compile time (compile_env) has "
             "another value now",
     .hint = abort_hint,
     .youngest = "Elixir.Config.Provider:boot"},
    // {error, {could_not_start_listener, "::", 5672, ...}} of rabbit_networking, printed without its quotes
    {.reason = "_ ++ \"could_not_start_listener,\" ++ Where ++ \",{\" ++ _",
     .kind = port_taken,
     .says = "the listener on {Where:vm 40} could not start",
     .hint = listener_hint},
    {.reason = "Reason :: text()", .kind = message, .says = its_text, .where = Where::own_code},

    // init.erl, R10 to 29.
    {.reason = "{load_failed, Modules = [..., lists, ...]}",
     .kind = bad_specification,
     .says =
         "modules of OTP itself that the boot script names can't be loaded ({Modules:atoms 2}): the boot file is of "
         "another release, or OTP's folders can't be read",
     .hint = "Compare the versions that the boot file names with the folders of lib; check ROOTDIR, and who may read "
             "them."},
    {.reason = "{load_failed, Modules = [..., _ :: atom(), ...]}",
     .kind = bad_specification,
     .says = "modules that the boot script names can't be loaded: {Modules:atoms 4}",
     .hint = "The code path (ROOTDIR, ERL_LIBS, -pa, the release's lib) does not lead to them."},
    {.reason = "{'cannot get bootfile' | \"cannot get bootfile\", File}",
     .kind = no_file,
     .says = "the boot file can't be read: {File}",
     .hint = "Check -boot, RELEASE and ROOTDIR: -boot takes the path without .boot."},
    {.reason = "invalid_current_directory",
     .kind = no_file,
     .says = "its current directory does not exist, or this user can't read it (invalid_current_directory)",
     .hint = "Start it in a folder that exists: a unit's WorkingDirectory, a folder that a deployment has replaced."},
    {.reason = "terminating | stopping",
     .kind = stopped,
     .says = "it was told to stop while it was starting",
     .hint = "Something called init:stop, or the system sent SIGTERM: see what starts and watches the node."},
    {.reason = "badarg",
     .kind = bad_value,
     .says = "hd/1 or tl/1 was given an empty list, or no list",
     .where = Where::own_code,
     .youngest = "erlang:hd | erlang:tl"},
    {.reason = "badarg",
     .kind = bad_specification,
     .says = "the boot file (.boot) is damaged or empty",
     .hint = "Make it anew: systools:make_script/2, or the release's tool.",
     .frame = "init:get_boot"},
    {.reason = "{bad_environment_value, Value}",
     .kind = bad_specification,
     .says = "a value on the command line (-App Key Value) is not valid Erlang: {Value}",
     .hint = "Mind the shell's quotes: strings need their own, as in '\"text\"'."},
    {.reason = "Reason = invalid_boot_var_argument",
     .kind = bad_specification,
     .says = "-boot_var needs a name and a folder ({Reason})"},
    {.reason = "{unbound_var, Name :: atom()}",
     .kind = bad_code,
     .says = "it has a variable without a value: {Name}",
     .hint = quotes_hint},
    {.reason = "function_clause",
     .kind = bad_specification,
     .says = "a flag of the command line that needs a value has none: -boot, -mode, -loader",
     .hint = "A shell's variable that is empty leaves a flag without its value: -boot $RELEASE.",
     .youngest = "init:b2s"},
    {.reason = "{error, {Line, erl_scan, {string, _, Text} | {unterminated, _, Text} | Text :: text() | _}, _}",
     .kind = bad_code,
     .says = "it is not valid Erlang[, line {Line:number}][: a quote has no end: {Text:message 40}|: a syntax error]",
     .hint = quotes_hint,
     .inside = true,
     .circumstance = Circumstance::eval},
    {.reason = "{error, {Line, erl_scan, {string, _, Text} | {unterminated, _, Text} | Text :: text() | _}, _}",
     .kind = bad_code,
     .says =
         "a text that it reads is not valid Erlang[, line {Line:number}][: a quote has no end: {Text:message 40}|: a "
         "syntax error]",
     .where = Where::own_code,
     .inside = true},
    {.reason = BH_SYNTAX_ERROR("_"),
     .kind = bad_code,
     .says = "it is not valid Erlang[: {Text:text}|: a syntax error]",
     .hint = "Mind the shell's quotes around -eval, and the full stop at the end.",
     .inside = true,
     .circumstance = Circumstance::eval},
    {.reason = "{{Line, _} | Line, erl_scan, {string | unterminated, _, Text}}",
     .kind = bad_code,
     .says =
         "a file that it reads is not valid Erlang[, line {Line:number}][: a quote has no end: {Text:message 40}|: a "
         "quote has no end]",
     .hint = consult_hint,
     .where = Where::own_code,
     .inside = true},
    {.reason = BH_SYNTAX_ERROR("{Line, _} | Line"),
     .kind = bad_code,
     .says = "a file that it reads is not valid Erlang[, line {Line:number}][: {Text:text}|: a syntax error]",
     .hint = consult_hint,
     .where = Where::own_code,
     .inside = true},
    // code_server.erl
    {.reason = "{on_load_function_failed, Module :: atom()} | {on_load_function_failed, Module :: atom(), {badmatch, "
               "{error, " BH_NIF_ERROR "}} | {error, " BH_NIF_ERROR "} | {badmatch, " BH_NIF_ERROR "} | " BH_NIF_ERROR
               " | _}",
     .kind = no_library,
     .says = "a native library[ of {Module}] can't be loaded[: {Text:library}]",
     .hint = library_hint,
     .where = Where::own_code},
    {.reason = BH_NIF_ERROR,
     .kind = no_library,
     .says = "a native library can't be loaded[: {Text:library}]",
     .hint = library_hint,
     .where = Where::own_code,
     .inside = true},

    // The distribution (inet_tcp_dist.erl, erl_epmd.erl), the terminal, applications, names of processes.
    {.reason = "{dist_port_already_used, Port, Name, Host}",
     .kind = port_taken,
     .says = "port {Port:term 20} of the distribution is in use, most likely by {Name}@{Host}, which runs already",
     .hint = "Stop the other node, or give this one another name and port."},
    {.reason = "{duplicate_node_name, Name, Host}",
     .kind = name_taken,
     .says = "the node name {Name}@{Host} is already in use",
     .hint = "Another node of this name runs on this machine, or epmd has not yet noticed its end: epmd -names; stop "
             "it, or choose another name."},
    {.reason = "{epmd_error, Host, Error}",
     .kind = refused,
     .says = "epmd on {Host} can't be reached: {Error}",
     .hint = "See whether that name resolves, epmd runs there and port 4369 can be reached: epmd -names"},
    {.reason = "nouser", .kind = no_output, .says = "it could not get its terminal (nouser)", .hint = tty_hint},
    {.reason = "Reason = ({_, {error, {What, Why}}} | {_, _})",
     .kind = no_output,
     .says = "it could not get its terminal[: {What}: {Why:message 60}|: {Reason:term}]",
     .hint = tty_hint,
     .where = Where::own_code,
     .youngest = "prim_tty:_ | user_drv:_"},
    // application_controller.erl
    {.reason = "{not_started, Name}",
     .kind = no_application,
     .says = "application {Name} has to be started first",
     .hint = "Use application:ensure_all_started/1, or put it before this one in the release."},
    // erl_ddll:load/2: numbers of erl_driver.h, below -10 those of the operating system's loader
    {.reason = "{open_error, Number}",
     .kind = no_library,
     .says = "a driver (a shared library) can't be loaded (open_error[ {Number}])",
     .hint = "Its file is not where it is looked for, is for another system, or lacks a library: ldd FILE.so",
     .where = Where::own_code,
     .inside = true},
    // A stub that a NIF takes the place of, in whatever words its author chose.
    {.reason = "{_, Module :: atom()} | {_, {module, Module :: atom()}, _} | {_, module, Module :: atom(), _, _} | _",
     .kind = no_library,
     .says = "the native library[ of {Module}] is not loaded, so that its functions do not exist",
     .hint = library_hint,
     .where = Where::own_code,
     .youngest = "erlang:nif_error"},
    {.reason = "{'DOWN', Server :: atom(), {_, Module :: atom()}}",
     .kind = stopped,
     .says = "{Server} ended while it was asked for module {Module}",
     .where = Where::own_code},
    // application:ensure_all_started/1 has loaded the file by then.
    {.reason = "{Name :: atom(), {not_loaded, Name}}",
     .kind = no_application,
     .says = "{Name}.app was read, and has the name of another application inside",
     .hint = "The file begins {application, NAME, ...}: NAME has to be the file's own.",
     .where = Where::own_code,
     .inside = true},
    {.reason = "{not_loaded, Name}",
     .kind = no_application,
     .says = "application {Name} is not loaded: its .app file is missing, or has another name inside"},
    {.reason = "{Why = (_ ++ \": \" ++ _ | _ ++ \"bad\" ++ _), Name ++ \".app\"}",  // "1: syntax error before: '.'"
     .kind = bad_code,
     .says = "the resource file {Name:name}.app is wrong: {Why:vm}",
     .hint = consult_hint},
    {.reason = "{Why :: text(), Name ++ \".app\"}",
     .kind = no_application,
     .says = "application {Name:name} is not installed: {Why:vm 200}",
     .hint = "It is missing from the code path (-pa, ERL_LIBS) or from the release."},
    {.reason = "{already_started, Name :: atom()}",
     .kind = bad_value,
     .says = "what it was to start is running already: {Name}",
     .where = Where::own_code},
    {.reason = "{already_started, Process}",
     .kind = bad_value,
     .says = "what it was to start, or who has its name, is running already: {Process}",
     .hint = "Two that are started register one name, or one is started twice: give each its own name.",
     .where = Where::own_code},
    // gen.erl, of a process that calls itself
    {.reason = "calling_self | {calling_self, {_, _, [_ | _]}}",
     .kind = bad_value,
     .says = "it called itself, and can't answer while it waits for that (calling_self)",
     .hint = "A callback runs in the server's own process: call the function that does the work, not the server."},
    // zlib.erl, crypto.erl ({Tag, {File of its NIF, Line}, Text}), httpc.erl, logger_config.erl
    // base64.erl: its tables have `bad` for characters that are none of its own.
    {.reason = "badarg | function_clause | missing_padding | {badarg, _}",
     .kind = bad_value,
     .says = "what base64 was to decode is no base64: a character of it, or its length, is wrong",
     .hint =
         "Text with '-' or '_' is the URL-safe alphabet: base64:decode/2 with #{mode => urlsafe} reads it from 26 on.",
     .where = Where::own_code,
     .youngest = "base64:_"},
    // dets.erl
    {.reason = "{type_mismatch, File :: text()}",
     .kind = bad_value,
     .says = "the DETS file {File:message 60} was made with another type (set, bag) than it is opened with",
     .hint = "Open it with the type that it was made with (dets:info/2 tells), or make it anew.",
     .where = Where::own_code,
     .inside = true},
    {.reason = "{keypos_mismatch, File :: text()}",
     .kind = bad_value,
     .says = "the DETS file {File:message 60} was made with another keypos than it is opened with",
     .where = Where::own_code,
     .inside = true},
    {.reason = "{needs_repair | not_closed, File :: text()}",
     .kind = bad_value,
     .says = "the DETS file {File:message 60} was not closed, and needs to be repaired",
     .hint = "Open it with {repair, true}, which is the default, or {repair, force}; without, put it back from a copy.",
     .where = Where::own_code,
     .inside = true},
    {.reason = "{not_a_dets_file | premature_eof | bad_object_header, File :: text()}",
     .kind = bad_value,
     .says = "{File:message 60} is no DETS file, or is damaged",
     .hint = "Open it with {repair, force}, or put it back from a copy.",
     .where = Where::own_code,
     .inside = true},
    {.reason = "data_error",
     .kind = bad_value,
     .says = "what zlib was given is not compressed so, or is damaged (data_error)",
     .where = Where::own_code,
     .youngest = "zlib:_"},
    {.reason = "{Tag = (badarg | notsup | error), {_, _}, Text :: text()}",
     .kind = bad_value,
     .says = "crypto: {Text:message 80} ({Tag})",
     .where = Where::own_code,
     .youngest = "crypto:_"},
    {.reason = "{failed_connect, [{to_address, {Host, Port}}, {_, _, Why} | _]}",
     .kind = refused,
     .says = "no connection to {Host:message 60}, port {Port:number}: {Why}",
     .hint = "See whether the service runs and can be reached from here, and that its address is right.",
     .where = Where::own_code,
     .inside = true},
    {.reason = "{already_exist, Name :: atom()}",
     .kind = bad_value,
     .says = "a handler or filter of logger called {Name} exists already",
     .where = Where::own_code,
     .inside = true},
    // task.ex: the struct of the task that was awaited
    {.reason = "{timeout, {'Elixir.Task', _, [#{pid := Process} | _]}}",
     .kind = timeout,
     .says = "the task {Process} was not ready in the time that its Task.await allows (timeout)",
     .hint = "See what the task waits for; Task.await allows 5 seconds where it is given no time.",
     .where = Where::own_code},
    {.reason = "{timeout, {'Elixir.Task.Supervised', stream, [Time | _]}}",
     .kind = timeout,
     .says = "a task of Task.async_stream was not ready in its timeout[ of {Time:number} ms]",
     .hint =
         "See what the function of the stream waits for; `timeout:` of Task.async_stream is 5 seconds unless given.",
     .where = Where::own_code},
    {.reason = "{timeout, {'Elixir.Task' | 'Elixir.Task.Supervised', _, _}}",
     .kind = timeout,
     .says = "a task was not ready in the time that it was given (timeout)",
     .where = Where::own_code},
    // gen.erl: {M, call, [Name, Request | _]}
    {.reason = "{timeout, {_, _, [Server | _]}}",
     .kind = timeout,
     .says = "a call of {Server:term} was not answered in time",
     .where = Where::own_code},
    {.reason = "{nodedown, Node :: atom()} | {{nodedown, Node :: atom()}, _}",
     .kind = refused,
     .says = "node {Node} can't be reached (nodedown)",
     .hint = "See whether it runs, has the same cookie, and its name resolves: net_adm:ping/1.",
     .where = Where::own_code,
     .inside = true},
    {.reason = "{erpc, Why = (noconnection | timeout)}",
     .kind = refused,
     .says = "another node can't be reached, or did not answer (erpc: {Why})",
     .hint = "See whether it runs, has the same cookie, and its name resolves: net_adm:ping/1.",
     .where = Where::own_code,
     .inside = true},
    {.reason = "{noproc, {_, _, [({global, Server} | {via, _, Server}) | _]}}",
     .kind = not_registered,
     .says = "it called {Server:term}, and no process is registered under that name in the cluster",
     .where = Where::own_code},
    {.reason = "{noproc, {_, _, [pg | _]}}",
     .kind = not_registered,
     .says = "it called pg, and its default scope was not started",
     .hint = "Start it under a supervisor (pg:start_link/0), or by kernel's setting start_pg.",
     .where = Where::own_code},
    {.reason = "{noproc, {_, _, [Server :: atom() | _]}}",
     .kind = not_registered,
     .says = "it called {Server}, and no process is registered under that name",
     .where = Where::own_code},
    {.reason = "{noproc, {_, _, [Server | _]}}",
     .kind = not_registered,
     .says = "it called {Server:term}, which is no process any more",
     .where = Where::own_code},

    {.reason = "pang",
     .kind = refused,
     .says = "another node did not answer a ping (pang)",
     .hint = "See whether it runs, has the same cookie, and its name resolves.",
     .where = Where::own_code,
     .inside = true},
    {.reason = "noproc",
     .kind = not_registered,
     .says = "a process that it called, or was to use, does not exist (noproc)",
     .where = Where::own_code,
     .inside = true},
    {.reason = "timeout",
     .kind = timeout,
     .says = "an answer did not come in time (timeout)",
     .where = Where::own_code,
     .inside = true},
    {.reason = "closed",
     .kind = refused,
     .says = "a socket that it used was closed (closed)",
     .where = Where::own_code,
     .inside = true},
    {.reason = "nofile",
     .kind = bad_module,
     .says = "a module that it was to load is not on the code path (nofile)",
     .where = Where::own_code,
     .inside = true},
    {.reason = "killed",
     .kind = stopped,
     .says = "it was killed: by exit(Pid, kill), with the old code that it ran (code:purge/1), or for exceeding "
             "max_heap_size",
     .where = Where::own_code},
    {.reason = "{badarity, {_, Arguments = [_ | _]}}",
     .kind = bad_value,
     .says = "a fun was called with another number of arguments than it has: {Arguments:term 60}",
     .where = Where::own_code},

#include "erlang/cause_rows_mnesia.inc"
    // ssl's, and those of who listens by it.
    {.reason = "{could_not_start_listener, _, Port, _}",
     .kind = port_taken,
     .says = "the listener on port {Port} could not start",
     .hint = listener_hint,
     .inside = true,
     .turn = Turn::after_errors},
    // disk_log.erl (format_error/1)
    {.reason = "{not_a_log_file | {error, not_a_log_file}, File}",
     .kind = no_file,
     .says = "{File:name} is no log of disk_log, or is damaged at its beginning",
     .hint = "Move it away, and look at what else writes there; what it held is lost to disk_log."},
    {.reason = "{need_repair, Log}",
     .kind = no_file,
     .says = "the log {Log} of disk_log was not closed, and may not be repaired where it is opened",
     .hint = "Open it with {repair, true}, the default: what was written last may be missing."},
    // ssl_dist_sup.erl (consult/1)
    {.reason = "{bad_ssl_dist_optfile, [File]}",
     .kind = no_file,
     .says = "the options of distribution by TLS can't be read: {File:name}",
     .hint = "-ssl_dist_optfile names it: see whether it exists, who may read it, and file:consult/1 of it."},
    {.reason = "Reason = (no_cert | nooptions)",
     .kind = bad_specification,
     .says = "a TLS listener was given no certificate ({Reason})",
     .hint = "Give it certfile and keyfile, certs_keys or sni_fun.",
     .where = Where::own_code},
    // "TLS client: In state hello at tls_record.erl:564 generated CLIENT ALERT: Fatal - Unexpected Message\n ..."
    {.reason = "{tls_alert, {Alert :: atom(), _ ++ \"ALERT: \" ++ Text} | {Alert :: atom(), _} | "
               "{_, _ ++ \"ALERT: \" ++ Text} | _ ++ \"ALERT: \" ++ Text | _}",
     .kind = refused,
     .says = "a TLS connection failed[: {Alert}][ ({Text:message 70})]",
     .where = Where::own_code,
     .inside = true},
    {.reason = "{options, {Value :: atom(), {Option :: atom(), _}}}",  // {'tlsv1.4', {versions, [...]}}
     .kind = bad_specification,
     .says = "ssl's option {Option} does not know {Value}",
     .where = Where::own_code,
     .inside = true,
     .turn = Turn::after_errors},
    {.reason = "{options, Option :: known()}",
     .kind = bad_specification,
     .says = "an option of ssl is wrong: {Option:term}",
     .where = Where::own_code,
     .inside = true,
     .turn = Turn::after_errors},
    {.reason = "{options, _}",
     .kind = bad_specification,
     .says = "an option of ssl is wrong, and the slogan leaves out which",
     .where = Where::own_code,
     .turn = Turn::after_errors},

    // kernel's sync_nodes_mandatory (dist_ac.erl, kernel_config.erl)
    {.reason = "{mandatory_nodes_down, Nodes}",
     .kind = refused,
     .says = "nodes that it has to wait for did not come up in time: {Nodes:term}",
     .hint = "Kernel's sync_nodes_mandatory names them, sync_nodes_timeout how long: start these nodes, see whether "
             "names, cookies and epmd agree, or take them out."},

    // What callbacks returned (gen_server.erl, application_master.erl, supervisor.erl), and settings (logger.erl).
    {.reason = "{bad_return, {{M :: atom(), start, Args = [_, _]}, Value} :: known()}",
     .kind = bad_return,
     .says = "{M:start/Args} returned {Value:term}",
     .hint = "start/2 of an application returns {ok, Pid} or {ok, Pid, State}, with the pid of its top supervisor, or "
             "{error, Reason}: what its last expression gives."},
    {.reason = "{bad_return_value | bad_return, {{M :: atom(), F :: atom(), Args}, Value} :: known()}",
     .kind = bad_return,
     .says = "{M:F/Args} returned {Value:term}"},
    {.reason = "{bad_return, {M :: atom(), init, Value} :: known()}",
     .kind = bad_return,
     .says = "{M:init/1} returned {Value:term}"},
    // gen_server.erl and gen_statem.erl, of init/1 alone: what a callback returns later ends a process that has
    // started.
    {.reason = "{bad_return_value | bad_return_from_init, Value :: known()}",
     .kind = bad_return,
     .says = "its init/1 returned or threw {Value:term}",
     .hint =
         "init/1 returns {ok, State}, with a timeout, `hibernate` or {continue, Term} behind it (a gen_statem: {ok, "
         "State, Data} and actions), `ignore` or {stop, Reason}.",
     .circumstance = Circumstance::child},
    // What a start function returned, where it is no {error, Reason} (supervisor.erl, do_start_child/2).
    {.reason = "Pid :: pid()",
     .kind = bad_return,
     .says = "its start function returned a bare pid",
     .hint = "A start function returns {ok, Pid}, and spawn_link gives the pid alone: wrap it, or start it by "
             "proc_lib:start_link/3 or a behaviour.",
     .circumstance = Circumstance::child},
    {.reason = "Value = (ok | {ok, undefined} | undefined)",
     .kind = bad_return,
     .says = "its start function returned no pid: {Value:term}",
     .hint = "A start function returns {ok, Pid}, `ignore` or {error, Reason}.",
     .circumstance = Circumstance::child},
    {.reason = "{badmatch, ignore}",
     .kind = bad_return,
     .says = "a start function returned ignore, where a pid was expected",
     .hint = "init/1 of what was started gives `ignore` where it is not to run, by its settings most often: take that "
             "into account, or let a supervisor start it, which leaves it out.",
     .where = Where::own_code},
    {.reason = "{bad_return_value | bad_return, Value :: known()}",
     .kind = bad_return,
     .says = "a callback returned or threw {Value:term}"},
    {.reason = "{start_spec | supervisor_data | bad_start_spec, {duplicate_child_name, Name}}",
     .kind = bad_specification,
     .says = "a supervisor has two children of one name, {Name}",
     .hint = child_hint},
#include "erlang/cause_rows_children.inc"
#include "erlang/cause_rows_kernel.inc"
    // logger.erl, logger_h_common.erl
    {.reason = "{bad_config, {handler, {_, {handler_not_added, {invalid_config, Module :: atom(), Value}}}}}",
     .kind = bad_specification,
     .says = "a handler of logger has a setting that {Module} does not know, or not with that value: {Value:term 60}",
     .hint = logger_hint},
    {.reason = "{bad_config, {handler, {_, {handler_not_added, Value}}}}",
     .kind = bad_specification,
     .says = "a handler of logger could not be added: {Value:term 80}",
     .hint = logger_hint},
    {.reason = "{bad_config, {kernel, Value}}",
     .kind = bad_specification,
     .says = "a setting of kernel is wrong: {Value:term}",
     .hint = config_hint},
    {.reason = "{bad_config, Value}",
     .kind = bad_specification,
     .says = "a setting is wrong: {Value:term}",
     .hint = config_hint},

    // filename:basedir/2, of auth:read_cookie/0 and others: init has no home.
    {.reason = "{badmatch, error}",
     .kind = bad_value,
     .says = "the environment variable HOME is not set",
     .hint = "A service has none unless its unit or image sets it.",
     .where = Where::nowhere,
     .youngest = "filename:basedir_join_home"},
    // Gleam's panic, todo and `let assert`: it names the place in its own source.
    {.reason = "#{gleam_error := let_assert, message := Text :: text(), module := Module :: text(), "
               "function := Name :: text(), line := Line, file := File :: text(), value := Value}",
     .kind = bad_value,
     .says = "{Text:message 60}: {Value:term 40}, in {Module:name}.{Name:name} ({File:message}:{Line:number})"},
    {.reason = "#{gleam_error := _, message := Text :: text(), module := Module :: text(), "
               "function := Name :: text(), line := Line, file := File :: text()}",
     .kind = bad_value,
     .says = "{Text:message 80}, in {Module:name}.{Name:name} ({File:message}:{Line:number})"},
    {.reason = "#{gleam_error := _, message := Text :: text(), module := Module :: text(), "
               "function := Name :: text(), line := Line}",
     .kind = bad_value,
     .says = "{Text:message 80}, in {Module:name}.{Name:name}, line {Line:number}"},

#include "erlang/cause_rows_elixir.inc"
};

static_assert(std::ranges::all_of(rows, [](const CauseRow& row) { return row.says.fits(row.reason); }),
              "a place of a wording is filled by a name that its pattern has");

#undef BH_NIF_ERROR
#undef BH_SYNTAX_ERROR

constexpr std::string_view kind_names[] = {
#define BH_CAUSE_KIND(name, meaning) #name,
#include "erlang/cause_kinds.inc"
#undef BH_CAUSE_KIND
};

constexpr PosixError errors[] = {
    {"eaddrinuse", port_taken, "is in use"},
    {"eaddrnotavail", refused, "this machine does not have that address"},
    {"enoent", no_file, "a file, folder or program does not exist"},
    {"enotdir", no_file, "a part of a path is no folder"},
    {"eisdir", no_file, "a folder stands where a file is expected"},
    {"eacces", no_file, "the operating system denied permission"},
    {"eperm", no_file, "the operating system did not permit it"},
    {"erofs", no_file, "the file system is read-only"},
    {"enospc", no_file, "the disk is full"},
    {"efbig", no_file, "the file may not grow further"},
    {"edquot", no_file, "the disk quota is used up"},
    {"eio", no_file, "the device has failed"},
    {"emfile", no_file, "there is no file descriptor left"},
    {"enomem", no_file, "the operating system has no memory left"},
    {"econnrefused", refused, "a service refused the connection"},
    {"ehostunreach", refused, "another machine can't be reached"},
    {"etimedout", refused, "another machine did not answer"},
    {"nxdomain", refused, "a host name does not resolve"},
    {"epmd_error", refused, "epmd can't be reached"},
    {"epipe", no_output, "the reader of its output is gone"},
    {"einval", bad_value, "the operating system was given a wrong argument"},
    {"system_limit", bad_value, "a limit of the VM is reached"},
};

constexpr LoaderRefusal refusals[] = {
    {"'Atom' not found", "OTP 20 or later compiled it, and this release is older"},
    {"'AtU8' not found", "a release before 20 compiled it"},
    {"this emulator supports only up to", "a later release compiled it"},
    {"re-compile this module", "an earlier release compiled it"},
};

constexpr LibraryRefusal library_refusal_rows[] = {
    {"crypto",
     "Of crypto that is OpenSSL's libcrypto: another version than it was built with, or FIPS mode asked for (-crypto "
     "fips_mode true, or in a configuration file) where OpenSSL has no FIPS provider."},
};

}  // namespace

std::span<const LibraryRefusal> library_refusals() { return library_refusal_rows; }
std::span<const LoaderRefusal> loader_refusals() { return refusals; }
std::string_view name_of(CauseKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }
std::span<const CauseRow> cause_rows() { return rows; }
std::span<const PosixError> posix_errors() { return errors; }

}  // namespace beamheap::erlang
