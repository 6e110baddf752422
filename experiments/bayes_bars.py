#!/usr/bin/env python3
"""Scores of roofs-bayes on random streams: the rows of docs/roofs-bayes.md, mean and standard error over seeds.

    bayes_bars.py [--seeds 2001-2010] [--rows PATTERN] [--roofs build/roofs]

Seeds from 2001 on were not used to develop the method. Two processes run at a time, with one thread each.
"""
import argparse
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

PLAIN = ["--no-intercept", "--no-standardize"]     # the setting of the paper: columns of unit variance, no intercept


def data(n, p, mu, cr=0.3, order="random", **more):
    options = {"n": n, "p": p, "mu": mu, "corruption": cr, "order": order, **more}
    return [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", str(value))], mu


ONE, TWO, RESERVE = ["--passes", "1"], ["--passes", "2"], ["--passes", "1", "--reserve", "1"]
BIG = data(10000, 10000, 1000)
ROWS = [  # name, data, {fit: options}
    ("n=p=10K mu=1K cr=30%", BIG, {"one pass": ONE, "reserve 1": RESERVE, "two passes": TWO}),
    ("p=n=2K mu=400 cr=10%", data(2000, 2000, 400, 0.1), {"one pass": ONE, "two passes": TWO}),
    ("p=20K n=10K mu=2K cr=30%", data(10000, 20000, 2000), {"one pass": ONE, "two passes": TWO}),
    ("no corruption, n=p=10K mu=1K", data(10000, 10000, 1000, 0.0), {"two passes": TWO}),
    *((f"attack {attack}, n=p=2K mu=100 cr=30%", data(2000, 2000, 100, attack=attack), {"two passes": TWO})
      for attack in ("gross", "constant", "shift", "other-model", "sign-flip")),
    *((f"p=400 n=1000 mu=80 cr={cr:.0%}", data(1000, 400, 80, cr),
       {"one pass": ONE, "two passes": TWO,
        "torrent, joint, true ratio": ["--method", "torrent", "--reading", "joint", "--clean-ratio", 1 - cr]})
      for cr in (0.1, 0.2, 0.3, 0.4)),
]


def table_rows(name, order):
    """The settings of a table of the paper, from its JSON file."""
    table = json.loads((Path(__file__).parent / f"{name}.json").read_text())
    fits = {"one pass": ONE, "two passes": TWO} if name == "table1" else {"one pass": ONE}
    for (k, panel), (i, at) in itertools.product(enumerate(table["panels"]), enumerate(table["at"])):
        s = {**panel, table["axis"]: at}
        mu = round(s["p"] * s["share"])
        paper = table["paper"]["roofs"][k][i]
        title = f"{name}, {order}: {s['title']}, {table['axis']} {at:.0%} (paper {paper})"
        yield title, data(s["n"], s["p"], mu, s["corruption"], order, noise_var=s["noise_var"]), fits


def run(roofs, *args):
    return subprocess.run([roofs, *map(str, args)], check=True, capture_output=True, text=True).stdout


def measure(roofs, method, row, seed):
    _, (options, mu), fits = row
    folder = Path(tempfile.mkdtemp(prefix="roofs-bars-"))
    try:
        run(roofs, "simulate", "-q", "-o", folder, "--seed", seed, "--threads", 1, *options)
        scores = {}
        for name, more in fits.items():
            run(roofs, "fit", "-q", "--method", method, "--threads", 1, "--orient", "features", *PLAIN, *more,
                "--mu", mu, "--y", folder / "y.npy", folder / "X.npy", "-o", folder / "model.json")
            scores[name] = json.loads(run(roofs, "evaluate", folder / "model.json", folder))
            model = json.loads((folder / "model.json").read_text())
            scores[name]["trusted"] = model["trusted"] / model["n"]
        return scores
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="2001-2010")
    parser.add_argument("--rows", default="^(?!table)",
                        help="regular expression; the paper's table1 and table2 are left out by default")
    parser.add_argument("--method", default="roofs-bayes")
    parser.add_argument("--roofs", default=str(Path(__file__).parents[1] / "build" / "roofs"))
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    rows = [*ROWS, *(row for order in ("first", "random") for name in ("table1", "table2")
                     for row in table_rows(name, order))]
    print(f"method {args.method}, seeds {args.seeds}: mean (standard error)\n")
    print("| setting | fit | feature F1 | L2 error | clean-set F1 | trusted |\n|---|---|---|---|---|---|", flush=True)
    with ThreadPoolExecutor(2) as pool:
        for row in rows:
            if not re.search(args.rows, row[0]):
                continue
            results = list(pool.map(lambda seed: measure(args.roofs, args.method, row, seed), seeds))
            for fit in row[2]:
                cells = []
                for key in ("feature_f1", "l2_error", "clean_f1", "trusted"):
                    values = np.array([result[fit][key] for result in results])
                    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
                    cells.append(f"{values.mean():.4f} ({error:.4f})")
                print(f"| {row[0]} | {fit} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
