#!/usr/bin/env python3
"""Measures groups, false discoveries, intervals and probabilities, and writes their tables for docs/uncertainty.md.

    error_control.py --cache FILE.csv [--fitter package] [--first-seed 1001] [--parts groups fdr noise intervals]
    error_control.py --cache FILE.csv --fitter none                  no fits, only the tables
    error_control.py --cache FILE.csv --diagram FILE.png             also the reliability diagram; needs matplotlib

The fitter `package` is the roofs package; `reference` is the slow one of tests/reference, for small problems
(--small). The cache has a line per number, so a run that was stopped goes on where it ended. Needs NumPy. The column
of susieR needs Rscript and that package, and is left out without them; the fitter `susieR` fills only that column.
"""
import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")   # before NumPy is loaded

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
QS = (0.05, 0.1, 0.2)
LEVEL = 0.9
SHARE_EXPLAINED = 0.6                     # of the variance of clean responses
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0001)
FIELDS = ("part", "design", "n", "p", "effects", "mu", "attack", "share", "noise", "seed", "fitter", "measure", "value")
Cell = namedtuple("Cell", "part design n p effects mu attack share noise")
Problem = namedtuple("Problem", "X y beta clean clean_y scale T t")
Found = namedtuple("Found", "members probability exists")
Answer = namedtuple("Answer", "groups complete features interval")


# ---- cells ------------------------------------------------------------------------------------

def cells(parts):
    three = (("none", 0.0), ("gross", 0.1), ("swap", 0.2))
    sizes = [(f"blocks {r}", 1000, 1000, 10) for r in (0.9, 0.99, 0.999)]
    sizes += [(f"ar {r}", 1000, 1000, 10) for r in (0.9, 0.97)]
    sizes += [("genotypes", 1000, 2000, 10), ("genotypes", 500, 1000, 20), ("genotypes", 2000, 5000, 20)]
    yield from (Cell("groups", *size, 5 * size[-1], *attack, "normal") for size in sizes for attack in three
                if "groups" in parts)
    four = (("none", 0.0), ("gross", 0.1), ("gross", 0.3), ("swap", 0.2))
    for design in ("iid", "ar 0.5", "ar 0.9", "ar 0.97"):
        yield from (Cell("fdr", design, 500, 1000, 20, 60, *attack, "normal") for attack in four if "fdr" in parts)
        yield from (Cell("noise", design, 500, 1000, 0, 60, *attack, "normal") for attack in three if "noise" in parts)
    for noise in ("normal", "t4", "exponential"):
        attacks = [("none", 0.0)] + [(a, s) for a in ATTACKS if a != "none" for s in (0.1, 0.2)]
        yield from (Cell("intervals", "iid", 500, 1000, 20, 60, *attack, noise) for attack in attacks
                    if "intervals" in parts and (noise != "exponential" or attack[1] == 0))
    yield from (Cell("intervals", "ar 0.9", 500, 1000, 20, 60, *attack, "normal") for attack in three
                if "intervals" in parts)


def smaller(cell):
    """The same cell in the size that the slow reference can do."""
    effects = min(cell.effects, 3)
    return cell._replace(n=150, p=100, effects=effects, mu=15)


# ---- designs ------------------------------------------------------------------------------------

def autoregressive(rng, n, p, rho):
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho ** 2) * X[:, j]
    return X


