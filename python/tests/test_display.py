"""Pictures show the numbers of the fit."""
import sys

import numpy as np
import pytest
from conftest import problem

from roofs import RoOFSDisplay, RoOFSRegressor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = problem()
    return X, y, RoOFSRegressor(3, batch_size=20, passes=1).fit(X, y)


def test_residuals_are_drawn(fitted):
    X, y, model = fitted
    display = RoOFSDisplay.from_estimator(model)
    trusted, others = (c.get_offsets()[:, 1] for c in display.ax_.collections)
    assert len(trusted) == model.n_inliers_ and np.abs(trusted).max() == model.cut_ < np.abs(others).min() * 1.5
    assert sorted(line.get_ydata()[0] for line in display.ax_.lines) == [-model.cut_, model.cut_]
    assert display.figure_ is display.ax_.figure
    other = RoOFSDisplay.from_estimator(model, X[:9], y[:9], s=3)
    assert sum(len(c.get_offsets()) for c in other.ax_.collections) == 9


def test_path_is_drawn(fitted):
    _, _, model = fitted
    display = RoOFSDisplay.from_estimator(model, kind="path")
    assert [line.get_label() for line in display.ax_.lines] == ["x7", "x131", "x207"]
    line = display.ax_.lines[1]
    seen, coef = line.get_xdata(), line.get_ydata()
    assert (coef[seen <= 120] == 0).all() and abs(coef[-1] + 2) < 0.2 and seen[-1] == 260


def test_trust_is_drawn(fitted):
    _, _, model = fitted
    display = RoOFSDisplay.from_estimator(model, kind="trust")
    shown = np.asarray(display.ax_.images[0].get_array())
    assert shown.shape == (14, 150) and shown[-1].sum() == model.n_inliers_
    assert (np.diff(shown[-1].astype(int)) >= 0).all()


def test_given_axes_are_used_and_reused(fitted):
    _, _, model = fitted
    _, ax = matplotlib.pyplot.subplots(1, 2)
    display = RoOFSDisplay.from_estimator(model, kind="path", ax=ax[0])
    assert display.ax_ is ax[0] and display.plot(ax=ax[1]).ax_ is ax[1]


def test_bad_arguments_are_refused(fitted, tmp_path, monkeypatch):
    _, _, model = fitted
    with pytest.raises(ValueError, match="kind must be one of"):
        RoOFSDisplay.from_estimator(model, kind="pie")
    model.save(tmp_path / "m.json")
    loaded = RoOFSRegressor.load(tmp_path / "m.json")
    for kind in ("residuals", "path", "trust"):
        with pytest.raises(ValueError, match="loaded"):
            RoOFSDisplay.from_estimator(loaded, kind=kind)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        RoOFSDisplay.from_estimator(model)
