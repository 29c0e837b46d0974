"""Layouts out of the DWARF of the executable: the same as the tables of the same releases, and the same answers.

The VMs are built with debug information by BEAMHEAP_LAB, which takes some minutes the first time.
"""
import json
import pathlib
import re
import shutil
import subprocess

import laboratory
import suite as s

# Differences between a release's table and the DWARF of the laboratory's build of it, each with its reason. There are
# none: the tables were made of the same sources by the same compiler, and Debian's own builds have the same offsets.
EXPLAINED = {}
VERBS = (("top", "-n", "0"), ("stacks", "-n", "0"), ("ets", "-n", "0"), ("modules", "-n", "0"), ("ports",), ("timers",), ("nodes",), ("alloc",),
         ("binaries",), ("profile",))


def checks(core, beam):
    run = s.run("doctor", core, "--exe", beam, "--json", timeout=120)
    if run.code != 0:
        return {"DWARF": str(run), "layout": str(run)}
    # Names come more than once; the first layout is the one that was tried first.
    rows = json.loads(run.out)["checks"]
    return {**{row["name"]: row["detail"] for row in reversed(rows)}, "layouts": [row["detail"] for row in rows if row["name"] == "layout"]}


def answers(core, beam):
    result = {}
    for verb, *options in VERBS:
        run = s.run(verb, core, "--exe", beam, "--json", "--redact", "none", *options, timeout=120)
        result[verb] = json.loads(run.out).get("rows") if run.code == 0 else str(run)
    return result


def row_of(text):
    return dict(re.findall(r"^\.(\w+) = (\w+),$", text, re.M))


def extractor():
    for binary in (s.ASAN, s.BINARY):
        tool = pathlib.Path(binary).parent / "extract_layout"
        if binary and tool.exists():
            return tool
    return None


def tool(*command):
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def against_table(count, label, release, beam):
    if extractor() is None:
        count.skip(f"{label}: field by field (extract_layout is not built)")
        return
    made = subprocess.run([str(extractor()), str(beam)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    table = row_of((s.SOURCE / f"formats/otp/layout/otp{release[:-1]}.inc").read_text())
    found = row_of(s.text(made.stdout))
    different = {name: (found.get(name), table.get(name)) for name in {**table, **found} if found.get(name) != table.get(name)}
    count.check(f"{label}: the table, field by field", made.returncode == 0 and len(found) > 250 and different == EXPLAINED.get(release, {}),
                f"{s.text(made.stderr)[:200]} {len(found)} fields, {different}")
    print(f"    {label}: {len(found)} fields of DWARF, {len(different)} unlike the table's")


def same_answers(count, label, core, beam, other, want):
    got = answers(core, other)
    for verb, rows in want.items():
        count.check(f"{label}: {verb} is the same", isinstance(rows, list) and got[verb] == rows, str(got[verb])[:300])


def with_dwarf_of(beam, other, folder):
    """An executable whose debug information is another one's."""
    forged = folder / "forged.beam.smp"
    sections = [".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str"]
    command = ["objcopy", "-g"]
    for name in sections:
        dumped = tool("objcopy", "--dump-section", f"{name}={folder / name[1:]}", other, "/dev/null")
        if dumped.returncode == 0 and (folder / name[1:]).exists():
            command += ["--add-section", f"{name}={folder / name[1:]}"]
    made = tool(*command, beam, forged)
    return forged if made.returncode == 0 else None


def of_release(count, release, folder, other):
    label = f"OTP {release}"
    built = tool(s.LAB / "otp", "beam", release)
    if not count.check(f"{label}: was built", built.returncode == 0, s.text(built.stdout)[-300:]):
        return None
    tool(s.LAB / "otp", "zoo", release, "core", folder)
    core, beam = folder / f"zoo-{release}.core", folder / f"zoo-{release}.beam.smp"
    if not count.check(f"{label}: its zoo was made", core.exists() and beam.exists()):
        return None
    told = checks(core, beam)
    count.check(f"{label}: the layout is DWARF's", told["layouts"] == ["DWARF of beam.smp"], str(told))
    count.check(f"{label}: doctor says from where, and what differs",
                str(beam) in told["DWARF"] and ("none differs" in told["DWARF"]) == (release not in EXPLAINED), told["DWARF"])
    against_table(count, label, release, beam)

    stripped = folder / "stripped.beam.smp"
    tool("strip", "-g", "-o", stripped, beam)
    told = checks(core, stripped)
    count.check(f"{label}, stripped: the layout is the table's", told["layouts"] == [f"table of OTP {release[:-1]}"], str(told))
    want = answers(core, beam)
    same_answers(count, f"{label}, stripped", core, beam, stripped, want)

    # Debug information in a file of its own, as distributions keep it.
    tool("objcopy", "--only-keep-debug", beam, folder / "apart.debug")
    tool("objcopy", "-g", f"--add-gnu-debuglink={folder / 'apart.debug'}", beam, folder / "apart.beam.smp")
    told = checks(core, folder / "apart.beam.smp")
    count.check(f"{label}: debug information apart", told["layouts"] == ["DWARF of beam.smp"] and "apart.debug" in told["DWARF"], str(told))

    # That of another release does not pass the proof, and the table takes over.
    if other is not None:
        forged = with_dwarf_of(beam, other, folder)
        if count.check(f"{label}: an executable with another's DWARF", forged is not None):
            told = checks(core, forged)
            count.check(f"{label}: wrong DWARF is given up for the table",
                        told["layouts"][-1] == f"table of OTP {release[:-1]}" and "differ from" in told["DWARF"], str(told)[:600])
            same_answers(count, f"{label}, wrong DWARF", core, beam, forged, want)
    return beam


def of_laboratory(count):
    if not laboratory.releases() or not shutil.which("objcopy"):
        count.skip("layouts out of DWARF (no BEAMHEAP_LAB)")
        return
    other = None
    kept = s.TMP / "other.beam.smp"
    for release in laboratory.with_debug_information():
        folder = s.TMP / f"dwarf-{release}"
        folder.mkdir()
        beam = of_release(count, release, folder, other)
        if beam is not None:
            shutil.copy(beam, kept)
            other = kept
        shutil.rmtree(folder, ignore_errors=True)
    kept.unlink(missing_ok=True)
