"""Line coverage of a build with --coverage: of each room (a folder of sources) and, with --files, of each file; least covered last.
A room that is below its floor in FLOORS (room, tab, percent) fails; --update writes the floors anew, two points below what was measured.

    coverage.py ROOT BUILD FLOORS [--files | --update]
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

SLACK = 2.0  # points: threads that are late and random inputs make runs differ


def lines_of(data, root, build):
    """{file: {line: times}} of what one unit of the compiler has counted"""
    shown = subprocess.run(["gcov", "--json-format", "--stdout", data], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=build, check=False).stdout
    found = collections.defaultdict(collections.Counter)
    for text in filter(None, shown.split(b"\n")):
        for file in json.loads(text)["files"]:
            path = pathlib.Path(build, file["file"]).resolve()
            if path.is_relative_to(root) and path.relative_to(root).parts[0] in ("src", "include", "formats"):
                for row in file["lines"]:
                    found[str(path.relative_to(root))][row["line_number"]] += row["count"]
    return found


def main(root, build, floors, wish=""):
    hits = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda data: lines_of(data, root, build), build.rglob("*.gcda")):
            for name, lines in found.items():
                hits[name].update(lines)
    rooms, files = collections.defaultdict(collections.Counter), []
    for name, lines in hits.items():
        good = sum(count > 0 for count in lines.values())
        files.append((100 * good / len(lines), good, len(lines), name))
        for room in (str(pathlib.PurePath(name).parent), "all"):
            rooms[room].update(covered=good, lines=len(lines))
    if wish == "--files":
        for share, good, lines, name in sorted(files, reverse=True):
            print(f"{share:5.1f} %  {good:5} of {lines:5}  {name}")
        return 0
    shares = {room: 100 * count["covered"] / count["lines"] for room, count in rooms.items()}
    if wish == "--update":
        floors.write_text("# Percent of each room's lines that tests/coverage asks for; tests/coverage --update writes it. - : not measured yet, which fails there.\n" +
                          "".join(f"{room}\t{max(0.0, shares[room] - SLACK):.1f}\n" for room in sorted(shares)), encoding="utf-8")
    rows = dict(line.split("\t") for line in floors.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#"))
    asked = {room: floor for room, floor in rows.items() if floor != "-"}
    low = [room for room in asked if shares.get(room, 0.0) < float(asked[room])]
    for room, share in sorted(shares.items(), key=lambda row: -row[1]):
        below = "  BELOW its floor" if room in low else "" if room in asked else "  no floor: --update writes one"
        print(f"{share:5.1f} %  {rooms[room]['covered']:6} of {rooms[room]['lines']:6}  {room}{below}")
    for room in low:
        if room not in shares:
            print(f"{room}: has a floor and no lines")
    unknown = [room for room in shares if room not in asked]
    print(f"{len(shares) - len(low) - len(unknown)} passed, {len(low) + len(unknown)} failed, 0 skipped")
    return 1 if low or unknown else 0


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:4]), *sys.argv[4:]))
