#!/usr/bin/env python3
"""Compares roofs with its peers on real tables and on attacks, and writes both sections of docs/rivals.md.

    rivals_tables.py --tables FOLDER --cache FILE.csv                        fits what the cache does not have
    rivals_tables.py --tables FOLDER --cache FILE.csv --only roofs --again   the rows of roofs anew, the rest as it is
    rivals_tables.py --cache FILE.csv --only none                            no fits, only the page

FOLDER has NAME.csv.xz with the features and the response y. Needs the roofs package, scikit-learn, pandas and
statsmodels; also Rscript with the packages robustbase, robustHD and glmnet, or their methods are left out. The cache
has a line per fit, so a run that was stopped goes on where it ended, and several runs may share a cache.
"""
import argparse
import csv
import datetime
import io
import itertools
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")   # before NumPy is loaded

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "experiments")]
import rivals
import rivals_page
import robustness

SETS = ("autos", "bike", "concrete2", "elevators", "energy", "gas", "gasoline", "housing2", "nir", "topgear")
CORRUPTIONS = [("none", 0.0)] + [(a, s) for s in (.1, .2, .3, .4) for a in ("uniform", "constant", "swap")]
SHARES = (.1, .2, .3, .4, .45)
ATTACKS = {**robustness.ATTACKS, "sign-flip of the largest": ("largest", "sign-flip", False)}
TEST = 2000   # test samples of an attack
FIELDS = ("set", "attack", "share", "seed", "method", "mae", "seconds", "version", "made", "note")


# ---- data: every cell has a set, an attack, a share and a seed ------------------------------------

def quadratic(X):
    X = (X - X.mean(0)) / X.std(0)
    return np.column_stack([X, X ** 2] + [X[:, i] * X[:, j] for i, j in itertools.combinations(range(X.shape[1]), 2)])


def load(folder, name):
    """The features, with squares and products if the name ends in 2, and the responses."""
    import pandas as pd
    frame = pd.read_csv(io.BytesIO(lzma.open(folder / f"{name.rstrip('2')}.csv.xz").read()))
    X, y = frame.drop(columns="y").to_numpy(float), frame["y"].to_numpy(float)
    return (quadratic(X) if name.endswith("2") else X), y


def corrupted(y, attack, share, rng):
    count = round(share * len(y))
    bad, z = rng.permutation(len(y))[:count], y.copy()
    if attack == "uniform":
        z[bad] += rng.uniform(-5, 5, count) * np.ptp(y)
    elif attack == "constant":
        z[bad] = y.max() + 3 * y.std()
    elif attack == "swap":
        z[bad] = z[bad[rng.permutation(count)]]
    return z


def table_cells(folder, name, split):
    """20% of the samples are for testing. The training samples give the scales. One stream of random numbers."""
    X, y = load(folder, name)
    rng = np.random.default_rng(1000 + split)
    order, m = rng.permutation(len(y)), max(4, round(.2 * len(y)))
    test, train = order[:m], order[m:]
    scale = X[train].std(0)
    keep = scale > 1e-10 * (np.abs(X[train]).max(0) + 1e-300)
    X = (X[:, keep] - X[train][:, keep].mean(0)) / scale[keep]
    y = (y - np.median(y[train])) / y[train].std()
    for attack, share in CORRUPTIONS:
        yield SimpleNamespace(key=(name, attack, share, split), X=X[train], y=corrupted(y[train], attack, share, rng),
                              T=X[test], t=y[test], oracle=None)


def attack_cells(seed):
    """The problems of experiments/robustness.py, with test samples that have noise but no corruption."""
    none = {"none": ("anywhere", "zero", False), "none, far samples": ("anywhere", "zero", True)}
    for name, (place, change, far) in {**none, **ATTACKS}.items():
        for share in SHARES if name in ATTACKS else (0.0,):
            problem = robustness.Problem(seed)
            if far:
                problem.lever()
            y, clean = robustness.attacked(problem, place, change, share)
            rng = np.random.default_rng(10000 + seed)
            T = rng.standard_normal((TEST, robustness.P))
            yield SimpleNamespace(key=("synthetic", name, share, seed), X=problem.X, y=y, T=T,
                                  t=T @ problem.beta + .3 * rng.standard_normal(TEST), oracle=(clean, problem.true))


