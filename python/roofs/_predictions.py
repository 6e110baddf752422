"""Predictions of a fitted estimator, from all features or from the kept ones."""
from __future__ import annotations

from typing import Any, Union

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._blocks import Block, as_block, is_frame, select_features
from ._compat import checked
from ._groups import checked_level
from ._intervals import checked_method
from ._library import Model
from ._selection import columns_named
from ._tensors import in_main_memory, is_on_gpu

Prediction = Union[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]


class Predictions:
    """The methods of an estimator that predict."""

    def predict(self, X: Any, return_interval: float | None = None, interval_method: str = "model", *,
                offset: Any = None) -> Prediction:
        """Predict the response of every row of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            All features, in the order of the fit. After `fit_stream` or `load`, a frame needs the kept features only,
            in any order, if the features have names.
        return_interval : float, optional
            A level above 0 and below 1, such as 0.9. Returns also the ends of intervals that hold new, uncorrupted
            responses with this probability. Only for a finished fit of the method roofs-bayes, or with
            `interval_method="cv"`.
        interval_method : {"model", "cv"}
            "cv": intervals by cross-validation, of a fit with `intervals="cv"`. They are as wide for all samples.
        offset : array of shape (n_samples,), optional
            The offset of these samples, if the fit had one. It is added to the predictions.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predictions.
        low, high : ndarray of shape (n_samples,)
            The ends of the intervals, if `return_interval` is given.

        Examples
        --------
        >>> import numpy as np
        >>> from roofs import RoOFSRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((1000, 30))
        >>> y = 2 * X[:, 4] + rng.standard_normal(1000)
        >>> y[:50] = 99                                   # wrong responses
        >>> model = RoOFSRegressor(5).fit(X[:500], y[:500])
        >>> prediction, low, high = model.predict(X[500:], return_interval=0.9)
        >>> bool(0.85 < np.mean((low <= y[500:]) & (y[500:] <= high)) < 0.95)
        True
        """
        level = self._level(return_interval, interval_method)
        if level is None or interval_method == "model":
            return self._with_offset(self._predict(X, level), offset)
        half, prediction = self._current_model().half_width(level), self._with_offset(self._predict(X, None), offset)
        return prediction, prediction - half, prediction + half

    def _predict(self, X: Any, level: float | None) -> Prediction:
        """Without the offset."""
        if self._uses_table(X):
            return self._predict_kept(self._table_features(X, 3), level)
        X = self._without_response(X)
        if is_frame(X) and self._finds_by_name():
            return self._predict_kept(columns_named(X, self.kept_features_, "kept"), level)
        self._warn_if_by_position()
        if is_frame(X):
            block = as_block(X)
            self._check_columns(X, block, reset=False)
            return self._predict_kept(select_features(block, self.kept_indices_), level)
        if is_on_gpu(X):   # download the kept features only
            block = as_block(X)
            self._check_feature_count(block)
            return self._predict_kept(select_features(block, self.kept_indices_), level)
        block = as_block(checked(self, in_main_memory(X), reset=False, finite=True))
        if self.__dict__.get("_places") is not None:
            return self._predict_kept(select_features(block, self.kept_indices_), level)
        block.names = None
        return self._predict_block(block, False, level)

    def predict_selected(self, X_kept: Any, return_interval: float | None = None, *, offset: Any = None) -> Prediction:
        """Predict from the kept features alone, in the order of `kept_features_`. `return_interval` and `offset` are as
        in :meth:`predict`."""
        level = self._level(return_interval)
        return self._with_offset(self._predict_kept(as_block(X_kept), level), offset)

    def _predict_kept(self, block: Block, level: float | None) -> Prediction:
        block = self._in_model_order(block)
        block.names = None
        return self._predict_block(block, True, level)

    def _predict_block(self, block: Block, kept_only: bool, level: float | None) -> Prediction:
        model = self._current_model()
        if level is not None:
            return model.predict_interval(block, kept_only, level)
        if block.count == 0:
            return np.full(block.n, self.intercept_)
        return model.predict(block, kept_only)

    def _level(self, return_interval: float | None, method: str = "model") -> float | None:
        """The checked level of intervals; None if there are to be none."""
        check_is_fitted(self)
        checked_method("interval_method", method)
        if return_interval is None:
            return None
        if method == "model" and self.noise_scale_ is None:
            raise ValueError("this model has no intervals: return_interval needs a finished fit of the method "
                             "roofs-bayes and responses with noise, by roofs 0.3 or later; or a fit with "
                             "intervals=\"cv\" and interval_method=\"cv\"")
        return checked_level("return_interval", return_interval)

    def _current_model(self) -> Model:
        check_is_fitted(self)
        if self._model is None:
            self._model = self._store_offset(self._running.model())
        return self._model
