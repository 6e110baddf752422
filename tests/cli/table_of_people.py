"""A small table for the tests of weights, offsets and forced features."""
import json

import numpy as np

COLUMNS = ("id", *(f"x{j}" for j in range(8)), "age", "sex", "exposure", "w", "y")


def people(n=90, seed=1, wrong=6):
    """Rows with numbers, a word, weights 0 to 3 and a response with wrong values."""
    rng = np.random.default_rng(seed)
    x, age = rng.standard_normal((n, 8)), rng.uniform(20, 80, n)
    sex, exposure, w = rng.choice(["f", "m"], n), rng.uniform(0, 9, n), rng.integers(0, 4, n)
    y = 3 * x[:, 2] - 2 * x[:, 5] + 0.05 * age + (sex == "m") + exposure + 0.3 * rng.standard_normal(n)
    y[:wrong] += 40
    return [dict(zip(COLUMNS, (f"s{i}", *x[i].tolist(), float(age[i]), str(sex[i]), float(exposure[i]), int(w[i]),
                               float(y[i])))) for i in range(n)]


def write(path, rows, columns=None):
    columns = columns or list(rows[0])
    path.write_text("\n".join([",".join(columns), *(",".join(str(row[c]) for c in columns) for row in rows)]) + "\n")
    return path


def load(path):
    return json.loads(path.read_text())


def difference(a, b):
    """The largest difference between two models, or infinity if they have other features."""
    if [f["name"] for f in a["features"]] != [f["name"] for f in b["features"]]:
        return np.inf
    pairs = [(f["coef"], g["coef"]) for f, g in zip(a["features"], b["features"])]
    return max(abs(p - q) for p, q in [*pairs, (a["intercept"], b["intercept"])])