def cells(args):
    """By seed first, so that a run which is stopped has seen every data set."""
    for seed in range(max(args.splits, args.seeds)):
        for name in SETS if args.tables and seed < args.splits else ():
            yield from table_cells(args.tables, name, seed)
        if seed < args.seeds:
            yield from attack_cells(seed + 1)


# ---- peers in Python: (cell) -> predictions -------------------------------------------------------

def by_rivals(fit, **more):
    """A method of bench/rivals.py without the number of features."""
    return lambda cell: fit(cell.X, cell.y, 0, **more)[0](cell.T)


def sklearn_fit(model, cell):
    return rivals.scaled(model).fit(cell.X, cell.y).predict(cell.T)


def ridge(cell):
    from sklearn.linear_model import RidgeCV
    return sklearn_fit(RidgeCV(np.logspace(-4, 4, 17)), cell)


def quantile(cell):
    from sklearn.linear_model import QuantileRegressor
    from sklearn.model_selection import GridSearchCV, KFold
    search = GridSearchCV(QuantileRegressor(), {"alpha": [.0005, .003, .01, .03, .1]},
                          cv=KFold(5, shuffle=True, random_state=0), scoring="neg_mean_absolute_error")
    return sklearn_fit(search, cell)


def roofs_default(cell):
    from roofs import RoOFSRegressor
    return RoOFSRegressor().fit(cell.X, cell.y).predict(cell.T)


def roofs_cv(cell):
    from roofs import RoOFSRegressorCV
    return RoOFSRegressorCV().fit(cell.X, cell.y).predict(cell.T)


def constant(cell):
    return np.full(len(cell.t), np.median(cell.y))


def oracle(cell):
    """Least squares on the clean samples and the true features."""
    if cell.oracle is None:
        raise ValueError("the page computes it from the rows without corruption")
    clean, true = cell.oracle
    ones = np.ones((len(cell.y), 1)), np.ones((len(cell.t), 1))
    return np.hstack([ones[1], cell.T[:, true]]) @ np.linalg.lstsq(np.hstack([ones[0], cell.X[:, true]])[clean],
                                                                  cell.y[clean], rcond=None)[0]


PYTHON = {   # name -> (package, method)
    "roofs": ("roofs", roofs_default), "roofs, CV": ("roofs", roofs_cv),
    "oracle": ("numpy", oracle), "constant": ("numpy", constant),
    "RidgeCV": ("scikit-learn", ridge), "LassoCV": ("scikit-learn", by_rivals(rivals.fit_lasso)),
    "OrthogonalMatchingPursuitCV": ("scikit-learn", by_rivals(rivals.fit_omp)),
    "HuberRegressor": ("scikit-learn", by_rivals(rivals.fit_huber)),
    "HuberRegressor, alpha tuned": ("scikit-learn", by_rivals(rivals.fit_huber_cv,
                                                              alphas=(1e-4, .01, 1, 10, 100, 1000))),
    "QuantileRegressor, L1 tuned": ("scikit-learn", quantile),
    "statsmodels RLM (Tukey)": ("statsmodels", by_rivals(rivals.fit_rlm)),
    "RANSACRegressor(Lasso)": ("scikit-learn", by_rivals(rivals.fit_ransac)),
    "TheilSenRegressor": ("scikit-learn", by_rivals(rivals.fit_theilsen)),
}


# ---- peers in R ---------------------------------------------------------------------------------

R = {"cv.glmnet, mae": ("glmnet", "glmnet"), "robustbase lmrob": ("robustbase", "lmrob"),
     "robustHD sparseLTS": ("robustHD", "sparseLTS"),
     "robustHD sparseLTS, half": ("robustHD", "half")}   # name -> (package, method in peers.R)


