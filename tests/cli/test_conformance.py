"""What every method of the library must do."""
import json

import numpy as np
import pytest

from conftest import support
from methods import METHODS, methods_with, required

READINGS = [(method, "alone") for method in METHODS] + [(method, "joint") for method in methods_with("joint")]


def extra(method, reading="alone"):
    return [*required(method), *(["--reading", "joint"] if reading == "joint" else [])]


@pytest.fixture
def answer(roofs, tmp_path):
    """answer(x, y, method, ...): the model of one fit; x may be a list of arrays (one file each)."""
    def run(x, y, method, *more, reading="alone", mu=3):
        files = []
        for k, values in enumerate(x if isinstance(x, list) else [x]):
            files.append(tmp_path / f"X{k}.npy")
            np.save(files[-1], values)
        np.save(tmp_path / "y.npy", y)
        roofs("fit", "--y", tmp_path / "y.npy", "--mu", mu, "--method", method, *extra(method, reading), "--orient",
              "features", *more,
              *files, "-o", tmp_path / "model.json", "--quiet")
        return json.loads((tmp_path / "model.json").read_text())
    return run


def problem(n=60, p=12, seed=0, corrupted=0.1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((p, n))
    y = 2 * x[0] - 1.5 * x[p // 2] + x[p - 1] + 3 + 0.05 * rng.standard_normal(n)
    y[:int(corrupted * n)] += 20
    return x, y


def coef(model, p):
    out = np.zeros(p)
    for f in model["features"]:
        out[f["index"]] = f["coef"]
    return out


def assert_sound(model, x, y, mu):
    """Whatever the method, the model is a whole one."""
    assert len(model["features"]) <= mu and np.isfinite(coef(model, len(x))).all() and np.isfinite(model["intercept"])
    assert model["trusted"] == len(y) - len(model["outliers"]) and model["features_seen"] == len(x)
    assert model["stop"] in ("settled", "max_iter", "empty")
    r = y - model["intercept"] - coef(model, len(x)) @ x.astype(float)
    clean = np.setdiff1d(np.arange(len(y)), model["outliers"])
    assert np.abs(r[clean]).max() == pytest.approx(model["residuals"]["cut"], rel=1e-6, abs=1e-9 * np.abs(y).max())


def test_there_are_the_methods_of_the_paper():
    assert {"roofs", "roofs-bayes", "os", "grafting", "homotopy", "dalm", "torrent", "rlhh"} <= set(METHODS)


@pytest.mark.parametrize("method, reading", READINGS)
class TestShapes:
    def test_no_feature_that_varies(self, answer, method, reading):
        x, y = np.ones((4, 30)), np.arange(30.0)
        model = answer(x, y, method, reading=reading)
        assert model["features"] == [] and model["stop"] == "empty"

    def test_no_feature_at_all(self, answer, method, reading):
        model = answer(np.zeros((0, 30)), np.arange(30.0), method, reading=reading)
        assert model["features"] == [] and model["stop"] == "empty" and model["features_seen"] == 0

    def test_one_feature(self, answer, method, reading):
        x, _ = problem(p=1)
        model = answer(x, 2 * x[0] + 1, method, reading=reading)
        assert_sound(model, x, 2 * x[0] + 1, 3)
        assert support(model) == [0] and coef(model, 1)[0] > 0

    def test_duplicate_features(self, answer, method, reading):
        x, y = problem()
        x[3] = x[4] = x[0]
        assert_sound(answer(x, y, method, "--batch", 5, reading=reading, mu=8), x, y, 8)

    def test_rank_deficiency(self, answer, method, reading):
        x, y = problem(p=20)
        x[5:] = np.random.default_rng(1).integers(-2, 3, (15, 5)) @ x[:5]
        assert_sound(answer(x, y, method, reading=reading, mu=20), x, y, 20)

    def test_all_features_may_stay(self, answer, method, reading):
        x, y = problem()
        assert_sound(answer(x, y, method, reading=reading, mu=500), x, y, 500)

    def test_more_to_keep_than_samples(self, answer, method, reading):
        x, y = problem(n=20, p=50)
        if reading == "joint":
            x = x[:12]   # refused beyond |S|, see test_baselines_reference.py
        assert_sound(answer(x, y, method, "--batch", 7, reading=reading, mu=40), x, y, 40)

    def test_more_features_in_a_batch_than_samples(self, answer, method, reading):
        x, y = problem(n=12, p=30)
        if reading == "alone":
            assert_sound(answer(x, y, method, mu=5), x, y, 5)

    def test_constant_response(self, answer, method, reading):
        x, _ = problem()
        model = answer(x, np.full(60, 7.0), method, reading=reading)
        assert model["intercept"] + coef(model, 12) @ x[:, 0] == pytest.approx(7, abs=1e-9)

    def test_few_samples(self, answer, method, reading):
        x, y = problem(n=4, p=3, corrupted=0)
        assert_sound(answer(x, y, method, "--batch", 1, reading=reading, mu=1), x, y, 1)


@pytest.mark.parametrize("method, reading", READINGS)
class TestAnswers:
    def test_without_corruption(self, answer, method, reading):
        """Strong features in one batch, little noise: found, whatever the method."""
        x, y = problem(n=200, corrupted=0)
        model = answer(x, y, method, reading=reading)
        assert_sound(model, x, y, 3)
        assert support(model) == [0, 6, 11]
        assert (np.sign(coef(model, 12)[[0, 6, 11]]) == [1, -1, 1]).all()

    @pytest.mark.parametrize("options", [[], ["--no-intercept", "--no-standardize"]])
    def test_any_number_of_threads(self, answer, sanitized, method, reading, options):
        """Large enough for several threads to be used; the bits of three rounds are as good as those of the optimum."""
        if method == "homotopy" and (options or reading == "joint"):
            pytest.skip("the same path once more, which takes a while")
        if sanitized and options:
            pytest.skip("the same loops once more, without sanitizers")
        x, y = problem(n=6000, p=190, seed=2)
        more = [*options, "--max-iter", 3] if method == "dalm" or sanitized else options
        models = [answer(x, y, method, "--batch", 180, "--threads", t, *more, reading=reading, mu=20)
                  for t in ((1, 3) if method == "homotopy" or sanitized else (1, 2, 3))]
        assert all(model == models[0] for model in models)

    def test_permuted_samples(self, answer, method, reading):
        x, y = problem(seed=3)
        order = np.random.default_rng(4).permutation(len(y))
        plain, other = (answer(x[:, o], y[o], method, "--batch", 5, reading=reading)
                        for o in (np.arange(len(y)), order))
        assert support(plain) == support(other)
        assert coef(other, 12) == pytest.approx(coef(plain, 12), abs=1e-6)
        assert sorted(order[other["outliers"]].tolist()) == plain["outliers"]

    @pytest.mark.parametrize("power", [-20, 3, 30])
    def test_scaled_response(self, answer, method, reading, power):
        x, y = problem(seed=5)
        plain, other = (answer(x, y * 2.0 ** k, method, "--batch", 5, reading=reading) for k in (0, power))
        assert coef(other, 12) == pytest.approx(coef(plain, 12) * 2.0 ** power, rel=1e-9)
        assert other["outliers"] == plain["outliers"]

    def test_files_cut_differently(self, answer, method, reading):
        x, y = problem(seed=6)
        assert answer(x, y, method, "--batch", 5,
                      reading=reading) == answer([x[:1], x[1:8], x[8:]], y, method, "--batch", 5, reading=reading)

    def test_narrow_numbers(self, answer, method, reading):
        x, y = problem(seed=7)
        x = x.astype(np.float32)
        narrow, wide = (answer(values, y, method, reading=reading) for values in (x, x.astype(float)))
        assert_sound(narrow, x, y, 3)
        assert support(narrow) == support(wide) and coef(narrow, 12) == pytest.approx(coef(wide, 12), rel=1e-6)

    def test_several_passes(self, answer, method, reading):
        x, y = problem(seed=8)
        assert_sound(answer(x, y, method, "--batch", 4, "--passes", 3, reading=reading), x, y, 3)
