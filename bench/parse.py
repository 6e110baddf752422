#!/usr/bin/env python3
"""Times the reading of text tables on one core: roofs, pandas.read_csv and numpy.loadtxt.

    parse.py [--roofs build/roofs] [--rows 10000] [--columns 500] [--repeat 3]

Measures processor time, which depends little on other load. The time of roofs is that of the whole program: it starts,
parses and transposes rows to columns. The others only make an array.
"""
import argparse
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas


def write(path, values, pattern):
    with open(path, "w") as out:
        out.write(",".join(f"c{j}" for j in range(values.shape[1])) + "\n")
        out.writelines(",".join(pattern % v for v in row) + "\n" for row in values)


def roofs_seconds(program, table):
    """Parses and transposes the whole file, and writes one column."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "convert", "-q", table, "--features", "1", "-o", table.with_suffix(".npy")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--roofs", default=str(Path(__file__).parents[1] / "build" / "roofs"))
    parser.add_argument("--rows", type=int, default=10000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rng = np.random.default_rng(1)
    values = rng.standard_normal((args.rows, args.columns))
    with tempfile.TemporaryDirectory(prefix="roofs-parse-") as name:
        table = Path(name) / "x.csv"
        for what, pattern in (("17 digits", "%.17g"), ("6 digits", "%.6g"), ("counts", "%d")):
            write(table, np.rint(values * 30) if pattern == "%d" else values, pattern)
            times = {"roofs": [], "pandas": [], "numpy": []}
            for _ in range(args.repeat):
                times["roofs"].append(roofs_seconds(args.roofs, table))
                times["pandas"].append(seconds(lambda: pandas.read_csv(table).to_numpy()))
                times["numpy"].append(seconds(lambda: np.loadtxt(table, delimiter=",", skiprows=1)))
            best = {k: min(v) for k, v in times.items()}
            size = table.stat().st_size / 1e6
            print(f"{what:>9}: {size / best['roofs']:5.0f} MB/s; pandas.read_csv takes "
                  f"{best['pandas'] / best['roofs']:.2f} times as long, "
                  f"numpy.loadtxt {best['numpy'] / best['roofs']:.1f} times", flush=True)


if __name__ == "__main__":
    main()
