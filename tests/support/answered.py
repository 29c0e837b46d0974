"""The dumps of tests/answers, and what the verbs say of them."""
import multiprocessing
import pathlib
import re
import subprocess

import suite as s

FOLDER = s.SOURCE / "tests/answers"

# Text where people read, exact figures in all columns elsewhere. Verbs that are the same of every dump are left out.
QUESTIONS = """analyze --full -v
top --by memory -n 2 --full --format ndjson
top --by msgq -n 2 --full --format csv
stacks -n 3
waits -n 4
tree -n 6
logs -n 6
ets -n 2 --format csv
ports -n 2 --format csv
timers -n 2 --format csv
binaries -n 3
atoms -n 2
alloc -n 2 --format csv
schedulers -n 1 --format csv
proc {largest} --term-bytes 200
heap {largest} -n 4
msgs {longest} -n 3 --by shape
"""


# What it took to read the dump, which a terminal and -v show.
TIMED = re.compile(rb"^read [\d.]+ \w+ in [\d.]+ s: ", re.M)


def said_of(dump):
    """All answers about one dump, each below its question."""
    def first(column):
        return s.text(s.run("top", dump.name, "--by", column, "-n", "1", "--columns", "pid", "--format", "csv", cwd=dump.parent).out).split()[1]
    said = []
    for question in QUESTIONS.format(largest=first("memory"), longest=first("msgq")).splitlines():
        verb, *more = question.split()
        run = s.run(verb, dump.name, *more, cwd=dump.parent, timeout=120)
        ended = f"[exit {run.code}]\n".encode() if run.code else b""
        said.append(b"$ " + question.encode() + b"\n" + TIMED.sub(b"", run.out + run.err) + ended + b"\n")
    return dump.stem, b"".join(said)


def all_of(folder, every=1):
    """Unpacks the dumps into the folder; name and answers of each."""
    subprocess.run(f"zstd -dqc --long=27 '{FOLDER}/dumps.tar.zst' | tar -x -C '{folder}'", shell=True, check=True)
    with multiprocessing.Pool(2) as pool:
        yield from pool.imap(said_of, sorted(pathlib.Path(folder).glob("*.dump"))[::every])
