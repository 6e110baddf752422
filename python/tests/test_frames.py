"""Frames that hold the responses among their columns."""
import json

import numpy as np
import pytest
from conftest import problem
from sklearn.base import clone

from roofs import RoOFSRegressor, RoOFSRegressorCV

NAMES = [f"f{k}" for k in range(260)]


def frame_of(kind, X, y):
    """The features, and the responses in between."""
    columns = {**dict(zip(NAMES[:100], X[:, :100].T)), "price": y, **dict(zip(NAMES[100:], X[:, 100:].T))}
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(columns)
    return pytest.importorskip("pyarrow").table(columns)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_response_is_a_column(kind, saved):
    X, y, _ = problem()
    frame = frame_of(kind, X, y)
    expected = RoOFSRegressor(3).fit(frame.drop(columns=["price"]) if kind == "pandas" else frame.drop(["price"]), y)
    model = RoOFSRegressor(3).fit(frame, "price")
    content = json.loads(saved(model))
    assert content.pop("table") == {"response": "price", "columns": []}
    assert content == json.loads(saved(expected))
    assert model.n_features_in_ == 260 and "price" not in model.feature_names_in_
    assert (model.predict(frame) == expected.predict(X)).all()
    assert (model.transform(frame) == X[:, model.selected_indices_]).all()
    assert (model.fit(X, y).predict(X) == expected.predict(X)).all()   # a later fit forgets the name


def test_cross_validation_takes_a_column():
    X, y, _ = problem(n=80)
    frame = frame_of("pandas", X, y)
    model = RoOFSRegressorCV(mus=[1, 3]).fit(frame, "price")
    assert (clone(model).fit(frame.drop(columns="price"), y).coef_ == model.coef_).all()


def test_unknown_column_is_refused_with_a_hint():
    X, y, _ = problem()
    frame = frame_of("pandas", X, y)
    with pytest.raises(ValueError, match="'prices' is not among the 261 named columns of X; did you mean 'price'"):
        RoOFSRegressor(3).fit(frame, "prices")
    with pytest.raises(ValueError, match="X is no frame"):
        RoOFSRegressor(3).fit(X, "price")
    frame.columns = ["price", *frame.columns[1:]]
    with pytest.raises(ValueError, match="several columns with the name 'price'"):
        RoOFSRegressor(3).fit(frame, "price")


def test_words_in_the_response_are_refused():
    X, y, _ = problem()
    frame = frame_of("pandas", X, y).assign(price=np.where(y > 0, "cheap", "dear"))
    with pytest.raises(ValueError, match='"price", sample 0 .counted from 0.: "[a-z]*" is not a number'):
        RoOFSRegressor(3).fit(frame, "price")
