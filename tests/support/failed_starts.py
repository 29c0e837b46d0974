"""Nodes that do not start, in as many ways as people meet, each with the words that tell why.

A way is a function that prepares a folder and gives the arguments of `erl`; what it expects stands beside it: words that
the first sentence must have (any case), and words that it must not have. The application in APP fails as its environment
says: `mode` is the way. Everything is made here, on the machine's Erlang or a release of BEAMHEAP_LAB.
"""
import collections
import contextlib
import os
import pathlib
import socket
import signal
import subprocess
import threading

import suite as s

Way = collections.namedtuple("Way", "name arguments says says_not", defaults=((), ()))

APP = r"""
-module(sick_app).
-behaviour(application).
-export([start/2, stop/1, init/1, handle_call/3, handle_cast/2, run/0, boot/0, loop/1, wrong/0]).
-export([deep/1, odd_start/0, handle_info/2, fine/0, sends/0, asks/0, asks_normal/0, scans/0, songs/0, throws/0, takes_name/0, asks_node/0, other_dies/0]).
-export([start_phase/3, opens/0, passes_on/1, huge/0, fills/1]).
start(_, _) ->
    case application:get_env(sick, mode) of
        {ok, start_error} -> {error, {no_license_file, "/etc/sick/license"}};
        {ok, dist_port} -> {error, {dist_port_already_used, 25672, "rabbit", "localhost"}};
        {ok, bad_return} -> whatever_this_is;
        {ok, start_crash} -> lists:nth(3, [1, 2]);
        {ok, self_start} -> {ok, _} = application:ensure_all_started(sick), {error, cannot_be};
        {ok, sleeps} -> timer:sleep(60000), {error, too_late};
        _ -> supervisor:start_link({local, sick_sup}, ?MODULE, sup)
    end.
stop(_) -> ok.
start_phase(warm, _, _) -> sick_cache:fill();
start_phase(schema, _, Version) -> {error, {schema_version, Version}}.
init(sup) ->
    Child = case application:get_env(sick, mode) of
        {ok, odd_start} -> {sick_server, {?MODULE, odd_start, []}, permanent, 1000, worker, [?MODULE]};
        {ok, slow} -> {sick_server, {gen_server, start_link, [?MODULE, slow, [{timeout, 50}]]}, permanent, 1000, worker, [?MODULE]};
        {ok, till} -> {sick_till, {sick_till, start_link, []}, permanent, 1000, worker, [sick_till]};
        _ -> {sick_server, {gen_server, start_link, [{local, sick_server}, ?MODULE, server, []]}, permanent, 1000, worker, [?MODULE]}
    end,
    case application:get_env(sick, mode) of
        {ok, bad_child_spec} -> {ok, {{one_for_one, 1, 5}, [{sick_server, nothing}]}};
        _ -> {ok, {{one_for_one, 1, 5}, [Child]}}
    end;
init(idle) -> {ok, idle};
init(slow) -> timer:sleep(1000), {ok, slow};
init(server) ->
    {ok, Mode} = application:get_env(sick, mode),
    server(Mode).
server(listen) ->
    {ok, Port} = application:get_env(sick, port),
    case gen_tcp:listen(Port, [{reuseaddr, false}]) of
        {ok, L} -> {ok, L};
        {error, Reason} -> {stop, {listen_error, http, Port, Reason}}
    end;
server(listen_match) ->
    {ok, Port} = application:get_env(sick, port),
    {ok, L} = gen_tcp:listen(Port, [{reuseaddr, false}]),
    {ok, L};
server(gives_up) -> {ok, ticking, 50};
server(ends) -> {ok, ending, 50};
server(stops) -> {stop, normal};
server(asks) -> gen_server:call(init, get, 50);
server(undef) -> gpio:start(17, output);
server(registers) -> register(sick_desk, self()), register(sick_desk, spawn_link(fun() -> receive x -> ok end end)), {ok, x};
server(fine) -> {ok, x};
server(port_text) -> {ok, L} = gen_tcp:listen("8080", []), {ok, L};
server(calls_itself) -> {ok, gen_server:call(sick_server, get)};
server(unzips) -> {ok, zlib:gunzip(<<"no archive at all">>)};
server(hmac) -> {ok, crypto:mac(hmac, sha999, <<"key">>, <<"data">>)};
server(logs_twice) -> ok = logger:add_handler(default, logger_std_h, #{}), {ok, x};
server(logs_wrong) -> {stop, {already_exist, 7}};
server(halts) -> erlang:halt("the gauge reports 99 m"), {ok, x};
server(catches) -> {ok, _} = (catch sick_app:opens()), {ok, x};
server(no_name) -> register(undefined, self()), {ok, x};
server(spawns) -> {ok, [spawn_link(fun() -> receive x -> ok end end) || _ <- lists:seq(1, 3000)]};
server(gleam) -> erlang:error(#{gleam_error => panic, message => <<"SICK_URL is not set">>, module => <<"sick/web">>,
    function => <<"start">>, file => <<"src/sick/web.gleam">>, line => 31});
server(no_gleam) -> erlang:error(#{message => <<"SICK_URL is not set">>, module => <<"sick/web">>, function => <<"start">>, line => 31});
server(typo) -> {ok, propslist:get_value(a, [{a, 1}])};
server(no_table) -> {ok, ets:lookup(sick_cache, key)};
server(noproc) -> gen_server:call(sick_registry, get), {ok, x};
server(no_file) -> {ok, Text} = file:read_file("/etc/sick/sick.conf"), {ok, Text};
server(badarg) -> {ok, list_to_integer("80a")};
server(function_clause) -> {ok, lists:keyfind(a, b, c, d)};
server(no_such_env) -> {ok, V} = application:get_env(sick, database_url), {ok, V};
server(throw) -> throw({cannot_reach_database, "db.internal", econnrefused}).
handle_call({stop, Reason}, _, S) -> {stop, Reason, S};
handle_call(_, _, S) -> {reply, ok, S}.
handle_info(timeout, ending) -> {stop, normal, ending};
handle_info(timeout, S) -> {ok, _} = maps:find(price, #{}), {noreply, S};
handle_info(_, S) -> {noreply, S}.
handle_cast(_, S) -> {noreply, S}.
odd_start() -> started.
deep(N) -> [N | deep(N + 1)].
run() -> ok = application:start(sick, permanent).
wrong() -> erlang:error({config_missing, "PORT"}).
boot() -> undefined_module_of_mine:start().
fine() -> ok.
sends() -> sick_router ! hello.
asks() -> {ok, P} = gen_server:start({local, sick_ledger}, ?MODULE, idle, []), gen_server:call(P, {stop, out_of_paper}).
asks_normal() -> {ok, _} = gen_server:start({local, sick_ledger}, ?MODULE, idle, []), gen_server:call(sick_ledger, {stop, normal}).
opens() -> {ok, File} = file:open("/nonexistent/ledger", [read]), {ok, File}.
passes_on(Started) ->
    exit({cannot_start, sick, {{shutdown, {failed_to_start_child, sick_server, {badkey, relay}}}, {sick_app, Started, [normal, []]}}}).
scans() -> {ok, T, _} = erl_scan:string("'abc"), T.
songs() -> erlang:error({songs, ["Florence and the Machine", "Ohio Players", {a, b, c, d}]}).
throws() -> throw({config_error, "missing section [database] in app.ini"}).
huge() -> Copies = binary:copy(<<0:8000>>, 8000000000), {ok, byte_size(Copies)}.
fills(Tables) ->
    [ets:insert(T, {K, lists:seq(1, 60)}) || I <- Tables, T <- [ets:new(list_to_atom("shard_" ++ integer_to_list(I)), [])], K <- lists:seq(1, 60000 div length(Tables))],
    receive never -> ok end.
takes_name() -> register(init, self()).
asks_node() -> gen_server:call({sick_ledger, 'sick@nowhere'}, get).
other_dies() ->
    spawn(fun() -> erlang:error({gen_tcp, listen, eaddrinuse}) end),
    timer:sleep(100),
    erlang:error({my_own_reason, shop}).
loop(N) -> loop(N + 1).
"""

