#!/usr/bin/env python3
"""The dumps of tests/answers/running.tar.zst: one of each scenario of 36-running, with the facts that its node wrote down. Where
there is no time for a node of each, what is said is held against these.

`BEAMHEAP_KEEP=FOLDER tests/suites/36-running` lets all nodes live and leaves in FOLDER what was told rightly;
`tests/support/kept_running.py FOLDER` makes the archive of it anew.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import suite as s

ARCHIVE = s.SOURCE / "tests/answers/running.tar.zst"
LARGEST = 1_200_000  # bytes of a dump: all have most atoms and modules in common, and take some twenty kilobytes of the archive


def unpacked(folder):
    """{scenario: path without ending} of what the archive has, unpacked into `folder`; empty where it can't be."""
    folder.mkdir()
    if not ARCHIVE.exists() or subprocess.run(["tar", "-I", "zstd -d --long=27", "-xf", ARCHIVE, "-C", folder], stderr=subprocess.DEVNULL, check=False).returncode:
        return {}
    return {path.stem: path.with_suffix("") for path in sorted(folder.glob("*.dump"))}


def facts_of(base):
    """What its node wrote down."""
    return json.loads(base.with_suffix(".json").read_text("utf-8"))


def keep(folder, scenario, base, truth):
    """One that was told rightly, unless it is too large."""
    if base.with_suffix(".dump").stat().st_size <= LARGEST:
        place = pathlib.Path(folder) / scenario
        place.with_suffix(".dump").write_bytes(base.with_suffix(".dump").read_bytes())
        place.with_suffix(".json").write_text(json.dumps(truth["facts"], sort_keys=True))


def archive(folder):
    names = sorted(path.name for path in pathlib.Path(folder).iterdir() if path.suffix in (".dump", ".json"))
    names.sort(key=lambda name: (not name.endswith(".json"), name))
    with tempfile.NamedTemporaryFile() as tar:
        subprocess.run(["tar", "--owner=0", "--group=0", "--mode=644", "--mtime=@0", "-cf", tar.name, "-C", folder, *names], check=True)
        subprocess.run(["zstd", "-q", "-19", "--long=27", "-f", "-o", ARCHIVE, tar.name], check=True)
    print(f"{len(names) // 2} scenarios, {ARCHIVE.stat().st_size} bytes")


if __name__ == "__main__":
    archive(sys.argv[1])
