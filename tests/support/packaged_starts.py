"""Nodes that do not start for what libraries and releases make of it: ranch, cowboy, and releases that Mix has made.

ranch and cowboy come from RabbitMQ's package, Mix from Elixir's, as in services.py; the release needs no other package. What
`mix run` itself can't start it says and ends without a crash dump: only releases, and applications that are permanent, leave one.
"""
import os
import shutil
import subprocess

import failed_starts
import services
from failed_starts import Way

WEB = r"""
-module(web).
-behaviour(application).
-behaviour(supervisor).
-export([start/2, stop/1, init/1, run/0]).
start(_, _) -> supervisor:start_link({local, web_sup}, ?MODULE, application:get_env(web, mode)).
stop(_) -> ok.
run() -> ok = application:start(web, permanent).
init({ok, child}) ->
    {ok, {{one_for_one, 1, 5}, [ranch:child_spec(web_http, ranch_tcp, #{socket_opts => [{port, port()}]}, cowboy_clear, #{})]}};
init({ok, Mode}) -> {ok, _} = listener(Mode), {ok, {{one_for_one, 1, 5}, []}}.
listener(clear) -> cowboy:start_clear(web_http, [{port, port()}], #{});
listener(no_cert) -> cowboy:start_tls(web_https, [{port, 0}], #{});
listener(address) -> cowboy:start_clear(web_http, [{port, 0}, {ip, {192, 0, 2, 1}}], #{});
listener(twice) -> {ok, _} = cowboy:start_clear(web_http, [{port, 0}], #{}), cowboy:start_clear(web_http, [{port, 0}], #{});
listener(routes) -> cowboy:start_clear(web_http, [{port, 0}], #{env => #{dispatch => cowboy_router:compile([{'_', [{"shop", web_h, []}]}])}}).
port() -> {ok, Port} = application:get_env(web, port), Port.
"""
WEB_RESOURCE = "{application, web, [{vsn, \"1\"}, {modules, [web]}, {registered, []}, {applications, [kernel, stdlib]}, {mod, {web, []}}]}."


