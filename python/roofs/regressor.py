"""RoOFSRegressor: the estimator for scikit-learn."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Iterable

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_y

from ._answers import Answers, equal_values
from ._blocks import Block, as_block, batches, is_frame, is_pandas, pieces
from ._compat import check_names, checked
from ._extras import Extras
from ._frames import Frames
from ._groups import members_of
from ._intervals import check_cv, checked_method, half_widths, held_out_errors
from ._keywords import NONE_IS_DEFAULT, PARAMETERS, SETTINGS, Keywords
from ._library import HALF_WIDTH_STEPS, Fit, Model, Result, is_checkpoint
from ._path import Path
from ._predictions import Predictions
from ._progress import Bar
from ._selection import Selection
from ._tensors import in_main_memory, is_on_gpu
from ._weights import checked_weight
from ._warnings import emit

MIN_SAMPLES = 4
MAX_DENSE_COEFS = 10_000_000   # with more features, coef_ is a sparse row

Callback = Callable[["RoOFSRegressor", Any], Any]


class RoOFSRegressor(Selection, RegressorMixin, Predictions, Extras, Frames, Answers, Keywords, BaseEstimator):
    """Linear regression on a few of many features, robust against corrupted responses.

    Features may arrive batch by batch, in any order, and need not fit in memory. An adversary may have corrupted some
    responses. The estimator keeps at most `n_nonzero_coefs` features, their coefficients and the set of trusted
    samples. It is also a feature selector: `transform` returns the selected columns.

    Without `n_nonzero_coefs` the model keeps many features, most of them with a small probability and a small
    coefficient. Predictions use all of them; those with a probability above 1/2 are called selected. With a number, all
    kept features are selected. The parameter `select` changes this. With `fdr` the selected features are discoveries at
    that rate: the members of the groups in `groups_`.

    Parameters
    ----------
{parameters}
    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of the data; 0 for features that are not kept. A sparse row if there are more than
        ten million features.
    coef_error_ : ndarray of shape (n_features,) or None
        Standard errors of `coef_`, which count that a feature may not matter; NaN for features that are not kept. None
        if they are not estimated. A sparse row of the kept features if there are more than ten million features.
    noise_scale_ : float or None
        The scale of clean responses around the model; None if it is not estimated.
    intercept_ : float
        The intercept.
    inlier_mask_ : ndarray of shape (n_samples,)
        True for trusted samples.
    outliers_ : ndarray of shape (n_samples,)
        True for samples that are not trusted, as in `HuberRegressor`.
    n_inliers_ : int
        The number of trusted samples.
    clean_probability_ : ndarray of shape (n_samples,) or None
        The probability that a sample is clean; None if the method does not estimate it.
    selected_indices_, selected_coefs_, selected_features_ : ndarray
        Index in the stream, coefficient and name of each selected feature.
    untrusted_ : list of UntrustedSample
        The samples that are not trusted, the largest residuals first: `index`, `id` (see `table`), `residual`, `scales`
        (the residual in units of the noise) and `reason` in words.
    effect_ : ndarray of shape (n_features,) or None
        The effect of each feature: its coefficient times its standard deviation over the samples that were trusted when
        it arrived; 0 for features that are not kept. In the unit of the response, so effects can be compared. None if
        the fit does not standardise features.
    selected_effect_ : ndarray or None
        The same of the selected features.
    selected_probability_ : ndarray or None
        The probability that a selected feature has an effect, if no other feature is like it; None if the method does
        not estimate it. Among features that correlate it is too large: use `groups_`. With `fdr`: the probability that
        the effect of its group exists and is its own.
    kept_indices_, kept_coefs_, kept_features_, kept_probability_, kept_errors_ : ndarray
        The same of all features that the model holds and uses for predictions.
    groups_ : list of CredibleGroup or None
        The groups of features of which one has an effect, the strongest evidence first. No feature is in two groups.
        They are discoveries at the rate `fdr`, or 0.03 without it. None if they were not searched for: another method,
        `groups="off"`, a fit that is not finished or has no feature, or a model of an older version. See
        :class:`CredibleGroup`.
    residuals_ : ndarray of shape (n_samples,) or None
        `y - prediction`; None in a model that was loaded from a file.
    cut_ : float
        The largest absolute residual of the trusted samples.
    n_iter_ : int
        The number of rounds, over all batches.
    converged_ : bool
        True if every batch and the end of the fit settled.
    stop_ : str
        How the fit ended: settled, max_iter, empty or interrupted; running if it has not ended.
    hypothesis_ : str or None
        The start of the clean samples that explained them best: usual (the largest cluster of responses) or all (see
        `hypotheses`); None if the method has no hypotheses.
    warnings_ : list of str
        Words of what the fit warned of: not-settled, few-trusted, equal-responses, discrete-response, undecided. See
        :class:`RoOFSWarning`.
    history_ : ndarray with named fields
        One row per batch: features, rounds, selected, entered, trusted, cut, step.
    path_ : Path
        Coefficients and trusted samples after up to 128 batches, evenly spread over the stream; on a GPU `fit` records
        them after every 16 to 64 batches.
    n_passes_ : int
        How many times the features were read.
    n_features_in_ : int
        The number of features seen.
    feature_names_in_ : ndarray
        The names of the features, if `fit` got a frame whose column names are text.

    Examples
    --------
    >>> import numpy as np
    >>> from roofs import RoOFSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 50))
    >>> y = 3 * X[:, 7] - 2 * X[:, 31] + 0.1 * rng.standard_normal(200)
    >>> y[:40] += 100                                 # a fifth of the responses are wrong
    >>> model = RoOFSRegressor(n_nonzero_coefs=2).fit(X, y)
    >>> model.selected_indices_
    array([ 7, 31])
    >>> model.coef_[[7, 31]].round(1)
    array([ 3., -2.])
    >>> int(model.outliers_.sum()), int(model.outliers_[:40].sum())
    (40, 40)
    """

    # ---- fitting ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, always: Any = None,
            comm: Any = None, intervals: str = "model") -> RoOFSRegressor:
        """Fit all features of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Without a copy: arrays of float64 and float32 in either order, also memory-mapped and read-only; CSC
            matrices; tensors of PyTorch, JAX, CuPy and other libraries with DLPack, with `device="cuda"` also on a
            GPU. Copied one batch at a time: frames, Arrow tables, integers and bools. Other sparse layouts are
            converted to CSC, which copies the matrix.
        y : array of shape (n_samples,), or str
            The responses. Some may be corrupted. A text is the name of the column of the frame X that holds them; it
            is no feature then, and `predict` and `transform` skip it.
        sample_weight : array of shape (n_samples,), optional
            How often each sample counts, as if it occurred so often; 0 leaves it out. Weights need not be integers.
            For the method roofs-bayes on the CPU.
        offset : array of shape (n_samples,), optional
            A known part of each response. The difference is fitted, and `predict` needs the offset of new samples.
        always : list of int or str, or int, optional
            Features that never leave and are not shrunk, by position or name, or so many at the beginning. They do not
            count towards `n_nonzero_coefs`, and no group contains them. Replaces the parameter `always`.
        comm : mpi4py communicator, optional
            Splits the samples over ranks. X and y are then the samples of this rank, which follow those of the rank
            before. All ranks call `fit` with the same features. Attributes with one value per sample
            (`inlier_mask_`, `residuals_`) have the samples of this rank. All others are the same on all ranks.
        intervals : {"model", "cv"}
            "cv": also finds intervals of predictions by cross-validation, with five more fits, for
            `predict(..., interval_method="cv")`. They work with every method and make no assumption about the noise.

        Returns
        -------
        self : RoOFSRegressor
            The fitted estimator.
        """
        given = X
        X, y = self._split_response(X, y)
        y = self._less_offset(self._response(y), offset)
        if checked_method("intervals", intervals) == "cv":
            check_cv(len(y), comm)
        block = self._forced_first(self._checked_features(X, y), always)
        weight = checked_weight(sample_weight, len(y))
        self.__dict__.pop("_running", None)
        fit = self._fit_block(block, y, weight, comm)
        self._equal = equal_values(y, self.inlier_mask_)
        self._warn(fit)
        if intervals == "cv":
            clean = self.inlier_mask_ if self.clean_probability_ is None else self.clean_probability_
            errors = held_out_errors(self, self._without_response(given), y, weight, always=always)
            clean = clean if weight is None else clean * weight
            self._current_model().set_half_widths(half_widths(errors, clean, HALF_WIDTH_STEPS))
        return self

    def _fit_block(self, block: Block, y: np.ndarray, weight: np.ndarray | None = None, comm: Any = None) -> Fit:
        """Fits checked features, responses and weights."""
        fit = Fit(self._settings(), y, undo=False, comm=comm, features=block.count, sample_weight=weight)
        self._fit_passes(fit, lambda: [block], total=block.count)
        return fit

    def fit_stream(self, blocks: Any, y: Any, *, sample_weight: Any = None, offset: Any = None,
                   always: int | None = None, callback: Callback | None = None, comm: Any = None) -> RoOFSRegressor:
        """Fit features that arrive in blocks.

        Parameters
        ----------
        blocks : iterable
            Each block holds some features of all samples: an array with one row per sample (or one feature as a
            vector), a frame, an Arrow table, a sparse matrix, a mapping from names to vectors, or a pair of names and
            one of these. A list, or a function that returns a new iterator, can be read several times (see `passes`);
            a generator is read once. The result does not depend on where blocks begin and end.
        y : array of shape (n_samples,)
            The responses.
        sample_weight, offset : array of shape (n_samples,), optional
            As in :meth:`fit`.
        always : int, optional
            So many features at the beginning of the stream never leave, see :meth:`fit`.
        callback : callable, optional
            Called as `callback(estimator, batch)` after each batch, where `batch` is a row of `history_`. The
            attributes of the estimator are those of the fit so far. If it returns True, the stream ends; a pass after
            the first is completed, without further calls.
        comm : mpi4py communicator, optional
            As in :meth:`fit`.

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
        stream = blocks if callable(blocks) else lambda: blocks
        once = not callable(blocks) and iter(blocks) is blocks
        again = [f"passes={self.passes}"] if not isinstance(self.passes, str) and self.passes > 1 else []
        again += ['groups="exact"'] if self.groups == "exact" else []
        if once and again:
            raise ValueError(f"{again[0]} reads the stream again, but a generator cannot be read again; pass a list or "
                             f"a function that returns a new iterator")
        self._begin(y, sample_weight, comm, offset, always)
        self._fit_passes(self._running, stream, callback=callback, once=once)
        self._warn(self.__dict__.pop("_running"))
        return self

    def begin(self, y: Any, *, sample_weight: Any = None, comm: Any = None) -> RoOFSRegressor:
        """Begin a fit. `partial_fit_features` adds features, `finish` ends the fit.

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
        self._begin(y, sample_weight, comm)
        self._set_attributes(self._running.view(), running=True)
        return self

    def partial_fit_features(self, X_block: Any, feature_names: Any = None) -> RoOFSRegressor:
        """Add features (not samples) to a fit that `begin` has begun. A block longer than `batch_size` is cut.

        The estimator can predict and be saved at any time. Ctrl-C undoes the current batch: continue with feature
        number `n_features_in_` of the stream.
        """
        running = self._running_fit()
        block = as_block(X_block, feature_names)
        if block.n != running.n:
            raise ValueError(f"this block has {block.n} samples, but there are {running.n} responses")
        try:
            for batch, ahead in pieces(block, running.batch_size):
                running.consume(batch, ahead)
                self.path_.record(running)
        finally:
            running.cancel_prefetch()
            self._set_attributes(running.view(), running=True)
        return self

    def next_pass(self) -> RoOFSRegressor:
        """Begin the next pass: the stream starts again with its first feature. At most `passes - 1` times; with
        `passes="auto"`, `wants_pass` says whether another pass can improve the fit."""
        self._running_fit().next_pass()
        return self

    def wants_pass(self) -> bool:
        """True if another pass over the features can improve the fit that `begin` has begun."""
        return self._running_fit().wants_pass()

    def finish(self) -> RoOFSRegressor:
        """Do the last rounds and end the fit that `begin` has begun."""
        running = self._running_fit()
        running.finish()
        self._set_final(running)
        del self._running
        self._warn(running)
        return self

    def _begin(self, y: Any, sample_weight: Any = None, comm: Any = None, offset: Any = None,
               always: int | None = None) -> None:
        y = self._less_offset(self._response(y), offset)
        self._order, self._forced = None, self.always if always is None else always
        self._response_name, self._table, self._stored = None, None, {}
        self._running = Fit(self._settings(), y, comm=comm, sample_weight=checked_weight(sample_weight, len(y)))
        self.path_ = Path()
        self.__dict__.pop("feature_names_in_", None)

    def _running_fit(self) -> Fit:
        if not hasattr(self, "_running"):
            raise NotFittedError("no fit is running; call begin(y) first")
        return self._running

    def _fit_passes(self, fit: Fit, stream: Callable[[], Iterable[Any]], total: int | None = None,
                    callback: Callback | None = None, once: bool = False) -> None:
        """Consumes the whole stream as often as the fit wants, or `once`. `total` is its number of features, None if
        unknown. After Ctrl-C the estimator has the state of the fit."""
        self.path_ = Path(order=self.__dict__.get("_order"))
        whole = total is not None
        try:
            with Bar(self.verbose, total * max(1, fit.passes) if whole else None) as bar:
                together = fit.batches_together(total) if callback is None else 1
                fit.set_monitored(together == 1)
                while (not self._fit_pass(fit, stream(), bar, callback, whole, together) and not once
                       and fit.wants_pass()):
                    fit.next_pass()
                    if whole and fit.passes == 0:
                        bar.extend(total)
                fit.set_monitored(True)
                fit.finish()
        except KeyboardInterrupt:
            self._set_attributes(fit.view(), whole=whole)
            self._model, self.stop_, self.converged_ = self._finished_model(fit), "interrupted", False
            raise
        self._set_final(fit, whole)

    def _fit_pass(self, fit: Fit, blocks: Iterable[Any], bar: Bar, callback: Callback | None, whole: bool,
                  together: int) -> bool:
        """Consumes the stream once. Returns True if the callback ended it. A later pass has all features."""
        ended, is_later = False, fit.passes_made() > 1
        try:
            for batch, ahead in batches(blocks, fit.batch_size, fit.n, together):
                fit.consume(batch, ahead)
                self.path_.record(fit)
                bar.step(batch.count)
                if callback is not None and not ended:
                    self._set_attributes(fit.view(), running=True, whole=whole)
                    ended = callback(self, self.history_[-1]) is True
                    if ended and not is_later:
                        break
            return ended
        finally:
            fit.cancel_prefetch()

    # ---- checks of the input -----------------------------------------------------------------------

    def _response(self, y: Any) -> np.ndarray:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = np.asarray(_check_y(in_main_memory(y), y_numeric=True, estimator=self), dtype=np.float64)
        if len(y) < MIN_SAMPLES:
            raise ValueError(f"n_samples={len(y)} is too few; at least {MIN_SAMPLES} are needed")
        return y

    def _checked_features(self, X: Any, y: np.ndarray) -> Block:
        """The block of all features. Stores their number and names."""
        if is_frame(X) or isinstance(X, Block):
            block = as_block(X)
            if block.count == 0:
                raise ValueError(f"0 feature(s) (shape={(block.n, 0)}) while a minimum of 1 is required.")
            if is_frame(X):
                self._check_columns(X, block, reset=True)
            else:   # features of a table: columns of frames are found by name
                self.n_features_in_ = block.count
                self.__dict__.pop("feature_names_in_", None)
        elif is_on_gpu(X):
            block = as_block(X)
            self.n_features_in_ = block.count
            self.__dict__.pop("feature_names_in_", None)
        else:
            block = as_block(checked(self, in_main_memory(X), reset=True, finite=False, least=MIN_SAMPLES))
        check_consistent_length(np.empty((block.n, 0)), y)
        return block

    def _check_columns(self, X: Any, block: Block, reset: bool) -> None:
        """Checks names and number of the columns of a frame, or stores them if `reset`. Every version of scikit-learn
        can do this for pandas, but not for other frames."""
        if is_pandas(X):
            return check_names(self, X, reset=reset)
        if reset:
            self.feature_names_in_, self.n_features_in_ = np.asarray(block.names, dtype=object), block.count
        elif hasattr(self, "feature_names_in_") and block.names != self.feature_names_in_.tolist():
            raise ValueError("The feature names should match those that were passed during fit, in their order.")
        else:
            self._check_feature_count(block)

    def _check_feature_count(self, block: Block) -> None:
        if block.count != self.n_features_in_:
            raise ValueError(f"X has {block.count} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input.")

    def _settings(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in SETTINGS}, "always": self.__dict__.get("_forced", self.always)}

    # ---- attributes --------------------------------------------------------------------------------

    def _set_final(self, fit: Fit, whole: bool = False) -> None:
        self._set_attributes(fit.view(), whole=whole)
        self._model, self.n_passes_ = self._finished_model(fit), fit.passes_made()

    def _warn(self, fit: Fit) -> None:
        """Called by methods that a user calls: the warning names the user's line."""
        table = self.__dict__.pop("_table", None)
        if fit.is_root and table is not None:
            table.warn(stacklevel=3)
        if fit.is_root:
            emit(self.warnings_, stacklevel=3)

    def _set_attributes(self, result: Result, running: bool = False, whole: bool = False) -> None:
        """Sets the attributes from the state of a fit. `whole`: n_features_in_ is set already."""
        self._model, result = None, self._in_given_order(result)
        if not whole:
            self.n_features_in_ = result.features_seen
        self.intercept_, self.cut_, self.n_iter_ = result.intercept, result.cut, result.rounds
        self.inlier_mask_, self.n_inliers_ = result.trust, int(result.trust.sum())
        self.clean_probability_, self._named = result.clean, result.names is not None
        names = np.asarray(result.names if self._named else [f"x{k}" for k in result.indices], dtype=object)
        self.kept_indices_, self.kept_coefs_, self.kept_features_ = result.indices, result.coef, names
        self.kept_probability_, self.kept_errors_ = result.probability, result.error
        self.groups_, self.noise_scale_ = result.groups, result.noise_scale
        self._scale, self._equal = result.scale, {}
        self._set_selected(result)
        self.residuals_, self.history_ = result.residual, result.history
        self.hypothesis_ = result.hypothesis
        self.stop_ = "running" if running else result.stop
        self.warnings_ = result.warnings
        self.converged_ = not running and result.stop != "max_iter"

    def _set_selected(self, result: Result) -> None:
        """With `fdr` the members of the groups are selected: none before the end of the fit. Members that are not kept
        have coefficient 0."""
        if self.fdr is not None:
            found = [group for group in result.groups or [] if group.fdr <= self.fdr]
            self.selected_indices_, self.selected_features_, self.selected_probability_ = members_of(found)
            coef_of = dict(zip(result.indices.tolist(), result.coef))
            self.selected_coefs_ = np.array([coef_of.get(j, 0.0) for j in self.selected_indices_.tolist()])
            return
        chosen = result.selected
        self.selected_indices_, self.selected_coefs_ = result.indices[chosen], result.coef[chosen]
        self.selected_features_ = self.kept_features_[chosen]
        self.selected_probability_ = None if result.probability is None else result.probability[chosen]

    @property
    def coef_(self) -> Any:
        """One coefficient per feature seen."""
        self._need_fit("coef_")
        return self._per_feature(self.kept_coefs_, 0.0)

    @property
    def coef_error_(self) -> Any:
        """One standard error per feature seen."""
        self._need_fit("coef_error_")
        return None if self.kept_errors_ is None else self._per_feature(self.kept_errors_, np.nan)

    def _per_feature(self, values: np.ndarray, other: float) -> Any:
        """Values of the kept features, and `other` for those that are not kept."""
        if self.n_features_in_ > MAX_DENSE_COEFS:
            positions = np.zeros(len(self.kept_indices_), dtype=np.int64), self.kept_indices_
            return sp.csr_matrix((values, positions), shape=(1, self.n_features_in_))
        spread = np.full(self.n_features_in_, other)
        spread[self.kept_indices_] = values
        return spread

    def _need_fit(self, attribute: str) -> None:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r} before it is fitted")

    def __sklearn_is_fitted__(self) -> bool:
        return "kept_coefs_" in self.__dict__

    # ---- files ---------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike, *, running: bool = True) -> None:
        """Write the model file, in JSON. The program and the C library write the same bytes.

        Between `begin` and `finish` it writes a checkpoint instead. `load` reads it, also in another process, and the
        fit continues to the same bits. The file replaces an existing one when it is complete, even if the power fails.

        Parameters
        ----------
        path : path
            The file to write.
        running : bool, default=True
            False: write the model file, also of a fit that is not finished.

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> from roofs import RoOFSRegressor
        >>> X = np.random.default_rng(0).standard_normal((50, 6))
        >>> model = RoOFSRegressor(1).begin(X[:, 4] + 1).partial_fit_features(X[:, :3])
        >>> path = os.path.join(tempfile.mkdtemp(), "fit.ck")
        >>> model.save(path)
        >>> RoOFSRegressor.load(path).partial_fit_features(X[:, 3:]).finish().selected_indices_
        array([4])
        """
        self._check_saved(running and hasattr(self, "_running"))
        if running and hasattr(self, "_running"):
            self._running.save(os.fspath(path))
        else:
            self._current_model().write(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike, *, device: str | None = None) -> RoOFSRegressor:
        """Read a model file or a checkpoint, of Python, of the program or of the C library.

        A fit from a checkpoint continues with feature number `n_features_in_` of the stream. Its `path_` is empty.

        Parameters
        ----------
        path : path
            The file to read.
        device : str or None, default=None
            The device on which a fit from a checkpoint continues: cpu, cuda or auto. `None`: the device of the
            checkpoint.

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
            loaded._set_attributes(running.view(), running=True)
        else:
            model = Model.read(path)
            with open(path, encoding="utf-8") as file:
                loaded = cls._of_settings(json.load(file)["settings"])
            loaded._set_attributes(model.view())
            loaded._model, loaded._offset_name = model, model.offset()
            loaded._read_table(model)
        loaded.path_ = Path()
        return loaded

    @classmethod
    def _of_settings(cls, settings: dict[str, Any]) -> RoOFSRegressor:
        given = {name: settings[field] for name, (field, _) in SETTINGS.items() if field in settings}
        for name, meaning in (("select", "kept"), ("prior", "mu")):   # the meaning of auto for a given number
            if given.get(name) == meaning:
                given[name] = "auto"
        return cls(**{name: None if name in NONE_IS_DEFAULT and value == 0 else value for name, value in given.items()})

    def __getstate__(self) -> dict[str, Any]:
        if hasattr(self, "_running"):
            raise TypeError("a running fit cannot be pickled; call save(), or finish() first")
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
