"""Compares what beamheap says of a dump with what the VM said of itself before it died (tests/scenarios).

Every difference must be explained: `Comparison.same` takes reasons, each a (name, condition) pair, and counts the
differences that a reason covers under its name. What no reason covers is a failure. The reasons of a field stand beside
its comparison, so that whoever reads a field's test sees what it lets pass.
"""
import collections
import itertools
import json
import re

import suite as s


# What the two processes of kernel's application master are called, which have no label of their own.
LEADERS = {"application_master,kernel", "application_starter,kernel"}


class Dump:
    """One input and the answers of the verbs on it, asked once."""

    def __init__(self, path):
        self.path, self.answers = path, {}

    def ask(self, verb, *arguments):
        key = (verb, *arguments)
        if key not in self.answers:
            run = s.run(verb, self.path, *arguments, "--json", "--redact", "none")
            self.answers[key] = json.loads(run.out) if run.code == 0 else {"failed": str(run), "rows": []}
        return self.answers[key]

    def rows(self, verb, *arguments):
        return self.ask(verb, *arguments)["rows"]


class Comparison:
    def __init__(self, tests, what):
        self.tests, self.what = tests, what
        self.compared, self.explained, self.failures = 0, collections.Counter(), []

    def same(self, where, field, said, expected, *reasons):
        """`said` by beamheap, `expected` by the VM."""
        self.compared += 1
        if said == expected:
            return
        for name, condition in reasons:
            if condition() if callable(condition) else condition:
                self.explained[f"{field}: {name}"] += 1
                return
        self.failures.append(f"{where} {field}: {short(said)}, the VM said {short(expected)}")

    def finish(self):
        for name, count in sorted(self.explained.items()):
            print(f"{self.what}: {count} explained: {name}")
        shown = "\n    ".join(self.failures[:25] + (["..."] if len(self.failures) > 25 else []))
        self.tests.check(f"{self.what}: {len(self.failures)} of {self.compared} comparisons differ", not self.failures, shown)
        self.tests.check(f"{self.what}: something was compared", self.compared > 0)


def short(value):
    text = repr(value)
    return text if len(text) < 160 else text[:157] + "..."


def printable(text):
    """A name as beamheap shows it: control characters as \\xNN."""
    return None if text is None else re.sub("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", escape, text)


def escape(match):
    code = ord(match[0])
    return {9: "\\t", 10: "\\n", 13: "\\r", 27: "\\e"}.get(code) or (f"\\x{code:02x}" if code < 256 else f"\\x{{{code:x}}}")


def plain(text):
    """A name or m:f/a reduced to what all ways of printing it share: letters, digits and the separators."""
    if text is None:
        return None
    text = re.sub(r"\\x\{?[0-9a-fA-F]+\}?|\\[0-7]{3}|\\[a-z]", "", text)
    return "".join(c for c in text if c.isalnum() or c in ":/_-,. <>@=")


def all_of(comparison, dump, truth):
    """Everything that beamheap and the truth file both know."""
    source(comparison, dump, truth)
    if truth["facts"].get("shut_down"):
        return      # init stopped most processes before the node died
    processes(comparison, dump, truth)
    details(comparison, dump, truth)
    tables(comparison, dump, truth)
    ports(comparison, dump, truth)
    node(comparison, dump, truth)
    stacks(comparison, dump, truth)
    tree(comparison, dump, truth)


def source(c, dump, truth):
    said = dump.ask("top", "-n", "0")["source"]
    c.same("source", "otp_release", said["otp_release"], truth["otp"])
    c.same("source", "erts_version", said["erts_version"], truth["erts"])
    c.same("source", "word_size", said["word_size"], truth["word_size"])
    c.same("source", "process_table", dump.ask("top", "-n", "0").get("complete", True), True)
    whole = dump.ask("analyze")["source"]
    c.same("source", "complete", whole["complete"], True)
    if said["format"] == "crash_dump":
        c.same("source", "losses", s.losses(dump.ask("analyze", "--full")), [])
    if not truth["died_by_itself"]:
        c.same("source", "slogan", plain(whole["slogan"]), plain(truth["slogan"]),
               ("a core image has none, at most a signal", said["format"] == "core" and whole["slogan"] in (None, "SIGABRT")))


