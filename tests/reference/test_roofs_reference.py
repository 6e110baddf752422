"""A thousand random small problems: the program against the reference, and the reference against itself."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import roofs_reference as reference
from problems import attacks, degenerate, run_program, some

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import numpy_roofs as rival  # noqa: E402

PROBLEMS = some(1000)
NEAR_TIE = 2e-13      # relative to the largest number met; rounding stays far below
TOLERANCE = 1e-9
ATTACKS = ("none", "uniform", "shift", "constant", "other-model", "sign-flip", "gross")


# ---- problems ---------------------------------------------------------------

def corrupt(rng, attack, x, y, clean):
    return np.where(clean, y, attacks(rng, x, y)[attack])


def columns(rng, p, n, standardize):
    x = rng.standard_normal((p, n))
    if rng.random() < 0.4:                                      # correlated
        x = x + rng.uniform(0, 2) * rng.standard_normal(n)
    if n > 20 and rng.random() < 0.2:                           # sparse
        x = x * (rng.random((p, n)) < 0.5)
    if standardize and rng.random() < 0.5:                      # badly scaled
        x = (x + rng.uniform(-30, 30, (p, 1))) * 10 ** rng.uniform(-6, 6, (p, 1))
    elif rng.random() < 0.3:                                    # of several lengths
        x = x * 10 ** rng.uniform(-1, 1.5, (p, 1))
    return degenerate(rng, x)


def make_problem(seed):
    """(x, y, settings) of problem number `seed`."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 61)), int(rng.integers(1, 41))
    settings = {"mu": int(rng.integers(1, p + 4)), "batch": int(rng.integers(1, p + 1)),
                "intercept": bool(rng.random() < 0.6), "standardize": bool(rng.random() < 0.6),
                "clean_ratio": round(rng.uniform(min(1, 5 / n), 1), 3) if rng.random() < 0.3 else None}
    x = columns(rng, p, n, settings["standardize"])
    if rng.random() < 0.2:
        x = x.astype(np.float32)
    spread = x.std(axis=1) + (x.std(axis=1) == 0)
    y = (rng.uniform(0, 1, p) * (rng.random(p) < 0.4) / spread) @ x.astype(float)
    clean = rng.random(n) >= rng.uniform(0, 0.4)
    y = corrupt(rng, str(rng.choice(ATTACKS)), x / spread[:, None], y + rng.normal(), clean)
    y = y + rng.choice([0.01, 0.3]) * rng.standard_normal(n)
    if rng.random() < 0.3:
        y = y * 10 ** rng.uniform(-5, 5) if settings["standardize"] else y
    _, first, kind = np.unique(x.T, axis=0, return_index=True, return_inverse=True)
    if rng.random() < 0.5:                                      # equal samples also have equal responses
        y = y[first[kind.reshape(-1)]]
    return x, y, settings


# ---- the program's answer -----------------------------------------------------

def disagreements(model, want):
    """What differs between the program's model and the reference's fit, as a list of sentences."""
    wrong = []

    def same(what, got, expected):
        if got != expected:
            wrong.append(f"{what}: {got}, reference {expected}")

    def near(what, got, expected, scale):
        if not abs(got - expected) <= TOLERANCE * scale:
            wrong.append(f"{what}: {got!r}, reference {expected!r}, scale {scale!r}")

    same("support", [f["index"] for f in model["features"]], list(want.coef))
    same("outliers", model["outliers"], np.flatnonzero(~want.trusted).tolist())
    same("batches", len(model["history"]), len(want.history))
    for key in ("rounds", "trusted", "selected", "entered", "features"):
        same(key, [h[key] for h in model["history"]], [h[key] for h in want.history])
    same("stop", model["stop"], want.stop)
    if wrong:
        return wrong
    size = want.gaps.scale_beta
    for f in model["features"]:
        j = f["index"]
        near(f"coefficient {j}", f["coef"], want.coef[j], size / want.scale[j])
    shifts = sum(size * abs(want.shift[j]) / want.scale[j] for j in want.coef)
    near("intercept", model["intercept"], want.intercept, want.gaps.scale_r + shifts)
    for k, (got, expected) in enumerate(zip(model["history"], want.history)):
        near(f"cut of batch {k}", got["cut"], expected["cut"], want.gaps.scale_r)
    return wrong


def as_model(fitted):
    """The reference's own fit in the form of a model file, to be compared like one."""
    return {"features": [{"index": j, "coef": value} for j, value in fitted.coef.items()],
            "outliers": np.flatnonzero(~fitted.trusted).tolist(), "history": fitted.history,
            "intercept": fitted.intercept, "stop": fitted.stop}


def is_sensitive(seed, x, y, settings, want):
    """Does the reference itself answer differently when y changes in its last bits? Then the rounds amplify rounding
    (trust sets that flip for ever, steps near the limit), and two correct programs may differ."""
    noise = np.random.default_rng(seed).uniform(-1e-15, 1e-15, (3, len(y)))
    return any(disagreements(as_model(reference.fit(x, y * (1 + e), **settings)), want) for e in noise)


def test_thousand_problems_agree(program, tmp_path):
    def check(seed):
        x, y, settings = make_problem(seed)
        want = reference.fit(x, y, **settings)
        try:
            wrong = disagreements(run_program(program, tmp_path / str(seed), x, y, "roofs", settings), want)
        except (AssertionError, subprocess.TimeoutExpired) as failure:
            return seed, want.gaps, [str(failure)], settings
        if wrong and is_sensitive(seed, x, y, settings, want):
            want.gaps.note("sensitive to the last bits of y", 0.0, 1.0)
        return seed, want.gaps, wrong, settings

    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as workers:
        results = list(workers.map(check, range(PROBLEMS)))
    close = [seed for seed, gaps, _, _ in results if gaps.smallest < NEAR_TIE]
    assert len(close) <= PROBLEMS // 100, f"near ties: {close}"
    failed = [f"problem {seed} {settings}, closest call {gaps.smallest:.1e} ({gaps.where}): " + "; ".join(wrong)
              for seed, gaps, wrong, settings in results if wrong and gaps.smallest >= NEAR_TIE]
    assert not failed, f"{len(failed)} of {PROBLEMS} differ\n" + "\n".join(failed[:10])


