"""RoOFSRegressor: the library as an estimator of scikit-learn."""
from __future__ import annotations

import json
import os
import warnings
from typing import Any, Callable, Iterable

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_y, check_is_fitted

from ._blocks import Block, as_block, batches, is_frame, is_pandas, joined, pieces
from ._compat import check_names, checked
from ._keywords import PARAMETERS, SETTINGS, Keywords
from ._library import Fit, Model, Result, is_checkpoint
from ._path import Path
from ._progress import Bar
from ._tensors import in_main_memory, is_on_gpu

FEWEST_SAMPLES = 4
MOST_DENSE_COEFS = 10_000_000   # beyond, coef_ is a sparse row

Callback = Callable[["RoOFSRegressor", Any], Any]


class RoOFSRegressor(SelectorMixin, RegressorMixin, Keywords, BaseEstimator):
    """Linear regression that keeps few features and finds out which samples not to trust.

    Features may arrive batch by batch, in any order and far more than fit in memory; part of the responses may have
    been corrupted by an adversary. What is kept: at most `n_nonzero_coefs` features, their coefficients, and which
    samples can be trusted. It is also a feature selector: `transform` gives the kept columns.

    Parameters
    ----------
{parameters}
    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of the data, 0 for features that were not kept. With more than ten million features
        a sparse row.
    intercept_ : float
        The intercept.
    inlier_mask_ : ndarray of shape (n_samples,)
        Which samples are trusted.
    outliers_ : ndarray of shape (n_samples,)
        Which are not: the complement, as `HuberRegressor` gives it.
    n_inliers_ : int
        How many samples are trusted.
    clean_probability_ : ndarray of shape (n_samples,) or None
        How probable it is that a sample is clean, for methods that tell.
    selected_indices_, selected_coefs_, selected_features_ : ndarray
        Place in the stream, coefficient and name of each kept feature.
    selected_probability_ : ndarray or None
        How probable it is that a kept feature matters, for methods that tell.
    residuals_ : ndarray of shape (n_samples,) or None
        `y - prediction`; None in a model that was loaded from a file.
    cut_ : float
        The largest absolute residual among the trusted samples.
    n_iter_ : int
        Rounds in all batches.
    converged_ : bool
        Whether every batch settled.
    stop_ : str
        How the fit ended: settled, max_iter, empty, interrupted, or running.
    history_ : ndarray with named fields
        Per batch: features, rounds, selected, entered, trusted, cut, step.
    path_ : Path
        Coefficients and trust after up to 128 batches, evenly spread over the stream.
    n_features_in_ : int
        Features seen.
    feature_names_in_ : ndarray
        Their names, where `fit` was given a frame with text for names.

    Examples
    --------
    >>> import numpy as np
    >>> from roofs import RoOFSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 50))
    >>> y = 3 * X[:, 7] - 2 * X[:, 31] + 0.1 * rng.standard_normal(200)
    >>> y[:40] = 100                                  # a fifth of the responses is wrong
    >>> model = RoOFSRegressor(n_nonzero_coefs=2).fit(X, y)
    >>> model.selected_indices_
    array([ 7, 31])
    >>> model.coef_[[7, 31]].round(1)
    array([ 3., -2.])
    >>> int(model.outliers_.sum()), int(model.outliers_[:40].sum())
    (40, 40)
    """

    # ---- fitting ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, comm: Any = None) -> RoOFSRegressor:
        """Fit all features of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            float64 and float32 arrays of either order, memory-mapped and read-only ones, and CSC matrices are read
            where they lie; so are tensors (PyTorch, JAX, CuPy and others that know DLPack), with `device="cuda"` also
            those on a GPU. Frames and Arrow tables are gathered one batch at a time; integers and bools are converted
            one
            batch at a time; other sparse layouts are converted to CSC once, which copies the matrix.
        y : array of shape (n_samples,)
            The responses, part of which may be corrupted.
        comm : mpi4py communicator, optional
            X and y are then this rank's samples, which follow those of the rank before; all ranks call `fit`, with the
            same features. What is told of samples (`inlier_mask_`, `residuals_`) is of this rank's, all else is the
            same on all.

        Returns
        -------
        self : RoOFSRegressor
            The fitted estimator.
        """
        y = self._response(y)
        X, block = self._whole(X)
        check_consistent_length(X, y)
        keywords = self._settings(default_mu=max(1, block.count // 10))
        if hasattr(self, "_running"):
            del self._running
        self._drive(Fit(keywords, y, undo=False, comm=comm), lambda: [block], total=block.count)
        return self

    def fit_stream(self, blocks: Any, y: Any, *, callback: Callback | None = None, comm: Any = None) -> RoOFSRegressor:
        """Fit features that come in blocks.

        Parameters
        ----------
        blocks : iterable
            Each block holds some features of all samples: an array with one row per sample (or one feature as a
            vector), a frame, an Arrow table, a sparse matrix, a mapping from names to vectors, or a pair of names and
            any of these. A generator does, unless `passes` is above 1: then give a list, or a function that
            returns a new iterator. Where blocks begin and end does not change the result.
        y : array of shape (n_samples,)
            The responses.
        callback : callable, optional
            `callback(estimator, batch)` after each batch, with one row of `history_`; the estimator shows the fit as it
            stands. When it returns True the stream ends there.

        Examples
        --------
        >>> import numpy as np
        >>> from roofs import RoOFSRegressor
        >>> rng = np.random.default_rng(0)
        >>> y = rng.standard_normal(100)
        >>> def sensors():
        ...     for hour in range(20):
        ...         yield [f"hour {hour} sensor {k}" for k in range(5)], rng.standard_normal((100, 5))
        ...     yield "the one", 2 * y
        >>> RoOFSRegressor(1).fit_stream(sensors(), y).selected_features_
        array(['the one'], dtype=object)
        """
        again = blocks if callable(blocks) else lambda: blocks
        if not callable(blocks) and self.passes > 1 and iter(blocks) is blocks:
            raise ValueError(f"passes={self.passes} reads the stream again, which a generator cannot; give a list, or "
                             f"a function that returns a new iterator")
        self._begin(y, comm)
        self._drive(self._running, again, callback=callback)
        del self._running
        return self

    def begin(self, y: Any, *, comm: Any = None) -> RoOFSRegressor:
        """Begin a fit whose features turn up later, through `partial_fit_features`; `finish` ends it.

        Examples
        --------
        >>> import numpy as np
        >>> from roofs import RoOFSRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((100, 6))
        >>> y = X[:, 4] + 1
        >>> model = RoOFSRegressor(1).begin(y)
        >>> model = model.partial_fit_features(X[:, :3], feature_names=["a", "b", "c"])
        >>> model = model.partial_fit_features(X[:, 3:], feature_names=["d", "e", "f"])
        >>> model.finish().selected_features_
        array(['e'], dtype=object)
        """
        self._begin(y, comm)
        self._show(self._running.view(), running=True)
        return self

    def partial_fit_features(self, X_block: Any, feature_names: Any = None) -> RoOFSRegressor:
        """Take in more features (not more samples) of a fit that was begun. A block longer than `batch_size` is cut.

        The estimator can be asked, used and saved at any time; `finish` makes the last rounds. After Ctrl-C the fit is
        as if the batch under way had not come: `n_features_in_` says with which feature of the stream to go on.
        """
        running = self._open_fit()
        block = as_block(X_block, feature_names)
        if block.n != running.n:
            raise ValueError(f"this block has {block.n} samples, but there are {running.n} responses")
        try:
            for batch, after in pieces(block, running.batch_size):
                running.consume(batch, after)
                self.path_.record(running)
        finally:
            running.cancel_prefetch()
            self._show(running.view(), running=True)
        return self

    def next_pass(self) -> RoOFSRegressor:
        """The stream begins again with its first feature: at most `passes - 1` times, between `begin` and `finish`."""
        self._open_fit().next_pass()
        return self

    def finish(self) -> RoOFSRegressor:
        """End a fit that was begun: the last rounds, after which the fit takes no more features."""
        running = self._open_fit()
        running.finish()
        self._end(running)
        del self._running
        return self

    def _begin(self, y: Any, comm: Any = None) -> None:
        if self.n_nonzero_coefs is None:
            raise ValueError("n_nonzero_coefs must be given when the features come as a stream: nobody knows yet how "
                             "many there will be")
        self._running = Fit(self._settings(), self._response(y), comm=comm)
        self.path_ = Path()
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _open_fit(self) -> Fit:
        if not hasattr(self, "_running"):
            raise NotFittedError("there is no fit to go on with: call begin(y) first")
        return self._running

    def _drive(self, fit: Fit, stream: Callable[[], Iterable[Any]], total: int | None = None,
               callback: Callback | None = None) -> None:
        """The whole stream, `passes` times. Interrupted, the estimator keeps the fit as it stood."""
        self.path_ = Path()
        whole = total is not None
        try:
            with Bar(self.verbose, total * fit.passes if whole else None) as bar:
                for k in range(fit.passes):
                    if k > 0:
                        fit.next_pass()
                    if self._one_pass(fit, stream(), bar, callback, whole):
                        break
                fit.finish()
        except KeyboardInterrupt:
            self._show(fit.view(), whole=whole)
            self._model, self.stop_, self.converged_ = fit.model(), "interrupted", False
            raise
        self._end(fit, whole)

    def _one_pass(self, fit: Fit, blocks: Iterable[Any], bar: Bar, callback: Callback | None, whole: bool) -> bool:
        """True when the callback has seen enough."""
        try:
            for batch, after in batches(blocks, fit.batch_size, fit.n):
                fit.consume(batch, after)
                self.path_.record(fit)
                bar.step(batch.count)
                if callback is not None:
                    self._show(fit.view(), running=True, whole=whole)
                    if callback(self, self.history_[-1]) is True:
                        return True
            return False
        finally:
            fit.cancel_prefetch()

    # ---- what is checked before ------------------------------------------------------------------

    def _response(self, y: Any) -> np.ndarray:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = np.asarray(_check_y(in_main_memory(y), y_numeric=True, estimator=self), dtype=np.float64)
        if len(y) < FEWEST_SAMPLES:
            raise ValueError(f"n_samples={len(y)} is too few; at least {FEWEST_SAMPLES} are needed")
        return y

    def _whole(self, X: Any) -> tuple[Any, Block]:
        if is_frame(X):
            block = as_block(X)
            if block.count == 0:
                raise ValueError(f"0 feature(s) (shape={(block.n, 0)}) while a minimum of 1 is required.")
            self._check_columns(X, block, reset=True)
            return np.empty((block.n, 0)), block
        if is_on_gpu(X):
            block = as_block(X)
            self.n_features_in_ = block.count
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return np.empty((block.n, 0)), block
        X = checked(self, in_main_memory(X), reset=True, finite=False, least=FEWEST_SAMPLES)
        return X, as_block(X)

    def _check_columns(self, X: Any, block: Block, reset: bool) -> None:
        """Names and number of the columns of a frame; scikit-learn itself knows pandas in all its versions, others
        not."""
        if is_pandas(X):
            return check_names(self, X, reset=reset)
        if reset:
            self.feature_names_in_, self.n_features_in_ = np.asarray(block.names, dtype=object), block.count
        elif hasattr(self, "feature_names_in_") and block.names != self.feature_names_in_.tolist():
            raise ValueError("The feature names should match those that were passed during fit, in their order.")
        elif block.count != self.n_features_in_:
            raise ValueError(f"X has {block.count} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input.")

    def _settings(self, default_mu: int | None = None) -> dict[str, Any]:
        keywords = {name: getattr(self, name) for name in SETTINGS}
        if keywords["n_nonzero_coefs"] is None:
            keywords["n_nonzero_coefs"] = default_mu
        return keywords

    # ---- what is left of it ------------------------------------------------------------------------

    def _end(self, fit: Fit, whole: bool = False) -> None:
        self._show(fit.view(), whole=whole)
        self._model = fit.model()
        if self.stop_ == "max_iter":
            warnings.warn("at least one batch used all its rounds without settling; raise max_iter or tol",
                          ConvergenceWarning,
                          stacklevel=4)

    def _show(self, result: Result, running: bool = False, whole: bool = False) -> None:
        """The fit as it stands, as attributes."""
        self._model = None
        if not whole:
            self.n_features_in_ = result.features_seen
        self.intercept_, self.cut_, self.n_iter_ = result.intercept, result.cut, result.rounds
        self.inlier_mask_, self.n_inliers_ = result.trust, int(result.trust.sum())
        self.clean_probability_, self.selected_probability_ = result.clean, result.probability
        self.selected_indices_, self.selected_coefs_ = result.indices, result.coef
        names = result.names if result.names is not None else [f"x{k}" for k in result.indices]
        self._named = result.names is not None
        self.selected_features_ = np.asarray(names, dtype=object)
        self.residuals_, self.history_ = result.residual, result.history
        self.stop_ = "running" if running else result.stop
        self.converged_ = not running and result.stop != "max_iter"

    @property
    def coef_(self) -> Any:
        """One coefficient per feature seen."""
        if "selected_coefs_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'coef_' before it is fitted")
        if self.n_features_in_ > MOST_DENSE_COEFS:
            where = np.zeros(len(self.selected_indices_), dtype=np.int64), self.selected_indices_
            return sp.csr_matrix((self.selected_coefs_, where), shape=(1, self.n_features_in_))
        coef = np.zeros(self.n_features_in_)
        coef[self.selected_indices_] = self.selected_coefs_
        return coef

    @property
    def outliers_(self) -> np.ndarray:
        """Which samples are not trusted."""
        if "inlier_mask_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'outliers_' before it is fitted")
        return ~self.inlier_mask_

    def _current_model(self) -> Model:
        check_is_fitted(self)
        if self._model is None:
            self._model = self._running.model()
        return self._model

    def __sklearn_is_fitted__(self) -> bool:
        return "selected_coefs_" in self.__dict__

    # ---- using it --------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """The predicted response of every row of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            All features, in their order. In a frame the kept features are found by name where they have
            names, and the others need not be there after `fit_stream` or `load`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predictions.
        """
        model = self._current_model()
        if is_frame(X) and self._named and not hasattr(self, "feature_names_in_"):
            return self.predict_selected(self._kept_of(X))
        if is_frame(X):
            block = as_block(X)
            self._check_columns(X, block, reset=False)
            return model.predict(as_kept(block, self.selected_indices_), selected_only=True)
        if is_on_gpu(X):   # only the kept features come over
            block = as_block(X)
            if block.count != self.n_features_in_:
                raise ValueError(f"X has {block.count} features, but {type(self).__name__} is expecting "
                                 f"{self.n_features_in_} features as input.")
            return self.predict_selected(as_kept(block, self.selected_indices_))
        X = checked(self, in_main_memory(X), reset=False, finite=True)
        block = as_block(X)
        block.names = None
        return model.predict(block)

    def predict_selected(self, X_kept: Any) -> np.ndarray:
        """The prediction from the kept features alone, in the order of `selected_features_`."""
        model = self._current_model()
        block = as_block(X_kept)
        block.names = None
        if block.count == 0:
            return np.full(block.n, self.intercept_)
        return model.predict(block, selected_only=True)

    def _kept_of(self, X: Any) -> Block:
        """The kept columns of a frame, by name."""
        block = as_block(X)
        where = {name: k for k, name in enumerate(block.names or [])}
        missing = [name for name in self.selected_features_ if name not in where]
        if missing:
            raise ValueError(f"{len(missing)} of the kept features are not among the columns, the first is "
                             f"{missing[0]!r}")
        return as_kept(block, [where[name] for name in self.selected_features_])

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_indices_] = True
        return mask

    # ---- keeping it ---------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike, *, running: bool = True) -> None:
        """Write the model file: JSON, the same to the bit as the program and the C library write.

        Of a fit that was begun and not finished, everything it needs to go on is written instead, and `load` takes it
        up, in another process or on another day, to the same bits. The file appears whole or not at all, also when the
        power fails.

        Parameters
        ----------
        path : path
            The file, which is replaced where it exists.
        running : bool, default=True
            False: the model file, as the fit stands, also of one that is not finished.

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> from roofs import RoOFSRegressor
        >>> X = np.random.default_rng(0).standard_normal((50, 6))
        >>> model = RoOFSRegressor(1).begin(X[:, 4] + 1).partial_fit_features(X[:, :3])
        >>> path = os.path.join(tempfile.mkdtemp(), "fit.ck")
        >>> model.save(path)                                             # and days later
        >>> RoOFSRegressor.load(path).partial_fit_features(X[:, 3:]).finish().selected_indices_
        array([4])
        """
        if running and hasattr(self, "_running"):
            self._running.save(os.fspath(path))
        else:
            self._current_model().write(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike, *, device: str | None = None) -> RoOFSRegressor:
        """Read a model file, or a fit that was saved while it was running, whoever wrote it (also `roofs fit
        --checkpoint`). The latter takes more features, beginning with number `n_features_in_` of the stream; `path_`
        begins anew.

        Parameters
        ----------
        path : path
            The file.
        device : str or None, default=None
            Where a running fit goes on: cpu, cuda or auto. `None`: where it was saved.

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> from roofs import RoOFSRegressor
        >>> X = np.random.default_rng(0).standard_normal((50, 5))
        >>> model = RoOFSRegressor(1).fit(X, X[:, 2])
        >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
        >>> model.save(path)
        >>> bool((RoOFSRegressor.load(path).predict(X) == model.predict(X)).all())
        True
        """
        path = os.fspath(path)
        if os.path.isfile(path) and is_checkpoint(path):
            running = Fit.load(path, device)
            loaded = cls._of_settings(running.settings())
            loaded._running = running
            loaded._show(running.view(), running=True)
        else:
            model = Model.read(path)
            with open(path, encoding="utf-8") as file:
                loaded = cls._of_settings(json.load(file)["settings"])
            loaded._show(model.view())
            loaded._model = model
        loaded.path_ = Path()
        return loaded

    @classmethod
    def _of_settings(cls, settings: dict[str, Any]) -> RoOFSRegressor:
        given = {name: settings[field] for name, (field, _) in SETTINGS.items() if field in settings}
        for name in ("clean_ratio", "alpha", "n_jobs", "max_memory"):
            given[name] = given.get(name) or None
        return cls(**given)

    def __getstate__(self) -> dict[str, Any]:
        if hasattr(self, "_running"):
            raise TypeError("a fit that takes features cannot be pickled; save() it, or call finish() first")
        state = super().__getstate__().copy()
        if state.get("_model") is not None:
            state["_model"] = state["_model"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(self.__dict__.get("_model"), bytes):
            self._model = Model.from_bytes(self._model)

    # ---- for scikit-learn ------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True, "preserves_dtype": [np.float64, np.float32]}


RoOFSRegressor.__doc__ = RoOFSRegressor.__doc__.replace("{parameters}", PARAMETERS)


def as_kept(block: Block, places: Any) -> Block:
    """These features of the block and no others."""
    parts = [block.part(k, k + 1) for k in places]
    return joined(parts) if parts else block.part(0, 0)