def processes(c, dump, truth):
    rows = {row["pid"]: row for row in dump.rows("top", "-n", "0")}
    for row in dump.rows("top", "-n", "0", "--columns", "pid,label,real_initial_call,stack_words"):
        rows[row["pid"]].update(row)
    names = {row["name"] for row in rows.values()}
    late = truth["facts"].get("late", {})
    states = {entry["pid"]: entry["states"] for entry in truth["facts"].get("states", [])}
    exited = {pid for pid, of in states.items() if "gone" in of}
    for p in truth["processes"]:
        pid, row = p["pid"], rows.pop(p["pid"], None)
        where = f"{pid} {p.get('role') or p.get('name') or ''}"
        c.same(where, "listed", row is not None, True, ("it had exited, and only its dirty scheduler knows it", pid in exited),
               ("it was at its end", p.get("status") == "exiting"), ("it went on after the truth", p["volatile"]))
        if row is None:
            continue
        # OTP 29's supervisors hibernate once nothing has come for a while.
        hibernated = "hibernate" in str(row["current_function"]) and "hibernate" not in str(p["current_function"])
        wrote = p.get("name") == "file_server_2"  # the truth itself, in OTP 29
        gone_on = ("it ran on after the truth", p["volatile"] or ((hibernated or wrote) and row["reductions"] > p["reductions"]))
        # Requests to processes that run on dirty schedulers go through it, also those of the truth itself.
        asked = ("the VM's own process got a request after the truth",
                 "erts_dirty_process_signal_handler" in str(row["current_function"]) and row["msgq_len"] > 0)
        if pid in states:
            c.same(where, "state is possible", row["state"] in states[pid], True)
        elif not p["volatile"]:
            c.same(where, "state", row["state"], p["status"],
                   ("asked at high priority, release 23 says running", truth["otp"] == "23" and truth["facts"].get("asked_at_high_priority")), asked)
        if "messages" not in p:
            c.same(where, "name", plain(row["name"]), plain(p.get("name")), ("names of exiting processes are not written", row["state"] == "exiting"))
            continue
        c.same(where, "name", plain(row["name"]), plain(p["name"]), ("names of exiting processes are not written", row["state"] == "exiting"))
        c.same(where, "msgq_len", row["msgq_len"], p["messages"] + (late.get("messages", 0) if late.get("pid") == pid else 0), gone_on, asked)
        # a receiver of the messages that were sent last has them in its memory, not in its heap
        got_late = ("it got messages after the truth", late.get("pid") == pid)
        c.same(where, "heap_words", row["heap_words"], p["heap_words"], gone_on)
        c.same(where, "old_heap_words", row["old_heap_words"], p["old_heap_words"], gone_on)
        c.same(where, "stack_words", row["stack_words"], p["stack_words"], gone_on,
               ("sensitive processes show no stack", row["stack_words"] is None and pid == truth["facts"].get("sensitive")),
               ("exiting processes show no stack", row["state"] == "exiting"))
        c.same(where, "fragment_words", row["fragment_words"], p["fragment_words"], gone_on,
               ("process_info counts the messages' fragments as well", p["messages"] > 0 and row["fragment_words"] < p["fragment_words"]))
        c.same(where, "memory_bytes", row["memory_bytes"], p["memory_bytes"], gone_on, got_late,
               ("monitors and links of the witness were counted", abs(row["memory_bytes"] - p["memory_bytes"]) <= 256))
        c.same(where, "reductions at least", row["reductions"] >= p["reductions"], True)
        c.same(where, "current_function", plain(row["current_function"]), plain(p["current_function"]), gone_on)
        c.same(where, "initial_call", plain(row["initial_call"]), plain(p["initial_call"]),
               ("the VM writes rubbish for exiting processes", row["state"] == "exiting" and row["initial_call"] is None))
        c.same(where, "links", row["links"], len(p["links"]), gone_on)
        c.same(where, "monitors", row["monitors"], len(p["monitors"]) + 0, gone_on,
               ("process_info leaves out monitors of nodes, of the clock and by alias", row["monitors"] > len(p["monitors"])))
        if "label" not in p:
            continue
        c.same(where, "real_initial_call", plain(row["real_initial_call"]), plain(p["real_initial_call"]), gone_on,
               ("sensitive processes show no dictionary", pid == truth["facts"].get("sensitive")))
        c.same(where, "label", plain(row["label"]), plain(p["label"]), gone_on,
               ("those who lead an application are named by it", p["label"] is None and plain(row["label"]) in LEADERS))
    for pid, row in rows.items():
        c.same(pid, "known to the VM", True, False, ("it was spawned after the truth", row["parent"] == truth["main"]),
               ("the VM spawned it as it died", row["parent"] in (None, "<0.0.0>", "[]")))
    c.same("names", "all there", {plain(p.get("name")) for p in truth["processes"] if not p["volatile"]} - {plain(n) for n in names}, set())


