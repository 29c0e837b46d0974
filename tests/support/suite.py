"""What the suites of tests/suites share: how to run beamheap from outside, and how to count.

A suite makes one Suite, calls check() for each thing that it asserts, and ends with finish().
"""
import functools
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = pathlib.Path(os.environ.get("BEAMHEAP_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BINARY = os.path.abspath(os.environ.get("BEAMHEAP") or SOURCE / "build/release/beamheap")
ASAN = os.path.abspath(os.environ["BEAMHEAP_ASAN"]) if os.environ.get("BEAMHEAP_ASAN") else ""
MODE = os.environ.get("BEAMHEAP_MODE") or "full"
LAB = pathlib.Path(os.environ.get("BEAMHEAP_LAB") or SOURCE / "../shared/lab")
CORPUS = pathlib.Path(os.environ.get("BEAMHEAP_CORPUS") or SOURCE / "../shared/corpus")
_own = None if os.environ.get("BEAMHEAP_TMP") else tempfile.TemporaryDirectory(prefix="beamheap-suite-")
TMP = pathlib.Path(_own.name if _own else os.environ["BEAMHEAP_TMP"])

SALT = TMP / "stable.salt"  # for suites that compare placeholders of several answers: --stable-salt SALT
SALT.write_bytes(b"placeholders of the tests")

# Answers must not depend on whether the machine has the modules that a fixture's node ran: none are looked for, but where a
# suite is about them (56-lines, 57-records).
os.environ.setdefault("BEAMHEAP_CODE", "")
os.environ.setdefault("BEAMHEAP_HISTORY", "")

EXIT_CODES = {0, 1, 2, 3, 4, 5, 130}  # all that beamheap ends with; anything else is a crash


class Run:
    """One finished run: exit code (negative: killed by that signal), both outputs, seconds (by the clock; of processors),
    peak resident kilobytes."""

    def __init__(self, arguments, code, out, err, seconds, cpu, peak_kb, timed_out):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err
        self.seconds, self.cpu, self.peak_kb, self.timed_out = seconds, cpu, peak_kb, timed_out

    def __str__(self):
        how = "timed out" if self.timed_out else f"exit {self.code}"
        return f"{' '.join(map(str, self.arguments))}: {how} after {self.seconds:.1f} s: {text(self.err)[-600:].strip()}"


def text(data):
    return data.decode("utf-8", "backslashreplace")


def run(*arguments, stdin=None, binary=None, timeout=60, memory=None, cwd=None, limits=None):
    """Runs beamheap. `stdin` is bytes or a path; `memory` limits the address space in bytes (not under ASan); `limits`, a
    function that the new process calls, sets other ones. A peak_kb of 0: no larger than this process's own."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limits:
            limits()

    # A process that has nothing to call is begun without a copy of this one's page tables: a third of what a short run costs.
    unlimited = not limits and resource.getrlimit(resource.RLIMIT_CORE)[0] == 0

    source = subprocess.DEVNULL
    if isinstance(stdin, bytes):
        source = tempfile.TemporaryFile()
        source.write(stdin)
        source.seek(0)
    elif stdin is not None:
        source = open(stdin, "rb")
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        child = subprocess.Popen([binary or BINARY, *map(str, arguments)], stdin=source, stdout=out, stderr=err,
                                 preexec_fn=None if unlimited else limit, cwd=cwd)
        if memory:
            resource.prlimit(child.pid, resource.RLIMIT_AS, (memory, memory))
        ended = os.pidfd_open(child.pid)
        own_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # which a process begins with: exec keeps the maximum
        timed_out = not select.select([ended], [], [], timeout)[0]
        if timed_out:
            child.kill()
        _, status, usage = os.wait4(child.pid, 0)
        os.close(ended)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Run(arguments, child.returncode, out.read(), err.read(), time.monotonic() - begun, usage.ru_utime + usage.ru_stime,
                   usage.ru_maxrss if usage.ru_maxrss > own_kb else 0, timed_out)


def unsafe(data):
    """The first thing in an output that a terminal or a parser would stumble on, or None."""
    try:
        decoded = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"invalid UTF-8 at byte {error.start}: {data[max(0, error.start - 20):error.start + 20]!r}"
    for place, char in enumerate(decoded):
        if (char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f":
            return f"control character {char!r} after {decoded[max(0, place - 40):place]!r}"
    return None


def fixtures(folder="."):
    """The project's own input files, small and sorted."""
    base = SOURCE / "fixtures" / folder
    endings = (".dump", ".dump.gz", ".dump.zst", ".dump.xz")
    return sorted(path for path in base.rglob("*") if path.is_file() and path.name.endswith(endings))


def corpus():
    """The dumps of BEAMHEAP_CORPUS, sorted; none where it is not there."""
    return sorted(CORPUS.glob("*.dump.zst")) if CORPUS.is_dir() else []


def plain(path):
    """The bytes of an input, decompressed by the tools of the system as far as they can."""
    tool = {".gz": "gzip", ".zst": "zstd", ".xz": "xz"}.get(pathlib.Path(path).suffix)
    if not tool:
        return pathlib.Path(path).read_bytes()
    return subprocess.run([tool, "-dcq", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def losses(document):
    """What an answer says to be lost of its input: nothing may, of one that a VM wrote whole."""
    return [warning["name"] for warning in document["warnings"] if warning["severity"] != "info"]


@functools.cache
def number_of_the_commit():
    """How many commits led here; of a shallow clone, which knows only the last, something of its own name."""
    git = lambda *line: text(subprocess.run(["git", "-C", SOURCE, *line], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout).strip()
    if git("rev-parse", "--is-shallow-repository") == "true":
        return int(git("rev-parse", "HEAD")[:8], 16)
    return int(git("rev-list", "--count", "HEAD") or 0)


def drawn(items, one_in, of=""):
    """Of many cases that are alike those that this run looks at: in matrix mode all, else one in so many, never none. The number of
    the commit chooses, and for each `of` anew: the same commit has the same ones, a few commits have all."""
    items = list(items)
    if MODE == "matrix" or len(items) <= 1:
        return items
    return items[random.Random(f"{number_of_the_commit()} {of}").randrange(min(one_in, len(items)))::one_in]


@functools.cache
def rows():
    """What the program says of its own verbs, options and formats: `beamheap help --json`."""
    return json.loads(run("help", "--json").out)


class Suite:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, good, detail=""):
        """Counts one test; says what is wrong with it when it fails."""
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name}" + (f"\n    {detail}" if detail else ""), flush=True)
            if os.environ.get("BEAMHEAP_ABORT"):  # who wants to know whether, and not what else
                self.finish()
        return bool(good)

    def spread(self, job, items, workers=None):
        """What job(item) gives for each item, in order. Runs in as many processes as there are cores, or in `workers` where jobs
        mostly wait; their counts add up."""
        items = list(items)
        fork = multiprocessing.get_context("fork")
        following = fork.Value("L", 0)

        def work(pipe):
            self.passed = self.failed = self.skipped = 0
            done = {}
            while True:
                with following.get_lock():
                    i, following.value = following.value, following.value + 1
                if i >= len(items):
                    break
                try:
                    done[i] = job(items[i])
                except Exception:
                    self.check(str(items[i]), False, traceback.format_exc())
            pipe.send((self.passed, self.failed, self.skipped, done))

        results = {}
        pipes = [fork.Pipe(duplex=False) for _ in range(workers or os.cpu_count() or 1)]
        for receiver, sender in pipes:
            fork.Process(target=work, args=(sender,), daemon=True).start()
            sender.close()
        for receiver, _ in pipes:
            try:
                passed, failed, skipped, done = receiver.recv()
            except EOFError:
                self.check("a process of this suite", False, "it died")
                continue
            self.passed, self.failed, self.skipped = self.passed + passed, self.failed + failed, self.skipped + skipped
            results.update(done)
        return [results.get(i) for i in range(len(items))]

    def skip(self, why):
        self.skipped += 1
        print(f"skipped: {why}", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(1 if self.failed else 77 if not self.passed else 0)