def in_blocks(rng, n, p, rho, size=10):
    shared = np.repeat(rng.standard_normal((n, p // size)), size, axis=1)
    return np.sqrt(rho) * shared + np.sqrt(1 - rho) * rng.standard_normal((n, p))


def genotypes(rng, n, p, block=50, rho=0.99):
    """Counts 0, 1, 2 of two chains of rare letters. A chain follows a latent process that starts anew in each block."""
    counts = np.zeros((n, p))
    start = rng.uniform(0.05, 0.5, (p + block - 1) // block)
    share = np.clip(np.repeat(start, block)[:p] + rng.uniform(-0.05, 0.05, p), 0.05, 0.5)
    for _ in range(2):
        latent = np.hstack([autoregressive(rng, n, min(block, p - first), rho) for first in range(0, p, block)])
        counts += np.argsort(np.argsort(latent, axis=0), axis=0) < share * n
    return counts


def design(rng, name, n, p):
    kind, *rho = name.split()
    if kind == "blocks":
        return in_blocks(rng, n, p, float(rho[0]))
    if kind == "ar":
        return autoregressive(rng, n, p, float(rho[0]))
    return genotypes(rng, n, p) if kind == "genotypes" else rng.standard_normal((n, p))


# ---- attacks: (rng, X, clean y, bad samples, beta) -> their responses -----------------------------

def other_model(rng, X, y, bad, beta):
    other = np.zeros(len(beta))
    idle = np.flatnonzero(beta == 0)[:max(np.sum(beta != 0), 1)]
    other[idle] = rng.uniform(1, 2, len(idle)) * np.std(y) / np.sqrt(2.3 * len(idle))
    return X[bad] @ other


ATTACKS = {
    "none": lambda rng, X, y, bad, beta: y[bad],
    "gross": lambda rng, X, y, bad, beta: 1e6 * rng.choice((-1, 1), len(bad)),
    "uniform": lambda rng, X, y, bad, beta: y[bad] + rng.uniform(-5, 5, len(bad)) * np.abs(y).max(),
    "constant": lambda rng, X, y, bad, beta: np.full(len(bad), np.abs(y).max()),
    "swap": lambda rng, X, y, bad, beta: y[rng.permutation(bad)],
    "shift": lambda rng, X, y, bad, beta: y[bad] + np.std(y),
    "far shift": lambda rng, X, y, bad, beta: y[bad] + 5 * np.std(y),
    "sign-flip": lambda rng, X, y, bad, beta: -y[bad],
    "zero": lambda rng, X, y, bad, beta: np.zeros(len(bad)),
    "other-model": other_model,
}
NOISES = {"normal": lambda rng, n: rng.standard_normal(n), "t4": lambda rng, n: rng.standard_t(4, n) / np.sqrt(2),
          "exponential": lambda rng, n: rng.exponential(1, n) - 1}


def make(cell, seed):
    """Features come in random order. As many test samples as training samples."""
    rng = np.random.default_rng(seed)
    X = design(rng, cell.design, 2 * cell.n, cell.p)
    X = X / np.maximum(X.std(0), 1e-9)
    beta = np.zeros(cell.p)
    beta[rng.choice(cell.p, cell.effects, replace=False)] = 1
    beta *= rng.choice((-1, 1), cell.p) * rng.uniform(1, 2, cell.p)
    order = rng.permutation(cell.p)
    X, beta = X[:, order], beta[order]
    fitted = X @ beta
    scale = np.std(fitted) * np.sqrt(1 / SHARE_EXPLAINED - 1) if cell.effects else 1.0
    both = fitted + scale * NOISES[cell.noise](rng, 2 * cell.n)
    n, clean_y = cell.n, both[:cell.n]
    bad = rng.permutation(n)[:round(cell.share * n)]
    y, clean = clean_y.copy(), np.ones(n, bool)
    y[bad], clean[bad] = ATTACKS[cell.attack](rng, X[:n], clean_y, bad, beta), False
    return Problem(X=X[:n], y=y, beta=beta, clean=clean, clean_y=clean_y, scale=scale, T=X[n:], t=both[n:])


# ---- fitters: (problem, cell, q or None) -> Answer --------------------------------------------------

def by_package(p, cell, q):
    """The only place that names what the package offers."""
    from roofs import RoOFSRegressor
    model = RoOFSRegressor(n_nonzero_coefs=cell.mu, n_jobs=1, **({} if q is None else {"fdr": q})).fit(p.X, p.y)
    groups = [Found(np.asarray(g.members), np.asarray(g.probabilities), g.exists) for g in model.groups_]

    def interval(T, level):
        _, lower, upper = model.predict(T, return_interval=level)
        return lower, upper

    features = dict(zip(model.selected_indices_, model.selected_probability_))
    return Answer(groups, all(g.complete for g in model.groups_), features, interval)


def by_reference(p, cell, q):
    sys.path.insert(0, str(ROOT / "tests" / "reference"))
    import groups_fit
    import groups_reference
    done, end, complete = groups_fit.fit(p.X.T, p.y, cell.mu, batch=100, passes="auto", hypotheses=2)
    if end is None:
        return Answer([], True, {}, lambda T, level: (np.full(len(T), -np.inf), np.full(len(T), np.inf)))
    found, _ = groups_reference.groups(end, *(() if q is None else (q,)))

    def interval(T, level):
        kept = [done.state.known[j] for j in end.index]
        z = np.array([(T[:, j] - f.shift) / f.scale for j, f in zip(end.index, kept)]).T
        lower, upper = groups_reference.intervals(end, z, level)
        prediction = done.intercept + sum(T[:, j] * coef for j, coef in done.coef.items())
        return prediction + done.unit * lower, prediction + done.unit * upper

    return Answer([Found(g.members, g.probability, g.exists) for g in found], complete, done.probability, interval)


FITTERS = {"package": by_package, "reference": by_reference, "susieR": None}


class Susie:
    """Credible sets of susieR, from one process of R; `version` is None where there is none."""

    def __init__(self, folder):
        self.folder, self.version = Path(folder), None
        if shutil.which("Rscript"):
            self.process = subprocess.Popen(["Rscript", "--vanilla", ROOT / "experiments" / "susie.R"], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            version = self.process.stdout.readline().strip()
            self.version = version if version not in ("", "none") else None

    def groups(self, p, cell):
        path = self.folder / "problem"
        np.concatenate([[*p.X.shape, cell.effects + 10], p.X.ravel("F"), p.y]).tofile(path)
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().strip() != "ok":
            return []
        lines = path.with_suffix(".out").read_text().splitlines()
        return [Found(np.array(line.split(), int), None, 1.0) for line in lines if line]

    def close(self):
        if self.version:
            self.process.stdin.close()
            self.process.wait()


# ---- measures ---------------------------------------------------------------------------------------

def of_groups(p, groups, suffix=""):
    right = [bool(np.any(p.beta[g.members] != 0)) for g in groups]
    found = {j for g in groups for j in g.members if p.beta[j] != 0}
    yield "groups" + suffix, len(groups)
    yield "false" + suffix, len(right) - sum(right)
    yield "fdp" + suffix, 1 - np.mean(right) if right else 0.0
    yield "any" + suffix, float(len(groups) > 0)
    if groups:
        yield "size" + suffix, float(np.median([len(g.members) for g in groups]))
    if np.any(p.beta):
        yield "power" + suffix, len(found) / np.sum(p.beta != 0)


def of_probabilities(p, answer):
    """For each bin: how many statements, the sum of their probabilities, how many are true. A group states that it
    contains a feature that matters, a feature that it matters."""
    said = [("group", g.exists * np.sum(g.probability), np.any(p.beta[g.members] != 0)) for g in answer.groups]
    said += [("member", g.exists * share, p.beta[j] != 0) for g in answer.groups
             for j, share in zip(g.members, g.probability)]
    said += [("feature", share, p.beta[j] != 0) for j, share in answer.features.items()]
    for k, (low, high) in enumerate(zip(BINS, BINS[1:])):
        for kind in ("group", "member", "feature"):
            inside = [(share, true) for what, share, true in said if what == kind and low <= share < high]
            if inside:
                yield f"{kind} {k} count", len(inside)
                yield f"{kind} {k} said", sum(share for share, _ in inside)
                yield f"{kind} {k} true", sum(bool(true) for _, true in inside)


def oracle_width(p):
    """Of least squares on the true features and the clean samples: the noise's own quantile."""
    A = np.column_stack([np.ones(np.sum(p.clean)), p.X[p.clean][:, p.beta != 0]])
    residual = p.clean_y[p.clean] - A @ np.linalg.lstsq(A, p.clean_y[p.clean], rcond=None)[0]
    free = np.sqrt(len(A) / max(len(A) - A.shape[1], 1))
    return 2 * free * np.quantile(np.abs(residual), LEVEL)


def of_interval(p, answer):
    lower, upper = answer.interval(p.T, LEVEL)
    yield "coverage", float(np.mean((p.t >= lower) & (p.t <= upper)))
    yield "width", float(np.mean(upper - lower)) / oracle_width(p)


def measure(cell, p, fit, susie):
    if cell.part == "intervals":
        yield from of_interval(p, fit(p, cell, None))
        return
    if fit is None:
        yield from of_groups(p, susie.groups(p, cell), " susieR")
        return
    if cell.part == "groups":
        answer = fit(p, cell, None)
        yield from of_groups(p, answer.groups)
        yield "complete", float(answer.complete)
        yield from of_probabilities(p, answer)
        if susie.version:
            yield from of_groups(p, susie.groups(p, cell), " susieR")
        return
    for q in QS:
        yield from of_groups(p, fit(p, cell, q).groups, f" {q}")


# ---- the cache ----------------------------------------------------------------------------------------

def read_cache(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def as_text(value):
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def append(path, rows):
    is_new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerows(([FIELDS] if is_new else []) + [[as_text(value) for value in row] for row in rows])


def run(args):
    done = {tuple(row[field] for field in FIELDS[:11]) for row in read_cache(args.cache)}
    with tempfile.TemporaryDirectory() as folder:
        susie = Susie(folder)
        for seed in range(args.first_seed, args.first_seed + args.repetitions):
            for cell in cells(args.parts):
                cell = smaller(cell) if args.small else cell
                key = (*map(as_text, cell), str(seed), args.fitter)
                is_missing = key not in done and (args.fitter != "susieR" or cell.part == "groups")
                if is_missing and not (cell.n >= 2000 and seed >= args.first_seed + args.large):
                    done.add(key)
                    numbers = measure(cell, make(cell, seed), FITTERS[args.fitter], susie)
                    append(args.cache, [(*key, name, value) for name, value in numbers])
        susie.close()


# ---- tables ---------------------------------------------------------------------------------------------

class Numbers:
    """The values of a measure in a cell, over the seeds."""

    def __init__(self, rows):
        self.values = {}
        for row in rows:
            key = tuple(row[field] for field in FIELDS[:9])
            self.values.setdefault(key, {}).setdefault(row["measure"], []).append(float(row["value"]))

    def of_part(self, part):
        return [(Cell(*key), cell) for key, cell in self.values.items() if key[0] == part]


def shown(values, digits=3):
    """Mean and its standard error."""
    if not values:
        return ""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{np.mean(values):.{digits}f} ({error:.{digits}f})"


def named(cell):
    attack = cell.attack if cell.attack == "none" else f"{float(cell.share):.0%} {cell.attack}"
    return f"{cell.design} | n={cell.n} p={cell.p} effects={cell.effects} | {attack}"


def covered(cell, suffix=""):
    """Share of the groups with a feature that matters, all groups of all seeds together."""
    count = sum(cell.get("groups" + suffix, []))
    return f"{1 - sum(cell['false' + suffix]) / count:.3f}" if count else ""


def middle(values):
    return f"{np.median(values):g}" if values else ""


def table(title, header, lines):
    if lines:
        print(f"\n**{title}**\n\n| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|")
        print("\n".join("| " + " | ".join(line) + " |" for line in lines))


def group_lines(numbers):
    for cell, v in numbers.of_part("groups"):
        yield (named(cell), covered(v), middle(v.get("size")), shown(v.get("power")), shown(v.get("complete"), 2),
               covered(v, " susieR"), middle(v.get("size susieR")), shown(v.get("power susieR")), str(len(v["groups"])),
               str(len(v.get("groups susieR", []))))


def rate_lines(numbers):
    for cell, v in numbers.of_part("fdr"):
        yield (named(cell), *(shown(v.get(f"{name} {q}")) for q in QS for name in ("fdp", "power")),
               str(len(v["fdp 0.1"])))


def noise_lines(numbers):
    for cell, v in numbers.of_part("noise"):
        yield named(cell), *(shown(v.get(f"any {q}")) for q in QS), str(len(v["any 0.1"]))


def interval_lines(numbers):
    for cell, v in numbers.of_part("intervals"):
        yield named(cell), cell.noise, shown(v["coverage"]), shown(v["width"], 2), str(len(v["width"]))


def reliability(numbers):
    """(kind, low, high, count, mean probability, share that is true) of every bin with statements."""
    sums = {}
    for _, v in numbers.of_part("groups"):
        for name, values in v.items():
            if name.split()[-1] in ("count", "said", "true"):
                sums[name] = sums.get(name, 0.0) + sum(values)
    for k, (low, high) in enumerate(zip(BINS, BINS[1:])):
        for kind in ("group", "member", "feature"):
            count = sums.get(f"{kind} {k} count", 0)
            if count:
                said, true = sums[f"{kind} {k} said"] / count, sums[f"{kind} {k} true"] / count
                yield kind, low, min(high, 1), count, said, true


def error_of_share(share, count):
    return np.sqrt(share * (1 - share) / count)


def reliability_lines(numbers):
    for kind, low, high, count, said, true in reliability(numbers):
        yield (kind, f"{low:g} to {high:g}", f"{count:.0f}", f"{said:.3f}",
               f"{true:.3f} ({error_of_share(true, count):.3f})")


def draw_diagram(rows, path):
    """The share of statements that are true against their probability, with two standard errors."""
    import matplotlib
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    bins = list(reliability(Numbers(rows)))
    figure, ax = plt.subplots(figsize=(5, 5))
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--")
    for kind, label, marker in (("group", "a group has a cause", "o"), ("member", "a member is the cause", "s"),
                                ("feature", "a feature, without its neighbours", "x")):
        mine = [(said, true, 2 * error_of_share(true, count)) for k, _, _, count, said, true in bins if k == kind]
        if mine:
            said, true, error = zip(*mine)
            ax.errorbar(said, true, yerr=error, marker=marker, capsize=3, linewidth=1, label=label)
    ax.set(xlabel="probability", ylabel="share that is true", xlim=(0, 1.02), ylim=(0, 1.02))
    ax.legend(loc="upper left")
    figure.savefig(path, dpi=120, bbox_inches="tight")


def print_page(rows):
    numbers = Numbers(rows)
    cell = ("design", "size", "corrupted")
    table("Groups", (*cell, "coverage", "size", "power", "complete", "susieR coverage", "size", "power", "seeds",
                      "seeds of susieR"),
          list(group_lines(numbers)))
    table("False discoveries", (*cell, *(f"{name} q={q}" for q in QS for name in ("FDR", "power")), "seeds"),
          list(rate_lines(numbers)))
    table("Pure noise: share of fits with a discovery", (*cell, *(f"q={q}" for q in QS), "seeds"),
          list(noise_lines(numbers)))
    table(f"Intervals, {LEVEL:.0%}", (*cell, "noise", "coverage", "width / oracle", "seeds"),
          list(interval_lines(numbers)))
    table("Probabilities", ("statement", "probability", "statements", "mean probability", "true"),
          list(reliability_lines(numbers)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--fitter", choices=(*FITTERS, "none"), default="package")
    parser.add_argument("--parts", nargs="+", default=["groups", "fdr", "noise", "intervals"])
    parser.add_argument("--first-seed", type=int, default=1001)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--large", type=int, default=30, help="repetitions with n = 2000")
    parser.add_argument("--diagram", type=Path, help="write the reliability diagram of the part groups")
    parser.add_argument("--small", action="store_true", help="small problems, for the reference")
    args = parser.parse_args()
    if args.fitter != "none":
        run(args)
    print_page(read_cache(args.cache))
    if args.diagram is not None:
        draw_diagram(read_cache(args.cache), args.diagram)


if __name__ == "__main__":
    main()
