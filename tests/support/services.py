"""RabbitMQ, ejabberd, yaws and an application in Elixir: started in a folder of their own, healthy or under a disease.

They come from this machine where they are installed, else from Debian's packages, unpacked and not installed. What a disease
is waited for is a state that the node itself tells; nothing here depends on how long that takes.
"""
import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import time

import suite as s

PACKAGES = """rabbitmq-server ejabberd yaws erlang-yaws elixir erlang-asn1 erlang-crypto erlang-inets erlang-mnesia erlang-public-key
erlang-ssl erlang-syntax-tools erlang-tools erlang-runtime-tools erlang-parsetools erlang-os-mon erlang-xmerl erlang-eldap erlang-odbc
erlang-eunit erlang-snmp erlang-base64url erlang-idna erlang-jiffy erlang-jose erlang-unicode-util-compat erlang-lager erlang-goldrush
erlang-p1-acme erlang-p1-cache-tab erlang-p1-eimp erlang-p1-mqtree erlang-p1-pkix erlang-p1-stringprep erlang-p1-stun erlang-p1-tls
erlang-p1-utils erlang-p1-xml erlang-p1-xmpp erlang-p1-yaml erlang-p1-yconf erlang-p1-zlib libyaml-0-2""".split()
PATIENCE = 300.0


def root():
    """Where the services are: / where they are installed; None where they can't be had."""
    if all(pathlib.Path(path).exists() for path in ("/usr/lib/rabbitmq", "/usr/lib/yaws", "/usr/lib/elixir")):
        return pathlib.Path("/")
    folder = s.TMP / "packages"
    run = subprocess.run([s.SOURCE / "tests/support/unpacked_packages", folder, *PACKAGES], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         check=False)
    return folder if run.returncode == 0 else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def folder_with(where, pattern):
    return next(iter(sorted(where.glob(pattern))), None)


class Node:
    """A node of its own: a folder, a name, and what it is started with. `opening` is what a client says first."""

    opening = b""

    def __init__(self, where, name):
        self.where, self.port = where, free_port()
        self.home = s.TMP / name
        self.home.mkdir()
        self.name = f"{name}_{os.getpid()}@localhost"
        self.dump = self.home / "erl_crash.dump"
        libraries = [where / "usr/lib/erlang/lib", where / "usr/lib/x86_64-linux-gnu", where / "usr/lib/aarch64-linux-gnu"]
        self.environment = {**os.environ, "ERL_LIBS": ":".join(map(str, libraries)), "HOME": str(self.home), "ERL_CRASH_DUMP": str(self.dump),
                            "ERL_CRASH_DUMP_SECONDS": "-1", "LD_LIBRARY_PATH": ":".join(map(str, libraries[1:]))}
        cookie = self.home / ".erlang.cookie"
        cookie.write_text("BEAMHEAPTESTS")
        cookie.chmod(0o400)
        self.process = None

    def begin(self, command, **environment):
        self.environment.update(environment)
        with open(self.home / "output", "wb") as output:
            self.process = subprocess.Popen(command, cwd=self.home, env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output, start_new_session=True)

    def said(self):
        return (self.home / "output").read_text(errors="replace")[-600:]

    def ask(self, expression):
        """What an Erlang expression is in the node, printed; empty where it does not answer."""
        call = (f"{{ok, T, _}} = erl_scan:string({json.dumps(expression + '.')}), {{ok, E}} = erl_parse:parse_exprs(T), "
                f"case rpc:call('{self.name}', erl_eval, exprs, [E, []], 60000) of {{value, V, _}} -> io:format(\"~0tp\", [V]); _ -> ok end, halt().")
        environment = {**self.environment, "ERL_CRASH_DUMP": "/dev/null"}
        run = subprocess.run(["erl", "-noinput", "-hidden", "-sname", f"asks_{time.monotonic_ns()}@localhost", "-eval", call], cwd=self.home,
                             env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False)
        return s.text(run.stdout)

    def until(self, expression, value="true"):
        self.waited_for = (expression, value)
        end = time.monotonic() + PATIENCE
        while (got := self.ask(expression)) != value:
            if time.monotonic() > end or self.process.poll() is not None:
                raise TimeoutError(f"{expression} is {got}: {self.said()}")
            time.sleep(0.5)

    def until_again(self):
        """Until what was waited for last is so again."""
        self.until(*self.waited_for)

    def pid(self):
        return int(self.ask("list_to_integer(os:getpid())"))

    def write_dump(self):
        os.kill(self.pid(), signal.SIGUSR1)
        self.process.wait(timeout=PATIENCE)
        return self.dump

    def end(self):
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def connect(self, receive_buffer=None):
        end = time.monotonic() + PATIENCE
        while True:
            connection = socket.socket()
            try:
                if receive_buffer:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
                connection.settimeout(PATIENCE)
                connection.connect(("127.0.0.1", self.port))
                connection.sendall(self.opening)
                return connection
            except OSError:
                connection.close()
                if time.monotonic() > end:
                    raise
                time.sleep(0.5)


