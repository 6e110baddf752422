"""RoOFSRegressorCV: chooses how many features to keep, by cross-validation that withstands corrupted samples."""
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, check_cv

from ._blocks import Block, Rows, select_features
from ._keywords import PATH_PARAMETERS, PathKeywords
from ._library import Fit
from .regressor import RoOFSRegressor

STEPS = 8
MIN_TRUSTED = 0.5   # the library trusts at least half of the samples
CAUTION = 0.9       # the share of held-out samples that count, over the share that the fits trust


def default_path(n: int, p: int) -> list[int]:
    """Numbers of features from 2 to n / 4, or to p if p is smaller."""
    largest = max(1, min(p, n // 4))
    return sorted({int(round(m)) for m in np.geomspace(min(2, largest), largest, STEPS)})


def trimmed_error(error: np.ndarray, share: float) -> float:
    """Mean of this share of the absolute errors, the smallest ones. The others may be of corrupted samples."""
    kept = max(1, int(share * len(error)))
    return float(np.partition(np.abs(error), kept - 1)[:kept].mean())


def choose(errors: np.ndarray) -> int:
    """The first column (fewest features) whose error exceeds the best by at most half a standard error or 1%. Rows are
    folds."""
    mean = errors.mean(axis=0)
    worse = errors - errors[:, [int(mean.argmin())]]
    spread = worse.std(axis=0, ddof=1) / np.sqrt(len(errors))
    return int(np.flatnonzero(worse.mean(axis=0) <= np.maximum(spread / 2, 0.01 * mean.min()))[0])


class RoOFSRegressorCV(RoOFSRegressor, PathKeywords, BaseEstimator):
    """`RoOFSRegressor` that chooses how many features to keep.

    Cross-validation tries each number of `mus`: it fits the training samples of a fold and predicts the held-out ones.
    Held-out samples may be corrupted too. Therefore only the smallest errors count: 0.9 times the share of samples that
    the fits trust. The estimator takes the smallest number whose error is within half a standard error, or 1%, of the
    best, and fits all samples with it. This needs `cv * len(mus) + 1` fits. The samples of a fold are copied one batch
    at a time. The attributes are those of :class:`RoOFSRegressor` and the following.

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
    >>> RoOFSRegressorCV(mus=[1, 2, 4, 8, 16]).fit(X, y).n_nonzero_coefs_
    4
    """

    __init__ = PathKeywords.__init__

    def fit(self, X: Any, y: Any) -> RoOFSRegressorCV:
        """Choose the number of features, then fit all samples. X and y are as in :meth:`RoOFSRegressor.fit`."""
        y = self._response(y)
        block = self._checked_features(X, y)
        self.mus_ = np.asarray(default_path(block.n, block.count) if self.mus is None else sorted(set(self.mus)))
        self.trimmed_errors_, self.counted_share_ = self._cross_validate(block, y)
        self.n_nonzero_coefs_ = int(self.mus_[choose(self.trimmed_errors_)])
        fit = Fit(self._settings(self.n_nonzero_coefs_), y)
        self._fit_passes(fit, lambda: [block], total=block.count)
        self._warn(fit)
        return self

    def _cross_validate(self, block: Block, y: np.ndarray) -> tuple[np.ndarray, float]:
        """The trimmed errors of every fold and number, and the share of the held-out samples that they count."""
        # Shuffled: corrupted samples are often consecutive, and every fold needs its share of them.
        folds = KFold(self.cv, shuffle=True, random_state=0) if isinstance(self.cv, int) else check_cv(self.cv)
        folds = list(folds.split(np.empty((block.n, 1)), y))
        errors, trusted = [], []
        for train, test in folds:
            for mu in self.mus_:
                error, share = self._fit_fold(block, y, train, test, int(mu))
                errors.append(error)
                trusted.append(share)
        share = max(MIN_TRUSTED, min(np.median(np.reshape(trusted, (len(folds), -1)), axis=0)) * CAUTION)
        table = [trimmed_error(error, share) for error in errors]
        return np.reshape(table, (len(folds), -1)), share

    def _fit_fold(self, block: Block, y: np.ndarray, train: np.ndarray, test: np.ndarray,
                  mu: int) -> tuple[np.ndarray, float]:
        """Fits the training samples. Returns the errors of the test samples and the share of samples that it trusts."""
        one = RoOFSRegressor(**{**self._single_keywords(), "n_nonzero_coefs": mu, "verbose": False})
        training = Rows(block, train)
        one.n_features_in_ = block.count
        one._fit_passes(Fit(one._settings(), y[train]), lambda: [training], total=block.count)
        kept = select_features(Rows(block, test), one.selected_indices_)
        return y[test] - one.predict_selected(kept), one.n_inliers_ / len(train)

    def _single_keywords(self) -> dict[str, Any]:
        """The keywords that RoOFSRegressor has too."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in ("mus", "cv")}

    def _settings(self, default_mu: int | None = None) -> dict[str, Any]:
        return RoOFSRegressor(**{**self._single_keywords(), "n_nonzero_coefs": default_mu})._settings()

    def _begin(self, y: Any, comm: Any = None) -> None:
        raise TypeError("RoOFSRegressorCV reads the features many times and cannot take a stream; use RoOFSRegressor "
                        "with n_nonzero_coefs")


RoOFSRegressorCV.__doc__ = RoOFSRegressorCV.__doc__.replace("{parameters}", PATH_PARAMETERS)
