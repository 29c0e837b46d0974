"""Runs tests/scenarios/make, and checks what each scenario knows of itself (the `facts` of its truth file)."""
import collections
import json
import os
import re
import subprocess

import suite as s
from truth import plain

KNOWN = ["zoo", "healthy", "wait_convoy", "waits", "queue_flood", "big_heap", "binary_pinning", "idle_garbage", "ets_growth",
         "slow_socket", "atom_leak", "atom_exhaustion", "process_leak", "process_exhaustion", "port_leak", "oom", "oom_request",
         "app_terminated", "app_start_failure"]

Made = collections.namedtuple("Made", "dump truth said")


def make(name, folder, release=None, arguments=(), core=False):
    """Makes a scenario's dump; `dump` of the result is None where that failed, and `said` tells why."""
    environment = dict(os.environ, BEAMHEAP_OTP=release or "", BEAMHEAP_LAB=str(s.LAB), BEAMHEAP_TIMEOUT="120")
    run = subprocess.run([s.SOURCE / "tests/scenarios/make", *(["-c"] if core else []), "-q", name, folder, *arguments], env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    dump = folder / f"{name}.dump"
    if run.returncode:
        printed = folder / f"{name}.out"
        return Made(None, None, s.text(run.stdout) + (s.text(printed.read_bytes())[-500:] if printed.exists() else ""))
    return Made(dump, json.loads((folder / f"{name}.truth.json").read_text("utf-8")), "")


def facts(c, dump, truth):
    """Compares the facts of a scenario with what the verbs of tables say; findings and terms have suites of their own."""
    known = truth["facts"]
    if "application" in known:
        slogan = dump.ask("analyze")["source"]["slogan"]
        c.same("facts", "slogan", (truth["slogan"] in slogan, known["application"] in slogan), (True, True))
    top = {row["pid"]: row for row in dump.rows("top", "-n", "0")}
    if truth["scenario"] in ("wait_convoy", "queue_flood"):
        first = dump.rows("top", "-n", "1", "--by", "msgq")[0]
        c.same("facts", "longest queue", (first["pid"], first["msgq_len"]), (known["culprit"], known["messages"]))
    if truth["scenario"] == "wait_convoy":
        c.same("facts", "where the culprit sits", first["current_function"], known["stuck_in"])
        largest = dump.rows("stacks")[0]
        c.same("facts", "largest group of stacks", largest["count"], known["waiters"])
        c.same("facts", "it waits in", any(plain(f) == plain("gen_event:rpc/2") for f in largest["functions"]), True)
    if truth["scenario"] in ("oom", "oom_request", "big_heap"):
        culprit = top[known["culprit"]]
        c.same("facts", "culprit's name", culprit["name"], known["name"])
    if truth["scenario"] in ("oom", "oom_request"):
        analysis = dump.ask("analyze")
        slogan = analysis["slogan"] if "slogan" in analysis else analysis["death"]
        c.same("facts", "slogan", analysis["source"]["slogan"].startswith(truth["slogan"]), True)
        c.same("facts", "refused bytes", int(analysis["source"]["slogan"].split()[3]), slogan["refused_bytes"])
        c.same("facts", "who died", analysis["death"]["pid"], known["culprit"])
        # They run with +MMsco, and nothing else refuses them memory.
        rules = [finding["rule"] for finding in analysis["findings"]]
        c.same("facts", "whose limit it was", ("super-carrier" in rules, rules[0] != "super-carrier"), (True, True))
    if truth["scenario"] == "oom":
        c.same("facts", "its state", top[known["culprit"]]["state"], "garbage_collecting")
    if truth["scenario"] == "big_heap":
        c.same("facts", "no super carrier", "super-carrier" in [finding["rule"] for finding in dump.ask("analyze")["findings"]], False)
        c.same("facts", "largest process", dump.rows("top", "-n", "1", "--by", "memory")[0]["pid"], known["culprit"])
    if truth["scenario"] == "ets_growth":
        largest = dump.rows("ets")[0]
        c.same("facts", "largest table", (largest["name"], largest["owner"], largest["objects"], largest["words"]),
               (known["table"], known["owner"], known["objects"], known["words"]))
        owned = [row for row in dump.rows("ets", "-n", "0") if row["owner"] == known["many_tables_owner"]]
        c.same("facts", "tables of one owner", len(owned), known["many_tables"])
    if truth["scenario"] in ("process_leak", "process_exhaustion"):
        group = dump.rows("stacks")[0]
        c.same("facts", "group of leaked processes", (group["count"] > 0.7 * known["processes"], group["functions"][0]), (True, known["function"]))
        c.same("facts", "process limit", dump.ask("analyze")["totals"]["process_limit"], known["limit"])
    if truth["scenario"] == "port_leak":
        owned = [row for row in dump.rows("ports", "-n", "0") if row["owner"] == known["owner"] and row["driver"] == known["driver"]]
        c.same("facts", "leaked ports", len(owned), known["leaked"])
    if truth["scenario"] in ("atom_leak", "atom_exhaustion"):
        family = max(dump.ask("atoms")["families"], key=lambda f: f["count"])
        c.same("facts", "family's pattern", family["pattern"].endswith("-ctl@localhost"), True)
        # a few in ten thousand have no letter among their eight digits, and are of another family
        c.same("facts", "family's count", 0.99 < family["count"] / known.get("leaked", family["count"]) <= 1, True)
        c.same("facts", "family is the newest", family["newest"] < 2000, True)
        c.same("facts", "atom limit", dump.ask("analyze")["totals"]["atom_limit"], known["limit"])
    if truth["scenario"] == "slow_socket":
        port = next(row for row in dump.rows("ports", "-n", "0") if row["port"] == known["port"])
        c.same("facts", "bytes wait in the port's queue", port["queue_bytes"] > 0, True)
        c.same("facts", "who waits for the port", set(port["suspended"]) <= set(known["senders"]), True)


def of_laboratory(old):
    """The truth file of the laboratory's own zoo, in the names of ours. It was taken by a process of high priority, which
    release 23 tells that everybody is running; and writing it made some servers of the kernel work, and atoms, afterwards."""
    worked = {"init", "code_server", "erl_prim_loader", "file_server_2"}
    processes = []
    for p in old["processes"]:
        name = p.get("registered_name")
        row = dict(pid=p["pid"], role=p["zoo_name"], name=name, status=p["status"], volatile=True)
        if "links" in p:
            row.update(volatile=p["volatile"] or name in worked, messages=p["message_queue_len"], heap_words=p["heap_size"],
                       stack_words=p["stack_size"], old_heap_words=p["gc_info"]["old_heap_block_size"],
                       fragment_words=p["gc_info"]["mbuf_size"], memory_bytes=p["memory"], reductions=p["reductions"],
                       current_function=p["current_function"], initial_call=p["initial_call"], links=p["links"],
                       monitors=[dict(item=re.sub(r"^\{\w+,(.*)\}$", r"\1", m)) for m in p["monitors"]], monitored_by=p["monitored_by"],
                       stack=[f["mfa"] for f in p["current_stacktrace"]])
        processes.append(row)
    late = {"pid": old["late"][0]["pid"], "messages": old["late"][0]["planned_message_queue_len"]}
    return dict(scenario="laboratory", facts={"late": late, "asked_at_high_priority": True, "taken_cold": True, "left_out": ["zoo_reg"]}, slogan="zoo", died_by_itself=False,
                otp=old["otp"], erts=old["erts"], word_size=8, node=old["node"], nodes=[], main=old["zoo_main"],
                processes=processes, memory=old["memory"],
                ets=[dict(t, words=t["memory"], objects=t["size"]) for t in old["ets"]],
                ports=[dict(port=p["id"], driver=p["name"], connected=p["connected"], links=p["links"]) for p in old["ports"]],
                modules=[m["module"] for m in old["modules"]],
                system=dict(processes=old["process_count"], ports=old["port_count"], atoms=old["atom_count"], ets_tables=old["ets_count"],
                            schedulers=old["schedulers"]))
