"""Core images of arm64 against what their VM said of itself. They are written in the kernel's form by an emulator of that
processor, which leaves out the names of files and the thread pointers."""
import json
import shutil
import subprocess

import core_terms
import scenarios
import laboratory
import suite as s

JIT = "compiled Erlang code"


def of_laboratory(count, release):
    folder = s.TMP / f"lab-{release}"
    subprocess.run([laboratory.OTP, "zoo", release, "kcore", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    core = folder / f"zoo-{release}.core"
    if count.check(f"zoo {release} of the laboratory was made", core.exists()):
        against_truth(count, f"zoo {release}", core, json.loads(core.with_suffix(".truth.json").read_text("utf-8")))
    shutil.rmtree(folder, ignore_errors=True)


def against_truth(count, label, core, truth):
    facts = dict(scenarios.of_laboratory(truth), terms=truth["terms"])
    core_terms.against_truth(count, label, core, facts)
    core_terms.senders(count, label, core, facts)
    core_terms.terms(count, label, core, facts)
    core_terms.schemas(count, label, core, facts)
    known = {counter: core_terms.of_trace_info(text) for counter, text in truth["trace"].items()}
    core_terms.traced(count, label, core,
                      {"zoo:traced_fn/1": {counter: value for counter, value in known.items() if value is not None}})
    run = s.run("doctor", core, "--json")
    unsure = [check for check in json.loads(run.out)["checks"] if not check["ok"]] if run.code == 0 else str(run)
    count.check(f"{label}: everything is found and proved", not unsure, str(unsure))
    threads(count, label, core)


def threads(count, label, core):
    run = s.run("schedulers", core, "--json", "--redact", "none")
    if not count.check(f"{label}: threads", run.code == 0, str(run)):
        return
    answer = json.loads(run.out)
    rows, totals = answer["threads"], answer["totals"]
    names = [name for row in rows for name in row["threads"]]
    want, number = set(), 1  # of all kinds in one row
    for kind, total in (("scheduler", "normal"), ("dirty_cpu_scheduler", "dirty_cpu"), ("dirty_io_scheduler", "dirty_io")):
        want |= {f"{kind}:{n}" for n in range(number, number + totals[total])}
        number += totals[total]
    found = {name for name in names if "scheduler" in name}
    count.check(f"{label}: the thread of each scheduler is known, once", found == want and len(set(names)) == len(names),
                str(sorted(found ^ want)))
    busy = [row for row in rows if row["pid"]]
    count.check(f"{label}: schedulers that ran something name it", len(busy) >= 2 and all(row["erlang_function"] for row in busy), str(busy)[:300])
    queued = {row["pid"]: row["max"] + row["high"] + row["normal"] + row["low"] for row in answer["rows"] if row.get("normal") is not None}
    count.check(f"{label}: run queues have no more than there are processes", all(n < 10000 for n in queued.values()), str(queued))
    # No library of that processor is here: stacks go on behind it, into the emulator and down to the thread's start.
    beam, short = f"zoo-{label.split()[-1]}.beam.smp", []
    for row in rows:
        own = [frame for frame in row["frames"] if frame.startswith(beam) or not frame.startswith(("lib", JIT))]
        if not own and row["frames"][0] != JIT:
            short.append(row)
    count.check(f"{label}: every native stack reaches the emulator", rows and not short, str(short)[:400])
    begun = [row for row in rows if row["frames"][-1] == JIT or len(row["frames"]) >= 4]
    count.check(f"{label}: native stacks are deep", len(begun) * 10 >= len(rows) * 7, str([row["frames"] for row in rows if row not in begun])[:400])
    named = {frame.rpartition("+")[0] for row in rows for frame in row["frames"]}
    if "erts_call_dirty_bif" in named:
        blamed = json.loads(s.run("blame", core, "erts_call_dirty_bif", "--json", "--redact", "none").out)
        dirty = {row["erlang_function"] for row in rows if any(frame.startswith("erts_call_dirty_bif+") for frame in row["frames"])}
        count.check(f"{label}: blame names who was inside a function", {row["erlang_function"] for row in blamed["rows"]} == dirty and dirty,
                    str(blamed["rows"])[:300])
    stacks = s.run("stacks", "--running", core, "--json", "--redact", "none")
    running = json.loads(stacks.out)["rows"] if stacks.code == 0 else []
    count.check(f"{label}: what ran is told with its stack", any("zoo:spin/2" in row["functions"] for row in running), str(running)[:300])
