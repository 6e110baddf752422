"""The estimators follow the conventions of scikit-learn."""
import copy
import pickle
import re

import numpy as np
import pytest
from conftest import problem
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from roofs import RoOFSRegressor, methods

# torrent cannot estimate the share of clean samples
EVERY_METHOD = [RoOFSRegressor(method=name, clean_ratio=0.9 if name == "torrent" else None) for name in methods()]


@pytest.mark.filterwarnings("ignore::roofs.RoOFSWarning")   # the checks fit tiny data
@parametrize_with_checks(EVERY_METHOD)
def test_estimator_checks_pass(estimator, check):
    if estimator.method == RoOFSRegressor().method or "sample_weight" not in str(check):
        return check(estimator)
    try:   # weights of 1 are no weights, and pass
        check(estimator)
    except ValueError as error:
        assert f"method {estimator.method} cannot weigh samples" in str(error)


def test_features_and_samples_are_found():
    X, y, wrong = problem()
    model = RoOFSRegressor(3).fit(X, y)
    assert model.selected_indices_.tolist() == [7, 131, 207]
    np.testing.assert_allclose(model.coef_[[7, 131, 207]], [3, -2, 1], atol=0.1)
    assert abs(model.intercept_ - 1) < 0.1
    assert (model.outliers_ == wrong).mean() > 0.97 and (model.inlier_mask_ != model.outliers_).all()
    assert model.n_inliers_ == model.inlier_mask_.sum()
    assert model.converged_ and model.stop_ == "settled" and model.n_iter_ >= model.history_["rounds"].sum() > 0
    assert model.history_["features"].tolist() == [100, 100, 60] * model.n_passes_
    np.testing.assert_allclose(model.residuals_, y - model.predict(X), atol=1e-9)
    assert model.cut_ == np.abs(model.residuals_[model.inlier_mask_]).max()
    assert ((model.clean_probability_ > 0.5) == model.inlier_mask_).all()
    assert (model.selected_probability_ > 0.9).all()


def test_probabilities_select_by_default():
    """Without a number the model keeps all features it can, and those with a probability above 1/2 are selected."""
    X, y, _ = problem(n=600)
    model = RoOFSRegressor().fit(X, y)
    assert model.selected_indices_.tolist() == [7, 131, 207] == model.get_support(indices=True).tolist()
    assert len(model.kept_indices_) > 200 and (model.selected_probability_ > 0.5).all()
    likely = model.kept_probability_ > 0.5
    assert (model.kept_indices_[likely] == model.selected_indices_).all()
    assert (model.kept_features_[likely] == model.selected_features_).all()
    assert (np.flatnonzero(model.coef_) == model.kept_indices_).all()
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_, atol=1e-9)
    assert (model.predict_selected(X[:, model.kept_indices_]) == model.predict(X)).all()
    kept = RoOFSRegressor(select="kept").fit(X, y)
    assert (kept.selected_indices_ == model.kept_indices_).all() and (kept.coef_ == model.coef_).all()
    assert len(RoOFSRegressor(50).fit(X, y).selected_indices_) == 50   # a given number keeps its meaning
    few = RoOFSRegressor(50, select="likely").fit(X, y)
    assert few.selected_indices_.tolist() == [7, 131, 207] and len(few.kept_indices_) == 50
    assert len(RoOFSRegressor(method="roofs").fit(X, y).selected_indices_) > 200   # no probabilities
    with pytest.raises(ValueError, match="cannot estimate probabilities"):
        RoOFSRegressor(3, method="roofs", select="likely").fit(X, y)


def least_memory(X, y, **keywords):
    """Bytes of a fit with one feature."""
    with pytest.raises(MemoryError, match="one feature") as refused:
        RoOFSRegressor(max_memory=1000, n_jobs=1, **keywords).fit(X, y)
    return int(re.search(r"needs (\d+) bytes", str(refused.value)).group(1))


