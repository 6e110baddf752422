"""Compares roofs with other methods: python bench/rivals.py [--data ../shared/data] [--only diabetes] > table

Needs the roofs package, scikit-learn and statsmodels, and the program build/roofs for the synthetic data. Every method
runs with one thread in a process of its own, which measures its processor time and its memory without the data. A
method that takes longer than --limit seconds is stopped.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SYNTHETIC = ((5000, 5000, 250), (1000, 1000, 50))   # n, p, mu; every rival can fit the second
TEST = 2000                                         # test samples


# ---- data ------------------------------------------------------------------------------------

def synthetic(folder, n, p, mu):
    """Data of the paper's generator, features in random order. The clean samples of the last TEST are for testing."""
    command = [ROOT / "build/roofs", "simulate", "-o", folder / "sim", "--n", str(n + TEST), "--p", str(p),
               "--mu", str(mu), "--corruption", "0.3", "--order", "random", "--seed", "1"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    X, y, beta, clean = (np.load(folder / "sim" / f"{name}.npy") for name in ("X", "y", "beta", "clean"))
    X, clean = X.T, clean.astype(bool)
    test = np.flatnonzero(clean[n:]) + n
    np.savez(folder / "synthetic.npz", X0=X[:n], y0=y[:n], clean0=clean[:n], T0=X[test], t0=y[test], beta=beta)


def read_diabetes(data):
    table = np.genfromtxt(gzip.open(data / "diabetes/diabetes_x64.csv.gz", "rt"), delimiter=",", skip_header=1)
    return table[:, 1:], table[:, 0]


def read_communities(data):
    table = np.genfromtxt(gzip.open(data / "communities_crime/communities.csv.gz", "rt"), delimiter=",",
                          missing_values="?")
    table = table[np.isfinite(table[:, -1])]
    X, y = table[:, 5:-1], table[:, -1]
    return X[:, np.isfinite(X).mean(axis=0) > 0.5], y


def corrupt(y, wrong, how, rng):
    """"uniform": adds U(-5, 5) times the largest response, as in the paper; "one side": adds 3 to 5 standard
    deviations."""
    y = y.copy()
    if how == "uniform":
        y[wrong] += rng.uniform(-5, 5, wrong.sum()) * np.abs(y).max()
    else:
        y[wrong] += rng.uniform(3, 5, wrong.sum()) * y.std()
    return y


def real(folder, name, X, y, how, repeats=2, folds=5):
    """Corrupts training responses but not test responses. Missing values become the median of the column."""
    median = np.nanmedian(X, axis=0)
    X = np.where(np.isfinite(X), X, median)
    pieces, k = {}, 0
    for repeat in range(repeats):
        rng = np.random.default_rng(repeat)
        for test in np.array_split(rng.permutation(len(y)), folds):
            train = np.setdiff1d(np.arange(len(y)), test)
            wrong = rng.random(len(train)) < 0.3
            pieces |= {f"X{k}": X[train], f"y{k}": corrupt(y[train], wrong, how, rng), f"clean{k}": ~wrong,
                       f"T{k}": X[test], f"t{k}": y[test]}
            k += 1
    np.savez(folder / f"{name}.npz", **pieces)


# ---- methods: each returns (predict, coef or None, trusted or None) ---------------------------

def scaled(model):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    return make_pipeline(StandardScaler(), model)


def of_pipeline(pipe, X, y, trusted=lambda model: None):
    pipe.fit(X, y)
    model = pipe[-1]
    inner = getattr(model, "estimator_", model)
    return pipe.predict, np.asarray(inner.coef_) / pipe[0].scale_, trusted(model)


def fit_roofs(X, y, mu, **more):
    from roofs import RoOFSRegressor, RoOFSRegressorCV
    model = RoOFSRegressor(mu, **more) if mu else RoOFSRegressorCV(**more)
    model.fit(X, y)
    return model.predict, model.coef_, model.inlier_mask_


def fit_huber(X, y, mu):
    from sklearn.linear_model import HuberRegressor
    return of_pipeline(scaled(HuberRegressor(max_iter=1000)), X, y, lambda m: ~m.outliers_)


def fit_huber_cv(X, y, mu, alphas=(1, 10, 100, 1000)):
    """Its ridge penalty is chosen by a robust score."""
    from sklearn.linear_model import HuberRegressor
    from sklearn.model_selection import GridSearchCV, KFold
    search = GridSearchCV(scaled(HuberRegressor(max_iter=300)), {"huberregressor__alpha": list(alphas)},
                          cv=KFold(3, shuffle=True, random_state=0),
                          scoring="neg_median_absolute_error", refit=False).fit(X, y)
    return of_pipeline(scaled(HuberRegressor(alpha=search.best_params_["huberregressor__alpha"], max_iter=1000)), X, y,
                       lambda m: ~m.outliers_)


def lasso_alpha(X, y, mu):
    """The penalty that keeps mu features; if mu is 0, the choice of cross-validation."""
    from sklearn.linear_model import LassoCV, lasso_path
    Z, r = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12), y - y.mean()
    if not mu:
        return LassoCV(random_state=0).fit(Z, r).alpha_
    alphas, coefs, _ = lasso_path(Z, r, eps=1e-2, n_alphas=40)
    enough = np.flatnonzero((coefs != 0).sum(axis=0) >= mu)
    return alphas[enough[0]] if len(enough) else alphas[-1]