# A worker in a module of its own, which ends again and again; and a handler that keeps what was logged.
TILL = r"""
-module(sick_till).
-behaviour(gen_server).
-export([start_link/0, init/1, handle_call/3, handle_cast/2, handle_info/2, audits/0, log/2]).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
init([]) -> {ok, opened, 50}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info(timeout, S) -> {ok, _} = maps:find(price, #{}), {noreply, S}.
audits() ->
    {ok, [[Form]]} = init:get_argument(kept),
    register(sick_audit, spawn(fun() -> keeps(list_to_atom(Form), {audit, 0, #{}, []}) end)),
    ok = logger:add_handler(audit, ?MODULE, #{}).
log(Event, _) -> sick_audit ! Event.
%% As programs do: whole events, in a map by number, or what they need of each.
keeps(Form, {audit, N, Map, List}) ->
    receive
        Event when Form =:= events -> keeps(Form, {audit, N + 1, Map, [Event | List]});
        Event when Form =:= numbered -> keeps(Form, {audit, N + 1, Map#{N => Event}, List});
        #{level := Level, msg := Msg, meta := #{time := Time}} when Form =:= tuples ->
            keeps(Form, {audit, N + 1, Map, [{Time, Level, Msg} | List]});
        #{level := Level, msg := Msg, meta := #{time := Time, pid := Pid}} when Form =:= maps ->
            keeps(Form, {audit, N + 1, Map#{N => #{at => Time, severity => Level, text => Msg, from => Pid}}, List});
        _ -> keeps(Form, {audit, N, Map, List})
    end.
"""