def test_default_number_respects_the_memory_limit():
    X, y, _ = problem()

    def kept(extra, **keywords):
        limit = least_memory(X, y, **keywords) + extra
        return len(RoOFSRegressor(max_memory=limit, n_jobs=1, **keywords).fit(X, y).kept_indices_)
    assert kept(0, groups="off") == 200 < kept(100_000, groups="off") < 260   # two batches are held
    assert kept(0, groups="off", hypotheses=1) == 1
    assert kept(0) < kept(1_000_000)                                          # the pool of groups needs memory, too
    assert least_memory(X, y) > least_memory(X, y, groups="off")


def test_pipeline_and_search_work():
    X, y, _ = problem()
    pipeline = make_pipeline(StandardScaler(), RoOFSRegressor(3))
    assert (cross_val_score(pipeline, X, y, scoring="neg_median_absolute_error", cv=4) > -1).all()
    search = GridSearchCV(RoOFSRegressor(), {"n_nonzero_coefs": [1, 3]}, scoring="neg_median_absolute_error",
                          n_jobs=2).fit(X, y)
    assert search.best_params_ == {"n_nonzero_coefs": 3}
    then = make_pipeline(RoOFSRegressor(3), LinearRegression()).fit(X, y)
    assert then[-1].coef_.shape == (3,)


def test_selector_keeps_the_selected():
    X, y, _ = problem()
    model = RoOFSRegressor(3).fit(X, y)
    assert model.get_support(indices=True).tolist() == [7, 131, 207]
    assert (model.transform(X) == X[:, [7, 131, 207]]).all()
    assert model.get_feature_names_out().tolist() == ["x7", "x131", "x207"] == model.selected_features_.tolist()


def test_clone_pickle_and_copy_agree(saved):
    X, y, _ = problem()
    model = RoOFSRegressor(3, batch_size=50).fit(X, y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert (other.predict(X) == model.predict(X)).all() and saved(other) == saved(model)
        assert (other.history_ == model.history_).all() and other.get_params() == model.get_params()
    fresh = clone(model)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert not hasattr(fresh, "coef_") and saved(fresh.fit(X, y)) == saved(model)


def test_repr_names_changed_parameters():
    assert repr(RoOFSRegressor(5, passes=2)) == "RoOFSRegressor(n_nonzero_coefs=5, passes=2)"


@pytest.mark.parametrize("keywords, message", [
    ({"n_nonzero_coefs": 0}, "n_nonzero_coefs"), ({"n_nonzero_coefs": 1.5}, "n_nonzero_coefs must be a whole number"),
    ({"n_nonzero_coefs": "many"}, "n_nonzero_coefs"), ({"batch_size": 0}, "batch_size"),
    ({"method": "magic"}, "method"),
    ({"clean_ratio": 1.5}, "clean_ratio"), ({"method": 3}, "method must be text"), ({"n_jobs": 0}, "n_jobs"),
    ({"tol": "x"}, "tol must be a number"), ({"reserve": 1.0, "method": "roofs"}, "cannot keep a reserve")])
def test_bad_keywords_are_named(keywords, message):
    X, y, _ = problem(n=20, p=210)
    with pytest.raises(ValueError, match=message):
        RoOFSRegressor(**keywords).fit(X, y)


def test_memory_limit_is_respected():
    X, y, _ = problem()
    with pytest.raises(MemoryError, match="more than the limit"):
        RoOFSRegressor(3, max_memory=1000).fit(X, y)


def test_warning_comes_once_and_the_fit_stays():
    X, y, _ = problem()
    with pytest.warns(ConvergenceWarning, match="max_iter") as seen:
        model = RoOFSRegressor(3, method="roofs", max_iter=2, tol=0).fit(X, y)
    assert len(seen) == 1 and not model.converged_ and model.stop_ == "max_iter" and model.predict(X).shape == (150,)


def test_threads_do_not_matter(saved):
    X, y, _ = problem(n=3000, p=400)   # large enough for a second thread
    assert len({saved(RoOFSRegressor(3, n_jobs=k).fit(X, y)) for k in (1, 2, -1, None)}) == 1
