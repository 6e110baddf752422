"""Checks the arrays of a sparse matrix. SciPy and the library trust them and would read or write beyond their ends."""
from __future__ import annotations

from typing import Any

import numpy as np


class Damaged(ValueError):
    """A sparse matrix whose arrays do not fit each other or its shape."""

    def __init__(self, matrix: Any, what: str) -> None:
        super().__init__(f"the {matrix.format.upper()} matrix is damaged: {what}; build it anew, or call its method "
                         f"check_format(full_check=True) where you change its arrays")


def require(matrix: Any, fits: bool, what: str) -> None:
    if not fits:
        raise Damaged(matrix, what)


def vector_of(matrix: Any, name: str, integer: bool = True) -> np.ndarray:
    """The array of this name. It must have one axis and, with `integer`, hold integers."""
    values = getattr(matrix, name)
    require(matrix, isinstance(values, np.ndarray) and values.ndim == 1, f"{name} is not an array with one axis")
    require(matrix, not integer or values.dtype.kind in "iu", f"{name} does not hold integers")
    return values


def check_within(matrix: Any, indices: np.ndarray, name: str, length: int) -> None:
    if len(indices):
        low, high = int(indices.min()), int(indices.max())
        require(matrix, low >= 0 and high < length, f"{name} has {low if low < 0 else high}, not 0 to {length - 1}")


def check_starts(matrix: Any, major: int, entries: int) -> None:
    starts = vector_of(matrix, "indptr")
    require(matrix, len(starts) == major + 1, f"indptr has length {len(starts)}, not {major + 1}")
    require(matrix, int(starts[0]) == 0, f"indptr begins with {starts[0]}, not 0")
    require(matrix, bool((starts[1:] >= starts[:-1]).all()), "indptr does not ascend")
    require(matrix, int(starts[-1]) <= entries, f"indptr ends with {starts[-1]}, but there are {entries} values")


def check_compressed(matrix: Any) -> None:
    major, minor = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    indices, data = vector_of(matrix, "indices"), vector_of(matrix, "data", integer=False)
    require(matrix, len(indices) == len(data), f"indices has length {len(indices)}, data has {len(data)}")
    check_starts(matrix, major, len(data))
    check_within(matrix, indices, "indices", minor)


def check_blocks(matrix: Any) -> None:
    data, indices = matrix.data, vector_of(matrix, "indices")
    require(matrix, isinstance(data, np.ndarray) and data.ndim == 3, "data is not an array of blocks")
    rows, columns = data.shape[1:]
    fits = rows > 0 and columns > 0 and matrix.shape[0] % rows == 0 and matrix.shape[1] % columns == 0
    require(matrix, fits, "blocks of this size do not fit its shape")
    require(matrix, len(indices) == len(data), f"indices has length {len(indices)}, data has {len(data)}")
    check_starts(matrix, matrix.shape[0] // rows, len(data))
    check_within(matrix, indices, "indices", matrix.shape[1] // columns)


def check_coordinates(matrix: Any) -> None:
    row, column, data = vector_of(matrix, "row"), vector_of(matrix, "col"), vector_of(matrix, "data", integer=False)
    require(matrix, len(row) == len(column) == len(data), "row, col and data have different lengths")
    check_within(matrix, row, "row", matrix.shape[0])
    check_within(matrix, column, "col", matrix.shape[1])


def check_diagonals(matrix: Any) -> None:
    offsets, data = vector_of(matrix, "offsets"), matrix.data
    require(matrix, isinstance(data, np.ndarray) and data.ndim == 2, "data is not an array of diagonals")
    require(matrix, len(offsets) == len(data), f"there are {len(offsets)} offsets of {len(data)} diagonals")
    require(matrix, len(np.unique(offsets)) == len(offsets), "offsets has a number twice")


def check_lists(matrix: Any) -> None:
    rows, data = matrix.rows, matrix.data
    require(matrix, len(rows) == len(data) == matrix.shape[0], "rows and data do not fit its shape")
    for columns, values in zip(rows, data):
        require(matrix, len(columns) == len(values), "a row has another number of columns than of values")
        ascends = all(isinstance(c, (int, np.integer)) for c in columns) and list(columns) == sorted(set(columns))
        require(matrix, ascends, "the columns of a row do not ascend")
        require(matrix, not columns or (columns[0] >= 0 and columns[-1] < matrix.shape[1]),
                "a column is beyond its shape")


def check_keys(matrix: Any) -> None:
    for key in matrix.keys():
        fits = isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, (int, np.integer)) for k in key)
        require(matrix, fits and all(0 <= k < length for k, length in zip(key, matrix.shape)),
                f"{key} is beyond its shape")


CHECKS = {"csc": check_compressed, "csr": check_compressed, "bsr": check_blocks, "coo": check_coordinates,
          "dia": check_diagonals, "lil": check_lists, "dok": check_keys}


def check_sparse(matrix: Any) -> None:
    """Raises ValueError if SciPy or the library could not read the matrix safely."""
    require(matrix, matrix.ndim == 2, "it does not have two axes")
    if matrix.format not in CHECKS:
        raise ValueError(f"sparse matrices of format {matrix.format!r} are not supported; use .tocsc()")
    CHECKS[matrix.format](matrix)
