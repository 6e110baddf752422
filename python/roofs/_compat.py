"""Functions that differ between versions of scikit-learn, from 1.2 on."""
from __future__ import annotations

from typing import Any

import sklearn

VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])

if VERSION >= (1, 6):
    from sklearn.utils.validation import validate_data
    FINITE = "ensure_all_finite"

    def check_names(estimator: Any, X: Any, reset: bool) -> None:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
else:
    FINITE = "force_all_finite"

    def validate_data(estimator: Any, X: Any, **more: Any) -> Any:
        return estimator._validate_data(X, **more)

    def check_names(estimator: Any, X: Any, reset: bool) -> None:
        estimator._check_feature_names(X, reset=reset)
        estimator._check_n_features(X, reset=reset)


def checked(estimator: Any, X: Any, *, reset: bool, finite: bool, least: int = 1) -> Any:
    """X after a check of its names and shape. Arrays are neither copied nor converted."""
    return validate_data(estimator, X, reset=reset, accept_sparse=True, dtype="numeric", ensure_min_samples=least,
                         **{FINITE: finite})
