#!/usr/bin/env python3
"""Compares roofs-bayes with a lasso on ranks, plink2, susieR and adelie on simulated genotypes with errors in the
phenotype, and prints the tables of docs/genotypes.md.

    genotypes.py --cache FILE.csv [--seeds 10] [--people 4000] [--variants 10000] [--causal 100]
                 [--linkage loose|tight] [--methods roofs ...]
    genotypes.py --cache FILE.csv --methods                      no fits, only the tables

The cache has a line per fit, so a run that was stopped goes on where it ended. Needs NumPy and the program (ROOFS, or
build/roofs); `lasso` needs scikit-learn, `adelie` the package adelie, `susie` Rscript with susieR, `plink` plink2.
A method whose tool is absent is left out. Every fit uses one thread.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")   # before NumPy is loaded

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "gwas"))
import simulate

CELLS = ("none", "gross", "coded", "corrupted", "swapped")
FIELDS = ("seed", "linkage", "people", "variants", "causal", "cell", "method", "correlation", "seconds",
          "mebibytes", "regions", "hits", "size")
NEW = 1000
LEVEL = 0.95   # regions with at least this probability are reported


class Problem:
    def __init__(self, seed, cell, a):
        rng = np.random.default_rng([seed, 22])
        X = simulate.genotypes(rng, a.people + NEW, a.variants, a.linkage)
        self.X, self.new = np.ascontiguousarray(X[:, :a.people]), X[:, a.people:]
        self.causal, effects = simulate.answer(rng, a.variants, a.causal)
        g, center, scale = simulate.values(self.causal, effects, self.X)
        self.truth = simulate.values(self.causal, effects, self.new, center, scale)[0]
        self.y = simulate.errors(rng, simulate.phenotype(rng, g), cell)[0]

    def write(self, folder):
        np.save(folder / "X.npy", self.X)
        np.save(folder / "y.npy", self.y)

    def score(self, coef):
        """Correlation of predicted and true genetic values in new people; 0 for a constant prediction."""
        predicted = coef @ self.new.astype(float)
        return float(np.corrcoef(predicted, self.truth)[0, 1]) if predicted.std() > 0 else 0.0

    def regions(self, lists):
        """How many regions there are, how many hold a causal variant, and their mean size."""
        causal = set(self.causal.tolist())
        hits = sum(bool(causal & set(members)) for members in lists)
        return len(lists), hits, float(np.mean([len(m) for m in lists])) if lists else 0.0


def run(command, **more):
    """Seconds and the peak memory of a program."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=err, **more)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
        if status != 0:
            err.seek(0)
            raise RuntimeError(f"{command[0]}: {err.read()[-2000:]}")
    return time.monotonic() - start, used.ru_maxrss / 1024


# ---- methods: coefficients, regions, seconds, MiB ------------------------------------------------

