"""What a sick node has more than its healthy twin, by the ledger of each: at least nine tenths of it are to be in one row by name."""
import collections

BESIDE = ("carriers", "outside")  # what the VM has of the system beside its own total
LEAST = 4 << 20  # bytes: what two nodes of one kind differ by anyhow
ENOUGH = 0.9


def by_owner(document):
    """Bytes by area and owner; pids differ from run to run."""
    owners = collections.Counter()
    for row in document["rows"]:
        if row["area"] not in BESIDE:
            owners[row["area"], (row["owner"] or "").split(" <")[0].split(" #PID")[0], row["item"] if row["owner"] is None else ""] += row["bytes"]
    return owners


def grown(sick, healthy):
    """How much more the sick node has in all, where most of that is by name, how much that is, and the next places. A process and
    its table of the same name are one owner."""
    before, after = by_owner(healthy), by_owner(sick)
    for areas in (before, after):
        for (area, owner, item), size in list(areas.items()):
            if area == "ets" and owner and ("processes", owner, "") in areas:
                areas["processes", owner, ""] += areas.pop((area, owner, item))
    growth = sorted(((after[owner] - before[owner], owner) for owner in after | before), reverse=True)
    more = sick["totals"]["memory_total_bytes"] - healthy["totals"]["memory_total_bytes"]
    most, owner = growth[0]
    return more, owner, most, growth[:4]


def check(tests, label, sick, healthy, enough=ENOUGH):
    """Nothing is asked of nodes that differ by little."""
    more, owner, most, places = grown(sick, healthy)
    if more >= LEAST:
        tests.check(f"{label}: what has grown is in one row", most >= enough * more, f"{most} of {more}: {places}")
        tests.check(f"{label}: that row has a name", bool(owner[1]) or owner[2] not in ("", "untold"), str(places))
