#!/usr/bin/env python3
"""Correlated sensors, some causes, corrupted responses: what a lasso and roofs say, and optionally susieR.

    sensors.py [--susie] [--seed 1]

A plant has 40 places with eight sensors each. The sensors of a place measure nearly the same: they correlate at .995.
In three places one of the sensors has an effect on the yield; the sensors elsewhere have none. In 12% of the records
the yield is wrong: it was typed in another unit. --susie needs Rscript and the package susieR.
"""
import argparse
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LassoCV

from roofs import RoOFSRegressor

PLACES, SENSORS, RECORDS = 40, 8, 500
CAUSES = {"furnace 3": 2.0, "valve 6": -1.5, "mixer 1": 1.0}
KINDS = ("furnace", "valve", "mixer", *(f"tank {k}" for k in range(PLACES - 3)))


def make(seed):
    """Names, features, responses as typed, which of them are wrong, and the true responses. Half of the records are
    new ones, for predictions."""
    rng = np.random.default_rng(seed)
    names = [f"{kind} {k}" for kind in KINDS for k in range(SENSORS)]
    place = np.repeat(rng.standard_normal((2 * RECORDS, PLACES)), SENSORS, axis=1)
    X = place + 0.07 * rng.standard_normal(place.shape)
    true = 20 + sum(size * X[:, names.index(name)] for name, size in CAUSES.items())
    true += rng.standard_normal(2 * RECORDS)
    wrong = rng.random(2 * RECORDS) < 0.12
    return names, X, np.where(wrong, 1000 * true, true), wrong, true


def report(title, lines):
    print(f"\n{title}")
    print("\n".join(f"  {line}" for line in lines) or "  nothing")


def causes_in(members):
    return sorted(set(members) & set(CAUSES))


def lasso(names, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coef = LassoCV(cv=5, random_state=0).fit(X, y).coef_
    chosen = [names[j] for j in np.argsort(-np.abs(coef)) if coef[j] != 0]
    shown = ", ".join(chosen[:5]) + (", ..." if len(chosen) > 5 else "")
    return [f"{len(chosen)} sensors, {len(causes_in(chosen))} of 3 causes among them: {shown}"] if chosen else []


def susie(names, X, y):
    """Credible sets of susieR at 95%."""
    script = """args <- commandArgs(TRUE)
                X <- as.matrix(read.csv(args[1], header = FALSE)); y <- scan(args[2], quiet = TRUE)
                sets <- susieR::susie(X, y, L = 10)$sets
                for (k in seq_along(sets$cs)) cat(sets$cs[[k]] - 1, "\\n")"""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "X.csv", Path(folder) / "y.csv"
        np.savetxt(files[0], X, delimiter=",", fmt="%.17g")
        np.savetxt(files[1], y, fmt="%.17g")
        done = subprocess.run(["Rscript", "--vanilla", "-e", script, *files], capture_output=True, text=True,
                              check=True)
    return ["one of: " + ", ".join(names[int(j)] for j in line.split()) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--susie", action="store_true", help="also run susieR, which needs R")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    names, X, y, wrong, true = make(args.seed)
    old, new = slice(0, RECORDS), slice(RECORDS, None)
    print(f"{RECORDS} records of {len(names)} sensors, {wrong[old].sum()} of them with a wrong yield; causes: "
          + ", ".join(CAUSES))
    for title, response in (("all yields right", true), ("some yields wrong", y)):
        report(f"lasso, {title}", lasso(names, X[old], response[old]))
        if args.susie:
            report(f"susieR, {title}", susie(names, X[old], response[old]))
        blocks = [(names[k:k + SENSORS], X[old, k:k + SENSORS]) for k in range(0, len(names), SENSORS)]
        model = RoOFSRegressor(30, fdr=0.1).fit_stream(blocks, response[old])
        report(f"roofs, {title}", [f"{group}; per standard deviation {group.effect:+.2f}, 95% interval "
                                   "{:+.2f} to {:+.2f}".format(*group.interval(0.95)) for group in model.groups_])
    _, low, high = model.predict_selected(X[new][:, model.kept_indices_], return_interval=0.9)
    inside = (low <= true[new]) & (true[new] <= high)
    found = model.outliers_
    report("roofs, new records", [
        f"90% intervals hold {inside.mean():.1%} of the true yields; their mean width is {np.mean(high - low):.2f}",
        f"{found.sum()} records are not trusted, {np.sum(found & wrong[old])} of the {wrong[old].sum()} wrong ones"])


if __name__ == "__main__":
    main()
