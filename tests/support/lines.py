"""Holds the lines that beamheap tells of frames against those that the VM told itself (line_truth.erl)."""
import collections
import json

import suite as s

Frame = collections.namedtuple("Frame", "function file line certainty place")


def _stacks(run):
    assert run.code == 0, str(run)
    stacks = collections.defaultdict(list)
    for row in json.loads(run.out)["rows"]:
        stacks[row["pid"]].append(Frame(row["function"], row["file"], row["line"], row["line_certainty"], row["source_place"]))
    return stacks


def told(path, *options, stdin=None):
    """By pid, the frames of each process as beamheap has them, youngest first."""
    query = "SELECT pid, depth, function, file, line, line_certainty, source_place FROM frame ORDER BY pid, depth"
    return _stacks(s.run("sql", path, query, "--json", "--max-rows", 1000000, *options, stdin=stdin, timeout=120))


def told_of_stream(path):
    """The same of the input's bytes, which can't be read twice."""
    return told("-", stdin=path)


def truth(path):
    """By pid, status and frames as the VM said them."""
    stacks = {}
    for row in path.read_text("utf-8").splitlines():
        pid, status, _, function, file, line = row.split("\t")
        stacks.setdefault(pid, (status, []))[1].append((function, file, int(line)))
    return stacks


class Comparison:
    """Counts of frames: `exact` one line, and right; `several` more than one, the right one among them; `none` without a line
    that have one; `silent` that have none and are told none; `beyond` that the VM itself has no line of. `wrong` are listed."""

    def __init__(self, stacks, said):
        self.exact = self.several = self.none = self.silent = self.beyond = self.unlike = 0
        self.wrong, self.without, self.open = [], [], []
        for pid, (status, frames) in said.items():
            ours = stacks.get(pid, [])
            for depth, (function, file, line) in enumerate(frames):
                if depth >= len(ours) or ours[depth].function.replace("'", "") != function.replace("'", ""):
                    self.unlike += 1
                    break
                self.one(f"{pid} {status} {depth} {function}", ours[depth], file, line)

    def one(self, label, ours, file, line):
        lines = [int(part) for part in ours.place.rsplit(":", 1)[1].split(" or ")] if ours.place else []
        told = ours.file or (ours.place or "").rpartition(":")[0]
        right = line in lines and told.rsplit("/", 1)[-1] == file.rsplit("/", 1)[-1]
        if not lines:
            if line:
                self.none += 1
                self.without.append(f"{label} {file}:{line}")
            else:
                self.silent += 1
        elif file == "-" and not line:
            self.beyond += 1  # the VM's own modules are linked without their lines
        elif len(lines) == 1 and right:
            self.exact += 1
        elif right:
            self.several += 1
            self.open.append(f"{label} {file}:{line}, told {ours.place}")
        else:
            self.wrong.append(f"{label} {file}:{line}, told {ours.place}")

    def __str__(self):
        return f"{self.exact} exact, {self.several} several, {self.none} none, {len(self.wrong)} wrong, {self.silent} without a line, {self.beyond} that the VM does not tell, {self.unlike} unlike"