def fit_lasso(X, y, mu):
    from sklearn.linear_model import Lasso
    return of_pipeline(scaled(Lasso(lasso_alpha(X, y, mu))), X, y)


def fit_ransac(X, y, mu):
    from sklearn.linear_model import Lasso, RANSACRegressor
    base = Lasso(lasso_alpha(X, y, mu))
    return of_pipeline(scaled(RANSACRegressor(base, min_samples=0.5, max_trials=20 if mu else 100, random_state=0)), X,
                       y, lambda m: m.inlier_mask_)


def fit_omp(X, y, mu):
    from sklearn.linear_model import OrthogonalMatchingPursuit, OrthogonalMatchingPursuitCV
    return of_pipeline(scaled(OrthogonalMatchingPursuit(n_nonzero_coefs=mu) if mu else OrthogonalMatchingPursuitCV()),
                       X, y)


def fit_theilsen(X, y, mu):
    from sklearn.linear_model import TheilSenRegressor
    if X.shape[1] >= len(y):
        raise ValueError("needs more samples than features")
    return of_pipeline(scaled(TheilSenRegressor(max_subpopulation=1000, random_state=0)), X, y)


def fit_rlm(X, y, mu):
    import statsmodels.api as sm
    centre, scale = X.mean(axis=0), X.std(axis=0) + 1e-12
    fit = sm.RLM(y, sm.add_constant((X - centre) / scale, has_constant="add"), M=sm.robust.norms.TukeyBiweight()).fit()
    coef = fit.params[1:] / scale
    return (lambda T: fit.params[0] + (T - centre) @ coef), coef, fit.weights > 0.5


METHODS = {
    "roofs": fit_roofs, "roofs, passes=2": lambda X, y, mu: fit_roofs(X, y, mu, passes=2),
    "Lasso": fit_lasso, "OrthogonalMatchingPursuit": fit_omp, "HuberRegressor": fit_huber,
    "HuberRegressor, alpha tuned": fit_huber_cv, "RANSACRegressor(Lasso)": fit_ransac,
    "TheilSenRegressor": fit_theilsen, "statsmodels RLM (Tukey)": fit_rlm,
}


# ---- one method on one data set, in its own process ----------------------------------------------

def kib(field):
    return int(next(line for line in open("/proc/self/status") if line.startswith(field)).split()[1])


def f1(found, true):
    return 2 * np.sum(found & true) / (found.sum() + true.sum())


def judge(data, k, result):
    predict, coef, trusted = result
    out = {"mae": float(np.abs(predict(data[f"T{k}"]) - data[f"t{k}"]).mean())}
    if trusted is not None:
        out["clean"] = float(f1(trusted, data[f"clean{k}"]))
    if "beta" in data:
        beta = data["beta"]
        largest = np.zeros(len(beta), dtype=bool)
        largest[np.argsort(-np.abs(coef))[:np.count_nonzero(beta)]] = True
        out["error"] = float(np.linalg.norm(coef - beta) / np.linalg.norm(beta))
        out["features"] = float(f1(largest & (coef != 0), beta != 0))
    return out


