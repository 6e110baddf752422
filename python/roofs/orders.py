"""selection_frequency: how the selected features depend on the order in which they arrive."""
from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.parallel import Parallel, delayed

from ._blocks import Block, Shuffled
from ._warnings import emit
from .regressor import RoOFSRegressor


def selection_frequency(estimator: RoOFSRegressor, X: Any, y: Any, *, orders: int = 10, random_state: Any = 0,
                        n_jobs: int | None = None) -> Bunch:
    """How often each feature is selected when the columns of X arrive in other orders.

    Clones of the estimator are fitted to the columns as they are and in random orders. Features with a frequency
    near 1 do not depend on the order. Where correlated features replace each other, each has a smaller frequency, and
    predictions change little. Columns are copied one batch at a time.

    Parameters
    ----------
    estimator : RoOFSRegressor or RoOFSRegressorCV
        The estimator; it is not changed.
    X, y : as in `RoOFSRegressor.fit`
        Features and responses.
    orders : int, default=10
        The number of orders, at least 2. The first is that of X.
    random_state : int, RandomState or None, default=0
        Chooses the other orders.
    n_jobs : int or None, default=None
        Fits that run at the same time, in threads; each needs the memory of a fit. `None`: one after the other. The
        result does not depend on it.

    Returns
    -------
    result : Bunch
        - `frequency`, array of shape (n_features,): the share of the orders that select the feature.
        - `mean_coef`, array of shape (n_features,): the mean coefficient; it is 0 in orders that do not keep the
          feature.
        - `feature_names`, array of shape (n_features,): the names of the columns, or x0, x1, ...
        - `jaccard`, float: for two orders, the number of features that both select over the number that any selects;
          the mean of all pairs.
        - `prediction_change`, float: the largest difference between the predictions for a row of X in two orders, in
          units of the root mean square of the trusted residuals.
        - `selections`, list of arrays: the indices of the selected features in each order.
        - `estimator`: the fit to X as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from roofs import RoOFSRegressor, selection_frequency
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 50))
    >>> y = 3 * X[:, 7] - 2 * X[:, 31] + 0.1 * rng.standard_normal(200)
    >>> result = selection_frequency(RoOFSRegressor(), X, y, orders=5)
    >>> np.flatnonzero(result.frequency == 1)
    array([ 7, 31])
    >>> result.jaccard
    1.0
    """
    if not isinstance(estimator, RoOFSRegressor):
        raise TypeError(f"estimator must be a RoOFSRegressor or a RoOFSRegressorCV, not {type(estimator).__name__}")
    if orders < 2:
        raise ValueError(f"orders must be at least 2, not {orders}")
    first = clone(estimator)
    y = first._response(y)
    block = first._checked_features(X, y)
    random = check_random_state(random_state)
    stay = min(first.always, block.count)   # forced features come first in every order
    places = [np.arange(block.count)] + [np.r_[:stay, stay + random.permutation(block.count - stay)]
                                         for _ in range(orders - 1)]
    fits = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_fit)(first if k == 0 else _prepared(first), block, y, order if k else None)
        for k, order in enumerate(places))
    emit(first.warnings_, stacklevel=2)
    return _compared(first, fits, places, y)


def _prepared(first: RoOFSRegressor) -> RoOFSRegressor:
    """A clone for features that `first` has checked."""
    one = clone(first)
    one.n_features_in_, one.verbose = first.n_features_in_, False
    return one


def _fit(one: RoOFSRegressor, block: Block, y: np.ndarray, order: np.ndarray | None) -> RoOFSRegressor:
    one._fit_block(block if order is None else Shuffled(block, order), y)
    return one


def _compared(first: RoOFSRegressor, fits: list[RoOFSRegressor], places: list[np.ndarray], y: np.ndarray) -> Bunch:
    count = first.n_features_in_
    frequency, coef = np.zeros(count), np.zeros(count)
    for one, order in zip(fits, places):
        frequency[order[one.selected_indices_]] += 1
        coef[order[one.kept_indices_]] += one.kept_coefs_
    selections = [np.sort(order[one.selected_indices_]) for one, order in zip(fits, places)]
    fitted = np.array([y - one.residuals_ for one in fits])
    noise = max(float(np.sqrt(np.mean(first.residuals_[first.inlier_mask_] ** 2))),
                np.finfo(float).eps * float(np.abs(y).max()), np.finfo(float).tiny)
    names = getattr(first, "feature_names_in_", None)
    return Bunch(frequency=frequency / len(fits), mean_coef=coef / len(fits),
                 feature_names=np.array([f"x{k}" for k in range(count)], dtype=object) if names is None else names,
                 jaccard=float(np.mean([_jaccard(*pair) for pair in combinations(map(set, selections), 2)])),
                 prediction_change=float(np.ptp(fitted, axis=0).max() / noise), selections=selections, estimator=first)


def _jaccard(one: set[int], other: set[int]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0
