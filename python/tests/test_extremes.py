"""Numbers of extreme size: a fit has finite results, or it raises an error that says why."""
import warnings

import numpy as np
import pytest
from roofs import RoOFSRegressor, methods

SIZES = [5e-324, 1e-310, 1e-200, 1, 1e200, 1e300, 1e308, 1.7e308]
SHAPES = {"+-m": lambda m, coin, normal: np.where(coin, m, -m),
          "0 or m": lambda m, coin, normal: np.where(coin, m, 0.0),
          "m": lambda m, coin, normal: np.full(len(coin), m),
          "normal times m": lambda m, coin, normal: np.clip(normal * m, -1.7e308, 1.7e308)}


def arrays_of(model, x):
    yield "coef_", model.coef_
    yield "intercept_", model.intercept_
    yield "predict", model.predict(x)
    if getattr(model, "inlier_probability_", None) is not None:
        yield "inlier_probability_", model.inlier_probability_


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", methods())
def test_results_are_finite_or_an_error_says_why(method, shape):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(24, 8))
    coin, normal = rng.random(24) < 0.5, x[:, 0] + 0.1 * rng.normal(size=24)
    outcomes = {"finite": 0, "refused": 0}
    for size in SIZES:
        for intercept in (True, False):
            with np.errstate(over="ignore"):
                y = SHAPES[shape](size, coin, normal)
            model = RoOFSRegressor(4, method=method, batch_size=5, fit_intercept=intercept,
                                   clean_ratio=0.8 if method == "torrent" else None)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(x, y)
                    for name, values in arrays_of(model, x):
                        assert np.all(np.isfinite(values)), f"{name} of {shape} with m = {size}"
                outcomes["finite"] += 1
            except ValueError as error:
                assert size >= 1e300 and "largest number" in str(error) or "finite" in str(error)
                outcomes["refused"] += 1
    assert outcomes["finite"] >= 12
