"""roofs-bayes: random small problems, the program against the reference, and what both must do with a known truth."""
import json

import numpy as np
import pytest

import bayes_reference as reference
from problems import attacks, degenerate, run_fit, some
from roofs_reference import scores

PROBLEMS = some(400)
TOLERANCE = 1e-6
ATTACKS = ("none", "uniform", "shift", "constant", "other-model", "sign-flip", "gross", "huge")


# ---- problems ---------------------------------------------------------------------

def corrupt(rng, attack, x, y, clean):
    change = {**attacks(rng, x, y), "huge": y + rng.choice([-1, 1e3], len(y)) * 1e12}
    return np.where(clean, y, change[attack])


def columns(rng, p, n):
    x = rng.standard_normal((p, n))
    if rng.random() < 0.3:                                      # correlated
        x = x + rng.uniform(0, 2) * rng.standard_normal(n)
    if n > 20 and rng.random() < 0.4:                           # rare words
        x = np.abs(x) * (rng.random((p, n)) < rng.uniform(0.05, 0.6, (p, 1)))
    if rng.random() < 0.4:                                      # badly scaled
        x = (x + rng.uniform(-30, 30, (p, 1)) * (rng.random() < 0.5)) * 10 ** rng.uniform(-4, 4, (p, 1))
    return degenerate(rng, x)


