"""Prints the coverage of each layer of src and compares it with the floors: coverage.py SUMMARY.json FLOORS

A line of FLOORS has a folder, "lines" or "branches", and the least percentage.
"""
import json
import sys
from collections import Counter
from pathlib import Path


def count(summary):
    """{(folder, kind): [covered, all]} of every folder of src, and of src itself."""
    numbers = {}
    for file in json.loads(Path(summary).read_text())["files"]:
        name = file["filename"]
        for folder in ("src", "/".join(name.split("/")[:2])):
            for kind in ("line", "branch"):
                found = numbers.setdefault((folder, kind + ("es" if kind == "branch" else "s")), [0, 0])
                found[0] += file[f"{kind}_covered"]
                found[1] += file[f"{kind}_total"]
    return numbers


def read_floors(path):
    rows = [line.split() for line in Path(path).read_text().splitlines() if line and not line.startswith("#")]
    return {(folder, kind): float(percent) for folder, kind, percent in rows}


def main(summary, floors):
    numbers, floors = count(summary), read_floors(floors)
    below = Counter()
    print(f"{'folder':12} {'':9} {'covered':>8} {'of':>8} {'percent':>8} {'floor':>6}")
    for (folder, kind), (covered, total) in sorted(numbers.items()):
        percent, floor = 100 * covered / max(total, 1), floors.pop((folder, kind), None)
        below[folder, kind] = floor is not None and percent < floor
        print(f"{folder:12} {kind:9} {covered:8} {total:8} {percent:8.1f} {'' if floor is None else floor:>6}"
              f"{'  BELOW' if below[folder, kind] else ''}")
    for folder, kind in floors:
        print(f"coverage: {folder} has a floor but no {kind}")
    return 1 if floors or any(below.values()) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
