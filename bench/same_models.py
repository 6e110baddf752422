#!/usr/bin/env python3
"""Checks that two builds of the program write the same model files, byte by byte: same_models.py OLD NEW

Fits every method to dense and sparse data with several options. Only the version of the library in the file may differ.
"""
import itertools
import re
import subprocess
import sys
import tempfile

import numpy as np
import scipy.sparse

METHODS = "roofs roofs-bayes os grafting homotopy dalm torrent rlhh".split()
OPTIONS = ([], ["--no-intercept"], ["--no-standardize"], ["--batch", "7", "--passes", "2"], ["--clean-ratio", "0.8"],
           ["--threads", "2"])
SIMULATED = ((300, 120, 10, 0.1, "first", "f64"), (257, 90, 8, 0.3, "random", "f32"), (1000, 60, 5, 0, "random", "f64"))


def simulated(program, folder):
    for k, (n, p, mu, corruption, order, dtype) in enumerate(SIMULATED):
        output = f"{folder}/{k}"
        subprocess.run([program, "simulate", "-q", "-o", output, "--n", str(n), "--p", str(p), "--mu", str(mu),
                        "--corruption", str(corruption), "--order", order, "--dtype", dtype], check=True)
        yield f"{output}/X.npy", f"{output}/y.npy", mu


def sparse(folder):
    rng = np.random.default_rng(1)
    x = scipy.sparse.random(400, 80, 0.08, random_state=1, format="csc")
    y = x[:, :6].sum(axis=1).A1 + 0.01 * rng.normal(size=400)
    y[:60] += rng.uniform(-9, 9, 60)
    scipy.sparse.save_npz(f"{folder}/x.npz", x)
    np.save(f"{folder}/y.npy", y)
    return f"{folder}/x.npz", f"{folder}/y.npy", 6


def wide(folder):
    """More features than samples, two of them equal, responses with ties."""
    x = np.random.default_rng(2).normal(size=(20, 30))
    x[:, 5] = x[:, 6]
    np.save(f"{folder}/wide.npy", x.T)
    np.save(f"{folder}/wide-y.npy", np.round(x[:, :3].sum(axis=1)))
    return f"{folder}/wide.npy", f"{folder}/wide-y.npy", 3


def main(old, new):
    different = total = 0
    with tempfile.TemporaryDirectory() as folder:
        problems = [*simulated(old, folder), sparse(folder), wide(folder)]
        for (x, y, mu), method, options in itertools.product(problems, METHODS, OPTIONS):
            required = ["--clean-ratio", "0.7"] if method == "torrent" and "--clean-ratio" not in options else []
            line = ["fit", "-q", "--y", y, "--mu", str(mu), "--method", method, *options, *required, x]
            results = [subprocess.run([program, *line], capture_output=True) for program in (old, new)]
            texts = [re.sub(rb'\n "library": "[^"]*",', b"", r.stdout) for r in results]
            same = len({(r.returncode, text, r.stderr) for r, text in zip(results, texts)}) == 1
            different += not same
            total += 1
            if not same:
                print("different:", *line)
    print(f"{total - different} of {total} the same")
    return different > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