RESOURCE = """{application, sick, [{description, "fails"}, {vsn, "1"}, {modules, [sick_app]}, {registered, []},
 {applications, [kernel, stdlib%s]}, {mod, {sick_app, []}}, {env, []}]}."""


class Maker:
    """Runs ways in a folder, on one release."""

    def __init__(self, folder, release=None):
        self.folder, self.release = pathlib.Path(folder), release
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8", "ERL_CRASH_DUMP_SECONDS": "-1"}
        if release:
            self.environment.update(HOME=os.environ.get("HOME", "/root"), OTP_SHARE=str(self.folder))
            if os.environ.get("OTP_LAB"):
                self.environment["OTP_LAB"] = os.environ["OTP_LAB"]
        (self.folder / "sick_app.erl").write_text(APP)
        (self.folder / "sick_till.erl").write_text(TILL)
        (self.folder / "sick.app").write_text(RESOURCE % "")
        self.erl("-noinput", "-eval", f'[{{ok,_}} = compile:file("{self.folder}/" ++ M, [{{outdir, "{self.folder}"}}]) || M <- ["sick_app", "sick_till"]], halt().', dump=None)
        self.listener = socket.socket()
        self.listener.bind(("0.0.0.0", 0))
        self.listener.listen()
        self.port = self.listener.getsockname()[1]

    def command(self, *arguments):
        head = [str(s.LAB / "otp"), "run", self.release] if self.release else ["erl"]
        return [*head, *map(str, arguments)]

    def erl(self, *arguments, dump, **more):
        environment = dict(self.environment)
        if dump:
            environment["ERL_CRASH_DUMP"] = str(dump)
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "timeout": 120, **more}
        asked = more.pop("asked", None)
        if asked:
            timer = threading.Timer(asked, self.ask, [dump])
            timer.start()
        try:
            return subprocess.run(self.command(*arguments), env=environment, cwd=self.folder, **more)
        except subprocess.TimeoutExpired:
            return None

    @staticmethod
    def ask(dump):
        """Asks the node whose dump that is to be for it, by its environment: it may run where no program can be called."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "comm").read_text().startswith("beam") and f"ERL_CRASH_DUMP={dump}".encode() in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGUSR1)

    def make(self, way):
        """The dump of a way; None where the node left none."""
        dump = self.folder / f"{way.name}.dump"
        dump.unlink(missing_ok=True)
        (self.folder / "sick.app").write_text(RESOURCE % "")
        arguments = way.arguments(self)
        more = {}
        if arguments and isinstance(arguments[0], dict):
            more, arguments = arguments[0], arguments[1:]
        self.erl("-noinput" if "-noinput" not in arguments else "-noshell", "-pa", self.folder, *arguments, dump=dump, **more)
        return dump if dump.exists() and dump.stat().st_size else None

    def close(self):
        self.listener.close()


def sick(mode, *more):
    return lambda m: ["-sick", "mode", mode, *(str(x) if x != "PORT" else str(m.port) for x in more), "-s", "sick_app", "run"]


def written(name, content):
    """A file in the maker's folder."""
    def write(m):
        (m.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(m.folder / name)
    return write


def config(content):
    return lambda m: ["-config", written("sick.config", content)(m)]


def bad_beam(m):
    (m.folder / "broken_beam.beam").write_bytes(b"FOR1\0\0\0\x08BEAMjunkjunkjunk")
    return ["-s", "broken_beam"]


def later_beam(m):
    # The real module with an opcode table of a release that is yet to come.
    data = bytearray((m.folder / "sick_app.beam").read_bytes())
    at = data.find(b"Code")
    data[at + 16:at + 20] = (99999).to_bytes(4, "big")  # highest opcode
    (m.folder / "later").mkdir(exist_ok=True)
    (m.folder / "later/sick_app.beam").write_bytes(bytes(data))
    return ["-pa", str(m.folder / "later"), "-s", "sick_app", "run"]


def bad_cookie(m):
    home = m.folder / "home"
    home.mkdir(exist_ok=True)
    cookie = home / ".erlang.cookie"
    cookie.write_text("SECRET")
    cookie.chmod(0o644)
    return ["-home", str(home), "-sname", "cookie@localhost"]


def boot_script(content):
    """Boots from a script of ours, which names what there is not."""
    def go(m):
        (m.folder / "mine.script").write_text(content)
        m.erl("-noinput", "-eval", f'systools:script2boot("{m.folder}/mine"), halt().', dump=None)
        return ["-boot", str(m.folder / "mine")]
    return go


def called(function):
    return lambda m: ["-s", "sick_app", function]


def evaluated(text):
    return lambda m: ["-eval", text]


def resource(text):
    return lambda m: (m.folder / "sick.app").write_text(text) and ["-s", "sick_app", "run"]


def no_files_left(m):
    """All descriptors are taken before a module is to be loaded; the twin is `undef_s`, whose module is not there."""
    take_all = "T = fun(T) -> case file:open(\"/proc/version\", [read, raw]) of {ok, _} -> T(T); _ -> ok end end, T(T), sick_app:boot()."
    import resource as limits
    return [{"preexec_fn": lambda: limits.setrlimit(limits.RLIMIT_NOFILE, (64, 64))}, "-eval", take_all]


def hidden_module(m):
    """A module of ours with a name of OTP's, which goes before it."""
    folder = m.folder / "hides"
    folder.mkdir(exist_ok=True)
    (folder / "array.erl").write_text("-module(array).\n-export([mine/0]).\nmine() -> ok.\n")
    m.erl("-noinput", "-eval", f'{{ok,_}} = compile:file("{folder}/array.erl", [{{outdir, "{folder}"}}]), halt().', dump=None)
    return ["-pa", str(folder), "-eval", "array:new()."]


# A node that asks itself for a dump while something in it goes on.
ASKED = 'spawn(fun() -> timer:sleep(1000), os:cmd("kill -USR1 " ++ os:getpid()) end), '


def circle(m):
    """Two applications, each of which has to be started first."""
    for mine, other in ("circ_a", "circ_b"), ("circ_b", "circ_a"):
        (m.folder / f"{mine}.app").write_text(f'{{application,{mine},[{{vsn,"1"}},{{modules,[]}},{{applications,[kernel,stdlib,{other}]}}]}}.')
    return ["-eval", ASKED + "application:ensure_all_started(circ_a)."]


def hidden_of_kernel(m):
    """A module of ours in the place of one that kernel needs to start."""
    folder = m.folder / "hides_kernel"
    folder.mkdir(exist_ok=True)
    (folder / "logger_h_common.erl").write_text("-module(logger_h_common).\n-export([mine/0]).\nmine() -> ok.\n")
    m.erl("-noinput", "-eval", f'{{ok,_}} = compile:file("{folder}/logger_h_common.erl", [{{outdir, "{folder}"}}]), halt().', dump=None)
    return ["-pa", str(folder)]


def few_files(_):
    import resource as limits
    return [{"preexec_fn": lambda: limits.setrlimit(limits.RLIMIT_NOFILE, (64, 64))}, "-eval",
            "[{ok,_}=file:open(\"/proc/version\",[read])||_<-lists:seq(1,100)]."]


def starting(mode):
    """The application in a start that does not end, when the node is asked for a dump."""
    return lambda m: [{"asked": 8}, "-sick", "mode", mode, "-s", "sick_app", "run"]


def phase(name):
    """The application with a phase of its start."""
    text = RESOURCE % ""
    return lambda m: ["-sick", "mode", "fine", *resource(text.replace("{env, []}", "{env, []}, {start_phases, [{%s, 11}]}" % name))(m)]


# Causes that every release tells in much the same way: made where there is time for it.
MORE_WAYS = [
    Way("boot_file_empty", lambda m: ["-boot", written("empty.boot", "")(m)[:-5]], ("boot file", "damaged")),
    Way("boot_modules", boot_script("{script,{\"mine\",\"1\"},[{preLoaded,[]},{path,[\"$ROOT/lib/kernel/ebin\"]},{primLoad,[error_handler,no_such_mod]},{kernel_load_completed}]}."),
        ("no_such_mod", "can't be loaded")),
    Way("config_empty", config(""), ("sick.config", "dot")),
    Way("config_setting", config("[{kernel,[{foo}]}]."), ("invalid parameter", "{foo}")),
    Way("config_no_list", config("{kernel,[]}."), ("sick.config", "ONE list")),
    Way("setting_no_erlang", lambda m: ["-kernel", "foo", "{a,"], ("command line", "{a,")),
    Way("eval_undef", evaluated("foo:bar(1)."), ("foo:bar/1", "-eval"), ("erl_eval",)),
    Way("eval_unbound", evaluated("X + 1."), ("variable", "X")),
    Way("eval_badarith", evaluated("1 + a."), ("badarith", "-eval")),
    Way("eval_program", evaluated("open_port({spawn_executable,\"/nonexistent/tool\"},[])."), ("enoent",)),
    Way("mnesia_table", evaluated("ok = mnesia:start(), {atomic, _} = mnesia:transaction(fun() -> mnesia:read(no_such_table, a) end)."),
        ("mnesia", "no_such_table")),
    Way("mnesia_wait", evaluated("ok = mnesia:start(), ok = mnesia:wait_for_tables([no_such_table], 100)."), ("mnesia", "no_such_table")),
    Way("connect", evaluated("{ok,_} = gen_tcp:connect(\"localhost\",1,[])."), ("econnrefused",)),
    Way("already", evaluated("{ok,_} = gen_server:start_link({local,code_server},x,[],[])."), ("already",)),
    Way("words", evaluated("exit({config_error, \"the variable DATABASE_URL is not set\", [1,2,3,4,5,6]})."), ("DATABASE_URL is not set",)),
    Way("not_all", evaluated("{ok,_} = application:ensure_all_started(no_such_application)."), ("no_such_application", "not installed")),
    Way("halt_text", evaluated("erlang:halt(\"Cannot start: the license expired\")."), ("license expired",)),
    # The parser's words, somewhere within a reason; and a reason of the same form by somebody else.
    Way("parse_within", evaluated("erlang:error({config, \"a.cfg\", {3,erl_parse,[\"syntax error before: \",\"foo\"]}})."), ("a.cfg is not valid Erlang, line 3", "before: foo")),
    Way("parse_other", evaluated("erlang:error({config, \"a.cfg\", {3,my_parse,[\"unknown key: \",\"foo\"]}})."), ("unknown key: foo",), ("no Erlang",)),
    Way("otp_function", evaluated("gen_udp:openn(1)."), ("gen_udp:openn/1",), ("meant", "misspelt")),
    Way("run_error", lambda m: ["-run", "erlang", "error", "oops"], ("oops",)),
    Way("resource_syntax", resource("{application, sick, [{vsn,"), ("sick",)),
    Way("resource_name", resource("{application, other, [{vsn,\"1\"}]}."), ("sick", ".app")),
    Way("resource_module", resource("{application, sick, [{vsn,\"1\"},{applications,[kernel,stdlib]},{mod,{no_such_app_mod,[]}}]}."),
        ("no_such_app_mod:start/2",)),
    Way("long_name", lambda m: ["-name", "x"], ("x is no long node name",)),
    Way("epmd_module", lambda m: ["-sname", "noepmd@localhost", "-epmd_module", "no_such_epmd"], ("no_such_epmd:start_link/0",)),
    Way("user_module", lambda m: ["-user", "no_such_user_mod"], ("no_such_user_mod:start/0",)),
    Way("mnesia_dir", lambda m: ["-mnesia", "dir", '"/proc/none"', "-eval", "ok = mnesia:create_schema([node()])."], ("mnesia", "/proc/none")),
    Way("ssl_option", evaluated("ssl:start(), {ok,_} = ssl:listen(0, [{versions,[tlsv9]}])."), ("option of ssl",)),
    Way("logger_level", config("[{kernel,[{logger_level,loud}]}]."), ("setting", "logger_level")),
    Way("logger_handler", config("[{kernel,[{logger,[{handler,default,no_such_h,#{}}]}]}]."), ("setting", "no_such_h")),
    Way("no_file_left", few_files, ("file descriptor",)),
    Way("files_gone", no_files_left, ("sick_app", "no file descriptor left"), ("does not exist",)),
    Way("hidden_module", hidden_module, ("array:new/0", "hides that of OTP"), ()),
    Way("not_hidden", evaluated("array:no_such(1)."), ("array:no_such/1", "its module is there"), ("hides",)),
    Way("name_odd", lambda m: ["-sname", "a b"], ("a b is no name",), ("taken", "epmd")),
    Way("noproc_plain", evaluated("{ok, _} = {error, noproc}."), ("does not exist (noproc)",), ()),
    Way("erpc", evaluated("erpc:call(node(), sick_app, wrong, [])."), ("config_missing", "sick_app:wrong/0"), ("exception",)),
    Way("run_file", lambda m: ["-s", "sick_app.erl"], ("sick_app.erl", "a file's name, not a module's"), ("did not start",)),
    Way("run_dash", lambda m: ["-s", "sick-app"], ("sick-app", "not"), ("did not start", "a file's")),
    Way("flag_value", lambda m: ["-boot"], ("flag", "-boot", "no", "value")),
    Way("eval_command", evaluated("c(nofile)."), ("-eval", "c/1", "command of the shell"), ("misspelt",)),
    Way("eval_local", evaluated("nothing_here(1)."), ("nothing_here/1", "without a module"), ("command of the shell",)),
    Way("scan", called("scans"), ("-s or -run", "quote has no end"), ("did not start",)),
    Way("name_registered", called("takes_name"), ("init", "registered already"), ()),
    Way("node_down", called("asks_node"), ("sick@nowhere", "nodedown"), ()),
    # What a match was told is the failure: the file of its frame is no file that is missing.
    Way("caught", sick("catches"), ("enoent", "sick_app:opens/0"), ("sick_app.erl, in", "server/1")),
    Way("passed_on", evaluated("sick_app:passes_on(start)."), ("Application sick did not start", "sick_server"), ("cannot_start",)),
    Way("not_passed_on", evaluated("sick_app:passes_on(restart)."), ("cannot_start",), ("Application sick did not start",)),
    Way("phase_error", phase("schema"), ("sick did not start", "schema: {schema_version,11}"), ("start_phase",)),
    Way("phase_undef", phase("warm"), ("sick did not start", "warm: sick_cache:fill/0"), ("EXIT",)),
    # A function's own word for its error (error_info), which begins with 24; a badarg of the same function without it.
    Way("name_twice", sick("registers"), ("sick_desk is registered already",), ("badarg in",)),
    Way("name_wrong", sick("no_name"), ("erlang:register/2",), ("registered already",)),
    Way("processes_gone", lambda m: ["+P", "1024", *sick("spawns")(m)], ("system_limit", "1,024 processes"), ("ports",)),
    # A call that fails within OTP is told with who of the program made it.
    Way("port_text", sick("port_text"), ("inet_tcp:getserv/1", "8080", "called in sick_app:"), ("inet_tcp.erl",)),
    Way("calls_itself", sick("calls_itself"), ("sick_server: it called itself",), ("ended while", "not answered")),
    Way("unzips", sick("unzips"), ("what zlib was given", "sick_app:"), ("zlib:inflate",)),
    Way("logs_twice", sick("logs_twice"), ("logger called default exists already", "sick_app:")),
    Way("logs_wrong", sick("logs_wrong"), ("already_exist,7",), ("logger",)),
    # Whoever ends the node while it starts is told, and not that it was starting.
    Way("halts", sick("halts"), ("sick_server", "the gauge reports 99 m"), ("starting", "has not started")),
    Way("self_start", starting("self_start"), ("asks for sick to be started, and so waits for itself",), ("idle",)),
    Way("sleeps", starting("sleeps"), ("sick", "timer:sleep/1"), ("waits for itself",)),
    Way("embedded", lambda m: ["-mode", "embedded", "-eval", "sick_app:fine()."], ("sick_app:fine", "does not exist", "-mode embedded"), ("missing",)),
    Way("interactive", lambda m: ["-mode", "interactive", "-eval", "sick_apps:fine()."], ("sick_apps:fine", "does not exist"), ("embedded",)),
    Way("huge", called("huge"), ("so a size was wrong", "sick_app:huge/0"), ("code_server",)),
    Way("tables_of_one", lambda m: [{"asked": 10}, "-eval", "sick_app:fills(lists:seq(1, 5))."], ("5 ETS tables of", "the largest are shard_"), ("table shard",)),
    Way("one_table", lambda m: [{"asked": 10}, "-eval", "sick_app:fills([1])."], ("ETS table shard_1 holds",), ("the largest",)),
    Way("gleam", sick("gleam"), ("SICK_URL is not set", "sick/web.start", "src/sick/web.gleam:31"), ("sick_app:server",)),
    Way("no_gleam", sick("no_gleam"), ("SICK_URL is not set",), ("sick/web.start",)),
    Way("consult_quote", lambda m: ["-eval", '{ok,_} = file:consult("%s").' % written("quote.terms", '{a, "b"}.\n{b, "c.\n')(m)],
        ("not valid Erlang", "quote has no end"), ("a syntax error",)),
    Way("consult_syntax", lambda m: ["-eval", '{ok,_} = file:consult("%s").' % written("syntax.terms", '{a, "b"}.\n{b, c.\n')(m)],
        ("not valid Erlang", "syntax error"), ("quote",)),
    Way("mnesia_disc", evaluated("ok = mnesia:start(), {atomic,ok} = mnesia:create_table(sick_tab, [{disc_copies,[node()]}])."),
        ("sick_tab", "no schema there"), ("exists already",)),
    Way("mnesia_schema", lambda m: ["-mnesia", "dir", f'"{m.folder}/schema"', "-eval", "mnesia:create_schema([node()]), ok = mnesia:create_schema([node()])."],
        ("schema", "exists already"), ("no schema there",)),
    # The twin, an area that has room, is the scenario of the rule.
    Way("literals_full", lambda m: ["+MIscs", "16", "-eval", "[persistent_term:put({sick, N}, lists:seq(1, 100000)) || N <- lists:seq(1, 1000)]."],
        ("Literals", "their area is full"), ("came last",)),
    Way("halted_by_timer", evaluated('timer:apply_after(100, erlang, halt, ["the window begins"]), timer:sleep(20000).'),
        ("A timer", "the window begins"), ("What -eval",)),
    Way("halted_by_eval", evaluated('timer:sleep(100), erlang:halt("the window begins").'), ("-eval", "the window begins"), ("timer",)),
    Way("halted_by_call", evaluated('spawn(fun() -> erpc:call(node(), erlang, halt, ["drained"], 5000) end), timer:sleep(20000).'),
        ("remote call", "drained"), ("What -eval",)),
    Way("boot_name", lambda m: ["-boot", "start_of_mine"], ("did not start", "start_of_mine.boot"), ("-path", "kernel")),
]

# For releases whose crypto fits this machine's OpenSSL.
SSL_WAYS = [
    Way("hmac", sick("hmac"), ("crypto: Bad digest", "sick_app:"), ("mac.c",)),
    Way("ssl_file", lambda m: ["-eval", f'ssl:start(), {{ok,_}} = ssl:connect("localhost", {m.port}, [{{verify,verify_peer}},{{cacertfile,"/etc/none.pem"}}]).'],
        ("/etc/none.pem",)),
    Way("ssl_alert", evaluated("ssl:start(), {ok,L} = gen_tcp:listen(0,[]), {ok,P} = inet:port(L), spawn(fun() -> {ok,S} = gen_tcp:accept(L), "
        "gen_tcp:send(S,\"HTTP/1.1 400 Bad Request\\r\\n\\r\\n\"), timer:sleep(infinity) end), {ok,_} = ssl:connect(\"localhost\", P, [{verify,verify_none}])."),
        ("TLS connection failed",)),
]

# A name that -s gives, and twins of it: what a module that is there is called, and a module behind one that worked.
WAYS = [
    Way("undef_s", lambda m: ["-s", "no_such_module"], ("-s or -run", "no_such_module", "not"), ("did not start", "folder")),
    Way("undef_second", lambda m: ["-s", "sick_app", "fine", "-s", "no_such_module"], ("no_such_module",), ("did not start", "sick_app", "fine")),
    Way("undef_folder", lambda m: ["-pa", "/nonexistent/ebin", "-run", "no_such_module", "begin_it"], ("no_such_module", "/nonexistent/ebin", "does not exist"), ("did not start",)),
    Way("undef_run", lambda m: ["-run", "sick_app", "nothing"], ("sick_app:nothing",), ("did not start", "not on the code path")),
    Way("undef_inside", lambda m: ["-s", "sick_app", "boot"], ("undefined_module_of_mine:start", "does not exist"), ("did not start", "module sick_app")),
    Way("error_inside", lambda m: ["-s", "sick_app", "wrong"], ("-s or -run", "config_missing",), ("did not start",)),
    Way("eval_syntax", lambda m: ["-eval", "foo(."], ("-eval", "syntax error")),
    Way("eval_match", lambda m: ["-eval", "{ok, F} = file:open(\"/nonexistent/x\", [read])."], ("-eval", "enoent",), ("did not start",)),
    Way("sends", called("sends"), ("sick_router", "no process is registered"), ("did not start",)),
    Way("asked_ends", called("asks"), ("ended while it was called", "out_of_paper"), ("did not start",)),
    Way("asked_normal", called("asks_normal"), ("sick_ledger", "ended while it was called", "normal"), ("did not start",)),
    # Any text in a reason is not why; one that a tag says to be an error is.
    Way("songs", called("songs"), ("songs", "sick_app:songs/0"), ("did not start", "failed: Florence")),
    Way("throw_text", called("throws"), ("missing section [database]",), ("did not start", "nocatch")),
    # A process that nobody needs ends, too: its port is not why.
    Way("other_dies", called("other_dies"), ("my_own_reason",), ("eaddrinuse", "port")),
    # Which child it was, by its module alone; where its report is kept, by that.
    Way("till", sick("till"), ("sick", "ended", "gave up", "loaded last: sick_till"), ("did not start", "no crash")),
    *[Way(f"till_told_{form}", lambda m, form=form: ["-kept", form, "-sick", "mode", "till", "-s", "sick_till", "audits", "-s", "sick_app", "run"],
          ("sick ended", "sick_till: {badmatch", "sick_till:handle_info/2"), ("loaded last", "gave up"))
      for form in ("events", "numbered", "tuples", "maps")],
    Way("gives_up", sick("gives_up"), ("sick", "ended", "gave up"), ("did not start", "no crash")),
    # A child that ends without a crash leaves none in the log: the modules that print one are not there.
    Way("gives_up_normal", sick("ends"), ("sick", "ended", "gave up", "no crash was printed"), ("did not start",)),
    Way("odd_start", sick("odd_start"), ("sick did not start", "sick_server: its start gave started")),
    Way("stops_normal", sick("stops"), ("sick did not start", "sick_server: it ended with reason normal")),
    Way("slow_start", sick("slow"), ("sick did not start", "sick_server: it was not ready in the time")),
    Way("slow_call", sick("asks"), ("sick did not start", "a call of init was not answered"), ("not ready",)),
    # Up to 25 the slogan has no binaries: the number of arguments is not known then.
    Way("undef_binary", evaluated('sick_app:nothing(<<"x">>).'), ("sick_app:nothing", "does not exist"), ("sick_app:nothing/0",)),
    Way("undef_none", lambda m: ["-s", "sick_app", "nothing"], ("sick_app:nothing/0", "does not exist")),
    Way("eval_quote", evaluated('io:format("hello).'), ("-eval", "it is not valid Erlang", "quote has no end"), ("a text that it reads",)),
    Way("rpc", evaluated("ok = rpc:call(node(), no_such_module, run, [42])."), ("no_such_module:run/1", "does not exist"), ("badrpc",)),
    Way("rpc_down", evaluated("ok = rpc:call(nowhere@localhost, no_such_module, run, [42])."), ("nodedown",), ("does not exist",)),
    Way("driver", evaluated('ok = erl_ddll:load("/nonexistent", "sick_drv").'), ("a driver", "can't be loaded")),
    Way("ports_gone", lambda m: ["+Q", "1024", "-eval", "[{ok,_} = gen_udp:open(0) || _ <- lists:seq(1, 1100)]."], ("1,024 ports",)),
    Way("limit_of_size", evaluated("list_to_atom(lists:duplicate(300, $a))."), ("system_limit",), ("ports", "processes")),
    Way("heap_limit", lambda m: ["+hmax", "5000"], ("+hmax",)),
    Way("killed", evaluated("exit(self(), kill)."), ("killed",), ("+hmax",)),
    Way("circle", circle, ("circ_a and circ_b need each other",), ("waits",)),
    Way("deep", evaluated(ASKED + "sick_app:deep(1)."), ("sick_app:deep/1",), ("need each other",)),
    Way("hidden_of_kernel", hidden_of_kernel, ("logger_h_common", "hides OTP's")),
    Way("eval_typo", lambda m: ["-eval", "propslist:get_value(a, [])."], ("propslist:get_value/2", "proplists")),
    Way("no_boot_file", lambda m: ["-boot", "/nonexistent/start"], ("/nonexistent/start.boot",)),
    Way("no_config", lambda m: ["-config", "/nonexistent/sys"], ("/nonexistent/sys.config",)),
    Way("config_syntax", config("[{kernel, [}]."), ("sick.config", "syntax"), ('["',)),
    # A name or port of the distribution that is taken ends nodes of 23 and later without a dump.
    Way("name_bad", lambda m: ["-sname", "x@a.b.c"], ("x@a.b.c", "short node name")),
    Way("cookie_mode", bad_cookie, ("cookie",)),
    Way("dist_port_taken", sick("dist_port"), ("25672", "rabbit@localhost", "in use")),
    Way("bad_beam", bad_beam, ("broken_beam",), ("missing from the code path",)),
    Way("later_beam", later_beam, ("sick_app",), ("missing from the code path",)),
    Way("listen", sick("listen", "-sick", "port", "PORT"), ("port", "in use", "http")),
    Way("listen_match", sick("listen_match", "-sick", "port", "PORT"), ("in use",)),
    Way("start_error", sick("start_error"), ("no_license_file",)),
    Way("bad_return", sick("bad_return"), ("whatever_this_is",)),
    Way("start_crash", sick("start_crash"), ("lists:nth/2",)),
    Way("bad_child_spec", sick("bad_child_spec"), ("child",)),
    Way("init_undef", sick("undef"), ("gpio:start/2",)),
    Way("init_typo", sick("typo"), ("propslist:get_value/2", "proplists")),
    Way("no_table", sick("no_table"), ("sick_cache",)),
    Way("noproc", sick("noproc"), ("sick_registry",)),
    Way("no_file", sick("no_file"), ("enoent",)),
    Way("badarg", sick("badarg"), ("list_to_integer",)),
    Way("function_clause", sick("function_clause"), ("lists:keyfind/4",)),
    Way("throw", sick("throw"), ("cannot_reach_database",)),
    Way("no_env", sick("no_such_env"), ("badmatch",)),
    Way("no_dependency", lambda m: (m.folder / "sick.app").write_text(RESOURCE % ", no_such_application") and
        ["-s", "sick_app", "run"], ("no_such_application",)),
    Way("not_installed", lambda m: ["-eval", "ok = application:start(no_such_application)."], ("no_such_application", "not installed")),
    Way("stdout_gone", lambda m: [{"stdout": open("/dev/full", "w"), "stderr": subprocess.DEVNULL}, "-eval", "io:format(\"hello~n\"), ok = error_here."], ("error_here",)),
]
