#!/usr/bin/env python3
"""Records of OTP's own modules, out of the debug information that Debian's packages have: rows of src/erlang/otp_records.inc.

    tests/support/otp_records.py > src/erlang/otp_records.inc      of the laboratory's releases and of this machine's

A row is of one module, or of the modules that share a header (a family, erlang/otp_records.cpp). What two releases call otherwise
though they have as many fields is left out: a tuple's size is all that tells them apart."""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(os.path.realpath(__file__)).parent))

PROGRAM = """
-module(told_records).
-export([main/0]).
main() ->
    io:setopts([{encoding, unicode}]),
    [file(Beam) || Beam <- filelib:wildcard(os:getenv("RECORDS_OF", code:lib_dir()) ++ "/*/ebin/*.beam")],
    halt().
file(Beam) ->
    App = hd(string:split(filename:basename(filename:dirname(filename:dirname(Beam))), "-")),
    case catch beam_lib:chunks(Beam, ["Dbgi"]) of
        {ok, {Module, [{_, Bytes}]}} ->
            case catch binary_to_term(Bytes) of
                {debug_info_v1, erl_abstract_code, {Forms, _}} when is_list(Forms) -> forms(App, Module, "", Forms);
                _ -> none
            end;
        _ -> none
    end.
forms(_, _, _, []) -> ok;
forms(App, Module, _, [{attribute, _, file, {File, _}} | Forms]) -> forms(App, Module, File, Forms);
forms(App, Module, File, [{attribute, _, record, {Name, Fields}} | Forms]) ->
    io:format("~s\\t~ts\\t~ts\\t~ts\\t~ts~n",
              [App, Module, Name, string:join([field(Field) || Field <- Fields], " "), filename:basename(File)]),
    forms(App, Module, File, Forms);
forms(App, Module, File, [_ | Forms]) -> forms(App, Module, File, Forms).
field({typed_record_field, Field, _}) -> field(Field);
field(Field) -> {atom, _, Name} = element(3, Field), atom_to_list(Name).
"""
APPLICATIONS = set("eldap erts ftp inets kernel mnesia os_mon runtime_tools sasl ssh ssl stdlib tftp".split())
# Of files and protocols, not of processes.
HEADERS = set("OTP-PUB-KEY.hrl PKCS-FRAME.hrl PKIXCMP-2009.hrl ELDAPv3.hrl dtls_handshake.hrl eep48.hrl erl_bits.hrl erl_tar.hrl "
              "file.hrl inet_dns.hrl inet_sctp.hrl public_key.hrl ssl_handshake.hrl ssl_srp.hrl tls_handshake.hrl tls_handshake_1_3.hrl "
              "zip.hrl".split())
TOOLS = set("argparse array beam_lib digraph edlin_context edlin_expand epp erl_compile erl_expand_records erl_lint erl_pp erl_scan erl_tar "
            "erts_alloc_config erts_debug escript ets hipe_unified_loader json ms_transform nteventlog observer_backend prim_zip qlc qlc_pt "
            "release_handler_1 shell_docs sofs systools systools_make systools_rc systools_relup tftp_lib wrap_log_reader zip zlib".split())
FAMILIES = (("ssl_", "ssl"), ("tls_", "ssl"), ("dtls_", "ssl"), ("mnesia", "mnesia"), ("httpc", "inets"), ("httpd", "inets"),
            ("mod_", "inets"), ("http_", "inets"), ("ssh", "ssh"), ("dets", "dets"), ("disk_log", "disk_log"))


def scope(module, header):
    if header == module + ".erl":
        return module
    return next((family for begin, family in FAMILIES if module.startswith(begin)), module)


def told(command, folder=None, **environment):
    """Lines of the program, run by this `erl`."""
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "told_records.erl"
        source.write_text(PROGRAM)
        environment = dict(os.environ, OTP_SHARE=scratch, **environment)
        if folder:
            environment["RECORDS_OF"] = str(folder)
        load = f'{{ok, M, B}} = compile:file("{source}", [binary]), code:load_binary(M, "", B), M:main().'
        run = subprocess.run([*command, "-noshell", "-eval", load], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, timeout=600, check=True)
        return run.stdout.decode("utf-8").splitlines()


def rows(lines):
    """By scope, name and arity: the fields, each way they are told."""
    found = collections.defaultdict(set)
    for line in lines:
        application, module, name, fields, header = line.split("\t")
        if application in APPLICATIONS and header not in HEADERS and module not in TOOLS:
            found[scope(module, header), name, len(fields.split()) + 1].add(fields)
    return found


def main():
    import laboratory
    lines = told(["erl"])
    for folder in sys.argv[1:]:  # packages that are not installed, unpacked
        lines += told(["erl"], folder)
    for release in ("23", "25", "27", "29"):
        lines += told([laboratory.OTP, "run", release])
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Records of OTP's own modules, sorted by module or family, name and number of fields: written by")
    print("// tests/support/otp_records.py from the modules of OTP 23, 25, 27 and 29.")
    for (where, name, _), fields in sorted(rows(lines).items()):
        if len(fields) == 1:
            print(f'BH_RECORD("{where}", "{name}", "{next(iter(fields))}")')


if __name__ == "__main__":
    main()
