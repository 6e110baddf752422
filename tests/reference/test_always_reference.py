"""Forced features (--always): random small problems, the program against the references, and least squares."""
import numpy as np
import pytest

import bayes_reference as reference
import groups_fit
import groups_reference as groups
import test_bayes_reference as alone
import test_groups_program as grouped
import test_joint_reference as jointly
from problems import run_program, some
from test_bayes_reference import as_model, compare, disagreements

PROBLEMS = 80


def make_problem(seed):
    """A problem of one of the other comparisons, whose first features are forced and do not depend on each other."""
    rng = np.random.default_rng(20000 + seed)
    x, y, settings = (jointly if seed % 2 else alone).make_problem(seed)
    x, (p, n) = x.astype(float), x.shape
    settings["always"] = always = int(rng.integers(1, max(2, min(p, n // 4))))
    x[:always] = rng.standard_normal((always, n)) + 0.5 * rng.standard_normal(n)
    if rng.random() < 0.3:                                          # no other feature
        x = x[:always]
    return x, y + np.std(y) * x[0] * rng.choice([0, 1]), {"hypotheses": 1, **settings}


def wanted(seed):
    x, y, settings = make_problem(seed)
    try:
        return x, y, settings, reference.fit(x, y, **settings)
    except (reference.Undefined, np.linalg.LinAlgError):
        return x, y, settings, None


@pytest.mark.parametrize("first", range(0, some(PROBLEMS), PROBLEMS // 4))
def test_forced_features_agree(program, tmp_path, first):
    count = PROBLEMS // 4

    def fit(seed, x, y, settings):
        return run_program(program, tmp_path / str(seed), x, y, "roofs-bayes", settings)

    _, failed, sensitive, undefined = compare(fit, range(first, first + count), wanted)
    assert not failed, f"{len(failed)} of {count} differ\n" + "\n".join(failed[:10])
    assert len(sensitive) <= 2 and undefined <= 2, (sensitive, undefined)


def test_comparison_can_fail():
    """The same problems without forced features have other answers."""
    wrong = 0
    for seed in range(8):
        x, y, settings, want = wanted(seed)
        if want is not None:
            other = reference.fit(x, y, **{**settings, "always": 0, "mu": settings["mu"] + settings["always"]})
            wrong += bool(disagreements(as_model(other), want))
    assert wrong >= 6, wrong


@pytest.mark.parametrize("n, count, more", [
    (300, 6, {}), (300, 6, {"hypotheses": 1}), (300, 6, {"intercept": False}), (300, 6, {"standardize": False}),
    (4000, 300, {"batch": 60})])                                    # too many for a joint solution
def test_forced_features_alone_are_least_squares(program, tmp_path, n, count, more):
    """Noise that is never far from the fit: all samples have weight 1. Tolerance: 1e-5 standard errors."""
    rng = np.random.default_rng(count)
    mix = np.eye(count) + 0.3 * rng.standard_normal((count, count)) / np.sqrt(count)
    x = mix @ rng.standard_normal((count, n)) + 2
    y = rng.uniform(-1, 1, count) @ x + rng.uniform(-1, 1, n)
    settings = {"always": count, "batch": 100, "clean_ratio": 1, **more}
    model = run_program(program, tmp_path / "fit", x, y, "roofs-bayes", settings)
    coef = np.array([f["coef"] for f in model["features"]])
    design = x.T if more.get("intercept") is False else np.column_stack([x.T, np.ones(n)])
    exact = np.linalg.lstsq(design, y, rcond=None)[0]
    error = np.sqrt(np.diag(np.linalg.inv(design.T @ design))[:count])
    assert len(coef) == count and all(f["probability"] == 1 for f in model["features"])
    assert np.abs((coef - exact[:count]) / error).max() < 1e-5


@pytest.mark.parametrize("seed", range(6))
def test_groups_beside_forced_features_agree(program, tmp_path, seed):
    """Also the errors of the coefficients; some of the forced features matter, and others look like them."""
    x, y, settings = grouped.make_problem(seed)
    settings["always"] = (3, 7, 1)[seed % 3]
    model = run_program(program, tmp_path / "fit", x, y, "roofs-bayes", settings)
    done, end, complete = groups_fit.fit(x, y, **settings)
    assert grouped.disagreement(model, end, complete) is None
    spread, unit = groups.spread(end), model["noise"]["scale"]
    scale = np.array([done.state.known[j].scale for j in end.index])
    got = [f["error"] / unit for f in model["features"]]
    want = np.sqrt(spread.each / spread.s2) / scale
    assert np.allclose(got, want[np.argsort(end.index)], rtol=1e-3)
