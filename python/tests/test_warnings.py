"""Fits that need attention say so: a warning of a class of its own, with what to do, at the user's line."""
import pickle
import warnings

import numpy as np
import pytest
import sklearn.exceptions
from conftest import problem
from roofs import ConvergenceWarning, DataWarning, RoOFSRegressor, RoOFSRegressorCV, RoOFSWarning, TrustWarning
from roofs._library import WARNINGS
from roofs._warnings import CATEGORIES


def few_trusted():
    X, y, _ = problem(corrupt=0)
    y[:66] = np.random.default_rng(1).uniform(-500, 500, 66)   # 44% of 150
    return X, y


def equal():
    X, y, _ = problem(corrupt=0)
    y[::3] = 0
    return X, y


def discrete():
    X, y, _ = problem()
    return X, np.clip(np.round(y), -2, 3)


def undecided():
    X, y, _ = problem(corrupt=0)
    y[:70] += 30                                               # 47% follow the same model at another level
    return X, y


def same_column():
    X, y, _ = problem()
    X[:, 1] = 3 - X[:, 0]
    return X, y


CASES = {"few-trusted": (few_trusted, {}, TrustWarning), "equal-responses": (equal, {}, DataWarning),
         "discrete-response": (discrete, {}, DataWarning), "undecided": (undecided, {}, TrustWarning),
         "forced": (same_column, {"always": 2}, DataWarning),
         "not-settled": (lambda: problem()[:2], {"method": "roofs", "max_iter": 2, "tol": 0}, ConvergenceWarning)}


@pytest.mark.parametrize("word", CASES)
def test_warning_has_its_class_text_and_line(word):
    make, keywords, category = CASES[word]
    X, y = make()
    with pytest.warns(RoOFSWarning) as seen:
        model = RoOFSRegressor(3, **keywords).fit(X, y)
    assert word in model.warnings_ and len(seen) == len(model.warnings_)
    mine, = [w for w in seen if str(w.message) == WARNINGS[word]]
    assert mine.category is category and mine.filename == __file__
    assert model.converged_ == (word != "not-settled") and model.predict(X).shape == y.shape


def test_ordinary_fit_does_not_warn():
    X, y, _ = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RoOFSWarning)
        model = RoOFSRegressor(3).fit(X, y)
    assert model.warnings_ == [] and model.converged_


def test_classes_are_those_that_users_filter():
    assert issubclass(ConvergenceWarning, sklearn.exceptions.ConvergenceWarning)
    assert issubclass(DataWarning, RuntimeWarning) and issubclass(TrustWarning, RuntimeWarning)
    assert all(issubclass(c, RoOFSWarning) for c in CATEGORIES.values()) and issubclass(RoOFSWarning, UserWarning)
    assert list(WARNINGS) and set(CATEGORIES) == set(WARNINGS)   # a new flag of the library needs a class


def test_warning_as_an_error_comes_after_the_fit():
    X, y = equal()
    model = RoOFSRegressor(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RoOFSWarning)
        with pytest.raises(DataWarning):
            model.fit(X, y)
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("how", ["fit_stream", "finish", "cv"])
def test_every_way_to_fit_warns_once(how):
    X, y = equal()
    with pytest.warns(RoOFSWarning) as seen:
        if how == "fit_stream":
            model = RoOFSRegressor(3).fit_stream([X[:, :100], X[:, 100:]], y)
        elif how == "finish":
            model = RoOFSRegressor(3).begin(y).partial_fit_features(X)
            assert not [w for w in seen if issubclass(w.category, RoOFSWarning)]   # only at the end
            model.finish()
        else:   # the folds do not warn
            model = RoOFSRegressorCV(mus=[1, 3], cv=2).fit(X, y)
    assert [w.category for w in seen] == [CATEGORIES[word] for word in model.warnings_]
    assert model.warnings_.count("equal-responses") == 1 and seen[0].filename == __file__


def test_loaded_model_has_the_words_and_does_not_warn(tmp_path):
    X, y = equal()
    with pytest.warns(DataWarning):
        model = RoOFSRegressor(3).fit(X, y)
    model.save(tmp_path / "model.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RoOFSWarning)
        again = RoOFSRegressor.load(tmp_path / "model.json")
        assert pickle.loads(pickle.dumps(model)).warnings_ == again.warnings_ == model.warnings_