def roofs(p, folder):
    program = os.environ.get("ROOFS", ROOT / "build" / "roofs")
    start = time.monotonic()
    done = subprocess.run([program, "fit", "--y", folder / "y.npy", folder / "X.npy", "--threads", "1", "--json", "-q",
                           "-o", folder / "model.json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    seconds, memory = time.monotonic() - start, json.loads(done.stdout)["peak_bytes"] / 2 ** 20
    model = json.loads((folder / "model.json").read_text())
    coef = np.zeros(len(p.X))
    for f in model["features"]:
        coef[f["index"]] = f["coef"]
    lists = [[m["index"] for m in g["members"]] for g in model["groups"]
             if g["exists"] * min(1, sum(m["probability"] for m in g["members"])) >= LEVEL]
    return coef, lists, seconds, memory


def ranks(y):
    """Ranks as normal quantiles: what is usually done against outliers."""
    from scipy.stats import norm, rankdata
    return norm.ppf((rankdata(y) - 0.375) / (len(y) + 0.25))


def in_child(work):
    """Runs work() in a process of its own, for its peak memory."""
    read, write = os.pipe()
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        coef = work()
        with os.fdopen(write, "wb") as out:
            out.write(np.asarray(coef, float).tobytes())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as given:
        coef = np.frombuffer(given.read())
    _, status, used = os.wait4(child, 0)
    if status != 0:
        raise RuntimeError("the process of the fit failed")
    return coef, None, time.monotonic() - start, used.ru_maxrss / 1024


def lasso(p, folder):
    """A fifth of the people chooses the penalty; all people fit with it."""
    def work():
        from sklearn.linear_model import Lasso, lasso_path
        X = p.X.T.astype(float)
        X -= X.mean(axis=0)
        X /= np.maximum(X.std(axis=0), 1e-12)
        y = ranks(p.y)
        X, held = np.asfortranarray(X), np.arange(len(y)) % 5 == 0
        alphas, coefs, _ = lasso_path(np.asfortranarray(X[~held]), y[~held], n_alphas=30, eps=0.03, tol=1e-3)
        loss = ((y[held, None] - X[held] @ coefs) ** 2).mean(axis=0)
        return Lasso(alpha=alphas[loss.argmin()], tol=1e-3).fit(X, y).coef_ / np.maximum(p.X.std(axis=1), 1e-12)
    return in_child(work)


def adelie(p, folder):
    """The lasso of adelie on the phenotype as it is, with the penalty as in lasso()."""
    def work():
        import adelie as ad
        X = np.asfortranarray(p.X.T.astype(float))
        held = np.arange(len(p.y)) % 5 == 0
        options = dict(n_threads=1, progress_bar=False, early_exit=False, lmda_path_size=30, min_ratio=0.03)
        y = ranks(p.y)
        trial = ad.grpnet(X=np.asfortranarray(X[~held]), glm=ad.glm.gaussian(y=y[~held]), **options)
        predicted = X[held] @ trial.betas.toarray().T + trial.intercepts
        best = int(((y[held, None] - predicted) ** 2).mean(axis=0).argmin())
        state = ad.grpnet(X=X, glm=ad.glm.gaussian(y=y), **options)
        return state.betas.toarray()[best]
    return in_child(work)


def clump(X, p_value, most=5e-8, r2=0.1, reach=33):
    """The smallest p-value first, with its neighbours that correlate with it; repeated for what is left."""
    order, taken, lists = np.argsort(p_value), np.zeros(len(X), bool), []
    for j in order:
        if p_value[j] > most:
            break
        if taken[j]:
            continue
        near = np.arange(max(0, j - reach), min(len(X), j + reach + 1))
        correlation = np.nan_to_num(np.corrcoef(X[near].astype(float))[near.tolist().index(j)])
        members = [int(k) for k in near[(correlation ** 2 >= r2) & ~taken[near]]]
        taken[members] = True
        lists.append([int(j)] + [k for k in members if k != j])
    return lists


def plink(p, folder):
    """Marginal tests on ranks at 5e-8, clumped at r2 0.1: the coefficient of the best variant of each clump."""
    simulate.write_plink(folder / "g", p.X, [f"p{i}" for i in range(p.X.shape[1])])
    with open(folder / "g.pheno", "w") as out:
        out.write("#FID IID Y\n" + "".join(f"p{i} p{i} {v:.17g}\n" for i, v in enumerate(ranks(p.y))))
    seconds, memory = run(["plink2", "--bfile", folder / "g", "--threads", "1", "--out", folder / "g", "--pheno",
                           folder / "g.pheno", "--glm", "allow-no-covars"])
    slope, p_value = np.zeros(len(p.X)), np.ones(len(p.X))
    with open(folder / "g.Y.glm.linear") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            j = int(row["ID"][2:]) - 1
            if row["P"] != "NA":
                slope[j] = float(row["BETA"]) * (1 if row["A1"] == "A" else -1)
                p_value[j] = float(row["P"])
    coef, lists = np.zeros(len(p.X)), clump(p.X, p_value)
    for members in lists:
        coef[members[0]] = slope[members[0]]
    return coef, lists, seconds, memory


SUSIE = """
library(susieR)
folder <- commandArgs(TRUE)[1]; p <- as.integer(commandArgs(TRUE)[2]); n <- as.integer(commandArgs(TRUE)[3])
file <- file(file.path(folder, "X.raw"), "rb"); y <- scan(file.path(folder, "y.txt"), quiet = TRUE)
out <- file.path(folder, "susie.txt"); cat("", file = out)
each <- p %/% 10
for (c in 0:9) {
  X <- matrix(as.numeric(readBin(file, "integer", each * n, size = 1)), n, each)
  fit <- susie(X, y, L = 30, coverage = .95)
  cat("coef", format(coef(fit)[-1], digits = 15), "\\n", file = out, append = TRUE)
  for (s in fit$sets$cs) cat("set", s - 1 + c * each, "\\n", file = out, append = TRUE)
}
"""


def susie(p, folder):
    """susieR on ranks, in ten pieces of the genome: all variants together take too long."""
    (folder / "X.raw").write_bytes(p.X.tobytes())
    np.savetxt(folder / "y.txt", ranks(p.y))
    (folder / "susie.R").write_text(SUSIE)
    seconds, memory = run(["Rscript", folder / "susie.R", folder, len(p.X), p.X.shape[1]])
    coef, lists = [], []
    for line in (folder / "susie.txt").read_text().splitlines():
        kind, *numbers = line.split()
        if kind == "coef":
            coef += [float(v) for v in numbers]
        else:
            lists.append([int(v) for v in numbers])
    return np.array(coef), lists, seconds, memory


METHODS = {"roofs": roofs, "lasso": lasso, "plink": plink, "susie": susie, "adelie": adelie}
NAMES = {"roofs": "roofs-bayes", "lasso": "lasso on ranks", "plink": "plink2 --glm, ranks", "susie": "susieR, ranks",
         "adelie": "adelie, ranks"}


# ---- the cache and the tables --------------------------------------------------------------------

def read_cache(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def measure(a, seed, cell, method, rows):
    key = dict(seed=seed, linkage=a.linkage, people=a.people, variants=a.variants, causal=a.causal, cell=cell,
               method=method)
    if any(all(row[k] == str(v) for k, v in key.items()) for row in rows):
        return
    p = Problem(seed, cell, a)
    with tempfile.TemporaryDirectory() as folder:
        p.write(Path(folder))
        coef, lists, seconds, memory = METHODS[method](p, Path(folder))
    regions, hits, size = p.regions(lists) if lists is not None else ("", "", "")
    row = {**key, "correlation": f"{p.score(coef):.4f}", "seconds": f"{seconds:.2f}", "mebibytes": f"{memory:.0f}",
           "regions": regions, "hits": hits, "size": size if size == "" else f"{size:.2f}"}
    is_new = not a.cache.exists()
    with open(a.cache, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)
    print(*row.values(), file=sys.stderr)


def mean(rows, field):
    numbers = [float(row[field]) for row in rows if row[field] != ""]
    return sum(numbers) / len(numbers) if numbers else None


def text(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def tables(a, rows):
    rows = [r for r in rows if (r["linkage"], r["people"], r["variants"], r["causal"]) ==
            (a.linkage, str(a.people), str(a.variants), str(a.causal))]
    present = [m for m in METHODS if any(r["method"] == m for r in rows)]
    of = {(m, c): [r for r in rows if r["method"] == m and r["cell"] == c] for m in present for c in CELLS}
    print(f"Correlation of predicted and true genetic values in {NEW} new people\n")
    print("| errors | " + " | ".join(NAMES[m] for m in present) + " |\n|---|" + "---|" * len(present))
    for c in CELLS:
        print(f"| {c} | " + " | ".join(text(mean(of[m, c], "correlation"), 3) for m in present) + " |")
    for field, digits in (("seconds", 1), ("mebibytes", 0)):
        print(f"| {field} | " + " | ".join(
            text(mean([r for c in CELLS for r in of[m, c]], field), digits) for m in present) + " |")
    seeds = {m: len({r["seed"] for r in rows if r["method"] == m}) for m in present}
    print("| seeds | " + " | ".join(str(seeds[m]) for m in present) + " |")
    print(f"\nRegions reported at {LEVEL:.0%}: how many per fit, the share that holds a causal variant, their size\n")
    found = [m for m in present if any(r["regions"] != "" for r in rows if r["method"] == m)]
    print("| errors | " + " | ".join(NAMES[m] for m in found) + " |\n|---|" + "---|" * len(found))
    for c in CELLS:
        cells = []
        for m in found:
            regions = sum(int(r["regions"]) for r in of[m, c])
            hits = sum(int(r["hits"]) for r in of[m, c])
            cells.append(f"{mean(of[m, c], 'regions'):.1f}, {hits / regions:.1%}, {mean(of[m, c], 'size'):.1f}"
                         if regions else "0")
        print(f"| {c} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--people", type=int, default=4000)
    parser.add_argument("--variants", type=int, default=10000)
    parser.add_argument("--causal", type=int, default=100)
    parser.add_argument("--linkage", choices=["loose", "tight"], default="loose")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS))
    a = parser.parse_args()
    rows = read_cache(a.cache)
    for seed in range(1, a.seeds + 1):
        for cell in CELLS:
            for method in a.methods:
                try:
                    measure(a, seed, cell, method, rows)
                except (FileNotFoundError, ImportError, RuntimeError) as error:
                    print(f"{method} is left out: {error}", file=sys.stderr)
    tables(a, read_cache(a.cache))


if __name__ == "__main__":
    main()
