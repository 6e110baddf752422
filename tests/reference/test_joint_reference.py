"""roofs-bayes as it is by default (two hypotheses, joint solutions, passes as needed): random small problems, the
program against the reference; and the pieces of the reference against what they claim."""
import numpy as np
import pytest

import bayes_reference as reference
import joint_reference as joint
from problems import run_program, some
from test_bayes_reference import as_model, columns, compare, disagreements, minority, ramp, regression, response

PROBLEMS = 60


def make_problem(seed):
    """(x, y, settings) of problem number `seed`; every fifth has more features than samples."""
    rng = np.random.default_rng(10000 + seed)
    few, many = int(rng.integers(12, 31)), int(rng.integers(30, 121))
    n, p = (few, int(rng.integers(40, 61))) if seed % 5 == 0 else (many, int(rng.integers(5, 41)))
    settings = {"mu": int(rng.integers(1, p + 4)), "batch": int(rng.integers(1, p + 1)),
                "reserve": float(rng.choice([0, 0, 1])), "passes": ("auto", "auto", 1, 2)[rng.integers(4)],
                "intercept": bool(rng.random() < 0.7), "standardize": bool(rng.random() < 0.8), "hypotheses": 2,
                "prior": str(rng.choice(["mu", "samples"]))}
    x = columns(rng, p, n)
    return x, response(rng, x), settings


def wanted(seed):
    """(x, y, settings, the reference's fit); the fit is None where the page leads to no number."""
    x, y, settings = make_problem(seed)
    try:
        return x, y, settings, reference.fit(x, y, **settings)
    except reference.Undefined:
        return x, y, settings, None


@pytest.mark.parametrize("first", range(0, some(PROBLEMS), PROBLEMS // 4))
def test_default_settings_agree(program, tmp_path, first):
    count = PROBLEMS // 4

    def fit(seed, x, y, settings):
        return run_program(program, tmp_path / str(seed), x, y, "roofs-bayes", settings)

    fits, failed, sensitive, undefined = compare(fit, range(first, first + count), wanted)
    assert not failed, f"{len(failed)} of {count} differ\n" + "\n".join(failed[:10])
    assert len(sensitive) <= 1 and undefined <= 2, (sensitive, undefined)
    kinds = {(k.dense, k.rare) for k in (want.state.settled.kind for want in fits if want.state.settled)}
    assert len(kinds) >= 3, kinds


@pytest.mark.parametrize("seed", range(2))
def test_hard_responses_agree(program, tmp_path, seed):
    """Long tails, features of a minority, and many corrupt samples."""
    problems = (ramp(seed, n=150), minority(seed, n=150, p=30)[:2], regression(seed, n=120, p=60, true=5)[:2])
    for k, (x, y) in enumerate(problems):
        settings = {"mu": 12, "batch": 10, "passes": "auto", "hypotheses": 2}
        got = run_program(program, tmp_path / str(k), x, y, "roofs-bayes", settings)
        assert disagreements(got, reference.fit(x, y, **settings)) == []


def test_undecided_agrees(program, tmp_path):
    """Some samples follow the same model at another level. Both flags occur."""
    flags = []
    for seed in range(6):
        rng = np.random.default_rng(500 + seed)
        x = rng.standard_normal((12, 90))
        y = 2 * x[1] - x[4] + 0.2 * rng.standard_normal(90)
        y[:(15, 30, 40, 42, 44, 42)[seed]] += 9
        settings = {"mu": 5, "batch": 6, "passes": "auto", "hypotheses": 2}
        want = reference.fit(x, y, **settings).state.settled
        got = run_program(program, tmp_path / str(seed), x, y, "roofs-bayes", settings)
        flags.append(want.undecided)
        assert ("undecided" in got.get("warnings", [])) == want.undecided, seed
    assert 2 <= sum(flags) <= 4, flags


def test_comparison_can_fail(monkeypatch):
    """A reference with another price, or with other starts, answers differently on some problems."""
    for name, other in (("price", lambda w: 0.0), ("from_all", lambda job, best: best)):
        wrong = []
        for seed in range(8):
            x, y, settings, want = wanted(seed)
            with monkeypatch.context() as changed:
                changed.setattr(joint, name, other)
                wrong += disagreements(as_model(reference.fit(x, y, **settings)), want) if want else []
        assert wrong, name


# ---- the pieces ---------------------------------------------------------------------------

def job_of(seed, n=25, m=6, intercept=True):
    """(job, weights) of a random problem, without a stream."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, m))
    y = Z @ rng.uniform(-1, 1, m) + 0.3 * rng.standard_normal(n) + intercept
    st = reference.State(y=y, intercept=intercept, mu=m)
    prior = joint.Prior(0.5, 0.1, 0.5)
    job = joint.Job(st=st, Z=Z, k=np.ones(m), a=np.ones(m), prior=prior, steps=reference, forced=np.zeros(m, bool))
    return job, rng.uniform(0, 1.5, n)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("m", [6, 40])
def test_leave_one_out_is_exact(intercept, m):
    job, W = job_of(m, m=m, intercept=intercept)
    rng = np.random.default_rng(m)
    omega, b0 = rng.uniform(0.1, 2, m), rng.standard_normal(m)
    whole = joint.ridge(job, job.st.y, W, omega, b0)
    for i in range(len(W)):
        one = joint.ridge(job, job.st.y, np.where(np.arange(len(W)) == i, 0, W), omega, b0)
        assert whole.z[i] == pytest.approx(job.st.y[i] - one.c - job.Z[i] @ one.b, abs=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_is_a_minimum(intercept):
    job, W = job_of(3, intercept=intercept)
    omega, b0 = np.linspace(0.1, 2, 6), np.linspace(-1, 1, 6)
    solved = joint.ridge(job, job.st.y, W, omega, b0)
    slope = job.Z.T @ (W * solved.r) - (solved.b - b0) / omega
    assert np.abs(slope).max() < 1e-10 and (not intercept or abs(np.sum(W * solved.r)) < 1e-10)


@pytest.mark.parametrize("nu", joint.NU)
@pytest.mark.parametrize("skew", [-4, 0, 3])
def test_noise_is_a_density(nu, skew):
    q = np.linspace(-9, 9, 200001)
    z = np.sinh(q)                         # reaches far
    values = joint.density(nu, skew, z, np.full(len(z), 2.0)) * np.cosh(q)
    assert np.sum((values[1:] + values[:-1]) / 2 * np.diff(q)) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("start", [joint.mirrored, joint.two_models])
def test_models_are_separated(start):
    """A third of the responses have the wrong sign: these are the group that does not count."""
    job, _ = job_of(1, n=200, intercept=False)
    wrong = np.random.default_rng(1).random(200) < 0.33
    job.st.y = np.where(wrong, -job.st.y, job.st.y)
    weights = start(job).weights
    assert weights[~wrong].mean() > 0.85 and weights[wrong].mean() < 0.15


@pytest.mark.parametrize("level", [0.0, 7.3])
def test_constant_response_selects_nothing(program, tmp_path, level):
    """Equal responses have no variance, in either hypothesis and in any start."""
    x, settings = np.random.default_rng(0).standard_normal((5, 30)), {"mu": 2, "batch": 2, "hypotheses": 2}
    model = run_program(program, tmp_path / "fit", x, np.full(30, level), "roofs-bayes", settings)
    assert model["intercept"] == pytest.approx(level) and model["outliers"] == [] and model["features"] == []