def response(rng, x):
    p, n = x.shape
    spread = x.std(axis=1) + (x.std(axis=1) == 0)
    kind = rng.random()
    if kind < 0.03:
        return np.full(n, rng.choice([0.0, 1.0, -2.5]))
    sign = rng.choice([-1, 1], p) if rng.random() < 0.5 else 1
    y = (sign * rng.uniform(0.2, 1, p) * (rng.random(p) < 0.3) / spread) @ x
    y = y + rng.normal() + rng.choice([0.01, 0.3]) * rng.standard_normal(n)
    clean = rng.random(n) >= rng.uniform(0, 0.4)
    y = corrupt(rng, str(rng.choice(ATTACKS)), x / spread[:, None], y, clean)
    if kind < 0.08:                                             # half or more of the responses are equal
        y[rng.permutation(n)[:n - n // 2]] = y[0]
    return y * 10 ** rng.uniform(-8, 8) if rng.random() < 0.4 else y


def make_problem(seed):
    """(x, y, settings) of problem number `seed`."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 81)), int(rng.integers(1, 61))
    settings = {"mu": int(rng.integers(1, p + 4)), "batch": int(rng.integers(1, p + 1)),
                "reserve": float(rng.choice([0, 0.5, 1])), "passes": int(rng.choice([1, 2])),
                "intercept": bool(rng.random() < 0.6), "standardize": bool(rng.random() < 0.6)}
    x = columns(rng, p, n)
    y = response(rng, x)
    return (x.astype(np.float32) if rng.random() < 0.2 else x), y, settings


def regression(seed, n=400, p=400, true=40, corrupted=0.2, noise=0.1):
    """A problem with a known truth, the true features at random places: (x, y, beta, clean)."""
    rng = np.random.default_rng(seed)
    x, beta = rng.standard_normal((p, n)), np.zeros(p)
    beta[rng.choice(p, true, replace=False)] = rng.uniform(0, 1, true)
    beta /= np.linalg.norm(beta)
    y = beta @ x + noise * rng.standard_normal(n)
    clean = rng.random(n) >= corrupted
    return x, np.where(clean, y, y + rng.uniform(-10, 10, n)), beta, clean


# ---- the program's answer -----------------------------------------------------------

@pytest.fixture
def bayes(program, tmp_path):
    """bayes(x, y, settings, *more): the model the program wrote. x: one array, or one for each file."""
    def run(x, y, settings, *more, name="model.json"):
        arrays = x if isinstance(x, list) else [x]
        for k, values in enumerate(arrays):
            np.save(tmp_path / f"X{k}.npy", values)
        np.save(tmp_path / "y.npy", y)
        files = [f"X{k}.npy" for k in range(len(arrays))]
        return run_fit(program, tmp_path, "roofs-bayes", files, {"hypotheses": 1, **settings}, "--orient", "features",
                       *more, name=name)
    return run


def as_model(fitted):
    """The reference's own fit in the form of a model file."""
    return {"features": [{"index": j, "coef": value, "probability": fitted.probability[j]}
                         for j, value in fitted.coef.items()],
            "outliers": np.flatnonzero(fitted.w <= 0.5).tolist(), "intercept": fitted.intercept,
            "clean_probability": fitted.w.tolist()}


def disagreements(model, want, tolerance=TOLERANCE):
    """What differs between the program's model and the reference's fit, as a list of sentences."""
    wrong = []

    def near(what, got, expected, scale):
        if not abs(got - expected) <= tolerance * scale:
            wrong.append(f"{what}: {got!r}, reference {expected!r}, scale {scale!r}")

    def weighty(coef):
        """Without coefficients that are 0 but for rounding: those of equal responses, which need no feature."""
        return [j for j, value in coef.items() if not abs(value) * want.scale.get(j, np.inf) <= nothing]

    size = np.sqrt(want.state.total)                # of a response, in the unit of the method, like the coefficients
    nothing = 1e-12 * (size + abs(want.state.b))
    support, expected = weighty({f["index"]: f["coef"] for f in model["features"]}), weighty(want.coef)
    if support != expected:
        return [f"support: {support}, reference {expected}"]
    outliers = np.flatnonzero(want.w <= 0.5).tolist()
    if model["outliers"] != outliers and np.abs(want.w - 0.5).min() > tolerance:
        wrong.append(f"outliers: {model['outliers']}, reference {outliers}")
    largest = max([1e-3 * size, *(abs(want.coef[j]) * want.scale[j] for j in support)])
    for f in (f for f in model["features"] if f["index"] in support):
        j = f["index"]
        near(f"coefficient {j}", f["coef"], want.coef[j], largest / want.scale[j])
        near(f"probability {j}", f["probability"], want.probability[j], 1)
    shifts = sum(largest * abs(want.shift[j]) / want.scale[j] for j in support)
    near("intercept", model["intercept"], want.intercept, want.unit * (abs(want.state.b) + size) + shifts)
    if len(model["clean_probability"]) != len(want.w):
        wrong.append(f"{len(model['clean_probability'])} clean probabilities")
    for i, (got, expected) in enumerate(zip(model["clean_probability"], want.w)):
        near(f"w {i}", got, expected, 1)
    return wrong


def last_bits(seed, y, count=3):
    """y with every value changed in its last bits; equal values stay equal."""
    _, kind = np.unique(y, return_inverse=True)
    noise = np.random.default_rng(seed).uniform(-1e-15, 1e-15, (count, len(y)))
    return [y * (1 + e[kind]) for e in noise]


def shuffled(seed, x, y, settings):
    """The reference's fit with the samples in another order: the same sums, rounded differently."""
    order = np.random.default_rng(seed).permutation(len(y))
    fit = reference.fit(x[:, order], y[order], **settings)
    fit.w = fit.w[np.argsort(order)]
    return fit


def is_sensitive(seed, x, y, settings, want):
    """Does the reference itself answer differently when y changes in its last bits, or sums do? Then two correct
    programs may."""
    others = [reference.fit(x, other, **settings) for other in last_bits(seed, y)]
    others += [shuffled(k, x, y, settings) for k in range(3)]
    return any(disagreements(as_model(other), want) for other in others)


def compare(fit, seeds, wanted):
    """(fits of the reference, problems that differ, those that the last bits decide, number without an answer) of the
    problems wanted(seed); fit(seed, x, y, settings) is the program's model."""
    fits, failed, sensitive, undefined = [], [], [], 0
    for seed in seeds:
        x, y, settings, want = wanted(seed)
        if want is None:
            undefined += 1
            continue
        fits.append(want)
        wrong = disagreements(fit(seed, x, y, settings), want)
        if wrong and is_sensitive(seed, x, y, settings, want):
            sensitive.append(seed)
        elif wrong:
            failed.append(f"problem {seed} {settings}: " + "; ".join(wrong[:3]))
    return fits, failed, sensitive, undefined


# ---- random problems ------------------------------------------------------------------

def finite(model):
    """Whatever the problem: numbers, and probabilities that are probabilities."""
    numbers = [model["intercept"], *(f["coef"] for f in model["features"])]
    shares = [*model["clean_probability"], *(f["probability"] for f in model["features"])]
    return np.isfinite(np.array(numbers, float)).all() and all(s is not None and 0 <= s <= 1 for s in shares)


def wanted(seed):
    """(x, y, settings, the reference's fit) of problem number `seed`; the fit is None where the page leads to no
    number."""
    x, y, settings = make_problem(seed)
    try:
        return x, y, settings, reference.fit(x, y, **settings)
    except reference.Undefined:
        return x, y, settings, None


def test_random_problems_agree(bayes):
    def fit(_, *problem):
        return bayes(*problem, "--threads", 1)

    _, failed, sensitive, undefined = compare(fit, range(PROBLEMS), wanted)
    assert not failed, f"{len(failed)} of {PROBLEMS} differ\n" + "\n".join(failed[:10])
    assert len(sensitive) <= PROBLEMS // 50, f"sensitive: {sensitive}"
    assert undefined <= PROBLEMS // 15


def test_fit_ends_where_the_description_is_undefined(bayes):
    """Sums of weights that underflow, fourth powers that overflow: still finite numbers."""
    failed = []
    for seed in range(PROBLEMS):
        x, y, settings, want = wanted(seed)
        try:
            if want is None and not finite(bayes(x, y, settings)):
                failed.append(f"problem {seed} {settings}: not finite")
        except AssertionError as failure:
            failed.append(f"problem {seed} {settings}: {failure}")
    assert not failed, f"{len(failed)} problems\n" + "\n".join(failed[:10])


@pytest.mark.parametrize("level", [1.0, 0.1, 7.3, 1000000.1])
def test_constant_response_selects_nothing(answer, level):
    """Nothing to explain and nobody to distrust."""
    x = np.random.default_rng(0).standard_normal((5, 30))
    model = answer(x, np.full(30, level), {"mu": 2, "batch": 2})
    assert model["intercept"] == pytest.approx(level) and model["outliers"] == []


@pytest.mark.parametrize("level", [10, 100, 1000])
def test_missing_intercept_is_survived(answer, level):
    """A bad model, but an answer."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 20))
    assert finite(answer(x, level + x[0] + 0.1 * rng.standard_normal(20), {"mu": 1, "batch": 1, "intercept": False}))


def test_feature_constant_on_clean_samples_is_left_out(bayes):
    """A column that varies only on samples that are corrupt beyond doubt is constant."""
    rng = np.random.default_rng(0)
    x = np.vstack([rng.standard_normal(20), np.full(20, 3.0)])
    y = x[0] + 0.1 * rng.standard_normal(20)
    x[1, :4], y[:4] = rng.standard_normal(4), 1e6
    for standardize in (True, False):
        model = bayes(x, y, {"mu": 2, "batch": 2, "standardize": standardize})
        assert support(model) == [0] and model["constant_features"] == 1


def test_more_features_than_the_prior_uses_agree(bayes):
    x, y, _, _ = regression(3, n=16, p=20000, true=3, corrupted=0.1)
    settings = {"mu": 5, "batch": 3000}
    assert not disagreements(bayes(x, y, settings), reference.fit(x, y, **settings))


def test_problems_are_what_they_claim():
    made = [make_problem(seed) for seed in range(PROBLEMS)]
    assert {x.dtype for x, _, _ in made} == {np.dtype("f8"), np.dtype("f4")}
    assert any(s["mu"] >= len(x) for x, _, s in made) and any(len(x) > 2 * s["mu"] + s["batch"] for x, _, s in made)
    assert all(np.isfinite(x).all() and np.isfinite(y).all() for x, y, _ in made)
    assert any((np.ptp(x, axis=1) == 0).any() for x, _, _ in made)
    assert any(np.ptp(y) == 0 for _, y, _ in made) and any(0 < np.ptp(y) and 2 * np.sum(y == y[0]) >= len(y)
                                                           for _, y, _ in made)
    assert any(np.abs(y - np.median(y)).max() > 1e12 * reference.unit_of(y) for _, y, _ in made)


def test_residual_and_user_units_agree():
    """y - intercept - X' coef is the residual the fit ended with, but for responses that were moved."""
    for seed in range(60):
        x, y, settings = make_problem(seed)
        try:
            fit = reference.fit(x, y, **settings)
        except reference.Undefined:
            continue
        residual = y - fit.intercept - sum(value * x[j].astype(float) for j, value in fit.coef.items())
        moved = np.abs(y / fit.unit - fit.state.y) > 1
        scale = np.abs(y[~moved]).max() + abs(fit.intercept)
        assert np.allclose(residual[~moved], fit.residual[~moved], rtol=0, atol=1e-9 * scale), seed


# ---- a known truth, for the reference and for the program ---------------------------------

@pytest.fixture(params=["reference", "program"])
def answer(request):
    """answer(x, y, settings): a model, by the reference or by the program."""
    if request.param == "program":
        return request.getfixturevalue("bayes")
    return lambda x, y, settings, *more: as_model(reference.fit(x, y, **settings))


def support(model):
    return [f["index"] for f in model["features"]]


def scored(model, beta, clean):
    trusted = np.ones(len(clean), bool)
    trusted[model["outliers"]] = False
    return scores({f["index"]: f["coef"] for f in model["features"]}, trusted, beta, clean)


@pytest.mark.parametrize("passes, reserve, worst, gap", [(1, 0, 0.7, 0.22), (1, 1, 0.72, 0.18), (2, 1, 0.9, 0.03)])
def test_order_hardly_matters(answer, passes, reserve, worst, gap):
    """Method roofs finds a third of the features here (0.35); true features first, this one finds 0.94."""
    settings = {"mu": 40, "batch": 20, "passes": passes, "reserve": reserve}
    found = []
    for seed in range(4):
        x, y, beta, clean = regression(seed)
        first = np.argsort(beta == 0, kind="stable")
        found.append([scored(answer(x, y, settings), beta, clean)["feature_f1"],
                      scored(answer(x[first], y, settings), beta[first], clean)["feature_f1"]])
    anywhere, in_front = np.mean(found, axis=0)
    assert np.min(found) >= worst and in_front - anywhere <= gap, found


def test_probabilities_are_probabilities(answer):
    """Of the features selected about sum(a) are true; about sum(w) samples are clean, and the right ones."""
    believed, true, w, truth = 0.0, 0, [], []
    for seed in range(5):
        x, y, beta, clean = regression(seed)
        model = answer(x, y, {"mu": 40, "batch": 20, "passes": 2})
        believed += sum(f["probability"] for f in model["features"])
        true += len(set(support(model)) & set(np.flatnonzero(beta)))
        w, truth = [*w, *model["clean_probability"]], [*truth, *clean]
    w, truth = np.array(w), np.array(truth)
    assert believed == pytest.approx(true, rel=0.05)
    assert w.sum() == pytest.approx(truth.sum(), rel=0.02)
    assert w[truth].mean() > 0.97 and w[~truth].mean() < 0.1


def test_noise_alone_selects_next_to_nothing(answer):
    x, _, _, clean = regression(0, n=200, p=300)
    y = np.random.default_rng(9).standard_normal(200)
    model = answer(x, y, {"mu": 10, "batch": 20})
    size = np.linalg.norm([f["coef"] for f in model["features"]])
    assert size < 0.3 and len(model["outliers"]) <= 20, size


@pytest.mark.parametrize("attack", ATTACKS[1:])
def test_every_attack_is_withstood(answer, attack):
    rng = np.random.default_rng(4)
    x, y, beta, clean = regression(4, n=500, p=200, true=10, corrupted=0)
    clean = rng.random(500) >= 0.25
    bad = corrupt(rng, attack, x, y, clean)
    got = scored(answer(x, bad, {"mu": 10, "batch": 20}), beta, clean)
    assert got["feature_f1"] >= 0.85 and got["l2_error"] < 0.15, got


def heaps(seed, n=300, p=60, intercept=True):
    """A response of two equal heaps, none of it corrupted, that two features tell apart: (x, y)."""
    rng = np.random.default_rng(seed)
    x, side = rng.standard_normal((p, n)), np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    x[20] += 2 * side
    x[40] -= 2 * side
    return x, 3 * side + 0.5 * rng.standard_normal(n) + (5 if intercept else 0)


@pytest.mark.parametrize("intercept", [True, False])
def test_two_clusters_are_both_trusted(answer, intercept):
    """Nobody can say which of two equal heaps is the corrupted one: it is none."""
    x, y = heaps(3, intercept=intercept)
    model = answer(x, y, {"mu": 5, "batch": 20, "intercept": intercept})
    assert len(model["outliers"]) < 0.1 * len(y) and {20, 40} <= set(support(model))
    clear = [f["index"] for f in model["features"] if f["probability"] > 0.9]
    assert clear == [20, 40]


@pytest.mark.parametrize("seed", range(6))
def test_two_clusters_follow_the_description(bayes, seed):
    x, y = heaps(seed, intercept=seed % 2 == 0)
    settings = {"mu": 5, "batch": 20, "intercept": seed % 2 == 0}
    assert disagreements(bayes(x, y, settings), reference.fit(x, y, **settings)) == []


@pytest.mark.parametrize("share", [0.3, 0.4])
def test_smaller_cluster_far_off_is_not_trusted(answer, share):
    x, y, _, _ = regression(5, n=500, p=100, true=10, corrupted=0)
    y[: int(share * len(y))] += 6
    model = answer(x, y, {"mu": 10, "batch": 20})
    assert np.mean(np.isin(np.arange(len(y)), model["outliers"])[: int(share * len(y))]) > 0.95


def ramp(seed, n=400, p=30):
    """Responses with a falling density, none of them corrupted; five features explain half of what they are made of:
    (x, y)."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((p, n))
    made = x[[3, 8, 13, 18, 23]].sum(axis=0) / np.sqrt(5) + rng.standard_normal(n)
    share = (np.argsort(np.argsort(made)) + 0.5) / n
    return x, 1 - np.sqrt(1 - share)


@pytest.mark.parametrize("seed", range(3))
def test_long_honest_tail_is_trusted(answer, seed):
    """Large responses are not corrupt for being rare: features explain them in the end."""
    x, y = ramp(seed)
    model = answer(x, y, {"mu": 5, "batch": 10})
    assert support(model) == [3, 8, 13, 18, 23] and len(model["outliers"]) < 0.2 * len(y)
    design = np.vstack([np.ones(len(y)), x[support(model)]])
    best = np.linalg.lstsq(design.T, y, rcond=None)[0]
    fitted = np.array([model["intercept"], *(f["coef"] for f in model["features"])])
    assert np.abs(y - fitted @ design).mean() < 1.04 * np.abs(y - best @ design).mean()


def minority(seed, n=300, p=60, density=0.1):
    """Most samples contain none of the three features that matter: (x, y, beta, clean)."""
    rng = np.random.default_rng(seed)
    x, beta = (rng.random((p, n)) < density).astype(float), np.zeros(p)
    beta[rng.choice(p, 3, replace=False)] = rng.choice([-1, 1], 3) * rng.uniform(0.7, 1.5, 3)
    y = beta @ x + 0.05 * rng.standard_normal(n)
    clean = rng.random(n) >= 0.05
    return x, np.where(clean, y, y + rng.uniform(-10, 10, n)), beta, clean


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("density", [0.1, 0.2])
def test_features_of_a_minority_are_found(answer, density, seed):
    """The many samples without any feature are no better model than the few with one."""
    x, y, beta, clean = minority(seed, density=density)
    got = scored(answer(x, y, {"mu": 3, "batch": 30}), beta, clean)
    assert got["feature_f1"] == 1 and got["l2_error"] < 0.05 and got["clean_f1"] > 0.99, got


@pytest.mark.parametrize("seed", range(3))
def test_hard_responses_follow_the_description(bayes, seed):
    for x, y, mu in ((*ramp(seed), 5), (*minority(seed)[:2], 3), (*minority(seed, density=0.25)[:2], 6)):
        settings = {"mu": mu, "batch": 10, "passes": 1 + seed % 2, "reserve": float(seed == 2)}
        assert disagreements(bayes(x, y, settings), reference.fit(x, y, **settings)) == []


def test_one_huge_response_does_no_harm(answer):
    x, y, beta, clean = regression(4, n=500, p=200, true=10, corrupted=0)
    y[0], clean[0] = 1e12, False
    assert scored(answer(x, y, {"mu": 10, "batch": 20}), beta, clean)["l2_error"] < 0.15


@pytest.mark.parametrize("power", [-300, -40, -1, 3, 100, 300])
def test_unit_of_y_is_exact(answer, power):
    x, y, _, _ = regression(1, n=80, p=60, true=8)
    settings = {"mu": 8, "batch": 7, "reserve": 0.5}
    one, other = answer(x, y, settings), answer(x, np.ldexp(y, power), settings)
    assert support(one) == support(other) and one["outliers"] == other["outliers"]
    assert [np.ldexp(f["coef"], power) for f in one["features"]] == [f["coef"] for f in other["features"]]
    assert [f["probability"] for f in one["features"]] == [f["probability"] for f in other["features"]]
    assert np.ldexp(one["intercept"], power) == other["intercept"]
    assert one["clean_probability"] == other["clean_probability"]


def test_order_of_samples_does_not_matter(answer):
    x, y, _, _ = regression(2, n=90, p=60, true=8)
    order = np.random.default_rng(2).permutation(90)
    settings = {"mu": 8, "batch": 7, "passes": 2}
    one, other = answer(x, y, settings), answer(x[:, order], y[order], settings)
    assert support(one) == support(other)
    for key in ("coef", "probability"):
        assert [f[key] for f in one["features"]] == pytest.approx([f[key] for f in other["features"]], abs=1e-8)
    assert np.array(one["clean_probability"])[order] == pytest.approx(other["clean_probability"], abs=1e-8)


# ---- the program: same bits whatever the threads and files; what it refuses ---------------------

def answer_of(model):
    return {key: model[key] for key in ("features", "intercept", "outliers", "clean_probability")}


@pytest.mark.parametrize("n, p", [(50, 40), (3000, 60)])
def test_threads_do_not_matter(bayes, n, p):
    x, y, _, _ = regression(5, n=n, p=p, true=6)
    one, two, three = (bayes(x, y, {"mu": 6, "batch": 9, "reserve": 1.0, "passes": 2}, "--threads", k)
                       for k in (1, 2, 3))
    assert answer_of(one) == answer_of(two) == answer_of(three)


@pytest.mark.parametrize("passes", [1, 2])
def test_files_do_not_matter(bayes, passes):
    x, y, _, _ = regression(6, n=70, p=50, true=6)
    settings = {"mu": 6, "batch": 8, "passes": passes}
    whole = answer_of(bayes(x, y, settings))
    for cuts in ([1], [25], [3, 4, 20, 49]):
        assert answer_of(bayes(np.split(x, cuts), y, settings)) == whole


def test_pipe_is_read_once(bayes, roofs, write_npy):
    """One pass from a pipe is the same as from a file; a second pass cannot be."""
    x, y, _, _ = regression(7, n=40, p=20, true=3)
    want = bayes(x, y, {"mu": 3, "batch": 4})
    data, y_file = write_npy("X.npy", x), write_npy("y.npy", y)
    args = ["fit", "--method", "roofs-bayes", "--y", y_file, "--mu", 3, "--batch", 4, "--orient", "features", "--quiet",
            "--hypotheses", 1]
    once = roofs(*args, "-", input=data.read_bytes())
    assert answer_of(json.loads(once.stdout)) == answer_of(want)
    twice = roofs(*args, "--passes", 2, "-", input=data.read_bytes(), ok=False)
    assert twice.returncode == 2 and twice.stdout == ""
    assert "pass" in twice.stderr and "Traceback" not in twice.stderr
