#!/usr/bin/env python3
"""RoOFS in NumPy with BLAS, to compare `roofs bench` with. No intercept, not standardised, eq. (5).

    numpy_roofs.py DIR --mu 1000 --batch 100 --threads 2 [--as-listed]

Reads the output of `roofs simulate -o DIR` and prints one JSON object. The time does not include reading the files.
"""
import argparse
import json
import os
import sys
import time

ETA, TOL, MAX_ITER = 0.1, 1e-3, 100


def options(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir")
    parser.add_argument("--mu", type=int, required=True)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--as-listed", action="store_true", help="line by line as in the paper, not tuned")
    return parser.parse_args(argv)


def trust_count(size):
    """Eq. (5) on sorted absolute residuals: the largest tau that fits, all tau at once."""
    n = len(size)
    half = (n + 1) // 2
    squares = size ** 2
    tau = np.arange(half + 1, n + 1)
    target = np.cumsum(squares)[tau - half - 1] / (tau - half)
    above = np.clip(np.searchsorted(squares, target), 1, n - 1)
    below = np.searchsorted(squares, squares[above - 1])           # the first of equal values
    nearer = target - squares[below] <= squares[above] - target
    order = np.where(nearer, below, above) + 1
    if n >= 4:
        order[1] = 1                                               # tau' = 2: an exact tie, which rounding may break
    fits = np.flatnonzero(size[tau - 1] <= 2 * tau * size[order - 1] / order)
    return int(tau[fits[-1]]) if len(fits) else half + 1


def roofs(batches, y, mu, batch):
    """batches: arrays of at most `batch` features, one per row. Returns indices, coefficients, trusted, rounds."""
    n = len(y)
    kept = np.empty((mu + batch, n))         # kept features, then the batch
    beta = np.zeros(mu + batch)
    index = np.zeros(mu + batch, int)
    trusted = np.ones(n)                     # 1 = trusted
    r = y.copy()
    count = seen = rounds = 0
    curvature = 0.0                          # the largest so far; limits the step length
    for new in batches:
        fresh = slice(count, count + len(new))
        kept[fresh], beta[fresh] = new, 0
        index[fresh] = np.arange(seen, seen + len(new))
        count, seen = count + len(new), seen + len(new)
        before = np.zeros(n)
        curvature /= 2
        for _ in range(MAX_ITER):
            rounds += 1
            g = kept[:count] @ (r * trusted)
            q = g @ kept[:count]
            size, gg = trusted.sum(), g @ g
            curvature = max(curvature, (q * trusted) @ q / gg / size if gg else 0)
            h = (1 / curvature if ETA * curvature > 2 else ETA) / size
            beta[:count] += h * g
            r -= h * q
            if count > mu:
                order = np.argsort(-np.abs(beta[:count]), kind="stable")
                stay, leave = np.sort(order[:mu]), np.sort(order[mu:])
                r += beta[leave] @ kept[leave]
                behind = stay[stay >= mu]    # kept features behind row mu replace rows that leave
                free = leave[leave < mu]
                kept[free], beta[free], index[free] = kept[behind], beta[behind], index[behind]
                count = mu
            size = np.abs(r)
            tau = trust_count(np.sort(size))
            trusted = np.zeros(n)
            trusted[np.argpartition(size, tau - 1)[:tau]] = 1
            moved = (size - before) * trusted
            before = size
            if np.sqrt(moved @ moved) / tau <= TOL:
                break
    return index[:count], beta[:count], trusted, rounds


def roofs_as_listed(batches, y, mu, batch):
    """The same method, line by line as in the paper: products with X restricted to the trusted samples, residuals
    computed anew each round. The result is the same."""
    psi = np.empty((0, len(y)))
    beta, index = np.empty(0), np.empty(0, int)
    trusted = np.arange(len(y))
    seen = rounds = 0
    for new in batches:
        psi, beta = np.vstack([psi, new]), np.concatenate([beta, np.zeros(len(new))])
        index = np.concatenate([index, np.arange(seen, seen + len(new))])
        seen += len(new)
        before = np.zeros(len(y))
        for _ in range(MAX_ITER):
            rounds += 1
            x = psi[:, trusted]
            beta = beta - ETA / len(trusted) * (x @ (x.T @ beta - y[trusted]))     # line 6
            if len(beta) > mu:                                                     # lines 7-10
                stay = np.sort(np.argsort(-np.abs(beta), kind="stable")[:mu])
                psi, beta, index = psi[stay], beta[stay], index[stay]
            r = np.abs(y - psi.T @ beta)                                           # line 11
            tau = trust_count(np.sort(r))
            trusted = np.sort(np.argpartition(r, tau - 1)[:tau])                   # line 12
            moved = r[trusted] - before[trusted]
            before = r
            if np.sqrt(moved @ moved) / tau <= TOL:                                # line 14
                break
    return index, beta, trusted, rounds


def blas_in_use():
    """The BLAS library loaded into this process."""
    with open("/proc/self/maps") as maps:
        loaded = {line.split()[-1] for line in maps if "blas" in line.lower()}
    names = sorted(os.path.basename(os.path.realpath(path)) for path in loaded if ".so" in path)
    return ("openblas: " if any("openblas" in n for n in names) else "not openblas: ") + ", ".join(names)


def main(argv):
    args = options(argv)
    y = np.load(os.path.join(args.dir, "y.npy"))
    truth = np.load(os.path.join(args.dir, "beta.npy"))
    x = np.ascontiguousarray(np.load(os.path.join(args.dir, "X.npy")))
    batches = (x[k:k + args.batch] for k in range(0, len(x), args.batch))
    start = time.perf_counter()
    index, beta, _, rounds = (roofs_as_listed if args.as_listed else roofs)(batches, y, args.mu, args.batch)
    seconds = time.perf_counter() - start
    error = truth.astype(float)
    error[index] -= beta
    found, true = set(index[beta != 0].tolist()), set(np.flatnonzero(truth).tolist())
    print(json.dumps({"fit_seconds": seconds, "rounds": rounds,
                      "feature_f1": 2 * len(found & true) / (len(found) + len(true)),
                      "l2_error": float(np.linalg.norm(error)), "blas": blas_in_use(), "threads": args.threads}))


if __name__ == "__main__":  # NumPy reads the number of threads when it is imported
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(options(sys.argv[1:]).threads)
import numpy as np  # noqa: E402

if __name__ == "__main__":
    main(sys.argv[1:])
