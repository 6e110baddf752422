"""Half the widths of intervals by cross-validation, as `roofs fit --intervals cv` finds them."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

FOLDS, FEWEST_PER_FOLD = 5, 4
METHODS = ("model", "cv")


def checked_method(name: str, method: Any) -> str:
    """The word for a kind of intervals."""
    if method not in METHODS:
        raise ValueError(f"{name} must be \"model\" or \"cv\", not {method!r}")
    return method


def check_cv(n: int, comm: Any) -> None:
    """Refuses what cannot be cross-validated, before the fit."""
    if comm is not None:
        raise ValueError("intervals=\"cv\" needs all samples in one process; leave comm out")
    if n < FOLDS * FEWEST_PER_FOLD:
        raise ValueError(f"intervals=\"cv\" needs at least {FOLDS * FEWEST_PER_FOLD} samples, but there are {n}")


def held_out_errors(estimator: Any, X: Any, y: np.ndarray, weight: np.ndarray | None, **more: Any) -> np.ndarray:
    """Of each sample: the response less the prediction of a fit that has not seen it. `more` goes to `fit`."""
    fold = np.empty(len(y), int)
    fold[np.random.default_rng(1).permutation(len(y))] = np.arange(len(y)) % FOLDS
    single, errors = clone(estimator), np.empty(len(y))
    if "groups" in single.get_params():   # predictions do not depend on them
        single.set_params(groups="off", fdr=None)
    for k in range(FOLDS):
        fitted, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")   # the fit of all samples has warned
            single.fit(_safe_indexing(X, fitted), y[fitted], None if weight is None else weight[fitted], **more)
            errors[held] = y[held] - single.predict(_safe_indexing(X, held))
    return errors


def half_widths(errors: np.ndarray, weight: np.ndarray, steps: int) -> np.ndarray:
    """Weighted quantiles of the absolute errors at the levels 1/steps, 2/steps, ... A new sample has weight 1 and may
    have any error: levels that would need it have no interval."""
    order = np.argsort(np.abs(errors), kind="stable")
    below, total = np.cumsum(weight[order]), 1 + np.sum(weight)
    levels = np.arange(1, steps) / steps
    at = np.searchsorted(below, levels * total)
    return np.abs(errors)[order][at[at < len(order)]]
