"""Native stacks of a core image against gdb's, which unwinds the same threads by other code."""
import json
import re
import subprocess

import suite as s

JIT = "compiled Erlang code"


def load_address(core, beam):
    checks = json.loads(s.run("doctor", core, "--exe", beam, "--json").out)["checks"]
    return int(re.search(r"loaded at (0x[0-9a-f]+)", next(check["detail"] for check in checks if check["name"] == "executable"))[1], 16)


def gdb_stacks(core, beam):
    """Kernel thread id -> the frames in the executable, youngest first: a function's name, or the offset in the file.

    gdb also shows what was inlined in libraries whose debug information it finds, and guesses behind compiled Erlang
    code; frames of the executable itself are what both must have.
    """
    run = subprocess.run(["gdb", "-batch", "-nx", "-ex", "info auxv", "-ex", "thread apply all bt 200", str(beam), str(core)],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=300, check=False)
    stacks, frames, base = {}, None, load_address(core, beam)
    for line in s.text(run.stdout).splitlines():
        if headers := re.match(r"\d+ +AT_PHDR .* (0x[0-9a-f]+)$", line):
            if int(headers[1], 16) - 64 != base:  # they follow the ELF header
                print("    gdb can't place an executable that the loader was told to start: nothing to compare with")
                return None
        elif head := re.match(r"Thread \d+ \(.*LWP (\d+)", line):
            frames = stacks.setdefault(int(head[1]), [])
        elif (frame := re.match(r"#\d+ +0x([0-9a-f]+) in (\S+)", line)) and frames is not None:
            offset = int(frame[1], 16) - base
            if 0 <= offset < beam.stat().st_size * 2:
                frames.append(hex(offset) if frame[2] == "??" else frame[2])
    return stacks


def against_gdb(count, label, core, beam, system_libc=True):
    """Without `system_libc` gdb takes the wrong one, and unwinds nothing: then only what needs no reference is held."""
    run = s.run("schedulers", core, "--exe", beam, "--json", "--redact", "none")
    if not count.check(f"{label}: threads", run.code == 0, str(run)):
        return
    ours, theirs = json.loads(run.out), gdb_stacks(core, beam) if system_libc else None
    if theirs is not None:
        compare(count, label, ours, theirs, beam)
    busy = [row for row in ours["threads"] if row["pid"]]
    count.check(f"{label}: schedulers that ran something name it", busy and all(row["erlang_function"] for row in busy), str(busy)[:300])
    blamed(count, label, core, beam, ours)


def compare(count, label, ours, theirs, beam):
    compared, wrong = 0, []
    for row in ours["threads"]:
        frames = [(name if name != beam.name else offset) for name, _, offset in (frame.rpartition("+") for frame in row["frames"])]
        for thread in row["ids"]:
            place = 0
            for frame in theirs.get(thread, []):
                if frame not in frames[place:]:
                    if not row["frames"][-1].startswith(JIT):
                        wrong.append((thread, frame, row["frames"]))
                    break
                place = frames.index(frame, place) + 1
                compared += 1
    threads = sum(len(row["ids"]) for row in ours["threads"])
    count.check(f"{label}: every thread", threads == len(theirs), f"{threads} for {len(theirs)}")
    count.check(f"{label}: the frames are gdb's", not wrong and compared > threads, f"{compared} compared: {wrong[:4]}")
    print(f"    {label}: {compared} native frames of {threads} threads compared with gdb's")


def blamed(count, label, core, beam, ours):
    names = {frame.rpartition("+")[0] for row in ours["threads"] for frame in row["frames"]}
    schedule = [row for row in ours["threads"] if any(frame.startswith("erts_schedule+") for frame in row["frames"])]
    if "erts_schedule" in names:
        answer = json.loads(s.run("blame", core, "erts_schedule", "--exe", beam, "--json").out)
        want = sum(row["count"] for row in schedule)
        count.check(f"{label}: blame counts the threads inside a function", sum(row["count"] for row in answer["rows"]) == want > 0,
                    str(answer["rows"])[:300])
        pattern = json.loads(s.run("blame", core, "erts_sched*", "--exe", beam, "--json").out)
        count.check(f"{label}: and takes patterns", sum(row["count"] for row in pattern["rows"]) >= want)
        near = s.run("blame", core, "erts_shedule", "--exe", beam)
        count.check(f"{label}: a name that is not there has a near miss", near.code == 0 and b"erts_schedule" in near.out, str(near))
    once = json.loads(s.run("stacks", "--running", core, "--exe", beam, "--json").out)
    twice = json.loads(s.run("stacks", "--running", core, core, "--exe", beam, "--json").out)
    double = [{**row, "count": 2 * row["count"], "inputs": 2 * row["inputs"]} for row in once["rows"]]
    count.check(f"{label}: samples add up", once["rows"] and
                [(row["count"], row["functions"], row["percent"]) for row in twice["rows"]]
                == [(row["count"], row["functions"], row["percent"]) for row in double], str(twice["rows"])[:300])
