"""RoOFSRegressorCV: chooses how many features to keep, by cross-validation that withstands corrupted samples."""
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, check_cv

from ._answers import equal_values
from ._blocks import Block, Rows, select_features
from ._keywords import PATH_PARAMETERS, PathKeywords
from ._library import Fit, default_features
from ._weights import checked_weight
from .regressor import RoOFSRegressor

STEPS = 8
MIN_TRUSTED = 0.5   # the library trusts at least half of the samples
CAUTION = 0.9       # the share of held-out samples that count, over the share that the fits trust


def default_path(largest: int) -> list[int]:
    """Numbers of features from 2 to the largest."""
    return sorted({int(round(m)) for m in np.geomspace(min(2, largest), largest, STEPS)})


def trimmed_error(error: np.ndarray, share: float, weight: np.ndarray | None = None) -> float:
    """Mean of this share of the absolute errors, the smallest ones. The others may be of corrupted samples."""
    if weight is None:
        kept = max(1, int(share * len(error)))
        return float(np.partition(np.abs(error), kept - 1)[:kept].mean())
    order = np.argsort(np.abs(error), kind="stable")
    error, weight = np.abs(error)[order], weight[order]
    kept = max(1, int(share * weight.sum()))
    counted = np.clip(kept - (np.cumsum(weight) - weight), 0, weight)
    return float(error @ counted / counted.sum()) if counted.sum() > 0 else float(error[0])


def choose(errors: np.ndarray) -> int:
    """The last column (most features) whose error exceeds the smallest error by less than 1%. Rows are folds. More
    features than needed cost little, because their probabilities shrink them; too few cost much."""
    mean = errors.mean(axis=0)
    return int(np.flatnonzero(mean <= 1.01 * mean.min())[-1])


class RoOFSRegressorCV(RoOFSRegressor, PathKeywords, BaseEstimator):
    """`RoOFSRegressor` that chooses how many features to keep.

    Cross-validation tries each number of `mus`: it fits the training samples of a fold and predicts the held-out ones.
    Held-out samples may be corrupted too. Therefore only the smallest errors count: 0.9 times the share of samples that
    the fits trust. The estimator takes the largest number whose error is within 1% of the smallest error, and fits all
    samples with it. As in `RoOFSRegressor()`, probabilities decide which of these features are selected. This needs
    `cv * len(mus) + 1` fits. The samples of a fold are copied one batch at a time. The attributes are those of
    :class:`RoOFSRegressor` and the following.

    Parameters
    ----------
{parameters}
    Attributes
    ----------
    n_nonzero_coefs_ : int
        The chosen number of features.
    mus_ : ndarray
        The numbers of features that were tried.
    trimmed_errors_ : ndarray of shape (n_folds, n_mus)
        The trimmed mean absolute error of each fold and number.
    counted_share_ : float
        The share of the held-out samples whose errors counted.

    Examples
    --------
    >>> import numpy as np
    >>> from roofs import RoOFSRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 60))
    >>> y = X[:, :4] @ [4, 3, 2, 2] + 0.3 * rng.standard_normal(300)
    >>> y[:60] += 50
    >>> RoOFSRegressorCV(mus=[1, 2, 4, 8, 16]).fit(X, y).selected_indices_
    array([0, 1, 2, 3])
    """

    __init__ = PathKeywords.__init__

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RoOFSRegressorCV:
        """Choose the number of features, then fit all samples. X, y and sample_weight are as in
        :meth:`RoOFSRegressor.fit`; errors of held-out samples have these weights, too."""
        X, y = self._split_response(X, y)
        y = self._response(y)
        block = self._checked_features(X, y)
        fit = self._fit_block(block, y, checked_weight(sample_weight, len(y)))
        self._equal = equal_values(y, self.inlier_mask_)
        self._warn(fit)
        return self

    def _fit_block(self, block: Block, y: np.ndarray, weight: np.ndarray | None = None, comm: Any = None) -> Fit:
        """Fits checked features and responses. The ranks of `comm` cannot share the folds."""
        most, words = default_features(self._single(None)._settings(), block.n, block.count)
        self.mus_ = np.asarray(default_path(most) if self.mus is None else sorted(set(self.mus)))
        self.trimmed_errors_, self.counted_share_ = self._cross_validate(block, y, weight, words)
        self.n_nonzero_coefs_ = int(self.mus_[choose(self.trimmed_errors_)])
        fit = Fit({**self._single(self.n_nonzero_coefs_)._settings(), **words}, y, sample_weight=weight)
        self._fit_passes(fit, lambda: [block], total=block.count)
        return fit

    def _cross_validate(self, block: Block, y: np.ndarray, weight: np.ndarray | None,
                        words: dict[str, str]) -> tuple[np.ndarray, float]:
        """The trimmed errors of every fold and number, and the share of the held-out samples that they count. `words`:
        settings of all fits, the final one included."""
        # Shuffled: corrupted samples are often consecutive, and every fold needs its share of them.
        folds = KFold(self.cv, shuffle=True, random_state=0) if isinstance(self.cv, int) else check_cv(self.cv)
        folds = list(folds.split(np.empty((block.n, 1)), y))
        errors, trusted, weights = [], [], []
        for train, test in folds:
            for mu in self.mus_:
                one = self._single(int(mu)).set_params(**words, groups="off", fdr=None)   # folds only predict
                error, share = self._fit_fold(block, y, weight, train, test, one)
                errors.append(error)
                trusted.append(share)
                weights.append(None if weight is None else weight[test])
        share = max(MIN_TRUSTED, min(np.median(np.reshape(trusted, (len(folds), -1)), axis=0)) * CAUTION)
        table = [trimmed_error(error, share, each) for error, each in zip(errors, weights)]
        return np.reshape(table, (len(folds), -1)), share

    def _fit_fold(self, block: Block, y: np.ndarray, weight: np.ndarray | None, train: np.ndarray, test: np.ndarray,
                  one: RoOFSRegressor) -> tuple[np.ndarray, float]:
        """Fits the training samples. Returns the errors of the test samples and the share of samples that it trusts."""
        one.verbose = False
        training = Rows(block, train)
        one.n_features_in_ = block.count
        fit = Fit(one._settings(), y[train], sample_weight=None if weight is None else weight[train])
        one._fit_passes(fit, lambda: [training], total=block.count)
        kept = select_features(Rows(block, test), one.kept_indices_)
        trusted = one.n_inliers_ / len(train) if weight is None else np.average(one.inlier_mask_, weights=weight[train])
        return y[test] - one.predict_selected(kept), trusted

    def _single(self, mu: int | None) -> RoOFSRegressor:
        """An estimator with the same keywords for a given number of features."""
        keywords = {name: value for name, value in self.get_params(deep=False).items() if name not in ("mus", "cv")}
        return RoOFSRegressor(**{**keywords, "n_nonzero_coefs": mu})

    def _begin(self, y: Any, sample_weight: Any = None, comm: Any = None) -> None:
        raise TypeError("RoOFSRegressorCV reads the features many times and cannot take a stream; use RoOFSRegressor "
                        "with n_nonzero_coefs")


RoOFSRegressorCV.__doc__ = RoOFSRegressorCV.__doc__.replace("{parameters}", PATH_PARAMETERS)
