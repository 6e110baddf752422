"""Does every fault to the program and writes the table of docs/reliability.md: table.py [--program build/roofs]
[--build build]"""
import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import faults

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- made by tests/faults/table.py -->", "<!-- end -->"


def outcomes(program, build):
    shim = build / "tests" / "libroofs_faults.so"
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

    folder = tempfile.TemporaryDirectory(prefix="roofs-", dir=where)

    def lab(**more):
        return faults.Lab(program, tempfile.mkdtemp(dir=folder.name), **more)
    yield faults.killed(lab(), 200)
    yield faults.interrupted(lab(), 40)
    yield from faults.damaged(lab(n=8, p=20))
    yield from faults.failing_writes(lab(p=64, mu=3, batch=4), shim)
    yield faults.full_disk(lab())
    yield faults.failing_allocations(build)
    few = lab()
    yield faults.source_ends_early(few, 24)
    yield faults.source_changes(few, 24)
    yield faults.source_stalls(few, 16)
    folder.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=ROOT / "build" / "roofs")
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    args = parser.parse_args()
    lines, bad = ["| fault | times tried | times survived | data lost |", "|---|---|---|---|"], 0
    for one in outcomes(Path(args.program).resolve(), args.build.resolve()):
        lines.append(f"| {one.fault} | {one.tried:,} | {one.survived:,} | {one.lost} |")
        print(lines[-1], *one.notes[:3], sep="\n  ", flush=True)
        bad += one.survived != one.tried or one.lost or not one.tried
    text = PAGE.read_text()
    assert BEGIN in text and END in text
    PAGE.write_text(re.sub(f"{BEGIN}.*?{END}", "\n".join([BEGIN, "", *lines, "", END]).replace("\\", "\\\\"), text,
                           flags=re.S))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
