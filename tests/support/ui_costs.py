"""What `ui` costs on a large input: how soon it has its first table, how soon it answers a key while heaps are read behind it, and
what its processes hold of memory together.

Times on a shared machine only ever grow by what else it does. So a time is the least of several runs, beside that of `top` in the
same rounds, and keys are pressed by turns with those of a program that does nothing but echo them: it waits for the same processors.
"""
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import termios
import threading
import time

import suite as s

MOST_ABOVE_TOP = 0.100  # seconds
MOST_OF_A_KEY = 0.050
MOST_CPU_OF_A_KEY = 0.010  # of the process that is at the keys
ROUNDS = 12
PATIENCE = 60
ROW = re.compile(rb"<0\.\d+\.\d+>")
TICK = os.sysconf("SC_CLK_TCK")


def family(process):
    """A process and all below it."""
    found = [process]
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as below:
                for child in below.read().split():
                    found += family(int(child))
    except OSError:  # it has ended
        pass
    return found


def share_of_memory(process):
    """Its kilobytes, those that it shares with others in shares: of all processes of a family they add up."""
    try:
        with open(f"/proc/{process}/smaps_rollup") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def seconds_of_processor(process):
    with open(f"/proc/{process}/stat") as line:
        fields = line.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Screen:
    """A program in a terminal of its own, whose keys are these."""

    def __init__(self, *command, width=80, height=24):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.begun = time.monotonic()
        self.run = subprocess.Popen(list(map(str, command)), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                                    env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        os.close(theirs)
        self.written = bytearray()

    def read(self, seconds):
        """Whether something was written within so many seconds."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.ours, 1 << 16)
        except OSError:
            return False
        self.written += piece
        return bool(piece)

    def until(self, pattern):
        """Seconds since it was started until that was written; None: it never was."""
        ends = time.monotonic() + PATIENCE
        while not pattern.search(self.written):
            if time.monotonic() > ends:
                return None
            self.read(0.05)
        return time.monotonic() - self.begun

    def press(self, key):
        """Seconds until it answers; None: it does not."""
        while self.read(0):
            pass
        pressed = time.monotonic()
        os.write(self.ours, key)
        return time.monotonic() - pressed if self.read(5) else None

    def settle(self, seconds=0.3):
        """Until nothing has been written for so long."""
        while self.read(seconds):
            pass

    def end(self):
        if self.run.poll() is None:
            os.kill(self.run.pid, signal.SIGKILL)
        self.run.wait()
        os.close(self.ours)


class Memory:
    """The most that a family of processes holds, as often as one can look."""

    def __init__(self, process):
        self.process, self.most, self.ends = process, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.ends.wait(0.03):
            self.most = max(self.most, sum(map(share_of_memory, family(self.process))))

    def kilobytes(self):
        self.ends.set()
        self.thread.join()
        return self.most


def first_table(tests, label, dump):
    """As soon as `top` by itself, and a tenth of a second."""
    top, ui = [], []
    for _ in range(ROUNDS):
        top.append(s.run("top", dump).seconds)
        screen = Screen(s.BINARY, "ui", dump)
        ui.append(screen.until(ROW) or PATIENCE)
        screen.end()
        if min(ui) <= min(top) + MOST_ABOVE_TOP and len(ui) >= 3:
            break
    tests.check(f"{label}: the first table is there with that of `top`, and a tenth of a second", min(ui) <= min(top) + MOST_ABOVE_TOP,
                f"ui {min(ui):.3f} s, top {min(top):.3f} s, of {len(ui)} rounds")
    return f"first table {1000 * min(ui):.0f} ms, top {1000 * min(top):.0f} ms"


# Moves, an order, a filter that is typed and taken back: each changes what is on the screen at once.
KEYS = [*[b"j"] * 6, b"\x1b[6~", b"j", b"G", b"k", b"g", b"j", b"/", b"w", b"o", b"r", b"k", b"\x7f", b"\x1b", b"s", b"j", b"s", b"j", b"\t", b"\t"]


def seconds_of_reading(dump):
    """How long everything is read and the findings are found, at most: one after the other, with what is spent on keys."""
    return 0.5 + 2 * s.run("analyze", dump).seconds + 2 * s.run("shell", dump, stdin=b"quit\n").seconds


def keys(tests, label, dump):
    """From the first table on until everything is read, and the findings are found: keys are answered all the while."""
    reading = seconds_of_reading(dump)
    said = ""
    for _ in range(4):
        screen, echo = Screen(s.BINARY, "ui", dump), Screen("sh", "-c", "stty raw -echo; echo ready; exec cat")
        echo.until(re.compile(b"ready"))
        screen.until(ROW)
        front, before = screen.run.pid, seconds_of_processor(screen.run.pid)
        answered, echoed = [], []
        ends = time.monotonic() + reading
        while time.monotonic() < ends or len(answered) < 2 * len(KEYS):
            answered.append(screen.press(KEYS[len(answered) % len(KEYS)]))
            echoed.append(echo.press(b"x"))
            time.sleep(0.01)
        spent = (seconds_of_processor(front) - before) / len(answered)
        screen.end()
        echo.end()
        silent = answered.count(None)
        here, floor = (sorted(1 if each is None else each for each in times) for times in (answered, echoed))
        late = {q: here[int(q * (len(here) - 1))] - floor[int(q * (len(floor) - 1))] for q in (0.5, 0.95)}
        said = (f"{len(here)} keys: median {1000 * statistics.median(here):.1f} ms, 95 % within {1000 * here[int(0.95 * (len(here) - 1))]:.1f} ms, "
                f"an echo {1000 * statistics.median(floor):.1f} and {1000 * floor[int(0.95 * (len(floor) - 1))]:.1f} ms; "
                f"{1000 * spent:.1f} ms of processor for a key; {silent} without an answer")
        if not silent and late[0.95] <= MOST_OF_A_KEY and spent <= MOST_CPU_OF_A_KEY:
            break
    tests.check(f"{label}: each key has an answer", not silent, said)
    tests.check(f"{label}: a key is answered within 50 ms while heaps are read", max(late.values()) <= MOST_OF_A_KEY, said)
    tests.check(f"{label}: a key takes at most 10 ms of a processor", spent <= MOST_CPU_OF_A_KEY, said)
    return said


def peak_of_shell(dump, asked):
    """Kilobytes, by the kernel's own mark, which never goes down and is gone with the process."""
    run = subprocess.Popen([s.BINARY, "shell", dump], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    run.stdin.write(asked)
    run.stdin.close()
    peak = 0
    while run.poll() is None:
        try:
            with open(f"/proc/{run.pid}/status") as lines:
                peak = max([peak, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))])
        except OSError:
            break
        time.sleep(0.002)
    run.wait()
    return peak


def memory(tests, label, dump):
    """All processes together hold what `shell` holds that is asked the same, and a program that shows it."""
    shell = peak_of_shell(dump, b"top -n 0\nanalyze\ntop -n 0 --by memory\nets -n 0\nquit\n")
    screen = Screen(s.BINARY, "ui", dump)
    held = Memory(screen.run.pid)
    screen.until(ROW)
    time.sleep(seconds_of_reading(dump))
    screen.settle()
    for key in (b"G", b"g", b"s", b"s", b"/", b"w", b"o", b"r", b"k", b"\x1b", b":", b"ets\r", b"\x1b"):
        screen.press(key)
        screen.settle(0.1)
    rests = sum(map(share_of_memory, family(screen.run.pid)))
    most = held.kilobytes()
    screen.end()
    said = f"at most {most // 1024} MB, {rests // 1024} MB at rest; shell {shell // 1024} MB"
    tests.check(f"{label}: its processes hold together what `shell` holds, and a screen", most <= shell * 1.15 + 16 * 1024, said)
    return said


def judge(tests, label, dump):
    for each in (first_table, keys, memory):
        said = each(tests, label, dump)
        if os.environ.get("BEAMHEAP_COSTS"):
            print(f"{label}: {said}")