# ---- eq. (5) alone --------------------------------------------------------------

def residuals(rng):
    """Whole numbers, so that every sum, tie and comparison is exact."""
    n = int(rng.integers(4, 41))
    kind = rng.integers(4)
    if kind == 0:
        return np.zeros(n)
    if kind == 1:
        return np.full(n, float(rng.integers(1, 9)))
    if kind == 2:
        return rng.integers(-3, 4, n) * 1.0
    return np.round(rng.standard_cauchy(n) * 20)


def test_eq5_agrees_through_the_program(program, tmp_path):
    """A feature of zeros leaves r = y, so the trust set is eq. (5) of |y|, ties to the lower sample number."""
    rng = np.random.default_rng(5)
    ys = [residuals(rng) for _ in range(150)]
    settings = {"mu": 1, "batch": 1, "intercept": False, "standardize": False, "clean_ratio": None}

    def check(k):
        size = np.abs(ys[k])
        order = np.argsort(size, kind="stable")
        want = np.sort(order[reference.trust_count(size[order]):]).tolist()
        got = run_program(program, tmp_path / str(k), np.zeros((1, len(size))), ys[k], "roofs", settings)["outliers"]
        return [] if got == want else [f"{ys[k].tolist()}: {got}, brute force {want}"]

    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as workers:
        failed = sum(workers.map(check, range(len(ys))), [])
    assert not failed, "\n".join(failed[:10])


# ---- the reference against itself -------------------------------------------------

def test_problems_are_what_they_claim():
    made = [make_problem(seed) for seed in range(200)]
    assert {x.dtype for x, _, _ in made} == {np.dtype("f8"), np.dtype("f4")}
    assert any(s["mu"] >= len(x) for x, _, s in made) and any(s["mu"] < len(x) for x, _, s in made)
    assert any(len(y) < s["mu"] for _, y, s in made)
    assert all(np.isfinite(x).all() and np.isfinite(y).all() and len(y) >= 4 for x, y, _ in made)
    assert any((np.ptp(x, axis=1) == 0).any() for x, _, _ in made)


def test_reference_finds_a_clean_model():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((20, 300))
    y = 2 * x[3] - x[7] + 1
    y[:30] += 5
    fit = reference.fit(x, y, mu=2, batch=5, clean_ratio=0.8)
    assert list(fit.coef) == [3, 7] and not fit.trusted[:30].any()
    scores = reference.scores(fit.coef, fit.trusted, np.bincount([3, 7], minlength=20), np.arange(300) >= 30)
    assert scores["feature_f1"] == 1 and scores["clean_f1"] > 0.8


def test_residual_and_user_units_agree():
    """y - intercept - X' coef is the residual the fit ended with."""
    for seed in range(60):
        x, y, settings = make_problem(seed)
        fit = reference.fit(x, y, **settings)
        residual = y - fit.intercept - sum(value * x[j].astype(float) for j, value in fit.coef.items())
        assert np.allclose(residual, fit.residual, rtol=0, atol=1e-9 * fit.gaps.scale_r), seed


@pytest.mark.parametrize("r, tau", [
    ([0, 0, 0, 0], 4), ([1, 1, 1, 1, 1], 5), ([0, 0, 0, 9], 3),
    # n = 6: tau = 6 has mean of squares (1+4+9)/3, rank 2, and 2*6*2/2 = 12 >= 12; with 13 it does not fit,
    # tau = 5: mean (1+4)/2 lies midway between 1 and 4, so rank 1, and 2*5*1 >= 5
    ([1, 2, 3, 4, 5, 12], 6), ([1, 2, 3, 4, 5, 13], 5)])
def test_eq5_agrees_with_hand_calculation(r, tau):
    assert reference.trust_count(np.array(r, float)) == tau


def test_f1_is_right():
    assert reference.f1([1, 2], [2, 3]) == 0.5
    assert reference.f1([1], [1]) == 1 and reference.f1([1], [2]) == 0


# ---- the rival of the bench is the same algorithm -----------------------------------

def test_eq5_of_the_rival_agrees():
    rng = np.random.default_rng(6)
    for _ in range(2000):
        r = np.sort(np.abs(residuals(rng)))
        assert rival.trust_count(r) == reference.trust_count(r), r


def test_fit_of_the_rival_agrees():
    rng = np.random.default_rng(7)
    for _ in range(10):
        n, p, mu, batch = (int(rng.integers(*limits)) for limits in ((20, 60), (5, 40), (1, 30), (1, 10)))
        x = rng.standard_normal((p, n)) + rng.choice([0, 3]) * rng.standard_normal(n)
        y = x[:3].sum(axis=0) + (rng.random(n) < 0.2) * 4 + 0.3 * rng.standard_normal(n)
        want = reference.fit(x, y, mu, batch, intercept=False, standardize=False)
        index, beta, trusted, rounds = rival.roofs(np.split(x, range(batch, p, batch)), y, mu, batch)
        assert rounds == sum(h["rounds"] for h in want.history)
        assert dict(zip(index, beta)) == pytest.approx(want.coef, rel=1e-9, abs=1e-9)
        assert (trusted == want.trusted).all()
