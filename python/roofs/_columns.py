"""Columns of frames for the library: numbers, bools and dates as float64, everything else as words and codes."""
from __future__ import annotations

import datetime
import decimal
import numbers
from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np

from ._arrow import Table
from ._blocks import is_pandas
from ._native import lib

NUMBERS, BOOLEANS, DATES = lib.ROOFS_COLUMN_NUMBERS, lib.ROOFS_COLUMN_BOOLEANS, lib.ROOFS_COLUMN_DATES
WORDS, CATEGORY = lib.ROOFS_COLUMN_WORDS, lib.ROOFS_COLUMN_CATEGORY
DAY = 86_400_000_000   # microseconds


@dataclass
class Column:
    """A column with `values`, or with `words` and `codes`."""

    name: str
    kind: int
    values: np.ndarray | None = None
    words: list[str] | None = None
    codes: np.ndarray | None = None


def is_missing(value: Any) -> bool:
    """True for None, NaN, NaT and pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, decimal.Decimal)) and bool(value != value)


def text_of(value: Any, name: str) -> str:
    """The text of a value as tables in text form have it."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(f"column {name!r}: a text has a zero byte; remove it")
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, (numbers.Number, decimal.Decimal)) and not isinstance(value, complex):
        return str(int(value)) if value == int(value) else repr(float(value))
    raise ValueError(f"column {name!r} holds {type(value).__name__} objects, which are neither numbers nor text; leave "
                     f"it out, or convert it to text")


def days_of(values: np.ndarray) -> np.ndarray:
    """Days since 1970-01-01."""
    exact = values.astype("datetime64[us]").astype(np.int64)
    whole, rest = np.divmod(exact, DAY)
    days = whole + rest / 1e6 / 86400.0
    days[np.isnat(values)] = np.nan
    return days


def coded(name: str, kind: int, values: Iterable[Any]) -> Column:
    """A column of words. Codes are in the order of their first sample."""
    code_of: dict[Any, int] = {}
    words: list[str] = []
    codes = np.empty(len(values), np.int64)
    for i, value in enumerate(values):
        if is_missing(value):
            codes[i] = -1
            continue
        key = value if isinstance(value, str) else (type(value), text_of(value, name))
        if key not in code_of:
            code_of[key] = len(words)
            words.append(text_of(value, name))
        codes[i] = code_of[key]
    return Column(name, kind, words=words, codes=codes)


def object_column(name: str, values: np.ndarray) -> Column:
    """A column of Python objects: all bools, all numbers, all dates, or words."""
    present = [value for value in values if not is_missing(value)]
    if present and all(isinstance(value, (bool, np.bool_)) for value in present):
        kind = BOOLEANS
    elif present and all(isinstance(value, (numbers.Real, decimal.Decimal)) and not isinstance(value, (bool, np.bool_))
                         for value in present):
        kind = NUMBERS
    elif present and all(isinstance(value, datetime.date) and getattr(value, "tzinfo", None) is None
                         for value in present):
        return Column(name, DATES, days_of(np.array([np.datetime64("NaT") if is_missing(value) else value
                                                     for value in values], dtype="datetime64[us]")))
    else:
        return coded(name, WORDS, values)
    return Column(name, kind, np.array([np.nan if is_missing(value) else float(value) for value in values]))


def array_column(name: str, values: np.ndarray, as_words: bool) -> Column:
    kind = values.dtype.kind
    if as_words:
        return coded(name, CATEGORY, values.tolist() if kind in "fiub" else values)
    if kind == "M":
        return Column(name, DATES, days_of(values))
    if kind in "fiu":
        return Column(name, NUMBERS, np.ascontiguousarray(values, np.float64))
    if kind == "b":
        return Column(name, BOOLEANS, values.astype(np.float64))
    if kind == "U":
        values = values.astype(object)
    elif kind != "O":
        raise ValueError(f"column {name!r} has the type {values.dtype}, which is neither numbers, text nor dates")
    return object_column(name, values)


class Columns:
    """The columns of a frame of pandas, polars or pyarrow, or of any table with the Arrow interface."""

    def __init__(self, X: Any) -> None:
        self.X, self._arrow = X, None
        if is_pandas(X):
            self.names, self.n = [str(name) for name in X.columns], len(X)
        elif hasattr(X, "get_columns"):    # polars
            self.names, self.n = list(X.columns), X.height
        elif hasattr(X, "column_names") and hasattr(X, "column"):   # pyarrow
            self.names, self.n = list(X.column_names), X.num_rows
        else:
            self._arrow = Table(X)
            self.names, self.n = self._arrow.names, self._arrow.length

    def _series(self, k: int) -> Any:
        if is_pandas(self.X):
            return self.X.iloc[:, k]
        return self.X.get_columns()[k] if hasattr(self.X, "get_columns") else self.X.column(k)

    def type_of(self, k: int) -> str:
        """A letter: n numbers, b bools, c a category by its type, ? anything else."""
        if self._arrow is not None:
            return "b" if self._arrow.formats[k] == "b" else "n"
        series = self._series(k)
        kind = getattr(series, "dtype", None)
        word = str(series.type if kind is None else kind).lower()
        if word.startswith(("category", "categorical", "enum", "dictionary")):
            return "c"
        if word.startswith("bool"):
            return "b"
        return "n" if word.startswith(("int", "uint", "float", "double", "halffloat", "sparse[")) else "?"

    def read(self, k: int, as_words: bool = False) -> Column:
        """Column k. `as_words`: levels of a category, whatever the values are."""
        name = self.names[k]
        if self._arrow is not None:
            return array_column(name, np.concatenate(self._arrow.column(k)), as_words)
        series, kind = self._series(k), self.type_of(k)
        if kind == "c":
            return coded(name, CATEGORY, series.to_pylist() if hasattr(series, "to_pylist") else series.to_list())
        return array_column(name, self._array(series, kind), as_words)

    def _array(self, series: Any, kind: str) -> np.ndarray:
        if not is_pandas(self.X):
            return np.asarray(series.to_numpy())
        if kind == "n" and series.dtype.kind in "iu" and not hasattr(series.array, "_mask"):
            return series.to_numpy()
        if kind == "n" or (kind == "b" and not series.isna().any()):
            return series.to_numpy(dtype=np.float64 if kind == "n" else bool, na_value=np.nan if kind == "n" else None)
        if getattr(series.dtype, "kind", "O") == "M":
            return series.to_numpy(dtype="datetime64[us]")
        return series.to_numpy(dtype=object)