class Rabbitmq(Node):
    opening = b"AMQP\0\0\x09\x01"
    ready = "rabbit:is_running()"

    def __init__(self, where, name):
        super().__init__(where, name)
        server = folder_with(where, "usr/lib/rabbitmq/lib/rabbitmq_server-*")
        (self.home / "plugins").write_text("[].")
        (self.home / "rabbit.conf").write_text("loopback_users = none\n")
        self.begin([str(server / "sbin/rabbitmq-server")], RABBITMQ_HOME=str(server), RABBITMQ_NODENAME=self.name,
                   RABBITMQ_MNESIA_BASE=str(self.home / "mnesia"), RABBITMQ_LOG_BASE=str(self.home), RABBITMQ_PID_FILE=str(self.home / "pid"),
                   RABBITMQ_ENABLED_PLUGINS_FILE=str(self.home / "plugins"), RABBITMQ_PLUGINS_DIR=str(server / "plugins"),
                   RABBITMQ_NODE_PORT=str(self.port), RABBITMQ_DIST_PORT=str(free_port()), RABBITMQ_CONF_ENV_FILE="/dev/null",
                   RABBITMQ_CONFIG_FILE=str(self.home / "rabbit.conf"), RABBITMQ_ADVANCED_CONFIG_FILE=str(self.home / "none.config"))


class Ejabberd(Node):
    opening = (b"<?xml version='1.0'?><stream:stream to='localhost' xmlns='jabber:client' "
               b"xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>")
    ready = "lists:keymember(ejabberd, 1, application:which_applications())"

    def __init__(self, where, name):
        super().__init__(where, name)
        config = self.home / "ejabberd.yml"
        config.write_text("hosts: [localhost]\nloglevel: info\nauth_method: internal\nshaper: {}\nlisten:\n"
                          f"  - {{port: {self.port}, ip: '127.0.0.1', module: ejabberd_c2s, shaper: none}}\n"
                          "modules: {mod_roster: {}, mod_disco: {}, mod_ping: {}, mod_muc: {}}\n")
        self.begin(["erl", "-sname", self.name, "-noinput", "-mnesia", "dir", json.dumps(str(self.home / "spool")), "-s", "ejabberd"],
                   EJABBERD_CONFIG_PATH=str(config), EJABBERD_LOG_PATH=str(self.home / "ejabberd.log"), SPOOL_DIR=str(self.home))


