"""Numbers that are hostile in themselves: every method has an outcome, and it is never a silent wrong one."""
import json
import sys

import numpy as np
import pytest

from conftest import ROOT, support

sys.path.insert(0, str(ROOT / "experiments"))
import robustness  # noqa: E402

EXTRA = {"torrent": ["--reading", "joint", "--clean-ratio", "0.7"], "rlhh": ["--reading", "joint"]}
METHODS = ("roofs", "roofs-bayes", "os", "grafting", "homotopy", "dalm", "torrent", "rlhh")
CASES = {case[0]: case[1:] for case in robustness.hostile_cases()}
PLAIN = "as it is"


@pytest.fixture
def run(roofs, write_npy, tmp_path):
    def run(method, X, y):
        done = roofs("fit", "-q", "--method", method, *EXTRA.get(method, []), "--mu", robustness.TRUE, "--orient", "features",
                     "--y", write_npy("y.npy", y), write_npy("X.npy", np.ascontiguousarray(X.T)), "-o", tmp_path / "m.json",
                     ok=False)
        return done, json.loads((tmp_path / "m.json").read_text()) if done.returncode == 0 else None
    return run


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_every_method_has_an_outcome(run, name, method):
    """A model of finite numbers, or exit code 3 and which feature is to blame."""
    X, y, _, _ = CASES[name]
    done, model = run(method, X, y)
    if model is None:
        assert done.returncode == 3 and "feature" in done.stderr and "unit" in done.stderr
        return
    assert all(np.isfinite(f["coef"]) for f in model["features"]) and np.isfinite(model["intercept"])
    assert len(model["features"]) <= robustness.TRUE and len(model["outliers"]) < robustness.N


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("power", [-1000, -500, 500, 1000])
def test_a_unit_of_y_changes_nothing_else(run, method, power):
    """A power of two is exact: the same features, the same samples, coefficients that differ by it."""
    X, y, _, _ = CASES[PLAIN]
    plain, scaled = run(method, X, y)[1], run(method, X, np.ldexp(y, power))[1]
    assert support(plain) == support(scaled) and plain["outliers"] == scaled["outliers"]
    for a, b in zip(plain["features"], scaled["features"]):
        assert b["coef"] == pytest.approx(np.ldexp(a["coef"], power), rel=1e-9, abs=0)


@pytest.mark.parametrize("name", [name for name in CASES if "times" in name or "scales" in name or "1e308" in name or "gross" in name])
def test_bayes_finds_them_all_the_same(run, name):
    X, y, beta, clean = CASES[name]
    done, model = run("roofs-bayes", X, y)
    if model is None:
        assert beta is None and done.returncode == 3    # coefficients beyond the largest number
        return
    assert support(model) == list(np.flatnonzero(CASES[PLAIN][2]))
    assert robustness.f1(~np.isin(np.arange(robustness.N), model["outliers"]), clean) > 0.97
    coef = np.array([f["coef"] for f in model["features"]])
    assert coef / beta[support(model)] == pytest.approx(np.ones(robustness.TRUE), abs=0.1)


def test_equal_columns_share_one_weight(run):
    """Twice every column: whichever of a pair is kept, the weight of both is that of one."""
    X, y, _, clean = CASES["every column twice"]
    model = run("roofs-bayes", X, y)[1]
    assert robustness.f1(~np.isin(np.arange(robustness.N), model["outliers"]), clean) > 0.97
    found = np.zeros(robustness.P)
    for f in model["features"]:
        found[f["index"] // 2] += f["coef"]
    beta = CASES[PLAIN][2]
    assert np.linalg.norm(found - beta) / np.linalg.norm(beta) < 0.1