def details(c, dump, truth):
    """Of each process by itself: links, monitors, stack, dictionary, messages."""
    sensitive = truth["facts"].get("sensitive")
    for p in truth["processes"]:
        if p["volatile"] or "links" not in p:
            continue
        said = dump.ask("proc", p["pid"])
        where = f"proc {p['pid']} {p.get('role') or p.get('name') or ''}"
        c.same(where, "is found", said.get("failed"), None)
        if "failed" in said:
            continue
        c.same(where, "links", sorted(map(target, said["links"])), sorted(p["links"]))
        expected = sorted(monitored(m) for m in p["monitors"])
        found = sorted(plain(target(m)) for m in said["monitors"])
        c.same(where, "monitors", found, expected,
               ("process_info leaves out monitors of nodes, of the clock and by alias", set(expected) <= set(found)))
        c.same(where, "monitored_by", sorted(map(target, said["monitored_by"])), sorted(p["monitored_by"]),
               ("resources of NIFs have no pid", any("#Ref" in m or m.startswith("{") for m in map(target, said["monitored_by"]))),
               ("the witness monitored them", set(p["monitored_by"]) <= set(map(target, said["monitored_by"]))))
        if p["pid"] == sensitive:
            c.same(where, "stack is absent", [f for f in said["stack"]][1:], [],
                   ("a core image has it", dump.ask("top", "-n", "0")["source"]["format"] == "core"))
            continue
        # process_info shows the repeated frames of a recursion once
        frames = without_repeats(plain(f["function"]) for f in said["stack"] if f["function"] and "terminate" not in f["function"])
        known = without_repeats(map(plain, p["stack"]))
        if p["status"] == "suspended" and frames[1:] == known:
            frames = frames[1:]     # process_info leaves out the built-in function that it is suspended in
        if known:                   # process_info says nothing of hibernating processes
            c.same(where, "stack", frames[:len(known)], known)
            c.same(where, "stack depth", len(frames), len(known), ("process_info shows the upper 64", len(known) > 60))


def target(entry):
    """The pid, port or name that an entry of a link list is about."""
    if isinstance(entry, str):
        return entry
    return entry.get("pid") or entry.get("port") or entry.get("target") or str(entry)


def monitored(m):
    return plain(m["item"] if m.get("item") else f"{{{m['name']},{m['node']}}}")


def without_repeats(names):
    return [name for name, _ in itertools.groupby(names)]


def tables(c, dump, truth):
    said = collections.defaultdict(list)
    for row in dump.rows("ets"):
        said[(plain(row["name"]), row["owner"])].append(row)
    volatile = {p["pid"] for p in truth["processes"] if p["volatile"]}
    for table in truth["ets"]:
        if table.get("gone"):
            continue
        where = f"ets {table['name']} of {table['owner']}"
        candidates = said.get((plain(table["name"]), table["owner"]), [])
        row = next((r for r in candidates if r["id"] == table["id"]), candidates[0] if candidates else None)
        changing = ("its owner ran on after the truth", table["owner"] in volatile)
        c.same(where, "is listed", row is not None, True, changing)
        if row is None:
            continue
        candidates.remove(row)
        for field in ("objects", "words"):
            c.same(where, field, row[field], table[field], changing)
        c.same(where, "bytes", row["bytes"], table["words"] * truth["word_size"], changing)
        for field in ("type", "protection"):
            c.same(where, field, row[field], table[field])
        c.same(where, "compressed", row["compressed"], table["compressed"])
        for field in ("write_concurrency", "read_concurrency"):
            if field in table:
                c.same(where, field, str(row[field]).lower(), str(table[field]).lower())
    left = [row["name"] for rows in said.values() for row in rows]
    c.same("ets", "tables that the VM did not name", left, truth["facts"].get("left_out", []))


def ports(c, dump, truth):
    said = {row["port"]: row for row in dump.rows("ports")}
    for port in truth["ports"]:
        row = said.pop(port["port"], None)
        where = f"port {port['port']}"
        c.same(where, "is listed", row is not None, not port.get("closed"))
        if row is None or port.get("closed"):
            continue
        c.same(where, "owner", row["owner"], port["connected"])
        c.same(where, "links", sorted(row["links"]), sorted(port["links"]))
        c.same(where, "driver", plain(row["driver"]), plain(port["driver"]),
               ("the program's arguments are left out by the VM", lambda: plain(port["driver"]).startswith(plain(row["driver"]))),
               ("descriptors are named by their numbers", row["kind"] and "fd" in row["kind"]))
        if "registered_name" in port or "queue_size" in port:
            c.same(where, "name", row["name"], port.get("registered_name"))
            c.same(where, "queue_bytes", row["queue_bytes"], port["queue_size"])
            c.same(where, "input_bytes at least", row["input_bytes"] >= port["input_bytes"], True)
            c.same(where, "output_bytes at least", row["output_bytes"] >= port["output_bytes"], True)
    c.same("ports", "ports that the VM did not name", sorted(said), [])