class Yaws(Node):
    ready = "is_pid(whereis(yaws_server))"
    SHOP = r"""-module(shop).
-behaviour(gen_server).
-export([out/1, init/1, handle_call/3, handle_cast/2, database/0, server/0, sessions/0]).
database() -> register(shop_db, spawn(fun Loop() -> receive {get, From, Ref} -> From ! {Ref, ok}, Loop() end end)),
    spawn(fun() -> erlang:suspend_process(whereis(shop_db)), timer:sleep(infinity) end).
server() -> {ok, _} = gen_server:start({local, shop_server}, ?MODULE, [], []), ok.
sessions() -> spawn(fun() -> ets:new(shop_sessions, [named_table, public]), timer:sleep(infinity) end).
init(_) -> {ok, nothing}.
handle_call(get, _, S) -> timer:sleep(infinity), {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
out(A) -> {html, content(yaws_api:queryvar(A, "do"))}.
content({ok, "call"}) -> gen_server:call(shop_server, get, infinity), "called";
content({ok, "ask"}) -> ask(shop_db);
content({ok, "login"}) -> [ets:insert(shop_sessions, {make_ref(), lists:seq(1, 2000)}) || _ <- lists:seq(1, 100)], "hello";
content(_) -> "hello".
ask(Server) ->
    Monitor = monitor(process, Server),
    Server ! {get, self(), Monitor},
    receive {Monitor, Answer} -> demonitor(Monitor), atom_to_list(Answer); {'DOWN', Monitor, _, _, Why} -> exit(Why) end.
"""

    def __init__(self, where, name):
        super().__init__(where, name)
        (self.home / "shop.erl").write_text(self.SHOP)
        subprocess.run(["erlc", "-o", self.home, self.home / "shop.erl"], check=True)
        config = self.home / "yaws.conf"
        config.write_text(f"logdir = {self.home}\nebin_dir = {self.home}\nmax_connections = nolimit\n<server localhost>\n port = {self.port}\n"
                          f" listen = 127.0.0.1\n docroot = {self.home}\n appmods = </shop, shop>\n</server>\n")
        code = folder_with(self.where, "usr/lib/yaws*/ebin/yaws.beam").parent
        self.begin(["erl", "-sname", self.name, "-noinput", "-pa", str(code), "-pa", str(self.home), "-conf", str(config), "-yaws", "conf",
                    json.dumps(str(config)), "-yaws", "id", '"beamheap"', "-run", "yaws", "start"])

    def get(self, what):
        connection = self.connect()
        connection.sendall(f"GET /shop?do={what} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return connection


class Elixir(Node):
    """An application with a registry, a supervisor of carts, a server of prices and an agent, made by Mix."""

    ready = "lists:keymember(shop, 1, application:which_applications())"
    SHOP = r"""
defmodule Shop do
  use Application
  def start(_, _) do
    Supervisor.start_link([{Registry, keys: :unique, name: Shop.Registry}, Shop.Prices, {DynamicSupervisor, name: Shop.Carts, strategy: :one_for_one},
      %{id: Shop.Stock, start: {Agent, :start_link, [fn -> %{} end, [name: Shop.Stock]]}}], strategy: :one_for_one, name: Shop.Supervisor)
  end
  def carts(count), do: for(i <- 1..count, do: {:ok, _} = DynamicSupervisor.start_child(Shop.Carts, {Shop.Cart, i})) && :ok
  def totals(count), do: for(i <- 1..count, do: spawn(fn -> GenServer.call({:via, Registry, {Shop.Registry, i}}, :total, :infinity) end)) && :ok
  def flood(count), do: spawn(fn -> :erlang.suspend_process(Process.whereis(Shop.Stock))
                                    for(i <- 1..count, do: Agent.cast(Shop.Stock, &Map.put(&1, i, i)))
                                    Process.sleep(:infinity) end)
  def atoms(count), do: for(i <- 1..count, do: String.to_atom("session_#{i}")) && :ok
end
defmodule Shop.Prices do
  use GenServer
  def start_link(_), do: GenServer.start_link(__MODULE__, %{}, name: __MODULE__)
  def init(state), do: {:ok, state}
  def handle_call(:get, _, state), do: {:reply, 1, state}
end
defmodule Shop.Cart do
  use GenServer
  def start_link(id), do: GenServer.start_link(__MODULE__, id, name: {:via, Registry, {Shop.Registry, id}})
  def init(id), do: {:ok, id}
  def handle_call(:total, _, state), do: {:reply, GenServer.call(Shop.Prices, :get, :infinity), state}
end
"""

    def __init__(self, where, name):
        super().__init__(where, name)
        (self.home / "lib").mkdir()
        (self.home / "lib/shop.ex").write_text(self.SHOP)
        (self.home / "mix.exs").write_text("defmodule Shop.MixProject do\n  use Mix.Project\n  def project, do: [app: :shop, version: \"0.1.0\"]\n"
                                           "  def application, do: [extra_applications: [:logger], mod: {Shop, []}]\nend\n")
        tools = self.where / "usr/lib/elixir/bin"
        self.environment.update(MIX_ENV="prod", PATH=f"{tools}:{os.environ['PATH']}", LANG="C.UTF-8")
        subprocess.run([tools / "mix", "compile"], cwd=self.home, env={**self.environment, "ERL_LIBS": ""}, check=True, stdout=subprocess.DEVNULL)
        self.begin([tools / "elixir", "--sname", self.name, "-S", tools / "mix", "run", "--no-halt"], ERL_LIBS="")


class AmqpClient:
    """As much of AMQP 0-9-1 as it takes to declare a queue, publish and consume."""

    def __init__(self, node, receive_buffer=None):
        self.socket = node.connect(receive_buffer)
        self.expect(10, 10)
        self.method(0, 10, 11, self.long(b"") + self.short("PLAIN") + self.long(b"\0guest\0guest") + self.short("en_US"))
        self.expect(10, 30)
        self.method(0, 10, 31, struct.pack(">HIH", 2047, 131072, 0))
        self.method(0, 10, 40, self.short("/") + b"\0\0")
        self.expect(10, 41)
        self.method(1, 20, 10, b"\0")
        self.expect(20, 11)

    @staticmethod
    def long(data):
        return struct.pack(">I", len(data)) + data

    @staticmethod
    def short(text):
        return bytes([len(text)]) + text.encode()

    @staticmethod
    def frame(kind, channel, payload):
        return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"

    def method(self, channel, group, number, arguments):
        self.socket.sendall(self.frame(1, channel, struct.pack(">HH", group, number) + arguments))

    def take(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise OSError("the broker has closed the connection")
            data += more
        return data

    def expect(self, group, number):
        while True:
            kind, _, size = struct.unpack(">BHI", self.take(7))
            payload = self.take(size + 1)
            if kind == 1 and struct.unpack(">HH", payload[:4]) == (group, number):
                return

    def declare(self, queue, wait=True, kind=None):
        """Of a kind ("quorum") queues are durable."""
        arguments = b"" if kind is None else self.short("x-queue-type") + b"S" + self.long(kind.encode())
        self.method(1, 50, 10, b"\0\0" + self.short(queue) + (b"\0" if kind is None else b"\2") + self.long(arguments))
        if wait:
            self.expect(50, 11)

    def consume(self, queue, acknowledges=False, tag=""):
        """Messages are to be acknowledged, or count as if they were when they are sent."""
        self.method(1, 60, 20, b"\0\0" + self.short(queue) + self.short(tag) + bytes([0 if acknowledges else 2]) + self.long(b""))
        self.expect(60, 21)

    def publish(self, queue, body, count):
        one = self.frame(1, 1, struct.pack(">HH", 60, 40) + b"\0\0" + self.short("") + self.short(queue) + b"\0")
        one += self.frame(2, 1, struct.pack(">HHQH", 60, 0, len(body), 0)) + self.frame(3, 1, body)
        self.socket.sendall(one * count)


class XmppClient:
    """As much of XMPP as it takes to log in and to send."""

    def __init__(self, node, user, receive_buffer=None):
        self.socket = node.connect(receive_buffer)
        self.until(b"</stream:features>")
        self.send("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>" +
                  base64.b64encode(f"\0{user}\0secret".encode()).decode() + "</auth>")
        self.until(b"<success")
        self.socket.sendall(node.opening)
        self.until(b"</stream:features>")
        self.send("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind></iq>")
        self.until(b"</iq>")
        self.send("<presence/>")

    def send(self, text):
        self.socket.sendall(text.encode())

    def until(self, what):
        data = b""
        while what not in data:
            more = self.socket.recv(65536)
            if not more:
                raise OSError(f"the server has closed the connection: {data[-200:]}")
            data += more
