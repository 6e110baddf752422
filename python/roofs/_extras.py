"""Features that must stay in the model, and offsets: a known part of each response."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from ._blocks import Block, Shuffled, select_features
from ._groups import CredibleGroup
from ._library import Fit, Model, Result
from ._tensors import in_main_memory


class Extras:
    """The methods of an estimator for forced features and offsets."""

    # ---- forced features ---------------------------------------------------------------------

    def _forced_first(self, block: Block, always: Any) -> Block:
        """The features with the forced ones first. Stores the order and their number."""
        self._order, self._forced = None, self.always
        if always is None:
            return block
        positions = positions_of(always, block)
        self._forced = len(positions)
        order = np.concatenate([positions, np.setdiff1d(np.arange(block.count), positions)])
        if (order == np.arange(block.count)).all():
            return block
        self._order = order
        return Shuffled(block, order)

    def _in_given_order(self, result: Result) -> Result:
        """The result with the numbers of the features in X, ascending. Stores their places in the model."""
        order = self.__dict__.get("_order")
        self._places = None
        if order is None:
            return result
        indices = order[result.indices]
        self._places = places = np.argsort(indices, kind="stable")
        pick = lambda values: None if values is None else values[places]   # noqa: E731
        groups = result.groups and [renumbered(group, order, result.names is not None) for group in result.groups]
        return replace(result, indices=indices[places], coef=result.coef[places],
                       names=None if result.names is None else [result.names[k] for k in places],
                       probability=pick(result.probability), selected=result.selected[places],
                       error=pick(result.error), scale=pick(result.scale), groups=groups)

    def _in_model_order(self, kept: Block) -> Block:
        """Kept features, in the order of `kept_indices_`, as the model numbers them."""
        places = self.__dict__.get("_places")
        return kept if places is None else select_features(kept, np.argsort(places))

    def _in_kept_order(self, of_model: Block) -> Block:
        """The reverse."""
        places = self.__dict__.get("_places")
        return of_model if places is None else select_features(of_model, places)

    def _check_saved(self, running: bool) -> None:
        """Refuses to save what the file would not hold."""
        if running and self.__dict__.get("_offset_name") is not None:
            raise ValueError("a checkpoint does not hold the offset of the fit; subtract it from y yourself")
        if self.__dict__.get("_order") is not None and not self._named:
            raise ValueError("the model has the features of `always` first, but no names that show it: other readers "
                             "would take the wrong columns; fit a frame with names, or put these columns first and "
                             "give their number as always=N")

    # ---- offsets -------------------------------------------------------------------------------

    def _less_offset(self, y: np.ndarray, offset: Any) -> np.ndarray:
        """The responses less the offset. Stores its name; None if there is none."""
        self._offset_name = None if offset is None else str(getattr(offset, "name", None) or "")
        return y if offset is None else y - checked_offset(offset, len(y))

    def _with_offset(self, prediction: Any, offset: Any) -> Any:
        """A prediction, or one with the ends of intervals, plus the offset."""
        if (offset is None) == (self.__dict__.get("_offset_name") is None):
            if offset is None:
                return prediction
            both = isinstance(prediction, tuple)
            shift = checked_offset(offset, len(prediction[0] if both else prediction))
            return tuple(each + shift for each in prediction) if both else prediction + shift
        if offset is None:
            raise ValueError("the model was fitted with an offset: give that of these samples, predict(X, offset=...)")
        raise ValueError("the model was fitted without an offset")

    def _finished_model(self, fit: Fit) -> Model:
        return self._store_table(self._store_offset(fit.model()))

    def _store_offset(self, model: Model) -> Model:
        if self.__dict__.get("_offset_name") is not None:
            model.set_offset(self._offset_name)
        return model


def renumbered(group: CredibleGroup, order: np.ndarray, named: bool) -> CredibleGroup:
    members = order[group.members]
    return replace(group, members=members, names=group.names if named else [f"x{k}" for k in members])


def checked_offset(offset: Any, n: int) -> np.ndarray:
    values = column_or_1d(np.asarray(in_main_memory(offset), dtype=np.float64))
    check_consistent_length(values, np.empty(n))
    if not np.isfinite(values).all():
        raise ValueError("the offset contains NaN or infinity")
    return values


def positions_of(always: Any, block: Block) -> np.ndarray:
    """Ascending positions of features that are given as a number (the first ones), positions or names."""
    if isinstance(always, (int, np.integer)) and not isinstance(always, bool):
        always = range(always)
    elif isinstance(always, str):
        always = [always]
    names, found = block.names or [], []
    for item in always:
        if isinstance(item, str):
            own = [k for k, name in enumerate(names) if name == item]
            own = own or [k for k, name in enumerate(names) if name.startswith(item + "=")]   # levels of a category
            if not own:
                raise ValueError(f"always: X has no column {item!r}"
                                 + ("" if names else "; its columns have no names, give positions"))
            found += own
        elif int(item) != item or not 0 <= item < block.count:
            raise ValueError(f"always: there is no feature {item}; positions are from 0 to {block.count - 1}")
        else:
            found.append(int(item))
    if len(set(found)) < len(found):
        raise ValueError("always names a feature twice")
    return np.sort(np.array(found, dtype=np.int64))
