#!/usr/bin/env python3
"""Errors under adversarial corruption: the tables and the figure of docs/robustness.md.

    robustness.py [--seeds 3] [--first-seed 1] [--shares 0.4 0.45] [--search-seeds 1]
                  [--roofs build/roofs] [-o FOLDER] [--quick]

Three parts: attacks on the responses, at shares from 0 to 49.7%; the worst of all attacks for each method; extreme
numbers. Every fit is a call of the program with its defaults. Writes attacks.csv, hostile.csv and breakdown.png, and
prints the tables as Markdown, and the attacks that exceed the oracle by more than the bars.
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.497)     # the last is n / 2 - 1 of 400 samples
N, P, TRUE = 400, 200, 10
MANY = N // 3
METHODS = {  # batch-wise methods in their better reading; torrent needs the share of samples to trust
    "roofs": [], "roofs-bayes": [], "torrent": ["--reading", "joint", "--clean-ratio", "0.5"],
    "rlhh": ["--reading", "joint"]}
GENEROUS = f"roofs-bayes, mu {MANY}"                 # a row of the tables beside the methods with mu = TRUE
TITLES = {"roofs": "RoOFS (2018)"}                   # how tables and legends call a method; else its name
ROWS = ("roofs", "roofs-bayes", GENEROUS, "torrent", "rlhh", "oracle")
BARS = {0.4: 0.05, 0.45: 0.1}                        # how far roofs-bayes may be from the oracle, by share
SIGN_FLIP_BAR = 0.15                                 # a flip leaves the features as they are: harder to see


class Problem:
    """y = X beta + noise. The adversary may change y on at most `bad` samples."""

    def __init__(self, seed, noise=0.3):
        self.rng = np.random.default_rng(seed)
        self.X = self.rng.standard_normal((N, P))
        self.beta = np.zeros(P)
        self.true = self.rng.choice(P, TRUE, replace=False)
        self.beta[self.true] = self.rng.uniform(1, 2, TRUE) * self.rng.choice((-1, 1), TRUE)
        self.noise = noise * self.rng.standard_normal(N)
        self.clean_y = self.X @ self.beta + self.noise

    def lever(self):
        """Multiplies a tenth of the samples by ten."""
        far = self.rng.choice(N, N // 10, replace=False)
        self.X = np.where(np.isin(np.arange(N), far)[:, None], 10 * self.X, self.X)
        self.clean_y = self.X @ self.beta + self.noise
        return self


# ---- attacks: which samples, and how they change -----------------------------------

def anywhere(p, bad):
    return p.rng.choice(N, bad, replace=False)


def far_out(p, bad):
    return np.argsort(-(p.X[:, p.true] ** 2).sum(1))[:bad]


def largest(p, bad):
    return np.argsort(-np.abs(p.clean_y))[:bad]


def smallest(p, bad):
    return np.argsort(np.abs(p.clean_y))[:bad]


def one_side(p, bad):
    """Samples with large values of the last feature without an effect."""
    return np.argsort(-p.X[:, _idle(p)])[:bad]


def _idle(p):
    return next(j for j in range(P - 1, -1, -1) if p.beta[j] == 0)


def _other(p):
    other = np.zeros(P)
    idle = np.flatnonzero(p.beta == 0)[:TRUE]
    other[idle] = p.rng.uniform(1, 2, TRUE)
    return p.X @ other


def _nudge(size):
    return lambda p, at: p.clean_y[at] + size * np.std(p.clean_y)


CHANGES = {
    "uniform": lambda p, at: p.clean_y[at] + p.rng.uniform(-5, 5, len(at)) * np.abs(p.clean_y).max(),   # the paper's
    "gross": lambda p, at: 1e6 * np.sign(p.rng.standard_normal(len(at))),
    "constant": lambda p, at: np.full(len(at), np.abs(p.clean_y).max()),
    "shift": _nudge(1.0),
    "far shift": _nudge(5.0),
    "sign-flip": lambda p, at: -p.clean_y[at],
    "other-model": lambda p, at: _other(p)[at] + p.noise[at],
    "zero": lambda p, at: np.zeros(len(at)),
    "doubled": lambda p, at: 2 * p.clean_y[at],
    "one feature": lambda p, at: p.clean_y[at] + 3 * p.X[at, _idle(p)],
}
PLACES = {"anywhere": anywhere, "far out": far_out, "largest": largest, "smallest": smallest, "one side": one_side}
ATTACKS = {  # rows of the table: name -> (place, change, has far samples)
    **{name: ("anywhere", name, False) for name in
       ("uniform", "gross", "constant", "shift", "far shift", "sign-flip", "other-model", "zero")},
    "largest flipped": ("largest", "sign-flip", False),
    "uniform beside far samples": ("anywhere", "uniform", True),
    "gross on far samples": ("far out", "gross", True),
    "sign-flip on far samples": ("far out", "sign-flip", True),
}


def attacked(problem, place, change, share):
    """(y, clean flags)."""
    at = PLACES[place](problem, round(share * N))
    y = problem.clean_y.copy()
    y[at] = CHANGES[change](problem, at)
    clean = np.ones(N, bool)
    clean[at] = y[at] == problem.clean_y[at]
    return y, clean


# ---- fits -----------------------------------------------------------------------

def f1(found, true):
    both = np.sum(found & true)
    return 2 * both / max(np.sum(found) + np.sum(true), 1)


class Fitter:
    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)

    def fit(self, method, X, y, mu):
        """(exit code, model or None, message)"""
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            scratch = Path(scratch)
            np.save(scratch / "X.npy", np.ascontiguousarray(X.T))
            np.save(scratch / "y.npy", y)
            done = subprocess.run([self.program, "fit", "-q", "--threads", "1", "--orient", "features",
                                   "--method", method, *METHODS[method], "--mu", str(mu), "--y", scratch / "y.npy",
                                   scratch / "X.npy", "-o", scratch / "m.json"], capture_output=True, text=True)
            model = json.loads((scratch / "m.json").read_text()) if done.returncode == 0 else None
            return done.returncode, model, done.stderr

    def score(self, method, p, y, clean, mu=TRUE):
        """Relative error of beta, F1 of features, F1 of the trusted samples."""
        _, model, _ = self.fit(method, p.X, y, mu)
        coef, found = np.zeros(P), np.zeros(P, bool)
        for f in model["features"]:
            coef[f["index"]] = f["coef"]
            found[f["index"]] = f["coef"] != 0 and (mu == TRUE or f["probability"] > 0.5)
        trust = np.ones(N, bool)
        trust[model["outliers"]] = False
        return (np.linalg.norm(coef - p.beta) / np.linalg.norm(p.beta), f1(found, p.beta != 0), f1(trust, clean))


def least_squares(p, clean):
    """The error of least squares on the true features and the clean samples."""
    A = np.column_stack([np.ones(clean.sum()), p.X[clean][:, p.true]])
    w = np.linalg.lstsq(A, p.clean_y[clean], rcond=None)[0][1:]
    return np.linalg.norm(w - p.beta[p.true]) / np.linalg.norm(p.beta)


def one_cell(fitter, name, share, seed):
    place, change, far = ATTACKS[name]
    p = Problem(seed)
    if far:
        p.lever()
    y, clean = attacked(p, place, change, share)
    rows = [(name, share, seed, m, *fitter.score(m, p, y, clean), change) for m in METHODS]
    rows.append((name, share, seed, GENEROUS, *fitter.score("roofs-bayes", p, y, clean, MANY), change))
    return rows + [(name, share, seed, "oracle", least_squares(p, clean), 1.0, 1.0, change)]


def worst_cell(fitter, share, seed):
    """For each method, the attack with the largest error."""
    rows = []
    for m in METHODS:
        worst = None
        for place in PLACES:
            for change in CHANGES:
                p = Problem(seed)
                y, clean = attacked(p, place, change, share)
                score = fitter.score(m, p, y, clean)
                if worst is None or score[0] > worst[0]:
                    worst = (*score, f"{change}, {place}")
        rows.append(("worst of a search", share, seed, m, *worst))
    return rows


# ---- extreme numbers ---------------------------------------------------------------

def hostile_cases():
    """name -> (X, y, beta in the units of X, clean flags)"""
    p = Problem(1)
    y, clean = attacked(p, "anywhere", "uniform", 0.2)
    X, beta = p.X, p.beta
    yield "as it is", X, y, beta, clean
    yield "features times 2^-1060 (subnormal)", np.ldexp(X, -1060), y, None, clean
    yield "responses times 2^-1060 (subnormal)", X, np.ldexp(y, -1060), np.ldexp(beta, -1060), clean
    yield "features times 1e300", X * 1e300, y, beta / 1e300, clean
    yield "responses times 1e300", X, y * 1e300, beta * 1e300, clean
    scales = 10.0 ** np.linspace(-200, 200, P)
    yield "columns on scales from 1e-200 to 1e200", X * scales, y, beta / scales, clean
    yield "every column twice", np.repeat(X, 2, axis=1), y, None, clean
    near = np.repeat(X, 2, axis=1)
    near[:, 1::2] += 1e-9 * p.rng.standard_normal((N, P))
    yield "every column twice, apart by 1e-9", near, y, None, clean
    half = y.copy()
    half[: N // 2] = 1.0
    yield "half of the responses equal 1", X, half, beta, np.arange(N) >= N // 2
    y, clean = attacked(Problem(1), "anywhere", "gross", 0.497)
    yield "n / 2 - 1 responses gross", X, y, beta, clean
    far = Problem(1).lever()
    y, clean = attacked(far, "far out", "gross", 0.1)
    yield "the tenth with high leverage gross", far.X, y, beta, clean
    yield "one response 1e308", X, np.where(np.arange(N) == 0, 1e308, p.clean_y), beta, np.arange(N) != 0


def selected_truth(model, name, true):
    """F1 of the true features. Either feature of a pair counts as right; both count once."""
    found = {f["index"] // 2 if "twice" in name else f["index"] for f in model["features"] if f["coef"] != 0}
    return 2 * len(found & set(true)) / (len(found) + len(true))


def hostile_row(fitter, method, case):
    name, X, y, beta, clean = case
    code, model, message = fitter.fit(method, X, y, 2 * TRUE if "twice" in name else TRUE)
    if code:
        return name, method, f"exit {code}", "", "", "", message.strip()
    true = np.flatnonzero(Problem(1).beta)
    trust = np.ones(N, bool)
    trust[model["outliers"]] = False
    error = ""
    if beta is not None and "columns on" not in name:
        coef = np.zeros(P)
        for f in model["features"]:
            coef[f["index"]] = f["coef"]
        unit = np.abs(beta).max()
        error = np.linalg.norm(coef / unit - beta / unit) / np.linalg.norm(beta / unit)
    return name, method, model["stop"], error, selected_truth(model, name, true), f1(trust, clean), ""


# ---- tables ------------------------------------------------------------------------

def mean_table(rows):
    """{(attack, method): {share: (error, feature F1, trust F1)}}"""
    cells = {}
    for name, share, _, method, error, features, trust, _ in rows:
        cells.setdefault((name, method), {}).setdefault(share, []).append((error, features, trust))
    return {key: {s: np.mean(v, axis=0) for s, v in cell.items()} for key, cell in cells.items()}


def print_attacks(table, shares):
    names = list(dict.fromkeys(name for name, _ in table))
    for column, title in ((0, "Relative error of the coefficients"), (2, "F1 of the samples trusted")):
        print(f"\n**{title}**\n\n| attack | method | " + " | ".join(f"{s:.3g}" for s in shares) + " |")
        print("|---|---|" + "---|" * len(shares))
        for name in names:
            for method in ROWS:
                cell = table.get((name, method))
                if cell and not (method == "oracle" and column):
                    numbers = " | ".join(f"{cell[s][column]:.2f}" for s in shares)
                    print(f"| {name} | {TITLES.get(method, method)} | {numbers} |")


def print_bars(table, shares):
    """The attacks where roofs-bayes is further from the oracle than the bar, and the number of the others."""
    print("\n| attack | mu | share | error beyond the oracle | bar |\n|---|---|---|---|---|")
    within = 0
    for name, method, share in product(ATTACKS, ("roofs-bayes", GENEROUS), sorted(set(BARS) & set(shares))):
        beyond = table[name, method][share][0] - table[name, "oracle"][share][0]
        bar = SIGN_FLIP_BAR if name == "sign-flip" else BARS[share]
        if beyond <= bar:
            within += 1
        else:
            print(f"| {name} | {MANY if method == GENEROUS else TRUE} | {share:.3g} | {beyond:.2f} | {bar} |")
    print(f"\n{within} others are within the bar.")


def print_hostile(rows):
    print("\n| numbers | method | outcome | error | feature F1 | trust F1 |\n|---|---|---|---|---|---|")
    for name, method, outcome, *numbers, message in rows:
        cells = " | ".join(f"{v:.2f}" if v != "" else "" for v in numbers)
        print(f"| {name} | {TITLES.get(method, method)} | {outcome}{': ' + message if message else ''} | {cells} |")


def draw(table, shares, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    names = list(dict.fromkeys(name for name, _ in table))
    fig, axes = plt.subplots(3, 5, figsize=(15, 8.5), sharex=True, sharey=True)
    colours = {"roofs": "#b9770e", "roofs-bayes": "#1a5276", GENEROUS: "#5dade2", "torrent": "#6c3483",
               "rlhh": "#117a65", "oracle": "#999999"}
    for ax, name in zip(axes.flat, names):
        for method, colour in colours.items():
            cell = table.get((name, method))
            if cell:
                ax.plot([100 * s for s in shares], [min(cell[s][0], 2) for s in shares], color=colour,
                        label=TITLES.get(method, method), marker="o", markersize=3,
                        linestyle="--" if method == "oracle" else "-",
                        linewidth=2.2 if method == "roofs-bayes" else 1.3)
        ax.set_title(name, fontsize=10)
        ax.axhline(1, color="#dddddd", linewidth=0.8, zorder=0)
        ax.set_ylim(-0.05, 2.05)
    for ax in axes.flat[len(names):]:
        ax.axis("off")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="lower right", bbox_to_anchor=(0.97, 0.06), fontsize=11, frameon=False)
    fig.supxlabel("corrupted responses, %", fontsize=11)
    fig.supylabel("relative error of the coefficients (1 = nothing found; cut at 2)", fontsize=11)
    fig.tight_layout()
    fig.savefig(path, dpi=110)


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows([f"{v:.4g}" if isinstance(v, float) else v for v in row] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="shares of corrupted responses")
    parser.add_argument("--search-seeds", type=int, default=1, help="seeds of the search for the worst attack")
    parser.add_argument("--roofs", default="build/roofs")
    parser.add_argument("-o", "--output", type=Path, default=Path("robustness"))
    parser.add_argument("--quick", action="store_true", help="one seed, three shares, no search")
    args = parser.parse_args()
    shares = (0.0, 0.2, 0.4) if args.quick else args.shares
    seeds = range(args.first_seed, args.first_seed + (1 if args.quick else args.seeds))
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        fitter = Fitter(str(Path(args.roofs).resolve()), folder)
        jobs = [pool.submit(one_cell, fitter, name, share, seed)
                for name in ATTACKS for share in shares for seed in seeds]
        if not args.quick:
            jobs += [pool.submit(worst_cell, fitter, share, seed)
                     for share in shares for seed in seeds[:args.search_seeds]]
        rows = []
        for k, job in enumerate(jobs):
            rows += job.result()
            if sys.stderr.isatty():
                print(f"\r{k + 1} of {len(jobs)} cells", end="\n" if k + 1 == len(jobs) else "", file=sys.stderr,
                      flush=True)
        hostile = [hostile_row(fitter, m, case) for case in hostile_cases() for m in METHODS]
    write_csv(args.output / "attacks.csv",
              ("attack", "share", "seed", "method", "error", "feature_f1", "trust_f1", "change"), rows)
    write_csv(args.output / "hostile.csv",
              ("numbers", "method", "outcome", "error", "feature_f1", "trust_f1", "message"), hostile)
    table = mean_table(rows)
    print_attacks(table, shares)
    print_bars(table, shares)
    print_hostile(hostile)
    draw(table, shares, args.output / "breakdown.png")


if __name__ == "__main__":
    main()
