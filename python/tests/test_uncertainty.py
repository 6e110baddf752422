"""Credible groups, discoveries at a rate, and intervals."""
import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import problem
from sklearn.base import clone

from roofs import CredibleGroup, RoOFSDisplay, RoOFSRegressor, RoOFSRegressorCV, methods
from roofs._library import Result, ffi

CAUSES = 42, 118


def alike(n=600, p=200, seed=3, corrupt=0.1, correlation=0.995):
    """Features in blocks of five that correlate. Two causes in different blocks; the third block on has none. n new
    samples come last, without corruption."""
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.standard_normal((2 * n, p // 5)), 5, axis=1)
    X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.standard_normal((2 * n, p))
    y = 2 * X[:, CAUSES[0]] - 1.5 * X[:, CAUSES[1]] + 3 + rng.standard_normal(2 * n)
    y[:round(corrupt * n)] = 1000
    order = rng.permutation(n)
    return X[order], y[order], X[n:], y[n:]


@pytest.fixture(scope="module")
def data():
    return alike()


@pytest.fixture(scope="module")
def fitted(data):
    return RoOFSRegressor(10).fit(data[0], data[1])


def a_group(**changes):
    usual = {"members": [3, 7], "names": ["x3", "x7"], "probabilities": [0.6, 0.395], "exists": 0.98, "fdr": 0.01,
             "correlation": 0.97, "effect": 2.0, "error": 0.5, "coef": None, "coef_error": None, "complete": True}
    return CredibleGroup(**{**usual, **changes})


# ---- a group as an object ----------------------------------------------------------------------

def test_groups_are_shown_by_their_members():
    assert repr(a_group()) == "<one of: x3, x7 (98%)>" and str(a_group()) == "one of: x3, x7 (98%)"
    alone = a_group(members=[3], names=["age"], probabilities=[1.0], exists=0.999)
    assert str(alone) == "age (over 99%)"
    assert str(a_group(complete=False)) == "one of: x3, x7 (98%, incomplete)"
    many = a_group(members=range(9), names=[f"x{k}" for k in range(9)], probabilities=[1 / 9] * 9)
    assert str(many) == "one of 9: x0, x1, x2, x3, x4, x5, ... (98%)"


def test_groups_are_immutable_and_comparable():
    group = a_group()
    with pytest.raises(AttributeError):
        group.exists = 1.0
    for other in (group, pickle.loads(pickle.dumps(group)), copy.deepcopy(group)):
        with pytest.raises(ValueError, match="read-only"):
            other.members[0] = 4
        assert other == group
    for changes in ({"members": [3, 8]}, {"coef": 1.0}, {"complete": False}, {"names": ["x3", "y"]}):
        assert a_group(**changes) != group
    assert group != "one of: x3, x7 (98%)"
    assert len(group) == 2 and 7 in group and 8 not in group and "x7" in group and "x8" not in group


def test_intervals_of_groups_follow_the_normal_distribution():
    group = a_group()
    np.testing.assert_allclose(group.interval(0.95), [2 - 1.96 * 0.5, 2 + 1.96 * 0.5], atol=1e-4)
    assert np.ptp(group.interval(0.5)) < np.ptp(group.interval(0.9))
    with pytest.raises(ValueError, match="2 members has no coefficient"):
        group.coef_interval()
    alone = a_group(members=[3], names=["x3"], probabilities=[1.0], coef=10.0, coef_error=1.0)
    np.testing.assert_allclose(alone.coef_interval(0.95), [8.04, 11.96], atol=1e-3)
    for level in (0, 1, 95, True, "0.9", None, np.nan):
        with pytest.raises(ValueError, match="level must be a number above 0 and below 1"):
            group.interval(level)


def test_views_of_the_library_become_objects():
    features = ffi.new("roofs_feature[2]", [{"index": 3, "coef": 2.0}, {"index": 9, "coef": 0.5}])
    spread = ffi.new("roofs_spread[2]", [{"center": 1.0, "error": 0.25}, {"center": 0.0, "error": 0.125}])
    name = ffi.new("char[]", "größe".encode())
    members = ffi.new("roofs_member[3]", [{"index": 7, "name": name, "probability": 0.7},
                                          {"index": 3, "probability": 0.295}, {"index": 9, "probability": 1.0}])
    groups = ffi.new("roofs_group[2]", [
        {"count": 2, "members": members, "exists": 0.9, "fdr": 0.01, "correlation": 0.98, "effect": 2.0, "error": 0.5,
         "coef": np.nan, "coef_error": np.nan, "complete": 1},
        {"count": 1, "members": members + 2, "exists": 0.8, "fdr": 0.02, "correlation": 1.0, "effect": 4.0,
         "error": 0.75, "coef": 3.0, "coef_error": 0.5}])
    flags = ffi.new("unsigned char[2]", [0, 1])
    view = ffi.new("roofs_result *", {"selected": 2, "features": features, "is_selected": flags,
                                      "groups": 2, "group": groups,
                                      "groups_known": 1, "spread": spread, "noise": {"scale": 1.5}})
    found = Result.of(view)
    assert found.error.tolist() == [0.25, 0.125] and found.noise_scale == 1.5
    assert found.selected.tolist() == [False, True]
    assert found.groups == [
        a_group(members=[7, 3], names=["größe", "x3"], probabilities=[0.7, 0.295], exists=0.9, correlation=0.98),
        a_group(members=[9], names=["x9"], probabilities=[1.0], exists=0.8, fdr=0.02, correlation=1.0, effect=4.0,
                error=0.75, coef=3.0, coef_error=0.5, complete=False)]
    view.groups_known, view.spread = 0, ffi.NULL
    unknown = Result.of(view)
    assert unknown.groups is None and unknown.error is None and unknown.noise_scale is None


# ---- groups of a fit -----------------------------------------------------------------------------

def test_groups_contain_the_causes(data, fitted):
    assert len(fitted.groups_) == 2
    for group, cause in zip(sorted(fitted.groups_, key=lambda group: group.members[0]), CAUSES):
        assert cause in group and f"x{cause}" in group
        assert {k // 5 for k in group.members} == {cause // 5}
        assert 0.99 <= group.probabilities.sum() <= 1 + 1e-9 and (np.diff(group.probabilities) <= 0).all()
        assert 0.99 < group.exists <= 1 and group.fdr <= 0.02 and group.complete is True
        inside = np.corrcoef(data[0][:, group.members].T) if len(group) > 1 else np.ones((1, 1))
        assert group.correlation == pytest.approx(np.abs(inside).min(), abs=0.02)
        low, high = group.interval(0.999)
        assert low < (2, -1.5)[CAUSES.index(cause)] < high
        assert (group.coef is None) == (group.coef_error is None) == (len(group) > 1)


def test_groups_survive_every_way_of_keeping_a_model(data, fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    loaded = RoOFSRegressor.load(tmp_path / "model.json")
    pickled = [pickle.loads(pickle.dumps(model)) for model in (fitted, loaded)]
    expected = np.array(fitted.predict(data[2], return_interval=0.8))
    for other in (loaded, *pickled, copy.deepcopy(fitted)):
        assert other.groups_ == fitted.groups_ and len(other.groups_) > 0
        assert (other.kept_errors_ == fitted.kept_errors_).all() and other.noise_scale_ == fitted.noise_scale_
        assert (np.array(other.predict(data[2], return_interval=0.8)) == expected).all()
    assert not hasattr(clone(fitted), "groups_")
    assert clone(fitted).fit(data[0], data[1]).groups_ == fitted.groups_


def test_names_are_those_of_the_features(data):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(data[0], columns=[f"sensor {k}" for k in range(data[0].shape[1])])
    model = RoOFSRegressor(10, fdr=0.1).fit(frame, data[1])
    for group in model.groups_:
        assert group.names.tolist() == [f"sensor {k}" for k in group.members]
    assert model.selected_features_.tolist() == [f"sensor {k}" for k in model.selected_indices_]
    assert model.get_feature_names_out().tolist() == model.selected_features_.tolist()


def test_groups_do_not_depend_on_the_way_of_the_features(data, fitted):
    X, y = data[:2]
    stream = RoOFSRegressor(10).fit_stream([X[:, :33], X[:, 33:]], y)
    sparse = RoOFSRegressor(10).fit(sp.csr_matrix(X), y)
    threads = RoOFSRegressor(10, n_jobs=2).fit(X, y)
    assert stream.groups_ == sparse.groups_ == threads.groups_ == fitted.groups_
    for other in (stream, sparse, threads):
        assert (other.kept_errors_ == fitted.kept_errors_).all()


def test_groups_are_none_where_they_are_not_known(data):
    X, y = data[:2]
    running = RoOFSRegressor(10).begin(y).partial_fit_features(X)
    assert running.groups_ is None and running.finish().groups_ is not None
    assert RoOFSRegressor(10, groups="off").fit(X, y).groups_ is None
    other = RoOFSRegressor(10, method="roofs").fit(X, y)
    assert other.groups_ is None and other.coef_error_ is None and other.noise_scale_ is None


def test_further_read_needs_features_that_can_be_read_again(data):
    X, y = data[:2]
    with pytest.raises(ValueError, match='groups="exact" reads the stream again'):
        RoOFSRegressor(10, groups="exact").fit_stream(iter([X]), y)
    exact = RoOFSRegressor(10, groups="exact").fit_stream([X], y)
    assert all(group.complete for group in exact.groups_)
    assert {cause for cause in CAUSES for group in exact.groups_ if cause in group} == set(CAUSES)


def test_small_pool_is_reported():
    """All 400 features look alike: a pool of two overflows."""
    rng = np.random.default_rng(0)
    shared = rng.standard_normal(200)
    X = 0.999 * shared[:, None] + 0.045 * rng.standard_normal((200, 400))
    y = 3 * X[:, 300] + rng.standard_normal(200)
    small = RoOFSRegressor(2, pool=1, batch_size=50, passes=1, hypotheses=1).fit(X, y)
    assert len(small.groups_) > 0 and not any(group.complete for group in small.groups_)
    assert "incomplete" in str(small.groups_[0])
    large = RoOFSRegressor(10, pool=64, batch_size=50, passes=1).fit(X, y)
    assert all(group.complete for group in large.groups_) and 300 in large.groups_[0]


# ---- discoveries -------------------------------------------------------------------------------

def test_discoveries_are_selected(data):
    X, y = data[:2]
    model = RoOFSRegressor(20, fdr=0.1).fit(X, y)
    members = np.sort(np.concatenate([group.members for group in model.groups_]))
    assert set(CAUSES) <= set(members) and (model.selected_indices_ == members).all()
    assert (model.get_support(indices=True) == members).all() and (model.transform(X) == X[:, members]).all()
    assert (model.selected_coefs_ == model.coef_[members]).all() and len(model.kept_indices_) == 20
    assert model.selected_features_.tolist() == [f"x{k}" for k in members]
    share = dict(zip(model.selected_indices_, model.selected_probability_))
    for group in model.groups_:
        assert group.fdr <= 0.1
        for j, probability in zip(group.members, group.probabilities):
            assert share[j] == group.exists * probability
    plain = RoOFSRegressor(20).fit(X, y)
    assert (plain.coef_ == model.coef_).all() and len(plain.selected_indices_) == 20


def test_rate_of_discoveries_is_stored(data, tmp_path, saved):
    X, y = data[:2]
    model = RoOFSRegressor(20, fdr=0.1).fit(X, y)
    assert repr(clone(model)) == "RoOFSRegressor(fdr=0.1, n_nonzero_coefs=20)"
    model.save(tmp_path / "m.json")
    loaded = RoOFSRegressor.load(tmp_path / "m.json")
    assert loaded.fdr == 0.1 and (loaded.selected_indices_ == model.selected_indices_).all()
    assert (loaded.selected_probability_ == model.selected_probability_).all() and saved(loaded) == saved(model)
    RoOFSRegressor(20).fit(X, y).save(tmp_path / "m.json")
    assert RoOFSRegressor.load(tmp_path / "m.json").fdr is None


def test_noise_gives_no_discoveries():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 300)), rng.standard_normal(200)
    model = RoOFSRegressor(20, fdr=0.05).fit(X, y)
    assert model.groups_ == [] and len(model.selected_indices_) == 0 and model.selected_coefs_.dtype == float
    assert not model.get_support().any() and len(model.kept_indices_) == 20
    assert model.predict(X, return_interval=0.9)[1].shape == (200,)


@pytest.mark.parametrize("keywords, message", [
    ({"fdr": 0}, "fdr must be above 0"), ({"fdr": 0.7}, "fdr"), ({"fdr": -0.1}, "fdr"),
    ({"fdr": "few"}, "fdr must be a number"), ({"fdr": 0.1, "method": "roofs"}, "fdr"),
    ({"fdr": 0.1, "groups": "off"}, "fdr"), ({"groups": "some"}, "groups"), ({"pool": -2}, "pool")])
def test_bad_keywords_are_named(data, keywords, message):
    with pytest.raises(ValueError, match=message):
        RoOFSRegressor(5, **keywords).fit(data[0][:, :20], data[1])


def test_cross_validation_ends_with_groups(data):
    model = RoOFSRegressorCV(mus=[5, 10], cv=3, fdr=0.1).fit(data[0], data[1])
    assert {cause for cause in CAUSES for group in model.groups_ if cause in group} == set(CAUSES)
    assert set(model.selected_indices_) == {j for group in model.groups_ for j in group.members.tolist()}


# ---- intervals --------------------------------------------------------------------------------------

def test_intervals_hold_new_responses(data, fitted):
    _, _, X, y = data
    widths = []
    for level in (0.5, 0.8, 0.9, 0.99):
        prediction, low, high = fitted.predict(X, return_interval=level)
        assert (prediction == fitted.predict(X)).all() and (low < prediction).all() and (prediction < high).all()
        assert abs(np.mean((low <= y) & (y <= high)) - level) < 4 * np.sqrt(level * (1 - level) / len(y)) + 0.02
        widths.append(np.mean(high - low))
    assert widths == sorted(widths)
    assert 0.9 < fitted.noise_scale_ < 1.15                      # the noise has scale 1
    far = fitted.predict(1000 * X[:5], return_interval=0.9)
    assert (far[2] - far[1] > 2 * widths[2]).all()               # far from the samples, errors of coefficients count


def test_intervals_are_the_same_for_every_kind_of_input(data, fitted, tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X = data[2][:50]
    names = [f"x{k}" for k in range(X.shape[1])]
    expected = np.array(fitted.predict(X, return_interval=0.9))
    for other in (np.asfortranarray(X), sp.csr_matrix(X), sp.csc_matrix(X), X.tolist()):
        assert (np.array(fitted.predict(other, return_interval=0.9)) == expected).all()
    assert (np.array(fitted.predict_selected(X[:, fitted.kept_indices_], return_interval=0.9)) == expected).all()
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(dict(zip(names, X.T)))):
        whole = RoOFSRegressor(10).fit(type(frame)(dict(zip(names, data[0].T))), data[1])
        assert (np.array(whole.predict(frame, return_interval=0.9)) == expected).all()
        whole.save(tmp_path / "m.json")
        loaded = RoOFSRegressor.load(tmp_path / "m.json")
        assert (np.array(loaded.predict(frame[loaded.kept_features_.tolist()], return_interval=0.9)) == expected).all()


def test_model_without_features_selects_nothing():
    model = RoOFSRegressor(3, fdr=0.1).fit(np.ones((300, 4)), np.random.default_rng(0).standard_normal(300))
    assert len(model.kept_indices_) == len(model.selected_indices_) == 0 and model.groups_ == []
    assert (model.predict(np.ones((5, 4))) == model.intercept_).all()


def test_missing_intervals_are_explained(data, fitted):
    X, y = data[0][:, :20], data[1]
    for method in methods():
        model = RoOFSRegressor(5, method=method, clean_ratio=0.85 if method == "torrent" else None).fit(X, y)
        if model.noise_scale_ is None:
            with pytest.raises(ValueError, match="method roofs-bayes"):
                model.predict(X, return_interval=0.9)
        else:
            assert method == "roofs-bayes"
    running = RoOFSRegressor(5).begin(y).partial_fit_features(X)
    with pytest.raises(ValueError, match="needs a finished fit"):
        running.predict(X, return_interval=0.9)
    for level in (0, 1, 90, True, "0.9"):
        with pytest.raises(ValueError, match="return_interval must be a number above 0 and below 1"):
            fitted.predict(data[2], return_interval=level)


# ---- errors of coefficients -----------------------------------------------------------------------

def test_errors_of_coefficients_are_their_size():
    """Over several fits, errors of coefficients over their standard errors have a root mean square near 1."""
    ratio = []
    for seed in range(12):
        X, y, _ = problem(n=400, p=220, seed=seed)
        model = RoOFSRegressor(3).fit(X, y)
        assert model.selected_indices_.tolist() == [7, 131, 207]
        ratio += list((model.kept_coefs_ - [3, -2, 1]) / model.kept_errors_)
        assert (model.coef_error_[[7, 131, 207]] == model.kept_errors_).all()
        assert np.isnan(np.delete(model.coef_error_, [7, 131, 207])).all() and len(model.coef_error_) == 220
    assert 0.6 < np.sqrt(np.mean(np.square(ratio))) < 1.5


def test_group_of_one_has_a_coefficient():
    X, y, _ = problem(n=400)
    model = RoOFSRegressor(10).fit(100 * X, y)
    assert sorted(group.members.tolist() for group in model.groups_) == [[7], [131], [207]]
    for group in model.groups_:
        true = {7: 0.03, 131: -0.02, 207: 0.01}[int(group.members[0])]
        low, high = group.coef_interval(0.999)
        assert low < true < high and high - low < 0.2 * abs(true)
        assert group.effect == pytest.approx(100 * group.coef, rel=0.2)      # the features have scale 100


# ---- pictures ----------------------------------------------------------------------------------------

def test_groups_are_drawn(data, fitted):
    pytest.importorskip("matplotlib").use("agg")
    ax = RoOFSDisplay.from_estimator(fitted, kind="groups").ax_
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(group) for group in fitted.groups_]
    assert ax.lines[0].get_xdata().tolist() == [group.effect for group in fitted.groups_]
    reach = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(reach, [group.interval(0.95) for group in fitted.groups_])
    assert ax.get_title() == "2 credible groups, intervals at 95%"
    with pytest.raises(ValueError, match="no groups_"):
        RoOFSDisplay.from_estimator(RoOFSRegressor(5, method="roofs").fit(data[0], data[1]), kind="groups")


# ---- intervals by cross-validation --------------------------------------------------------------

def test_intervals_by_cross_validation_cover_and_survive(data, fitted, tmp_path):
    X, y, T, t = data
    model = RoOFSRegressor(10).fit(X, y, intervals="cv")
    np.testing.assert_array_equal(model.coef_, fitted.coef_)
    prediction, low, high = model.predict(T, return_interval=0.9, interval_method="cv")
    assert 0.86 < np.mean((low <= t) & (t <= high)) < 0.94
    np.testing.assert_allclose(high - low, (high - low)[0])
    np.testing.assert_array_equal(prediction, model.predict(T))
    assert np.all(model.predict(T, return_interval=0.5, interval_method="cv")[2] < high)
    model.save(tmp_path / "m.json")
    for other in (RoOFSRegressor.load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(T, return_interval=0.9, interval_method="cv")[1], low)


def test_other_methods_have_intervals_by_cross_validation(data):
    X, y, T, t = data
    model = RoOFSRegressor(10, method="roofs").fit(X, y, intervals="cv")
    _, low, high = model.predict(T, return_interval=0.9, interval_method="cv")
    assert 0.85 < np.mean((low <= t) & (t <= high)) < 0.98


def test_intervals_by_cross_validation_are_refused_with_a_reason(data, fitted):
    X, y, T, _ = data
    with pytest.raises(ValueError, match="intervals=.cv"):
        fitted.predict(T, return_interval=0.9, interval_method="cv")
    with pytest.raises(ValueError, match="interval_method must be"):
        fitted.predict(T, return_interval=0.9, interval_method="jackknife")
    with pytest.raises(ValueError, match="intervals must be"):
        RoOFSRegressor(10).fit(X, y, intervals="none")
    with pytest.raises(ValueError, match="at least 20 samples"):
        RoOFSRegressor(2).fit(X[:19], y[:19], intervals="cv")
    with pytest.raises(ValueError, match="one process"):
        RoOFSRegressor(2).fit(X, y, intervals="cv", comm=object())
    few = RoOFSRegressor(2).fit(X[:20], y[:20], intervals="cv")
    with pytest.raises(ValueError, match="up to level"):
        few.predict(T, return_interval=0.99, interval_method="cv")


def test_model_without_a_feature_has_intervals_of_the_constant():
    rng = np.random.default_rng(4)
    y = 5 + 2 * rng.standard_normal(800)
    y[:80] = 1e4
    order = rng.permutation(800)
    model = RoOFSRegressor(3).fit(np.ones((800, 4)), y[order])
    prediction, low, high = model.predict(np.ones((1000, 4)), return_interval=0.9)
    t = 5 + 2 * rng.standard_normal(1000)
    assert 0.86 < np.mean((low <= t) & (t <= high)) < 0.94 and np.all(low < prediction)
