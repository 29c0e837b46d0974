"""Compares the terms of a core image with what the VM said of them, and with the crash dump of the same node.

Terms, sizes, dictionaries, stacks with their slots, messages: all that `proc` and `heap` show, for every process that
rested from the core to the dump. What the two inputs can't agree on is named here, and counted.
"""
import collections
import json
import re
import subprocess
import warnings

import scenarios
import schemas as schemas_of_program
import suite as s
import truth

warnings.simplefilter("ignore", DeprecationWarning)  # RefResolver: the newer way is not in Debian 12's version

# Crash dumps tell of a bitstring its whole bytes, of a match context the binary that is matched.
BITS = re.compile(r"<<[^<>]*\d+:[1-7]>>|<match context>")


def shell(path, lines, *options):
    """The JSON answers to many lines, of an input that is loaded once."""
    run = subprocess.run([s.BINARY, "shell", str(path), "--redact", "none", *map(str, options)], text=True, errors="surrogateescape",
                         input="".join(f"{line} --json\n" for line in lines) + "quit\n", capture_output=True, timeout=300)
    decoder, answers, at = json.JSONDecoder(), [], 0
    while at < len(run.stdout):
        if run.stdout[at].isspace():
            at += 1
            continue
        answer, at = decoder.raw_decode(run.stdout, at)
        answers.append(answer)
    return answers


def rows(path):
    run = s.run("top", path, "-n", "0", "--full", "--json", "--redact", "none", timeout=120)
    return {row["pid"]: row for row in json.loads(run.out)["rows"]} if run.code == 0 else {}


def silent_words(core, pid):
    """Words that roots keep alive which no dump has: registers of who hibernates or was scheduled out, tokens."""
    run = s.run("heap", core, pid, "-n", "0", "--json", "--redact", "none")
    kept = [row["retained_words"] for row in json.loads(run.out)["rows"] if row["root_kind"] in ("x_register", "seq_trace_token", "exception")]
    return {sum(kept)}


def stack_of(answer):
    """Frames without file and line, which dumps do not have."""
    return [[frame["function"], frame["offset"], [(slot["name"], slot["term"]) for slot in frame["slots"]]] for frame in answer["stack"]]


