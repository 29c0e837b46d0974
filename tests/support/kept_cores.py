"""The core images of tests/answers: small nodes of several releases, reduced to the pages that the questions about them touch.

A core of a node that rests has some 80 MB beside its zeros, most of which nobody reads: free blocks, machine code, C's stacks.
Which pages are read is asked of the kernel, once all questions were asked: a page of a mapped file that was touched is in the
process's page table. So are its neighbours, as far as the kernel reads ahead, or has them in its cache: both are kept from it,
which halves what is kept. All others become zeros, which a sparse archive leaves out. `reduce` proves that nothing is answered
otherwise for it.
"""
import os
import pathlib
import re
import subprocess
import threading
import time

import answered
import suite as s

PAGE = 4096
FOLDER = s.SOURCE / "tests/answers"
ARCHIVE = FOLDER / "cores.tar.zst"

QUESTIONS = """doctor
analyze --full -v
top --by memory -n 0 --full --format csv
stacks -n 6
waits -n 4
waits --format ndjson
tree -n 20
logs -n 6
ets -n 0 --format csv
ports -n 0 --format csv
timers -n 0 --format csv
nodes --format csv
modules -n 6 --format csv
binaries -n 6
atoms -n 6
alloc -n 0 --format csv
schedulers -n 0 --format csv
"""
# What a question about one process shows of it, for the whole node.
OF_EACH = ("proc {pid} --term-bytes 120", "heap {pid} -n 3", "msgs {pid} -n 2")


def executable_of(core):
    return core.with_suffix(".beam.smp").name


def pids_of(core):
    rows = s.run("top", core.name, "--exe", executable_of(core), "-n", "0", "--columns", "pid", "--format", "csv", cwd=core.parent)
    return sorted(s.text(rows.out).split()[1:], key=lambda pid: [int(number) for number in re.findall(r"\d+", pid)])


def tables_of(core):
    rows = s.run("ets", core.name, "--exe", executable_of(core), "-n", "0", "--columns", "name", "--format", "csv", cwd=core.parent)
    return sorted(name for name in s.text(rows.out).split()[1:] if name.replace("_", "").isalnum())


def lines_of(core):
    """All questions, as lines of a shell."""
    return [*QUESTIONS.splitlines(), *(f"ets {name} -n 3" for name in tables_of(core)),
            *(each.format(pid=pid) for pid in pids_of(core) for each in OF_EACH)]


def said_of(core):
    """Name and answers: each question below a `$`."""
    lines = lines_of(core)
    asked = "".join(f"{line}\n" for line in lines)
    run = s.run("shell", core.name, "--exe", executable_of(core), stdin=asked.encode(), cwd=core.parent, timeout=300)
    said = f"[exit {run.code}] {len(lines)} questions\n".encode() + answered.comparable(run.out) + b"\n$ warnings\n" + answered.comparable(run.err)
    return core.stem, said.replace(b"/otp/root" + b"/", b"/otp/")  # a folder of the releases, no user's


def unpack(folder):
    subprocess.run(f"zstd -dqc --long=27 '{ARCHIVE}' | tar -x -C '{folder}'", shell=True, check=True)
    return sorted(pathlib.Path(folder).glob("*.core"))


# ---- how they are made ---------------------------------------------------------------------------------------------------
# Maps files as the program does, but so that the kernel does not read ahead in them.
MAPPED_PAGE_BY_PAGE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/mman.h>
void *mmap(void *place, size_t size, int protection, int flags, int file, off_t offset) {
    void *(*real)(void *, size_t, int, int, int, off_t) = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    void *mapped = real(place, size, protection, flags, file, offset);
    if (mapped != MAP_FAILED && file >= 0) madvise(mapped, size, MADV_RANDOM);
    return mapped;
}
void *mmap64(void *place, size_t size, int protection, int flags, int file, off_t offset) {
    return mmap(place, size, protection, flags, file, offset);
}
"""


def page_by_page(folder):
    """The library to be loaded first for that."""
    library = folder / "page_by_page.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=MAPPED_PAGE_BY_PAGE.encode(), check=True)
    return library


def forget_cached(path):
    """Takes a file's pages out of the kernel's cache, from which they are mapped unasked."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def touched(core, lines):
    """Places of pages by file name, of the core and its executable, that answering all lines needs."""
    command = [s.BINARY, "shell", core, "--exe", core.with_suffix(".beam.smp")]
    library = page_by_page(core.parent)
    for path in (core, core.with_suffix(".beam.smp")):
        forget_cached(path)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=dict(os.environ, LD_PRELOAD=str(library))) as shell:
        threading.Thread(target=lambda: all(iter(lambda: shell.stdout.read1(65536), b"")), daemon=True).start()
        shell.stdin.write("".join(f"{line}\n" for line in lines).encode())
        shell.stdin.flush()
        before, rests = -1, 0
        while rests < 6:  # it sleeps, and did nothing in between: it waits for the next line
            time.sleep(0.5)
            state = pathlib.Path(f"/proc/{shell.pid}/stat").read_text().rsplit(")", 1)[1].split()
            used = int(state[11]) + int(state[12])
            rests, before = (rests + 1 if used == before and state[0] == "S" else 0), used
        places = {core.name: set(), executable_of(core): set()}
        if library.name not in pathlib.Path(f"/proc/{shell.pid}/maps").read_text():
            raise RuntimeError(f"{s.BINARY} has to be linked dynamically, as the dev and quick builds are")
        with open(f"/proc/{shell.pid}/pagemap", "rb") as table:
            for line in pathlib.Path(f"/proc/{shell.pid}/maps").read_text().splitlines():
                begin, end, offset, path = re.match(r"(\w+)-(\w+) \S+ (\w+) \S+ \d+\s*(.*)", line).groups()
                name = os.path.basename(path)
                if name not in places:
                    continue
                table.seek(int(begin, 16) // PAGE * 8)
                entries = table.read((int(end, 16) - int(begin, 16)) // PAGE * 8)
                places[name] |= {int(offset, 16) + PAGE * i for i in range(len(entries) // 8) if entries[8 * i + 7] & 0x80}
        shell.stdin.close()
    return places


def reduce(core):
    """Keeps what is needed of a core and its executable, in place. Says whether all that is said of it stayed the same."""
    said = said_of(core)
    for name, places in touched(core, lines_of(core)).items():
        path, kept = core.parent / name, core.parent / f"{name}.kept"
        with open(path, "rb") as source, open(kept, "wb") as target:
            for place in sorted(places):
                source.seek(place)
                page = source.read(PAGE)
                if page.strip(b"\0"):
                    target.seek(place)
                    target.write(page)
            target.truncate(path.stat().st_size)
        kept.replace(path)
    return said_of(core) == said
