"""Forced features (always) and offsets."""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from roofs import RoOFSRegressor, RoOFSRegressorCV, selection_frequency

pd = pytest.importorskip("pandas")


def problem(n=150, p=30, seed=0):
    """Features 4, 11 and 20 matter; 25 does a little. Some responses are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = 3 * X[:, 4] - 2 * X[:, 11] + X[:, 20] + 0.1 * X[:, 25] + 0.3 * rng.standard_normal(n)
    y[: n // 10] += 30
    return X, y, rng


def moved(X, forced):
    return X[:, np.r_[forced, np.setdiff1d(np.arange(X.shape[1]), forced)]]


# ---- forced features ----------------------------------------------------------------------------

def test_forced_features_stay_and_keep_their_numbers():
    X, y, _ = problem()
    model = RoOFSRegressor(2).fit(X, y, always=[25, 7])
    assert model.kept_indices_.tolist() == [4, 7, 11, 25] and model.coef_.shape == (30,)
    assert model.kept_probability_[[1, 3]].tolist() == [1, 1] and model.coef_[25] != 0
    assert not {7, 25} & {k for group in model.groups_ for k in group.members}
    assert ["x4"] in [group.names.tolist() for group in model.groups_ if 4 in group.members]
    by_hand = RoOFSRegressor(2, always=2).fit(moved(X, [7, 25]), y)
    assert np.array_equal(by_hand.kept_coefs_[:2], model.coef_[[7, 25]])
    assert np.array_equal(by_hand.predict(moved(X, [7, 25])), model.predict(X))


@pytest.mark.parametrize("kind", ["array", "fortran", "sparse", "frame"])
def test_predictions_take_the_columns_of_the_fit(kind):
    X, y, _ = problem()
    make = {"array": np.ascontiguousarray, "fortran": np.asfortranarray, "sparse": sp.csc_matrix,
            "frame": lambda A: pd.DataFrame(A, columns=[f"c{k}" for k in range(A.shape[1])])}[kind]
    model = RoOFSRegressor(3).fit(make(X), y, always=[29, 0])
    expected = X @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(make(X)), expected, atol=1e-10)
    np.testing.assert_allclose(model.predict_selected(X[:, model.kept_indices_]), expected, atol=1e-10)
    np.testing.assert_allclose(y - model.residuals_, expected, atol=1e-10)
    prediction, low, high = model.predict(make(X), return_interval=0.9)
    np.testing.assert_allclose(prediction, expected, atol=1e-10)
    assert (low < prediction).all() and (prediction < high).all()
    chosen = model.transform(make(X))
    chosen = chosen.toarray() if sp.issparse(chosen) else np.asarray(chosen)
    assert np.array_equal(chosen, X[:, model.get_support()])
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(make(X)), model.predict(make(X)))


def test_names_select_columns_of_frames(tmp_path):
    X, y, _ = problem()
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(30)])
    model = RoOFSRegressor(2).fit(frame, y, always=["c25", "c7"])
    assert model.selected_features_.tolist() == ["c4", "c7", "c11", "c25"]
    assert np.array_equal(model.coef_, RoOFSRegressor(2).fit(X, y, always=[7, 25]).coef_)
    model.save(tmp_path / "m.json")
    again = RoOFSRegressor.load(tmp_path / "m.json")
    np.testing.assert_allclose(again.predict(frame[frame.columns[::-1]]), model.predict(frame), atol=1e-12)


def test_unnamed_order_is_not_saved(tmp_path):
    """Other readers would take the wrong columns. Forced features that come first are no problem."""
    X, y, _ = problem()
    with pytest.raises(ValueError, match="would take the wrong columns"):
        RoOFSRegressor(2).fit(X, y, always=[7]).save(tmp_path / "m.json")
    model = RoOFSRegressor(2).fit(X, y, always=[0, 1])
    model.save(tmp_path / "m.json")
    again = RoOFSRegressor.load(tmp_path / "m.json")
    assert again.always == 2 and np.array_equal(again.predict(X), model.predict(X))


def test_streams_force_their_first_features():
    X, y, _ = problem()
    blocks = [X[:, [25, 7]], *(X[:, k:k + 5] for k in range(0, 25, 5))]
    model = RoOFSRegressor(2).fit_stream(blocks, y, always=2)
    assert model.kept_indices_[:2].tolist() == [0, 1] and len(model.kept_indices_) == 4
    same = RoOFSRegressor(2, always=2).fit_stream(blocks, y)
    assert np.array_equal(same.kept_coefs_, model.kept_coefs_)
    begun = RoOFSRegressor(2, always=2).begin(y)
    for block in blocks:
        begun.partial_fit_features(block)
    once = RoOFSRegressor(2, passes=1, always=2).fit_stream(blocks, y)
    assert np.array_equal(begun.finish().kept_indices_, once.kept_indices_)


def test_forced_features_alone_are_least_squares():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 5)) @ (np.eye(5) + 0.4) + 3
    y = X @ [1, 0.01, -1, 0, 2] + rng.uniform(-1, 1, 200)
    model = RoOFSRegressor(clean_ratio=1).fit(X, y, always=range(5))
    exact = np.linalg.lstsq(np.column_stack([X, np.ones(200)]), y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_, exact[:5], atol=1e-6)


@pytest.mark.parametrize("always, message", [
    (["c7"], "X has no column 'c7'"), ([30], "there is no feature 30"), ([-1], "there is no feature -1"),
    ([3, 3], "twice"), ([1.5], "there is no feature 1.5")])
def test_unknown_features_are_refused(always, message):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=message):
        RoOFSRegressor(2).fit(X, y, always=always)


def test_methods_without_forced_features_are_named():
    X, y, _ = problem()
    with pytest.raises(ValueError, match="method os cannot keep features in any case"):
        RoOFSRegressor(2, method="os").fit(X, y, always=[3])
    assert 3 in RoOFSRegressor(2, method="roofs").fit(X, y, always=[3]).kept_indices_


def test_cross_validation_and_orders_keep_them():
    X, y, _ = problem()
    model = RoOFSRegressor(3).fit(X, y, always=[7, 25], intervals="cv")
    assert np.isfinite(model.predict(X, return_interval=0.9, interval_method="cv")[1]).all()
    assert {0, 1} <= set(RoOFSRegressorCV(mus=[2, 4], always=2).fit(X, y).kept_indices_.tolist())
    result = selection_frequency(RoOFSRegressor(3, always=2), X, y, orders=3)
    assert (result.frequency[:2] == 1).all()
    assert clone(RoOFSRegressor(always=2)).get_params()["always"] == 2


def test_next_fit_forgets_the_order():
    X, y, _ = problem()
    model = RoOFSRegressor(2).fit(X, y, always=[25])
    assert np.array_equal(model.fit(X, y).coef_, RoOFSRegressor(2).fit(X, y).coef_)
    assert np.array_equal(model.predict(X), RoOFSRegressor(2).fit(X, y).predict(X))


# ---- offsets ----------------------------------------------------------------------------------------

def test_difference_is_fitted_and_predictions_include_the_offset():
    X, y, rng = problem()
    offset = rng.uniform(0, 100, len(y))
    model, plain = RoOFSRegressor(3).fit(X, y + offset, offset=offset), RoOFSRegressor(3).fit(X, y + offset - offset)
    assert np.array_equal(model.coef_, plain.coef_) and np.array_equal(model.residuals_, plain.residuals_)
    assert np.array_equal(model.predict(X, offset=offset), plain.predict(X) + offset)
    for got, want in zip(model.predict(X, 0.9, offset=offset), plain.predict(X, 0.9)):
        assert np.array_equal(got, want + offset)
    kept = X[:, model.kept_indices_]
    assert np.array_equal(model.predict_selected(kept, offset=offset), plain.predict_selected(kept) + offset)
    streamed = RoOFSRegressor(3).fit_stream([X], y + offset, offset=offset)
    assert np.array_equal(streamed.predict(X, offset=offset), model.predict(X, offset=offset))


def test_missing_and_surplus_offsets_are_refused(tmp_path):
    X, y, rng = problem()
    offset = pd.Series(rng.uniform(0, 9, len(y)), name="exposure")
    model = RoOFSRegressor(3).fit(X, y, offset=offset)
    model.save(tmp_path / "m.json")
    for each in (model, RoOFSRegressor.load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        with pytest.raises(ValueError, match="fitted with an offset"):
            each.predict(X)
        assert np.array_equal(each.predict(X, offset=offset), model.predict(X, offset=offset))
    assert '"offset": "exposure"' in (tmp_path / "m.json").read_text()
    with pytest.raises(ValueError, match="fitted without an offset"):
        model.fit(X, y).predict(X, offset=offset)
    with pytest.raises(NotFittedError):
        RoOFSRegressor(3).predict(X, offset=offset)


@pytest.mark.parametrize("offset, message", [
    (np.ones(3), "inconsistent numbers of samples"), (np.full(150, np.nan), "NaN or infinity"),
    (["a"] * 150, "could not")])
def test_wrong_offsets_are_refused(offset, message):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=message):
        RoOFSRegressor(3).fit(X, y, offset=offset)


def test_checkpoint_refuses_an_offset(tmp_path):
    X, y, _ = problem()

    def stop(model, batch):
        with pytest.raises(ValueError, match="does not hold the offset"):
            model.save(tmp_path / "c.ck")
        return True

    RoOFSRegressor(3).fit_stream([X], y, offset=np.ones(len(y)), callback=stop)


def test_columns_of_words_are_forced_with_all_levels(tmp_path):
    """The features of a table are made of the columns of new frames, wherever these stand."""
    X, y, rng = problem()
    frame = pd.DataFrame(X[:, :12], columns=[f"c{k}" for k in range(12)])
    frame["sex"], frame["town"] = rng.choice(["f", "m"], len(y)), rng.choice(["a", "b", "c"], len(y))
    model = RoOFSRegressor(2).fit(frame, y, always=["sex", "c9"])
    assert {"sex=m", "c9", "c4", "c11"} == set(model.kept_features_)
    model.save(tmp_path / "m.json")
    new = frame[frame.columns[::-1]]
    fitted = y - model.residuals_
    for each in (model, RoOFSRegressor.load(tmp_path / "m.json")):
        np.testing.assert_allclose(each.predict(new), fitted, atol=1e-10)
    assert np.array_equal(np.asarray(model.transform(new))[:, 0], frame["c4"])