class Packaged(failed_starts.Maker):
    """The machine's Erlang with the packages in its code path, and a release of a small application."""

    def __init__(self, folder, where):
        super().__init__(folder)
        self.where = where
        plugins = where / "usr/lib/rabbitmq/lib"
        self.path = [word for library in ("ranch", "cowboy", "cowlib") for word in
                     ("-pa", str(next(iter(sorted(plugins.glob(f"*/plugins/{library}-*/ebin"))))))]
        (self.folder / "web.erl").write_text(WEB)
        (self.folder / "web.app").write_text(WEB_RESOURCE)
        self.erl("-noinput", "-eval", f'{{ok,_}} = compile:file("{self.folder}/web.erl", [{{outdir, "{self.folder}"}}]), halt().', dump=None)
        self.release_folder = self.folder / "shop/_build/prod/rel/shop"
        self.make_release()

    def make_release(self):
        home = self.folder / "shop"
        for name, text in SHOP.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        tools = self.where / "usr/lib/elixir/bin"
        # ERL_CRASH_DUMP_SECONDS and the like are the node's own; Mix needs the PATH for `erl` only.
        environment = {**self.environment, "MIX_ENV": "prod", "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(self.folder)}
        subprocess.run([tools / "mix", "release", "--quiet"], cwd=home, env=environment, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def started_release(self, way):
        """The dump of a copy of the release that was changed as the way tells, or None."""
        folder, dump = self.folder / f"rel-{way.name}", self.folder / f"{way.name}.dump"
        shutil.copytree(self.release_folder, folder)
        more = way.arguments(folder)
        environment = {**self.environment, **more, "ERL_CRASH_DUMP": str(dump), "RELEASE_DISTRIBUTION": "none"}
        try:
            subprocess.run([folder / "bin/shop", "start"], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=services.PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return None
        finally:
            shutil.rmtree(folder)
        return dump if dump.exists() and dump.stat().st_size else None


SHOP = {
    "mix.exs": """defmodule Shop.MixProject do
  use Mix.Project
  def project, do: [app: :shop, version: "0.1.0", start_permanent: true]
  def application, do: [extra_applications: [:logger], mod: {Shop, []}]
end
""",
    "lib/shop.ex": """defmodule Shop do
  use Application
  def start(_, _), do: start(Application.get_env(:shop, :mode))
  defp start(:error), do: {:error, :no_license}
  defp start(:child), do: Supervisor.start_link([{Shop.Missing, []}], strategy: :one_for_one)
  defp start(:prices), do: Supervisor.start_link([{Shop.Server, :prices}], strategy: :one_for_one)
  defp start(:raise), do: raise(ArgumentError, "the price list is empty")
  defp start(:key), do: Map.fetch!(%{a: 1}, :port)
  defp start(:crash), do: Supervisor.start_link([{Shop.Server, :crash}], strategy: :one_for_one, max_restarts: 0)
end
defmodule Shop.Server do
  use GenServer
  def start_link(what), do: GenServer.start_link(__MODULE__, what, name: __MODULE__)
  def init(:prices), do: {:ok, File.read!("/etc/shop/prices.csv")}
  def init(:crash), do: {:ok, 1, 0}
  def handle_info(:timeout, state), do: {:noreply, state + hd([:a])}
end
""",
    "config/runtime.exs": """import Config
mode = System.get_env("SHOP_MODE")
if mode, do: config(:shop, mode: String.to_atom(mode))
if mode == "port", do: config(:shop, port: String.to_integer(System.fetch_env!("SHOP_PORT")))
if mode == "syntax", do: Code.eval_string("config :shop, (")
""",
}


def web(mode, *more):
    return lambda m: [*m.path, "-web", "mode", mode, *(str(x) if x != "PORT" else str(m.port) for x in more), "-eval",
                      "{ok, _} = application:ensure_all_started(cowboy), web:run()."]


def mode(name):
    return lambda _: {"SHOP_MODE": name}


def version(folder):
    return next(iter((folder / "releases").glob("*/sys.config"))).parent


def changed(name, text):
    def change(folder):
        (version(folder) / name).write_text(text)
        return {}
    return change


def without(pattern):
    def change(folder):
        for path in folder.glob(pattern):
            path.unlink()
        return {}
    return change


LIBRARIES = [
    Way("ranch_child", web("child", "-web", "port", "PORT"), ("web_http", "in use", "eaddrinuse")),
    Way("cowboy_clear", web("clear", "-web", "port", "PORT"), ("in use", "eaddrinuse", "web:")),
    Way("cowboy_no_cert", web("no_cert"), ("certificate", "web:")),
    Way("cowboy_address", web("address"), ("does not have that address", "eaddrnotavail")),
    Way("cowboy_twice", web("twice"), ("running already", "web:")),
    Way("cowboy_routes", web("routes"), ("must begin with a slash", "cowboy_router")),
]

RELEASES = [
    Way("start_error", mode("error"), ("shop", "no_license")),
    Way("no_such_child", mode("child"), ("Shop.Missing", "does not exist")),
    Way("no_file", mode("prices"), ("/etc/shop/prices.csv", "Shop.Server"), ("file.ex",)),
    Way("raise", mode("raise"), ("the price list is empty", "Shop")),
    Way("no_key", mode("key"), ("badkey,port", "Shop")),
    Way("gave_up", mode("crash"), ("Application shop ended",)),
    Way("no_variable", mode("port"), ("SHOP_PORT", "not set"), ("{,[",)),
    Way("config_code", mode("syntax"), ("missing terminator",), (":eval_forms",)),
    Way("sys_config", changed("sys.config", "[{shop, ["), ("sys.config",)),
    Way("vm_args", changed("vm.args", "-shop port {80\n"), ("command line", "{80")),
    Way("vm_args_level", changed("vm.args", "-kernel logger_level loud\n"), ("setting", "logger_level")),
    Way("boot_file", without("releases/*/start.boot"), ("boot file", "start.boot")),
    Way("no_module", without("lib/shop-*/ebin/Elixir.Shop.Server.beam"), ("Shop.Server", "can't be loaded")),
]
