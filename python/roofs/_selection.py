"""The estimator as a feature selector. Columns of frames are found by name."""
from __future__ import annotations

import warnings
from typing import Any, Sequence

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ._blocks import Block, as_block, is_frame, select_features


class Selection(SelectorMixin):
    """The methods of an estimator that select features."""

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            All features, in the order of the fit. After `fit_stream`, `begin` or `load`, a frame needs the selected
            features only, in any order, if the features have names.

        Returns
        -------
        X_selected : array of shape (n_samples, n_selected)
            The selected features, in the order of `selected_features_`; a frame after `set_output`.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from roofs import RoOFSRegressor
        >>> X = pd.DataFrame(np.random.default_rng(0).standard_normal((50, 3)), columns=["a", "b", "c"])
        >>> model = RoOFSRegressor(1).fit_stream([X], 2 * X["b"])
        >>> bool((model.transform(X[["c", "b"]])[:, 0] == X["b"]).all())
        True
        """
        check_is_fitted(self)
        if self._uses_table(X):
            return self._selected_of_table(X).dense().T
        X = self._without_response(X)
        if self._finds_by_name() and is_frame(X):
            return columns_named(X, self.selected_features_, "selected").dense().T
        self._warn_if_by_position()
        return super().transform(X)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """The names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of all features of the fit, in its order. If the features have names, they must be the same.

        Returns
        -------
        names : ndarray of str
            `selected_features_` without `input_features`.
        """
        check_is_fitted(self)
        if not self._finds_by_name():
            return super().get_feature_names_out(input_features)
        if input_features is None:
            return self.selected_features_.copy()
        given = np.asarray(input_features, dtype=object)
        if given.shape != (self.n_features_in_,):
            raise ValueError(f"input_features should have length equal to the number of features "
                             f"({self.n_features_in_}), got {given.size}")
        if (given[self.selected_indices_] != self.selected_features_).any():
            raise ValueError("input_features is not equal to the names of the features in the fit")
        return given[self.selected_indices_]

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_indices_] = True
        return mask

    def _finds_by_name(self) -> bool:
        """True if the features have names, but scikit-learn does not check them: not all names are in memory."""
        return self._named and not hasattr(self, "feature_names_in_")

    def _warn_if_by_position(self) -> None:
        """As scikit-learn warns if it has all names."""
        if self._finds_by_name():
            warnings.warn(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature "
                          f"names: its columns are taken in the order of the fit", stacklevel=4)


def columns_named(X: Any, names: Sequence[str], kind: str) -> Block:
    """The columns of a frame with these names, in this order. Other columns are not read."""
    block = as_block(X)
    index_of: dict[str, int] = {}
    twice = set()
    for k, name in enumerate(block.names or []):
        if name in index_of:
            twice.add(name)
        index_of[name] = k
    missing = [name for name in names if name not in index_of]
    if missing:
        raise ValueError(f"{len(missing)} of the {kind} features are not among the columns of X; the first is "
                         f"{missing[0]!r}")
    for name in names:
        if name in twice:
            raise ValueError(f"X has several columns with the name {name!r}")
    return select_features(block, [index_of[name] for name in names])
