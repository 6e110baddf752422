"""Frames that hold the responses among their columns."""
from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from ._blocks import as_block, is_frame


def split_response(X: Any, y: Any) -> tuple[Any, Any]:
    """X and y. If y names a column of X, y becomes that column, and X the others."""
    if not isinstance(y, str):
        return X, y
    if not is_frame(X):
        raise ValueError(f"y={y!r} names a column, but X is no frame with columns; pass the responses as an array")
    block = as_block(X)
    names = block.names or []
    if y not in names:
        near = difflib.get_close_matches(y, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"y={y!r} is not among the {len(names)} named columns of X{hint}")
    if names.count(y) > 1:
        raise ValueError(f"X has several columns with the name {y!r}")
    k = names.index(y)
    return without_column(X, y), np.array(block.slice(k, k + 1).dense()[0])


def without_column(X: Any, name: str) -> Any:
    """The frame without a column; the same frame if it does not have it."""
    if name not in (as_block(X).names or []):
        return X
    if not hasattr(X, "drop"):
        raise ValueError(f"{type(X).__name__} cannot leave out the column {name!r}; pass X without it")
    return X.drop(columns=[name]) if hasattr(X, "iloc") else X.drop([name])
