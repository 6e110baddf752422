#!/usr/bin/env python3
"""IMDb reviews (Table 3 of the paper): mean absolute error on the test reviews, with corrupted training scores.

    imdb_bars.py [--data ../shared/data/imdb] [--method roofs-bayes] [--corruption 0.05 0.4] [--order shuffled file]

10,000 training reviews, the 10,000 most frequent words, log-count tf-idf with unit rows, mu = 1000, corruption U[-50, 50] added;
predictions clipped to 1..10. The data is the Large Movie Review Dataset (Maas et al., ACL 2011): labeledBow.{train,test}.feat.xz.
"""
import argparse
import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORDS, REVIEWS, MU = 10000, 10000, 1000


def read_counts(path):
    """Scores, and (review, word, count) of the words among the most frequent."""
    scores, rows, words, counts = [], [], [], []
    with lzma.open(path, "rt") as lines:
        for k, line in enumerate(lines):
            score, _, rest = line.partition(" ")
            pairs = np.array(rest.replace(":", " ").split(), dtype=np.int64).reshape(-1, 2)
            pairs = pairs[pairs[:, 0] < WORDS]
            scores.append(float(score))
            rows.append(np.full(len(pairs), k))
            words.append(pairs[:, 0])
            counts.append(pairs[:, 1])
    return np.array(scores), np.concatenate(rows), np.concatenate(words), np.concatenate(counts)


def tfidf(rows, words, counts, n, idf):
    """Dense (words, reviews): (1 + log count) idf, rows of unit length."""
    values = (1 + np.log(counts)) * idf[words]
    length = np.sqrt(np.bincount(rows, weights=values ** 2, minlength=n))
    dense = np.zeros((WORDS, n), np.float32)
    dense[words, rows] = values / np.maximum(length, 1e-12)[rows]
    return dense


def prepare(folder):
    train, test = (read_counts(folder / f"labeledBow.{part}.feat.xz") for part in ("train", "test"))
    chosen = np.random.default_rng(1).permutation(len(train[0]))[:REVIEWS]      # the file is sorted by score
    place = np.full(len(train[0]), -1)
    place[chosen] = np.arange(REVIEWS)
    inside = place[train[1]] >= 0
    rows, words, counts = place[train[1][inside]], train[2][inside], train[3][inside]
    idf = np.log(REVIEWS / np.maximum(np.bincount(words, minlength=WORDS), 1))
    return (tfidf(rows, words, counts, REVIEWS, idf), train[0][chosen],
            tfidf(*test[1:], len(test[0]), idf), test[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "imdb")
    parser.add_argument("--method", default="roofs-bayes")
    parser.add_argument("--corruption", type=float, nargs="+", default=[0.05, 0.10, 0.20, 0.30, 0.40])
    parser.add_argument("--order", nargs="+", default=["shuffled", "file"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--roofs", default=str(Path(__file__).parents[1] / "build" / "roofs"))
    args, more = parser.parse_known_args()
    if not (args.data / "labeledBow.train.feat.xz").exists():
        sys.exit(f"{args.data}: no labeledBow.train.feat.xz; get the Large Movie Review Dataset (Maas et al. 2011)")
    x, y, x_test, y_test = prepare(args.data)
    print(f"a constant: MAE {np.abs(y_test - np.median(y)).mean():.3f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="roofs-imdb-") as name:
        folder = Path(name)
        for order in args.order:
            for cr in args.corruption:
                errors = []
                for seed in range(args.seeds):
                    rng = np.random.default_rng(3000 + seed)
                    words = rng.permutation(WORDS) if order == "shuffled" else np.arange(WORDS)
                    hit = rng.permutation(REVIEWS)[:round(cr * REVIEWS)]
                    bad = y.copy()
                    bad[hit] += rng.uniform(-50, 50, len(hit))
                    np.save(folder / "y.npy", bad)
                    np.save(folder / "x.npy", x[words])
                    subprocess.run([args.roofs, "fit", "-q", "--method", args.method, "--mu", str(MU), "--orient", "features",
                                    *more, "--y", folder / "y.npy", folder / "x.npy", "-o", folder / "m.json"], check=True)
                    np.save(folder / "x.npy", x_test[words])
                    subprocess.run([args.roofs, "predict", folder / "m.json", folder / "x.npy", "--orient", "features",
                                    "-o", folder / "p.npy"], check=True, stderr=subprocess.DEVNULL)
                    errors.append(np.abs(np.clip(np.load(folder / "p.npy"), 1, 10) - y_test).mean())
                print(f"{args.method}, words {order}, {cr:.0%} corrupted: MAE {np.mean(errors):.3f} "
                      f"(from {min(errors):.3f} to {max(errors):.3f}, {args.seeds} seeds)", flush=True)


if __name__ == "__main__":
    main()
