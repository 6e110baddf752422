"""Weights of samples: a sample counts as often as its weight says."""
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import LeaveOneGroupOut

from roofs import RoOFSRegressor, RoOFSRegressorCV

KINDS = ["clean", "shift", "flip", "equal", "tails"]


def problem(seed, kind, n=160, p=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = 3 + X[:, :6] @ [3, -2, 2, 1, 1, -1] + 0.5 * rng.standard_normal(n)
    wrong = slice(0, n // 6)
    y[wrong] = {"clean": y[wrong], "shift": y[wrong] + 20, "flip": -y[wrong], "equal": 7,
                "tails": y[wrong] + rng.standard_t(2, n // 6)}[kind]
    order = rng.permutation(n)
    return X[order], y[order], rng


def assert_same_fit(weighted, repeated, times):
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-10)
    np.testing.assert_allclose(np.repeat(weighted.clean_probability_, times), repeated.clean_probability_, atol=1e-10)
    np.testing.assert_allclose(np.repeat(weighted.residuals_, times), repeated.residuals_, atol=1e-10)
    np.testing.assert_allclose(weighted.coef_error_, repeated.coef_error_, atol=1e-10)
    np.testing.assert_allclose(weighted.noise_scale_, repeated.noise_scale_, rtol=1e-10)
    assert weighted.hypothesis_ == repeated.hypothesis_
    assert [group.members.tolist() for group in weighted.groups_] == [
        group.members.tolist() for group in repeated.groups_]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keywords", [{}, {"fit_intercept": False}, {"n_nonzero_coefs": 10}, {"hypotheses": 1},
                                      {"clean_ratio": 0.8}])
def test_weight_counts_as_repetition(kind, keywords):
    X, y, rng = problem(len(kind), kind)
    times = rng.integers(0, 4, len(y))
    weighted = RoOFSRegressor(**keywords).fit(X, y, sample_weight=times)
    repeated = RoOFSRegressor(**keywords).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same_fit(weighted, repeated, times)


def test_weight_counts_as_repetition_in_sweeps_alone():
    X, y, rng = problem(3, "shift", n=900, p=1200)   # too many columns for joint solutions
    times = rng.integers(0, 3, len(y))
    weighted = RoOFSRegressor(batch_size=300).fit(X, y, sample_weight=times)
    repeated = RoOFSRegressor(batch_size=300).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)


def test_weights_of_one_change_nothing(saved):
    X, y, _ = problem(1, "shift")
    plain = saved(RoOFSRegressor().fit(X, y))
    assert saved(RoOFSRegressor().fit(X, y, sample_weight=np.ones(len(y)))) == plain
    assert saved(RoOFSRegressor(method="roofs").fit(X, y, sample_weight=1)) == saved(
        RoOFSRegressor(method="roofs").fit(X, y))


def test_samples_of_weight_zero_change_nothing_but_their_own_entries():
    X, y, rng = problem(2, "shift")
    weight = (rng.random(len(y)) < 0.8).astype(float)
    first = RoOFSRegressor().fit(X, y, sample_weight=weight)
    X[weight == 0], y[weight == 0] = 1e6 * rng.standard_normal((int((weight == 0).sum()), X.shape[1])), 1e9
    second = RoOFSRegressor().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-10)
    assert not second.inlier_mask_[weight == 0].any()


def test_fractions_lie_between_whole_weights():
    X, y, rng = problem(4, "clean")
    chosen = rng.random(len(y)) < 0.3
    fits = [RoOFSRegressor().fit(X, y, sample_weight=np.where(chosen, w, 1)) for w in (1, 1.5, 2)]
    steps = [np.abs(a.coef_ - b.coef_).max() for a, b in zip(fits, fits[1:])]
    whole = np.abs(fits[0].coef_ - fits[2].coef_).max()
    assert 0 < steps[0] < whole and 0 < steps[1] < whole