def against_dump(count, label, core, dump):
    ours, others = rows(core), rows(dump)
    rested = [pid for pid, row in others.items() if pid in ours and ours[pid]["reductions"] == row["reductions"]
              and ours[pid]["state"] == row["state"] and row["state"] != "running"]
    if not count.check(f"{label}: processes rested from the core to the dump", len(rested) * 10 >= len(others) * 9, f"{len(rested)} of {len(others)}"):
        return
    explained, wrong = collections.Counter(), []
    bits = set()

    def same(pid, what, left, right, *reasons):
        if left == right:
            return
        for name, holds in reasons:
            if holds:
                explained[f"{what}: {name}"] += 1
                return
        wrong.append(f"{pid} {ours[pid]['name']} {what}: {truth.short(left)} for {truth.short(right)}")

    lines = [f"proc {pid} --term-bytes 0 -n 0" for pid in rested]
    one, two = shell(core, lines), shell(dump, lines)
    count.check(f"{label}: an answer for every process", len(one) == len(two) == len(rested), f"{len(one)}, {len(two)} of {len(rested)}")
    for pid, a, b in zip(rested, one, two):
        has_bits = lambda left, right: BITS.search(str(left)) or "not in the dump" in str(right)
        for left, right in zip(stack_of(a), stack_of(b)):
            if has_bits(left, right):
                bits.add(pid)
            same(pid, "stack", left, right, ("bits and match contexts", bool(has_bits(left, right))))
        # Of a sensitive process a dump has neither stack, nor dictionary, nor messages.
        hidden = bool(a["process"].get("sensitive"))
        same(pid, "frames", len(a["stack"]), len(b["stack"]), ("dumps hide sensitive processes", hidden))
        entry = lambda row: (row["key"], row["value"], row["flat_words"], row["shared_words"])
        left, right = [entry(r) for r in a["dictionary"]], [entry(r) for r in b["dictionary"]]
        same(pid, "dictionary entries", len(left), len(right), ("dumps hide sensitive processes", hidden))
        for x, y in zip(left, right):
            if has_bits(x, y):
                bits.add(pid)
            alias = x[1].count(".") == 5 and x[1].startswith("#Ref<") and x[1].endswith(y[1][len("#Ref<0"):])
            same(pid, "dictionary", x, y, ("bits and match contexts", bool(has_bits(x, y))),
                 ("dumps have no environments of funs", "environments_lost" in str(b["warnings"]) and x[:2] == y[:2] and x[2] >= y[2] and x[3] >= y[3]),
                 ("dumps until OTP 26 cut the numbers of an alias", alias),
                 ("channel numbers of nodes are the VM's own, or the node's name", "#Ref<" in x[1] and "#Ref<" in y[1] and "@" in y[1]))
            if alias:
                bits.add(pid)
        message = lambda row: (row["pos"], row["term"], row["flat_words"])
        left, right = [message(m) for m in a["messages"]["shown"]], [message(m) for m in b["messages"]["shown"]]
        same(pid, "messages", len(left), len(right), ("dumps hide sensitive processes", hidden))
        for x, y in zip(left, right):
            same(pid, "message", x, y, ("bits and match contexts", bool(has_bits(x, y))),
                 ("the dump does not hold it in whole", "not in the dump" in str(y)))
        live, known = ours[pid]["live_words"], others[pid]["live_words"]
        same(pid, "live words", live, known, ("bits and match contexts", pid in bits and live is not None),
             ("dumps hide sensitive processes", hidden),
             ("dumps have no argument registers, and say so", known is None and "registers_lost" in str(b["warnings"])),
             ("dumps have no registers and tokens", live != known and live is not None and known is not None and
              live - known in silent_words(core, pid)),
             ("dumps have no bases of slices, nor environments of funs", None not in (live, known) and 0 < live - known <= 40))
        if live is not None and known is not None and live == known:
            same(pid, "garbage words", ours[pid]["garbage_words"], others[pid]["garbage_words"])
    for name, number in sorted(explained.items()):
        print(f"    {label}: {number} explained: {name}")
    count.check(f"{label}: terms as in the dump", not wrong, "\n    ".join(wrong[:12]))
    count.check(f"{label}: few need explaining", sum(explained.values()) <= len(rested) // 2, str(explained))
    count.check(f"{label}: something was compared", sum(len(a["stack"]) for a in one) > 500)


def against_truth(count, label, core, facts):
    """All that the dumps of the scenarios are compared by holds for cores, too."""
    comparison = truth.Comparison(count, label)
    image = truth.Dump(core)
    truth.all_of(comparison, image, facts)
    scenarios.facts(comparison, image, facts)
    comparison.finish()


def senders(count, label, core, facts):
    """Every message has the sender that the VM recorded; those of ordinary sends are pids of this node."""
    length = lambda p: p.get("messages") or p.get("message_queue_len") or 0
    busy = [p for p in facts["processes"] if length(p) > 20 and not p.get("volatile")]
    count.check(f"{label}: there are queues", bool(busy))
    for p in busy:
        run = s.run("msgs", core, p["pid"], "--by", "sender", "--json", "--redact", "none", "-n", "0")
        answer = json.loads(run.out) if run.code == 0 else {"rows": []}
        known = sum(row["count"] for row in answer["rows"] if row["sender"])
        count.check(f"{label}: senders to {p['pid']}", known * 100 >= length(p) * 99, f"{known} of {length(p)}: {run}")


def terms(count, label, core, facts):
    """Terms that the VM printed and sized itself: the same sizes, and the same text but for the order of maps."""
    known = facts["facts"].get("terms") or [{"holder": t["pid"], "key": t["dict_key"], "printed": t["p"], "flat_words": t["flat_size"],
                                             "shared_words": t["size"]} for t in facts.get("terms", [])]
    wrong = []
    held = {}
    for term in known:
        if term["holder"] not in held:
            answer = json.loads(s.run("proc", core, term["holder"], "--json", "--redact", "none", "--term-bytes", "0", "-n", "0").out)
            held[term["holder"]] = {row["key"]: row for row in answer["dictionary"]}
        row = held[term["holder"]].get(term["key"])
        if row is None:
            wrong.append(f"{term['key']} is not there")
            continue
        if (row["flat_words"], row["shared_words"]) != (term["flat_words"], term["shared_words"]):
            wrong.append(f"{term['key']}: {row['flat_words']} and {row['shared_words']} words for {term['flat_words']} and {term['shared_words']}")
        bare = lambda text: re.sub(r"\s", "", text)
        if bare(row["value"]) != bare(term["printed"]) and sorted(bare(row["value"])) != sorted(bare(term["printed"])):
            wrong.append(f"{term['key']}: {truth.short(row['value'])} for {truth.short(term['printed'])}")
    count.check(f"{label}: {len(known)} terms as the VM printed and sized them", known and not wrong, "\n    ".join(wrong[:12]))


def garbage(count, label, core, dump):
    """What lies on a heap is alive or it is garbage: walking the areas finds every word that used words count."""
    idle = {pid: row for pid, row in rows(core).items() if row["state"] in ("waiting", "suspended") and row["garbage_words"] is not None}
    answers = shell(core, [f"heap {pid} --dead -n 0 --columns root_kind,flat_words,retained_words" for pid in idle])
    wrong, words, aliases = [], 0, 0
    for (pid, row), answer in zip(idle.items(), answers):
        found = sum(kind["words"] for kind in answer["kinds"])
        words += found
        # Before the objects of a message that came by an alias stands that alias, which is none.
        missing = row["garbage_words"] - found
        aliases += missing
        if answer["totals"]["garbage_words"] != row["garbage_words"] or missing not in (0, 1 if row["fragment_words"] else 0):
            wrong.append(f"{pid} {row['name']}: walked {found}, {answer['totals']} and {row['garbage_words']}")
        if any(each["root_kind"] != "garbage" for each in answer["rows"]) or sum(each["retained_words"] for each in answer["rows"]) > found:
            wrong.append(f"{pid} {row['name']}: roots of garbage")
    count.check(f"{label}: garbage is all that is not alive", not wrong and len(answers) == len(idle) and aliases < 3, "\n    ".join(wrong[:8]))
    count.check(f"{label}: there is garbage", words > 1000, str(words))
    refused = s.run("heap", dump, next(iter(idle)), "--dead")
    count.check(f"{label}: a dump has none", refused.code == 2 and b"live terms only" in refused.err, str(refused))


def table_contents(count, label, core, dump, facts):
    """What ETS tables hold: as many objects as the VM counts in each, and of the tables that were made for it, which ones."""
    alive = rows(core)
    tables = [t for t in facts["ets"] if alive.get(t["owner"], {}).get("state") not in (None, "exiting")]
    objects = lambda t: t["objects"] if "objects" in t else t["size"]
    names = collections.Counter(t["name"] for t in tables)
    plain = [t for t in tables if names[t["name"]] == 1 and "\n" not in t["name"]]
    answers = shell(core, [f"ets '{t['name']}' -n 0 --columns pos" for t in plain])
    found = {a["table"]["name"]: a for a in answers}
    wrong = [f"{t['name']}: {a and len(a['rows'])} for {objects(t)}" for t, a in ((t, found.get(t["name"])) for t in plain)
             if not a or len(a["rows"]) != objects(t) or a["table"]["objects"] != objects(t) or a["warnings"]]
    count.check(f"{label}: tables hold what the VM counted", not wrong and len(answers) > 5, f"{len(wrong)}: " + "; ".join(wrong[:6]))
    printed = {t["key"]: t["printed"] for t in facts["facts"].get("terms", [])}
    nameless = lambda text: re.sub(r"\s", "", re.sub(r"#Ref<[0-9.]+>|<0\.[0-9]+\.0>", "#Ref", text))
    for name in sorted(t["name"] for t in facts["ets"] if t["name"].startswith("contents_")):
        run = s.run("ets", core, name, "--json", "--redact", "none", "--term-bytes", "0")
        if not count.check(f"{label}: contents of {name}", run.code == 0, str(run)):
            continue
        answer = json.loads(run.out)
        position = {"contents_ordered": 2, "contents_compressed_ordered": 2, "contents_duplicates": 3}.get(name, 1)
        wrong, keys = [], []
        for row in answer["rows"]:
            key = re.match(r"\{(\{term,('[^']*'|\w+)\})", row["object"])
            term = printed[key[1]]
            want = f"{{{key[1]},{{{key[2]},{term}}},[{term}|{key[2]}]}}"
            bare = nameless(want)
            if nameless(row["object"]) != bare and sorted(nameless(row["object"])) != sorted(bare) and '"' not in want:
                wrong.append(f"{key[1]}: {truth.short(row['object'])} for {truth.short(want)}")
            if row["key"] not in row["object"] or (position == 1 and row["key"] != key[1]):
                wrong.append(f"{key[1]}: its key is {truth.short(row['key'])}")
            keys.append(key[1])
        count.check(f"{label}: objects of {name}", sorted(keys) == sorted(printed) and not wrong, "\n    ".join(wrong[:6]))
        by_key = answer["table"]["type"] == "ordered_set" and position == 1
        count.check(f"{label}: order of {name}", not by_key or keys == sorted(keys, key=lambda k: k[6:-1].replace("'", "")), str(keys[:5]))
    table = next(t["name"] for t in plain if objects(t) > 30)
    few = json.loads(s.run("ets", core, table, "-n", "7", "--json").out)
    count.check(f"{label}: -n bounds what is read", len(few["rows"]) == 7, str(few["table"]))
    for path, arguments, word in ((dump, [table], b"no contents of ETS tables"), (core, ["no_such_table"], b"no ETS table")):
        refused = s.run("ets", path, *arguments)
        count.check(f"{label}: {word.decode()}", refused.code == 2 and word in refused.err, str(refused))


def traced(count, label, core, counted):
    """Counters of traced functions against erlang:trace_info; `counted` is {"m:f/a": {counter: calls or [(pid, calls, amount)]}}."""
    def answer(*options):
        run = s.run("profile", core, "--traced", "--json", *options)
        return json.loads(run.out)["rows"] if count.check(f"{label}: profile --traced", run.code == 0, str(run)) else []

    functions = {f"{r['module']}:{r['function']}/{r['arity']}": r for r in answer()}
    each = {(f"{r['module']}:{r['function']}/{r['arity']}", r["pid"]): r for r in answer("--per-process")}
    for function, known in counted.items():
        row = functions.get(function)
        if not count.check(f"{label}: {function} is traced", row is not None, str(sorted(functions))):
            continue
        if "call_count" in known:
            count.check(f"{label}: calls of {function}", row["calls"] == known["call_count"], f"{row} for {known}")
        # Words are exact; time is told in microseconds by the VM.
        for counter, column, unit in (("call_memory", "allocated_words", 1), ("call_time", "time_ns", 1000)):
            if counter not in known:
                continue
            said = row[column]
            count.check(f"{label}: {counter} of {function}", said is not None and
                        0 <= said - unit * sum(a for _, _, a in known[counter]) <= (unit - 1) * len(known[counter]), f"{row} for {known}")
            for pid, calls, amount in known[counter]:
                own = each.get((function, pid), {})
                count.check(f"{label}: {counter} of {function} in {pid}", (own.get("calls"), (own.get(column) or 0) // unit) == (calls, amount), f"{own} for {known}")


def of_trace_info(text):
    """{call_time,[{<0.1.2>,Calls,Seconds,Microseconds}]} and its kin, as they were printed."""
    if match := re.fullmatch(r"\{call_count,(\d+)\}", text):
        return int(match[1])
    if not re.match(r"\{call_(time|memory),\[", text):
        return None
    tuples = re.findall(r"\{(<[0-9.]+>),(\d+),(\d+)(?:,(\d+))?\}", text)
    return [(pid, int(calls), int(a) if b == "" else int(a) * 1000000 + int(b)) for pid, calls, a, b in tuples]


def schemas(count, label, core, facts):
    """The answers that only core images give follow their schemas."""
    try:
        import jsonschema
    except ImportError:
        count.skip("no jsonschema")
        return
    folder = s.SOURCE / "tests/schema"
    known = {(folder / name).as_uri(): document for name, document in schemas_of_program.documents().items()}
    table = next(t["name"] for t in facts["ets"] if t["name"] in ("table_set", "zoo_set"))
    pid = max(rows(core).items(), key=lambda item: item[1]["garbage_words"] or 0)[0]
    for verb, *arguments in (["ets", core, table], ["ets", core], ["heap", core, pid, "--dead"], ["heap", core, pid], ["profile", core, "--traced"],
                             ["profile", core], ["proc", core, pid], ["analyze", core, "--full"], ["top", core, "-n", "0"], ["schedulers", core],
                             ["modules", core], ["ports", core], ["timers", core], ["alloc", core], ["atoms", core], ["doctor", core], ["binaries", core],
                             ["blame", core, "erts_*"], ["stacks", core], ["stacks", "--running", core, core]):
        schema = known[(folder / f"{'samples' if '--running' in arguments else verb}.schema.json").as_uri()]
        resolver = jsonschema.RefResolver((folder / "x.json").as_uri(), schema, store=known)
        run = s.run(verb, *arguments, "--json", timeout=120)
        problems = list(jsonschema.validators.validator_for(schema)(schema, resolver=resolver).iter_errors(json.loads(run.out))) if run.code == 0 else [run]
        count.check(f"{label}: {verb} follows its schema", not problems, "; ".join(str(getattr(p, "message", p))[:300] for p in problems[:3]))