def node(c, dump, truth):
    analysis = dump.ask("analyze")
    c.same("node", "name", plain(analysis["node"]["name"]), plain(truth["node"]))
    totals, system = analysis["totals"], truth["system"]
    for said, expected in [("ports", "ports"), ("port_limit", "port_limit"), ("process_limit", "process_limit"),
                           ("ets_tables", "ets_tables"), ("atom_limit", "atom_limit")]:
        if expected in system:
            c.same("totals", said, totals[said], system[expected],
                   ("a table goes with its exiting owner", said == "ets_tables" and "table_of_exiting" in {t.get("name") for t in truth["ets"]}))
    c.same("totals", "processes", totals["processes"], system["processes"],
           ("a core image has those that are on their way out as well", analysis["source"]["format"] == "core" and
            totals["processes"] > system["processes"] and totals["by_state"].get("exiting", 0) > 0))
    c.same("totals", "messages", totals["messages"], sum(row["msgq_len"] for row in dump.rows("top", "-n", "0")))
    cold = ("taking the truth changed it", truth["facts"].get("taken_cold", False))
    if not truth["died_by_itself"]:
        c.same("totals", "atoms", totals["atoms"], system["atoms"], cold)
    for key in ("total", "processes", "system", "atom", "binary", "code", "ets"):
        said, expected = analysis["memory"][f"{key}_bytes"], truth["memory"][key]
        c.same("memory", f"{key} is near", said is not None and abs(said - expected) <= 0.15 * expected + 1000000, True, cold,
               ("a core image has no such sum", said is None and key in ("system", "code") and analysis["source"]["format"] == "core"),
               ("the node went on growing", truth["died_by_itself"]),
               ("a process is in a collection, with two heaps or one", key in ("total", "processes") and truth["scenario"] == "zoo"),
               ("a table goes with its exiting owner", key in ("total", "system", "ets") and truth["scenario"] == "zoo"))
    c.same("modules", "loaded", sorted(plain(r["name"]) for r in dump.rows("modules", "-n", "0")), sorted(map(plain, truth["modules"])),
           ("code was loaded as it died", truth["died_by_itself"]))
    peers = {plain(r["name"]) for r in dump.rows("nodes") if r["kind"] in ("visible", "hidden")}
    c.same("nodes", "connected", peers, {plain(n["name"]) for n in truth["nodes"]})
    normal = [r for r in dump.rows("schedulers") if r["kind"] == "normal"]
    c.same("schedulers", "normal", len(normal), system["schedulers"])
    for kind in ("dirty_cpu", "dirty_io"):
        if f"{kind}_schedulers" in system:
            c.same("schedulers", kind, len([r for r in dump.rows("schedulers") if r["kind"] == kind]), system[f"{kind}_schedulers"])
    timers = truth["facts"].get("timers")
    if timers:
        said = [(plain(r["receiver_name"]) or r["receiver"], r["left_ms"]) for r in dump.rows("timers")]
        names = {p["pid"]: p["name"] for p in truth["processes"] if p.get("name")}
        for timer in timers:
            receiver = names.get(timer["receiver"], timer["receiver"])
            most = timer["left_ms_at_most"]
            good = [left for who, left in said if who in (plain(receiver), timer["receiver"]) and most - 120000 < left <= most]
            c.same(f"timer to {receiver}", "is listed", bool(good), True)
    atoms = {r["atom"] for r in dump.rows("atoms", "-n", "0")} if truth["facts"].get("odd_atoms") else set()
    if atoms:
        c.same("atoms", "listed", len(atoms) >= system["atoms"] - 5, True)


def stacks(c, dump, truth):
    rows = dump.rows("stacks", "-n", "0")
    c.same("stacks", "processes in all groups", sum(r["count"] for r in rows), dump.ask("analyze")["totals"]["processes"])
    expected = collections.Counter(tuple(map(plain, p["stack"])) for p in truth["processes"] if p.get("stack") and not p["volatile"])
    most, count = expected.most_common(1)[0]
    if count > 10:
        said = [r["count"] for r in rows if tuple(plain(f) for f in r["functions"] if "terminate" not in f)[:len(most)] == most]
        c.same("stacks", f"group of {most[0]}", said, [count])


def tree(c, dump, truth):
    said = {row["pid"]: row for row in dump.rows("tree", "-n", "0")}
    for family in truth["facts"].get("supervision", []):
        top = [pid for pid, row in said.items() if plain(row["name"]) == plain(family["supervisor"])]
        c.same(f"tree {family['supervisor']}", "is there", len(top), 1)
        for child in family["children"]:
            row = said.get(child["pid"])
            c.same(f"tree {family['supervisor']} child {child['pid']}", "parent", row and row["parent"], top[0] if top else None)