class Peers:
    """The process of peers.R. It begins with the first question, and again after a fit that took too long."""

    def __init__(self, folder, limit):
        self.path, self.limit, self.versions, self.process = Path(folder) / "cell", limit, {}, None

    def begin(self):
        self.process = subprocess.Popen(["Rscript", "--vanilla", str(ROOT / "bench/peers.R")], text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.versions = dict(line.split() for line in iter(self.process.stdout.readline, "\n") if line.strip())

    def why_not(self, package):
        """The reason why a package cannot be used, or None."""
        if shutil.which("Rscript") is None:
            return "Rscript is not installed"
        if self.process is None:
            self.begin()
        return None if package in self.versions else f"the R package {package} is not installed"

    def predict(self, method, cell):
        numbers = [np.array([*cell.X.shape, len(cell.T)], float), cell.X.T.ravel(), cell.y, cell.T.T.ravel()]
        np.concatenate(numbers).tofile(self.path)
        timer = threading.Timer(self.limit, self.process.kill)
        timer.start()
        self.process.stdin.write(f"{method} {self.path}\n")
        answer = self.process.stdout.readline().strip()
        timer.cancel()
        if not answer:
            self.process.wait()
            self.begin()
            raise TimeoutError(f"more than {self.limit} s")
        if answer != "ok":
            raise ValueError(answer.removeprefix("fail "))
        return np.fromfile(f"{self.path}.out")


def methods(peers, only):
    """(name, version, method) of all methods that can run and whose name begins with one of `only`."""
    from importlib.metadata import PackageNotFoundError, version
    only = tuple(only.split(","))
    for name, (package, method) in PYTHON.items():
        if name.startswith(only):
            try:
                yield name, f"{package} {version(package)}", method
            except PackageNotFoundError:
                print(f"the package {package} is not installed: {name} is left out", file=sys.stderr)
    for name, (package, method) in R.items():
        if name.startswith(only) and peers.why_not(package):
            print(f"{peers.why_not(package)}: {name} is left out", file=sys.stderr)
        elif name.startswith(only):
            yield name, f"{package} {peers.versions[package]}", lambda cell, method=method: peers.predict(method, cell)


# ---- fits ---------------------------------------------------------------------------------------

def read(cache):
    """{(set, attack, share, seed, method): row}. A later line replaces an earlier one."""
    if not cache.exists():
        return {}
    with open(cache, newline="", encoding="utf-8") as file:
        return {(r["set"], r["attack"], float(r["share"]), int(r["seed"]), r["method"]): r
                for r in csv.DictReader(file)}


def append(cache, row):
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    if not cache.exists():
        out.writerow(FIELDS)
    out.writerow(row)
    with open(cache, "a", encoding="utf-8") as file:
        file.write(text.getvalue())


def measured(method, cell, limit):
    """(mean absolute error, seconds, note)"""
    def too_long(*_):
        raise TimeoutError(f"more than {limit} s")
    start = time.perf_counter()
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(limit + 5)
    try:
        with warnings.catch_warnings():   # some peers change the filters
            warnings.simplefilter("ignore")
            error = np.abs(method(cell) - cell.t).mean()
        note = "" if np.isfinite(error) else "not finite"
    except (ValueError, ArithmeticError, np.linalg.LinAlgError, TimeoutError) as reason:
        error, note = np.nan, str(reason).splitlines()[0][:80]
    finally:
        signal.alarm(0)
    return "" if note else f"{error:.6g}", f"{time.perf_counter() - start:.3f}", note


def fit_all(args, peers):
    wanted = list(methods(peers, args.only))
    have = {} if args.again else read(args.cache)
    if not wanted:
        return
    made, count = datetime.date.today().isoformat(), 0
    for cell in cells(args):
        for name, version, method in wanted:
            if (*cell.key, name) in have or (name == "oracle" and cell.oracle is None):
                continue
            mae, seconds, note = measured(method, cell, args.limit)
            append(args.cache, (*cell.key, name, mae, seconds, version, made, note))
            count += 1
            print(*cell.key, name, mae or note, f"{seconds} s", file=sys.stderr, flush=True)
    print(f"{count} fits", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, help="folder of the tables; without it only the attacks are fitted")
    parser.add_argument("--cache", type=Path, required=True, help="CSV file of all fits")
    parser.add_argument("--only", default="", help="fit methods whose names begin like this (several: with commas)")
    parser.add_argument("--again", action="store_true", help="fit even what the cache has")
    parser.add_argument("--splits", type=int, default=3, help="splits of every table (3)")
    parser.add_argument("--seeds", type=int, default=10, help="seeds of every attack (10)")
    parser.add_argument("--limit", type=int, default=120, help="seconds per fit (120)")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/rivals.md", help="page whose sections are replaced")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fit_all(args, Peers(folder, args.limit))
    rivals_page.write(args.page, read(args.cache).values(), (*PYTHON, *R))


if __name__ == "__main__":
    main()
