"""selection_frequency: orders of the columns, what is counted, and all that X may be."""
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import problem
from sklearn.linear_model import LinearRegression

from roofs import DataWarning, RoOFSRegressor, RoOFSRegressorCV, _blocks, selection_frequency


def correlated(n=60, p=24):
    """Neighbours of correlation .97: which of two is selected depends on the order for the method `roofs`."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, p))
    X[:, 1::2] = 0.97 * X[:, ::2] + 0.24 * X[:, 1::2]
    y = X[:, [3, 8, 17]].sum(axis=1) + 0.5 * rng.standard_normal(n)
    y[:6] += 30
    return X, y


def test_numbers_are_those_of_fits_to_shuffled_columns():
    X, y = correlated()
    estimator = RoOFSRegressor(4, method="roofs", batch_size=5)
    result = selection_frequency(estimator, X, y, orders=4, random_state=3)
    random = np.random.RandomState(3)
    orders = [np.arange(24)] + [random.permutation(24) for _ in range(3)]
    fits = [RoOFSRegressor(4, method="roofs", batch_size=5).fit(X[:, order], y) for order in orders]
    sets = [set(order[one.selected_indices_].tolist()) for one, order in zip(fits, orders)]
    assert len(set(map(frozenset, sets))) > 1   # the order matters here
    assert [set(chosen.tolist()) for chosen in result.selections] == sets
    assert result.frequency.tolist() == [sum(k in s for s in sets) / 4 for k in range(24)]
    coef = np.mean([one.coef_[np.argsort(order)] for one, order in zip(fits, orders)], axis=0)
    np.testing.assert_allclose(result.mean_coef, coef, rtol=1e-12, atol=1e-15)
    pairs = [len(a & b) / len(a | b) for k, a in enumerate(sets) for b in sets[:k]]
    assert result.jaccard == pytest.approx(np.mean(pairs), rel=1e-12)
    predictions = np.array([one.predict(X[:, order]) for one, order in zip(fits, orders)])
    noise = np.sqrt(np.mean(fits[0].residuals_[fits[0].inlier_mask_] ** 2))
    assert result.prediction_change == pytest.approx(np.ptp(predictions, axis=0).max() / noise, rel=1e-6)
    assert (result.estimator.coef_ == fits[0].coef_).all() and not hasattr(estimator, "intercept_")
    assert result.feature_names.tolist() == [f"x{k}" for k in range(24)]


def inputs(X):
    yield "rows in memory", X
    yield "columns in memory", np.asfortranarray(X)
    yield "CSC", sp.csc_matrix(X)
    yield "CSR", sp.csr_matrix(X)


def frames(X):
    names = [f"feature {k}" for k in range(X.shape[1])]
    pd = pytest.importorskip("pandas")
    yield "pandas", pd.DataFrame(X, columns=names)
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    table = pa.table({name: X[:, k].copy() for k, name in enumerate(names)})
    yield "pyarrow", table
    yield "polars", pl.from_arrow(table)


@pytest.mark.parametrize("kinds", [inputs, frames])
def test_all_inputs_of_fit_are_accepted(kinds):
    X, y, _ = problem()
    expected = selection_frequency(RoOFSRegressor(3), X, y, orders=3)
    assert np.flatnonzero(expected.frequency == 1).tolist() == [7, 131, 207]
    for kind, given in kinds(X):
        result = selection_frequency(RoOFSRegressor(3), given, y, orders=3)
        assert (result.frequency == expected.frequency).all(), kind
        np.testing.assert_allclose(result.mean_coef, expected.mean_coef, atol=1e-9, err_msg=kind)
        if kinds is frames:
            assert result.feature_names[7] == "feature 7", kind


def test_columns_of_several_types_can_be_shuffled():
    """A first batch of 32-bit columns must not decide for those of 64 bits."""
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).standard_normal((150, 30))
    frame = pd.DataFrame({f"{k}": X[:, k].astype(np.float64 if k < 4 else np.float32) for k in range(30)})
    result = selection_frequency(RoOFSRegressor(3, batch_size=4), frame, X[:, 7] + 0.01 * X[:, 9], orders=12)
    assert result.frequency[7] == 1


def test_jobs_do_not_change_the_result():
    X, y = correlated()
    estimator = RoOFSRegressor(4, method="roofs", batch_size=5)
    one, two = (selection_frequency(estimator, X, y, orders=5, n_jobs=jobs) for jobs in (None, 2))
    assert (one.mean_coef == two.mean_coef).all() and one.prediction_change == two.prediction_change
    other = selection_frequency(estimator, X, y, orders=5, random_state=1)
    assert (one.mean_coef != other.mean_coef).any()


def test_cross_validated_estimators_have_orders():
    X = np.random.default_rng(0).standard_normal((150, 60))
    y = X[:, 7] * 3 + np.where(np.arange(150) % 5, 0.1 * X[:, 9], 40)
    for given in (X, sp.csc_matrix(X)):
        result = selection_frequency(RoOFSRegressorCV(mus=[1, 2, 4], cv=3), given, y, orders=2)
        assert result.frequency[7] == 1 and result.estimator.n_nonzero_coefs_ in (1, 2, 4)


def test_columns_are_copied_batch_by_batch(monkeypatch):
    largest, select = [], _blocks.select_features
    monkeypatch.setattr(_blocks, "select_features", lambda b, k: largest.append(len(k)) or select(b, k))
    X, y, _ = problem()
    selection_frequency(RoOFSRegressor(3, batch_size=40), X, y, orders=2)
    assert max(largest) == 40


def test_first_fit_warns_for_all():
    X, y, _ = problem()
    y[::3] = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selection_frequency(RoOFSRegressor(3), X, y, orders=3)
    assert [w.category for w in caught].count(DataWarning) == 1 and caught[0].filename == __file__


def test_nothing_selected_is_agreement():
    X = np.ones((20, 5))
    result = selection_frequency(RoOFSRegressor(), X, np.arange(20.0), orders=3)
    assert result.jaccard == 1 and result.prediction_change == 0 and not result.frequency.any()


def test_wrong_arguments_are_refused():
    X, y = correlated()
    with pytest.raises(ValueError, match="orders must be at least 2"):
        selection_frequency(RoOFSRegressor(2), X, y, orders=1)
    with pytest.raises(TypeError, match="not LinearRegression"):
        selection_frequency(LinearRegression(), X, y)
