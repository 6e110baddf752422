"""Estimators and frames: the response among the columns, and columns of words and dates."""
from __future__ import annotations

from typing import Any

from ._blocks import Block, as_block, is_frame, select_features
from ._columns import Columns
from ._library import Model
from ._tables import FrameTable, TableBlock, apply_table, checked_options, open_table, response_of, stored_table


def without_column(X: Any, name: str) -> Any:
    """The frame without a column; the same frame if it does not have it."""
    if name not in Columns(X).names:
        return X
    if not hasattr(X, "drop"):
        raise ValueError(f"{type(X).__name__} cannot leave out the column {name!r}; pass X without it")
    return X.drop(columns=[name]) if hasattr(X, "iloc") else X.drop([name])


class Frames:
    """The methods of an estimator that read frames."""

    def _split_response(self, X: Any, y: Any) -> tuple[Any, Any]:
        """X and y. If y names a column of X, y becomes that column, and X the others. A frame with words or dates
        becomes the block of its features."""
        options = checked_options(self.table)
        name = y if isinstance(y, str) else None
        self._table, self._stored, self._response_name = None, {}, name
        if name is not None and not is_frame(X):
            raise ValueError(f"y={y!r} names a column, but X is no frame with columns; pass the responses as an array")
        if not is_frame(X):
            if options["id"] is not None:
                raise ValueError("the table option 'id' names a column, but X is no frame with columns")
            return X, y
        if name is not None:
            y = response_of(Columns(X), name, options)
        self._table = open_table(X, name, options)
        if self._table is not None and self._table.is_used:
            return TableBlock(self._table), y
        return (X if name is None else without_column(X, name)), y

    def _without_response(self, X: Any) -> Any:
        """A frame without the column that was the response in the fit."""
        name = self.__dict__.get("_response_name")
        return X if name is None or not is_frame(X) else without_column(X, name)

    def _store_table(self, model: Model) -> Model:
        """Stores in a model how the columns of its frame become features."""
        table: FrameTable | None = self.__dict__.get("_table")
        if table is not None:
            table.store(model)
        self._read_table(model)
        return model

    def _read_table(self, model: Model) -> None:
        self._stored = stored_table(model)
        self._response_name = self._stored.get("response", self.__dict__.get("_response_name"))

    def _uses_table(self, X: Any) -> bool:
        """True if the features of the model are to be made of the columns of this frame."""
        stored = self.__dict__.get("_stored", {})
        return is_frame(X) and bool(stored.get("columns") or stored.get("fills"))

    def _table_features(self, X: Any, stacklevel: int) -> Block:
        """The kept features, from the columns of a frame. Warns of words that the fit did not have."""
        kinds = {column["name"]: column["kind"] for column in self._stored.get("columns", [])
                 if column["kind"] != "left out"}
        table = apply_table(X, self._current_model(), kinds, self.kept_features_.tolist())
        table.warn(stacklevel + 1)
        return self._in_kept_order(TableBlock(table))

    def _selected_of_table(self, X: Any) -> Block:
        """The selected features, from the columns of a frame."""
        place_of = {index: k for k, index in enumerate(self.kept_indices_.tolist())}
        lost = [index for index in self.selected_indices_.tolist() if index not in place_of]
        if lost:
            raise ValueError(f"{len(lost)} of the selected features are not kept, so the model does not have their "
                             f"columns; use transform before saving, or fit without fdr")
        return select_features(as_block(self._table_features(X, 4)),
                               [place_of[index] for index in self.selected_indices_.tolist()])