def test_ways_to_give_weights_agree(saved, tmp_path):
    X, y, rng = problem(5, "shift")
    weight = rng.random(len(y)) * 3
    whole = saved(RoOFSRegressor(10, passes=1, batch_size=16).fit(X, y, sample_weight=weight))
    new = lambda: RoOFSRegressor(10, passes=1, batch_size=16)
    assert saved(new().fit_stream([X[:, :16], X[:, 16:]], y, sample_weight=weight)) == whole
    begun = new().begin(y, sample_weight=weight.tolist()).partial_fit_features(X[:, :16])
    begun.save(tmp_path / "running.ck")
    assert saved(begun.partial_fit_features(X[:, 16:]).finish()) == whole
    loaded = RoOFSRegressor.load(tmp_path / "running.ck")
    assert saved(loaded.partial_fit_features(X[:, 16:]).finish()) == whole
    assert saved(new().fit(X, y)) != whole


def test_sparse_features_have_weights():
    X, y, rng = problem(6, "shift")
    X[rng.random(X.shape) < 0.7] = 0
    times = rng.integers(0, 4, len(y))
    weighted = RoOFSRegressor().fit(sp.csc_matrix(X), y, sample_weight=times)
    repeated = RoOFSRegressor().fit(sp.csc_matrix(np.repeat(X, times, axis=0)), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)


@pytest.mark.parametrize("weight, message", [
    (-np.ones(160), "weight of sample 0 .* negative"), (np.full(160, np.nan), "NaN|weight of sample 0"),
    (np.ones(159), "159"), (np.eye(160)[0], "1 samples have a weight above 0; at least 4"),
    (np.zeros(160), "at least"), (np.full(160, 1 / 160), "the sum 1; .* how often a sample counts"),
    (np.full(160, 1e300), "the sum 1.6e\\+302")])
def test_bad_weights_are_refused(weight, message):
    X, y, _ = problem(7, "clean")
    with pytest.raises(ValueError, match=message):
        RoOFSRegressor().fit(X, y, sample_weight=weight)


def test_methods_without_weights_say_so():
    X, y, _ = problem(8, "clean")
    with pytest.raises(ValueError, match="method torrent cannot weigh samples.*roofs-bayes"):
        RoOFSRegressor(3, method="torrent", clean_ratio=0.8).fit(X, y, sample_weight=np.full(len(y), 2))


def test_cross_validation_uses_weights():
    X, y, rng = problem(9, "shift")
    weight = np.where(np.arange(len(y)) < 80, 1.0, 0.0)
    half = RoOFSRegressorCV(mus=[2, 6, 12]).fit(X, y, sample_weight=weight)
    assert half.n_nonzero_coefs_ in (6, 12)
    y[80:] = rng.standard_normal(80) * 100   # of weight 0
    np.testing.assert_allclose(RoOFSRegressorCV(mus=[2, 6, 12]).fit(X, y, sample_weight=weight).coef_, half.coef_,
                               atol=1e-10)


def test_cross_validation_counts_repetitions():
    X, y, rng = problem(11, "shift")
    times, part = rng.integers(0, 4, len(y)), np.arange(len(y)) % 3
    folds = lambda group: list(LeaveOneGroupOut().split(np.empty((len(group), 1)), groups=group))
    weighted = RoOFSRegressorCV(mus=[3, 6, 12], cv=folds(part)).fit(X, y, sample_weight=times)
    repeated = RoOFSRegressorCV(mus=[3, 6, 12], cv=folds(np.repeat(part, times))).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.trimmed_errors_, repeated.trimmed_errors_, rtol=1e-9)
    np.testing.assert_allclose(weighted.counted_share_, repeated.counted_share_, rtol=1e-12)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)


def test_refused_weights_leave_the_estimator_without_a_fit():
    X, y, _ = problem(10, "clean")
    model = RoOFSRegressor()
    with pytest.raises(ValueError):
        model.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(NotFittedError):
        model.predict(X)
