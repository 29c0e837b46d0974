"""Readers of what beamheap exports: packages of npm where they can be had, and decoders of formats, written from their
public descriptions, where not."""
import os
import pathlib
import shutil
import subprocess

import suite as s


def from_npm(tests, packages, why):
    """A folder whose node_modules has these packages, or None with the reason printed: BEAMHEAP_NPM, or made in matrix mode."""
    given = os.environ.get("BEAMHEAP_NPM")
    if given and all((pathlib.Path(given) / "node_modules" / each).is_dir() for each in packages):
        return pathlib.Path(given)
    if s.MODE != "matrix" or not (shutil.which("npm") and shutil.which("node")):
        tests.skip(f"{why}: in matrix mode, with node and npm")
        return None
    folder = s.TMP / "npm"
    folder.mkdir(exist_ok=True)
    run = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *packages], cwd=folder, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=600)
    if run.returncode:
        tests.skip(f"{why}: npm has not {' '.join(packages)}: {s.text(run.stdout)[-200:]}")
        return None
    return folder


def node(folder, program, *arguments):
    """What a program for node (the text of an ES module) prints, run where it finds the folder's packages."""
    path = folder / f"run-{os.getpid()}.mjs"
    path.write_text(program, "utf-8")
    run = subprocess.run(["node", "--max-old-space-size=4096", path, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, timeout=600)
    path.unlink()
    return run


def visualvm(tests):
    """VisualVM's reader of Java's heap dumps (a .jar of Debian's package), or None with the reason printed: BEAMHEAP_VISUALVM, or
    fetched in matrix mode."""
    name = "org-graalvm-visualvm-lib-jfluid-heap.jar"
    given = os.environ.get("BEAMHEAP_VISUALVM")
    if given and pathlib.Path(given).is_file() and shutil.which("java"):
        return pathlib.Path(given)
    if s.MODE != "matrix" or not (shutil.which("java") and shutil.which("apt-get")):
        tests.skip("VisualVM's reader: in matrix mode, with java and Debian's packages")
        return None
    folder = s.TMP / "visualvm"
    run = subprocess.run([s.SOURCE / "tests/support/unpacked_packages", folder, "visualvm"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    found = list(folder.rglob(name))
    if run.returncode or not found:
        tests.skip(f"VisualVM's reader can't be fetched: {s.text(run.stdout)[-200:]}")
        return None
    return found[0]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def protobuf(data):
    """The fields of a message of Protocol Buffers, in order: (number, an integer or bytes)."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a field is cut")
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def packed(data):
    at = 0
    values = []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def pprof(data):
    """A profile (profile.proto of pprof), decompressed: {"types": [(name, unit)], "default": name, "comments": [...],
    "samples": [(frames, oldest first, values, labels)]}."""
    fields = list(protobuf(data))
    strings = [value.decode("utf-8") for number, value in fields if number == 6]
    if strings[0]:
        raise ValueError("the first string is not empty")
    functions, locations, samples = {}, {}, []
    for number, value in fields:
        if number == 5:
            inner = dict(protobuf(value))
            functions[inner[1]] = strings[inner[2]]
        elif number == 4:
            inner = dict(protobuf(value))
            locations[inner[1]] = dict(protobuf(inner[4]))[1]
    for number, value in fields:
        if number != 2:
            continue
        frames, values, labels = [], [], {}
        for inner, held in protobuf(value):
            if inner == 1:
                frames = [functions[locations[each]] for each in reversed(packed(held))]
            elif inner == 2:
                values = packed(held)
            elif inner == 3:
                label = dict(protobuf(held))
                labels[strings[label[1]]] = strings[label[2]] if 2 in label else label.get(3, 0)
        samples.append((tuple(frames), values, labels))
    one = dict(fields)
    types = [dict(protobuf(value)) for number, value in fields if number == 1]
    return {"types": [(strings[each[1]], strings[each[2]]) for each in types], "default": strings[one[14]] if 14 in one else "",
            "comments": [strings[value] for number, value in fields if number == 13], "samples": samples}
