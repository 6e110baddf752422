"""Which samples are not trusted and why, and effects of features."""
import numpy as np
import pytest
from conftest import problem

from roofs import RoOFSRegressor, RoOFSRegressorCV


def test_samples_that_are_not_trusted_have_reasons(tmp_path):
    X = np.random.default_rng(0).standard_normal((300, 20))
    X[:, 7] = np.abs(X[:, 7]) + 5
    y = 3 * X[:, 7] + 0.1 * np.random.default_rng(1).standard_normal(300)
    y[:31], y[40], y[41] = 0, y[40] + 9, y[41] - 7
    model = RoOFSRegressor(3).fit(X, y)
    samples = {sample.index: sample for sample in model.untrusted_}
    assert set(samples) == set(np.flatnonzero(model.outliers_))
    assert samples[3].reason == "one of 31 equal values 0 that do not fit"
    scales = model.residuals_[40] / model.noise_scale_
    assert samples[40].reason == f"response {scales:.1f} noise scales above the prediction"
    assert samples[41].reason.endswith("noise scales below the prediction") and samples[41].scales < -30
    assert samples[40].residual == model.residuals_[40] and samples[40].id is None
    sizes = [abs(sample.residual) for sample in model.untrusted_]
    assert sizes == sorted(sizes, reverse=True)
    model.save(tmp_path / "model.json")
    loaded = RoOFSRegressor.load(tmp_path / "model.json")
    assert {sample.index for sample in loaded.untrusted_} == set(samples)
    assert loaded.untrusted_[0].residual is None and "probability that it is clean" in loaded.untrusted_[0].reason


def test_clean_samples_have_no_reasons():
    X = np.random.default_rng(0).standard_normal((300, 20))
    model = RoOFSRegressor(3).fit(X, X[:, 7] + 0.1 * np.random.default_rng(1).standard_normal(300))
    assert len(model.untrusted_) == int(model.outliers_.sum()) <= 6
    assert all("equal" not in sample.reason for sample in model.untrusted_)


def test_samples_have_the_ids_of_the_table():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).standard_normal((200, 20))
    y = X[:, 7] + 0.1 * np.random.default_rng(1).standard_normal(200)
    y[17] += 50
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(20)]).assign(number=[f"N{k}" for k in range(200)])
    first = RoOFSRegressor(table={"id": "number"}).fit(frame, y).untrusted_[0]
    assert (first.index, first.id) == (17, "N17") and first.residual > 40


def test_methods_without_noise_scale_have_reasons():
    X, y, _ = problem()
    for sample in RoOFSRegressor(3, method="torrent", clean_ratio=0.7).fit(X, y).untrusted_:
        assert sample.reason


@pytest.mark.parametrize("kind", [RoOFSRegressor, RoOFSRegressorCV])
def test_effects_are_coefficients_times_spreads(kind):
    X = np.random.default_rng(0).standard_normal((300, 20))
    X[:, 7] *= 1000
    y = X[:, 7] / 1000 + 0.1 * X[:, 3] + 0.01 * np.random.default_rng(1).standard_normal(300)
    model = kind(**({"mus": [4]} if kind is RoOFSRegressorCV else {"n_nonzero_coefs": 4})).fit(X, y)
    assert abs(model.effect_[7] - model.coef_[7] * X[:, 7].std()) < 0.2   # of the samples that were trusted early
    assert (model.selected_effect_ == model.effect_[model.selected_indices_]).all()
    assert 5 < model.effect_[7] / model.effect_[3] < 20 and 5000 < model.coef_[3] / model.coef_[7] * 100 < 20000
    assert model.set_params(standardize=False).fit(X[:, :9], y).effect_ is None


def test_answers_need_a_fit():
    for name in ("untrusted_", "effect_", "selected_effect_"):
        assert not hasattr(RoOFSRegressor(), name)
