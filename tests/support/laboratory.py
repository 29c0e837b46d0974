"""The laboratory (BEAMHEAP_LAB): which releases and flavours of the VM it runs, and which of them a suite takes in this run.

`otp releases` names them: a number alone is a package of x86-64 with the JIT (from 24 on), whole enough for scenarios; `n` is
built without the JIT, `m` as well and linked with musl; `a` is of arm64. No suite lists releases itself: a release that the
laboratory gains is taken by all of them, and one that it loses by none.
"""
import functools
import os
import re
import subprocess

import suite as s

OTP = s.LAB / "otp"


@functools.cache
def releases():
    """All names in the laboratory's order; none where there is no laboratory."""
    if not OTP.exists():
        return ()
    return tuple(subprocess.run([OTP, "releases"], stdout=subprocess.PIPE, check=True, text=True).stdout.split())


def number(release):
    """The release of a name: 25 of 25n."""
    return int(re.match(r"\d+", release)[0])


def has_jit(release):
    return release[-1] not in "nm" and number(release) >= 24


def packaged():
    """Those that scenarios run on: packages of x86-64."""
    return [release for release in releases() if release.isdigit()]


def without_jit():
    """The interpreters of releases that have a JIT, with either C library."""
    return [release for release in releases() if release[-1] in "nm"]


def of_arm64():
    return [release for release in releases() if release.endswith("a")]


def native():
    """Those of this machine's processor: packaged() and without_jit()."""
    return [release for release in releases() if not release.endswith("a")]


def with_debug_information():
    """Those that the laboratory also builds with DWARF (27g), where it can have the source."""
    return [release + "g" for release in packaged() if number(release) < 29]


def is_proved(release):
    """Whether the table of core layouts says that a VM has proved this release's row."""
    flavour = "jit" if has_jit(release) else "interpreter"
    table = (s.SOURCE / "formats/otp/layout/layouts.cpp").read_text()
    return f"row({number(release)}, Flavour::{flavour}, Proof::by_vm" in table


def taken(tests, which, by_turns=False):
    """Those of `which` that this run takes: all of them with --matrix; one by the number of the commit, where they are taken by
    turns, without it, and none with --quick. BEAMHEAP_RELEASES names others ("25n 29a", "all"). Where none is taken, the
    suite has skipped something."""
    wanted = os.environ.get("BEAMHEAP_RELEASES", "").split()
    if not releases():
        tests.skip(f"other releases of the VM: there is no {OTP} (BEAMHEAP_LAB)")
        return []
    if wanted:
        return [release for release in which if release in wanted or wanted == ["all"]]
    if s.MODE == "matrix":
        return list(which)
    if by_turns and s.MODE != "quick":
        return [which[s.number_of_the_commit() % len(which)]] if which else []
    tests.skip(f"other releases of the VM: {'not with --quick' if by_turns else 'only with --matrix'}")
    return []
