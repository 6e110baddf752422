"""RoOFSRegressorCV: how many features to keep, by cross-validation that corrupted samples cannot mislead."""
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_consistent_length

from ._blocks import Block, Rows
from ._keywords import PATH_PARAMETERS, PathKeywords
from ._library import Fit
from .regressor import RoOFSRegressor, as_kept

STEPS = 8
FEWEST_TRUSTED = 0.5   # the library never trusts less than half
CAUTION = 0.9          # of the share that is trusted, count on this much


def default_path(n: int, p: int) -> list[int]:
    """From few features to a quarter as many as samples, or all there are."""
    most = max(1, min(p, n // 4))
    return sorted({int(round(m)) for m in np.geomspace(min(2, most), most, STEPS)})


def trimmed_error(error: np.ndarray, share: float) -> float:
    """Mean of the smallest absolute errors: what remains when the worst are taken for corrupted."""
    kept = max(1, int(share * len(error)))
    return float(np.partition(np.abs(error), kept - 1)[:kept].mean())


def choose(errors: np.ndarray) -> int:
    """The first column (fewest features) that is worse than the best by no more than half a standard error or a
    hundredth; rows are folds."""
    mean = errors.mean(axis=0)
    worse = errors - errors[:, [int(mean.argmin())]]
    spread = worse.std(axis=0, ddof=1) / np.sqrt(len(errors))
    return int(np.flatnonzero(worse.mean(axis=0) <= np.maximum(spread / 2, 0.01 * mean.min()))[0])


class RoOFSRegressorCV(RoOFSRegressor, PathKeywords, BaseEstimator):
    """`RoOFSRegressor` that finds out how many features to keep.

    Every number of features of a path is fitted on parts of the samples and judged on the rest. Part of the rest is
    corrupted too, so only its smallest errors count: as large a share as the fits trust, less a tenth for caution.
    The smallest number within half a standard error (or a hundredth) of the best is taken and fitted on all samples.
    That costs `cv * len(mus) + 1` fits; the rows of a part are copied a batch at a time. The attributes are those of
    :class:`RoOFSRegressor` and these:

    Parameters
    ----------
{parameters}
    Attributes
    ----------
    n_nonzero_coefs_ : int
        The number that was chosen.
    mus_ : ndarray
        The numbers that were tried.
    trimmed_errors_ : ndarray of shape (folds, numbers)
        The trimmed mean absolute error of each.
    counted_share_ : float
        The share of the held-out samples that counted.

    Examples
    --------
    >>> import numpy as np
    >>> from roofs import RoOFSRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 60))
    >>> y = X[:, :4] @ [4, 3, 2, 2] + 0.3 * rng.standard_normal(300)
    >>> y[:60] = 50
    >>> RoOFSRegressorCV(mus=[1, 2, 4, 8, 16]).fit(X, y).n_nonzero_coefs_
    4
    """

    __init__ = PathKeywords.__init__

    def fit(self, X: Any, y: Any) -> RoOFSRegressorCV:
        """Choose the number of features, then fit all samples. X and y are as in :meth:`RoOFSRegressor.fit`."""
        y = self._response(y)
        X, block = self._whole(X)
        check_consistent_length(X, y)
        self.mus_ = np.asarray(default_path(*self._shape(block)) if self.mus is None else sorted(set(self.mus)))
        self.trimmed_errors_, self.counted_share_ = self._judge(block, y)
        self.n_nonzero_coefs_ = int(self.mus_[choose(self.trimmed_errors_)])
        self._drive(Fit(self._settings(self.n_nonzero_coefs_), y), lambda: [block], total=block.count)
        return self

    @staticmethod
    def _shape(block: Block) -> tuple[int, int]:
        return block.n, block.count

    def _judge(self, block: Block, y: np.ndarray) -> tuple[np.ndarray, float]:
        """The trimmed errors of every fold and number, and the share of samples they count."""
        # shuffled: corrupted samples often stand together, and every fold must get its share of them
        folds = KFold(self.cv, shuffle=True, random_state=0) if isinstance(self.cv, int) else check_cv(self.cv)
        folds = list(folds.split(np.empty((block.n, 1)), y))
        errors, trusted = [], []
        for train, test in folds:
            for mu in self.mus_:
                error, share = self._try(block, y, train, test, int(mu))
                errors.append(error)
                trusted.append(share)
        share = max(FEWEST_TRUSTED, min(np.median(np.reshape(trusted, (len(folds), -1)), axis=0)) * CAUTION)
        table = [trimmed_error(error, share) for error in errors]
        return np.reshape(table, (len(folds), -1)), share

    def _try(self, block: Block, y: np.ndarray, train: np.ndarray, test: np.ndarray,
             mu: int) -> tuple[np.ndarray, float]:
        """One fit on the training rows: the errors of the others, and the share of samples it trusts."""
        one = RoOFSRegressor(**{**self._common(), "n_nonzero_coefs": mu, "verbose": False})
        seen = Rows(block, train)
        one.n_features_in_ = block.count
        one._drive(Fit(one._settings(), y[train]), lambda: [seen], total=block.count)
        kept = as_kept(Rows(block, test), one.selected_indices_)
        return y[test] - one.predict_selected(kept), one.n_inliers_ / len(train)

    def _common(self) -> dict[str, Any]:
        return {name: value for name, value in self.get_params(deep=False).items() if name not in ("mus", "cv")}

    def _settings(self, default_mu: int | None = None) -> dict[str, Any]:
        return RoOFSRegressor(**{**self._common(), "n_nonzero_coefs": default_mu})._settings()

    def _begin(self, y: Any, comm: Any = None) -> None:
        raise TypeError("RoOFSRegressorCV reads the features many times; for a stream use RoOFSRegressor with "
                        "n_nonzero_coefs")


RoOFSRegressorCV.__doc__ = RoOFSRegressorCV.__doc__.replace("{parameters}", PATH_PARAMETERS)