def worker(path, method, mu):
    warnings.simplefilter("ignore")
    data = dict(np.load(path))
    for module in ("sklearn.linear_model", "roofs") + (("statsmodels.api",) if "RLM" in method else ()):
        __import__(module)
    count = sum(name.startswith("X") for name in data)
    results, seconds = [], 0.0
    open("/proc/self/clear_refs", "w").write("5")   # resets the peak
    before = kib("VmRSS")
    for k in range(count):
        start = time.process_time()
        result = METHODS[method](data[f"X{k}"], data[f"y{k}"], mu)
        seconds += time.process_time() - start
        peak = kib("VmHWM")
        results.append(judge(data, k, result))
    means = {key: float(np.mean([r[key] for r in results])) for key in results[0]}
    print(json.dumps({**means, "seconds": seconds / count, "mb": max(0, peak - before) / 1024}))


# ---- tables ----------------------------------------------------------------------------------

def measure(path, method, mu, limit):
    """The numbers that the worker printed, or a text with the reason of its failure."""
    try:
        done = subprocess.run([sys.executable, __file__, "--worker", str(path), method, str(mu)], capture_output=True,
                              text=True, timeout=limit,
                              env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    except subprocess.TimeoutExpired:
        return f"more than {limit} s, given up"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout)


COLUMNS = (("error", "L2 error", "{:.3f}", min), ("features", "feature F1", "{:.3f}", max),
           ("clean", "clean F1", "{:.3f}", max), ("mae", "test MAE", "{:.4g}", min),
           ("seconds", "CPU seconds", "{:.2f}", None), ("mb", "MB", "{:.0f}", None))


def table(rows):
    """A table in Markdown. The best of each accuracy column is bold. Every MAE has its distance from the best."""
    good = [r for r in rows.values() if isinstance(r, dict)]
    columns = [c for c in COLUMNS if any(c[0] in r for r in good)]
    best = {key: pick(r[key] for r in good if key in r) for key, _, _, pick in columns if pick}
    lines = ["| method | " + " | ".join(title for _, title, _, _ in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for method, r in rows.items():
        if isinstance(r, str):
            lines.append(f"| {method} | {r} " + "| " * (len(columns) - 1) + "|")
            continue
        cells = []
        for key, _, form, _ in columns:
            text = form.format(r[key]) if key in r else "-"
            text = f"**{text}**" if key in best and r.get(key) == best[key] else text
            worse = key == "mae" and r[key] > best[key]
            cells.append(text + (f" (+{100 * (r[key] / best[key] - 1):.0f}%)" if worse else ""))
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def compare(title, path, mu, limit):
    rows = {}
    for method in METHODS:
        rows[method] = measure(path, method, mu, limit)
        print(f"{title}: {method}: {rows[method]}", file=sys.stderr)
    print(f"## {title}\n\n{table(rows)}\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data",
                        help="folder with diabetes and communities_crime")
    parser.add_argument("--only", default="", help="data sets whose name begins like this")
    parser.add_argument("--limit", type=int, default=600, help="seconds per method")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(args.worker[0], args.worker[1], int(args.worker[2]))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for n, p, mu in SYNTHETIC:
            title = f"synthetic: n={n}, p={p}, mu={mu}, 30% corrupted, random order"
            if title.startswith(args.only):
                synthetic(folder, n, p, mu)
                compare(title, folder / "synthetic.npz", mu, args.limit)
        for name, read in (("diabetes", read_diabetes), ("communities_crime", read_communities)):
            for how in ("uniform", "one side"):
                if not name.startswith(args.only):
                    continue
                if not (args.data / name).is_dir():
                    print(f"{args.data / name} does not exist; this data set is left out", file=sys.stderr)
                    continue
                X, y = read(args.data)
                real(folder, name, X, y, how)
                compare(f"{name} ({len(y)} x {X.shape[1]}), 30% of the training responses corrupted ({how})",
                        folder / f"{name}.npz", 0, args.limit)


if __name__ == "__main__":
    main()
