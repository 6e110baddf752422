"""Random problems, and the program's answers to them, for all references."""
import json
import os
import subprocess
from pathlib import Path

import numpy as np


def some(count):
    """How many problems are tried: under sanitizers a quarter, because there only the program is watched."""
    return count // 4 if Path(os.environ.get("ROOFS_BUILD", "build")).name == "asan" else count


def degenerate(rng, x):
    """Makes some columns constant and repeats some columns and samples."""
    p, n = x.shape
    if rng.random() < 0.2:                                      # constant columns
        x[rng.random(p) < 0.3] = rng.choice([0.0, 1.0, -2.5])
    if rng.random() < 0.2:                                      # duplicate columns
        x[rng.integers(p, size=p // 3)] = x[rng.integers(p)]
    if rng.random() < 0.1:                                      # duplicate samples
        x[:, rng.integers(n, size=n // 3)] = x[:, [rng.integers(n)]]
    return x


def attacks(rng, x, y):
    """Name of the attack -> corrupted responses."""
    size = np.abs(y).max()
    other = 3 * (rng.standard_normal(len(x)) / np.sqrt(len(x))) @ x
    return {"none": y, "uniform": y + rng.uniform(-5 * size, 5 * size, len(y)), "shift": y + size,
            "constant": np.full(len(y), 3 * size), "other-model": other, "sign-flip": -y,
            "gross": y + rng.choice([-1e6, 1e6], len(y))}


def run_fit(program, folder, method, files, settings, *more, name="model.json"):
    """The model of a fit to these files and y.npy, in one pass unless given. A setting that is None is left out."""
    args = [program, "fit", "--method", method, "--y", "y.npy", *files, "-o", name, "--quiet", *more]
    for key, value in {"passes": 1, **settings}.items():
        option = key.replace("_", "-")
        if value is not None and value is not True:
            args += [f"--no-{option}"] if value is False else [f"--{option}", value]
    done = subprocess.run(list(map(str, args)), cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    return json.loads((folder / name).read_text())


def run_program(program, folder, x, y, method, settings, **more):
    """The model of a fit to an array, in a new folder."""
    folder.mkdir()
    np.save(folder / "X.npy", x)
    np.save(folder / "y.npy", y)
    return run_fit(program, folder, method, ["X.npy"], {**settings, **more}, "--orient", "features", "--threads", 1)
