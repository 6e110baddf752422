"""Frames with words, dates and bools. The library makes their features, by the rules of the program's tables."""
from __future__ import annotations

import difflib
import json
import warnings
from typing import Any, Iterable

import numpy as np

from ._blocks import Block, address_of, slice_names
from ._columns import Column, Columns
from ._library import Model, call, text
from ._native import ffi, lib
from ._warnings import DataWarning

CHOICES = {"missing": ("error", "drop-feature", "median", "mean", "indicator"), "dates": ("days", "parts"),
           "date_order": ("none", "dmy", "mdy")}
OPTIONS = ("id", "categories", "max_levels", "thousands", "decimal_comma", *CHOICES)


def checked_options(given: Any) -> dict[str, Any]:
    """The keyword `table` with every option."""
    if given is not None and not isinstance(given, dict):
        raise ValueError(f"table must be a dict with the options {', '.join(OPTIONS)}, not {given!r}")
    for name in given or {}:
        if name not in OPTIONS:
            near = difflib.get_close_matches(str(name), OPTIONS, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; choose from {', '.join(OPTIONS)}"
            raise ValueError(f"table has no option {name!r}{hint}")
    options = {"id": None, "categories": (), "max_levels": 30, "thousands": False, "decimal_comma": False,
               **{name: words[0] for name, words in CHOICES.items()}, **(given or {})}
    for name, words in CHOICES.items():
        if options[name] not in words:
            raise ValueError(f"table option {name!r} must be one of {', '.join(words)}, not {options[name]!r}")
    if isinstance(options["categories"], str):
        options["categories"] = (options["categories"],)
    return options


def c_options(options: dict[str, Any], response: str | None, ids: list[str] | None) -> tuple[Any, list]:
    """The C struct, and the objects that must live as long as the struct."""
    alive = [ffi.new("char[]", name.encode()) if name is not None else ffi.NULL for name in (response, options["id"])]
    out = ffi.new("roofs_table_options *", {
        "struct_size": ffi.sizeof("roofs_table_options"), "max_levels": options["max_levels"],
        "date_parts": CHOICES["dates"].index(options["dates"]),
        "date_order": CHOICES["date_order"].index(options["date_order"]),
        "missing": CHOICES["missing"].index(options["missing"]),
        "thousands": bool(options["thousands"]), "decimal_comma": bool(options["decimal_comma"]),
        "response": alive[0], "id": alive[1]})
    if ids is not None:
        texts = [ffi.new("char[]", value.encode()) for value in ids]
        out.ids = pointers = ffi.new("char *[]", texts)
        alive += [texts, pointers]
    return out, alive


def c_columns(columns: list[Column]) -> tuple[Any, list]:
    """An array of C structs, and the objects that must live as long as it."""
    out, alive = ffi.new("roofs_column[]", max(1, len(columns))), []
    for struct, column in zip(out, columns):
        name = ffi.new("char[]", column.name.encode())
        struct.name, struct.kind = name, column.kind
        alive += [name, column]
        if column.values is not None:
            struct.values = ffi.cast("double *", address_of(column.values))
            continue
        texts = [ffi.new("char[]", word.encode()) for word in column.words]
        pointers = ffi.new("char *[]", texts)
        struct.words, struct.word_count = pointers, len(texts)
        struct.codes = ffi.cast("int64_t *", address_of(column.codes))
        alive += [texts, pointers]
    return out, alive


class FrameTable:
    """A table of the library. It keeps the columns alive."""

    def __init__(self, pointer: Any, n: int, alive: list, is_used: bool = True) -> None:
        self.c, self.n, self._alive = ffi.gc(pointer, lib.roofs_table_destroy), n, alive
        self.is_used = is_used   # False: it has nothing but the name of the response
        self.names = [text(lib.roofs_table_feature_name(self.c, k)) for k in range(lib.roofs_table_features(self.c))]

    @classmethod
    def create(cls, columns: list[Column], n: int, options: dict[str, Any], response: str | None,
               ids: list[str] | None) -> FrameTable:
        out, (c, alive), (settings, more) = ffi.new("roofs_table **"), c_columns(columns), c_options(options, response,
                                                                                                   ids)
        call(lib.roofs_table_create, out, c, len(columns), n, settings)
        return cls(out[0], n, [c, alive, more], bool(columns))

    @classmethod
    def apply(cls, model: Model, columns: list[Column], n: int) -> FrameTable:
        """The features of the model, in its order."""
        out, (c, alive) = ffi.new("roofs_table **"), c_columns(columns)
        call(lib.roofs_table_apply, out, model.c, c, len(columns), n)
        return cls(out[0], n, [c, alive, model])

    def read(self, first: int, count: int) -> np.ndarray:
        out = np.empty((count, self.n))
        call(lib.roofs_table_read, self.c, first, count, ffi.cast("double *", address_of(out)))
        return out

    def store(self, model: Model) -> None:
        call(lib.roofs_table_store, self.c, model.c)

    def warn(self, stacklevel: int) -> None:
        """Warns of columns that are left out, and of words that the fit did not have."""
        k = 0
        while lib.roofs_table_note(self.c, k):
            warnings.warn(text(lib.roofs_table_note(self.c, k)), DataWarning, stacklevel=stacklevel + 1)
            k += 1


class TableBlock(Block):
    """Features of a table. Each batch is made when it is consumed."""

    def __init__(self, table: FrameTable, first: int = 0, last: int | None = None) -> None:
        self.table, self.first = table, first
        self.n, self.count = table.n, (len(table.names) if last is None else last) - first
        self.names = slice_names(table.names, first, first + self.count)
        self.dtype = np.dtype(np.float64)

    def slice(self, first: int, last: int) -> Block:
        return TableBlock(self.table, self.first + first, self.first + last)

    def dense(self) -> np.ndarray:
        return self.table.read(self.first, self.count)


# ---- from a frame to a table -------------------------------------------------------------------

def find_column(names: list[str], wanted: str, what: str) -> int:
    """The place of a column."""
    if wanted not in names:
        near = difflib.get_close_matches(wanted, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{what}={wanted!r} is not among the {len(names)} named columns of X{hint}")
    if names.count(wanted) > 1:
        raise ValueError(f"X has several columns with the name {wanted!r}")
    return names.index(wanted)


def response_of(columns: Columns, name: str, options: dict[str, Any]) -> np.ndarray:
    """The responses in a column of a frame. Texts are read as numbers, by the options."""
    (c, alive), (settings, more) = c_columns([columns.read(find_column(columns.names, name, "y"))]), c_options(
        options, None, None)
    values = np.empty(columns.n)
    call(lib.roofs_column_numbers, c, columns.n, settings, ffi.cast("double *", address_of(values)))
    del alive, more
    missing = int(np.isnan(values).sum())
    if missing:
        raise ValueError(f"Input contains NaN or infinity: the response {name!r} is missing in {missing} of the "
                         f"samples; leave these samples out")
    return values


def needs_table(columns: Columns, response: str | None, options: dict[str, Any]) -> bool:
    """True if a column is more than numbers, or an option is given. Frames of numbers and bools need no table."""
    kinds = {columns.type_of(k) for k, name in enumerate(columns.names) if name != response}
    asked = options["id"] is not None or options["categories"] or options["missing"] != "error"
    return bool(asked or kinds & {"c", "?"} or (response is not None and "b" in kinds))


def open_table(X: Any, response: str | None, options: dict[str, Any]) -> FrameTable | None:
    """The table of a frame; None if its columns are features as they are. If there is nothing but the name of the
    response to store, the table has no columns."""
    columns = Columns(X)
    if not needs_table(columns, response, options):
        return None if response is None else FrameTable.create([], columns.n, options, response, None)
    given = [name for name in (response, options["id"]) if name is not None]
    unknown = [name for name in options["categories"] if name not in columns.names]
    if unknown:
        find_column(columns.names, unknown[0], "table option categories")
    ids = None
    if options["id"] is not None:
        values = columns.read(find_column(columns.names, options["id"], "table option id"), as_words=True)
        if (values.codes < 0).any():
            raise ValueError(f"the ID {options['id']!r} of a sample is missing; give every sample one")
        ids = [values.words[code] for code in values.codes]
    used = [columns.read(k, name in options["categories"]) for k, name in enumerate(columns.names) if name not in given]
    return FrameTable.create(used, columns.n, options, response, ids)


def apply_table(X: Any, model: Model, kinds: dict[str, str], kept: Iterable[str]) -> FrameTable:
    """The features of a model that was fitted to a table, from the columns of another frame."""
    columns, needed = Columns(X), {*kinds, *kept}
    used = [columns.read(k, kinds.get(name) == "category") for k, name in enumerate(columns.names) if name in needed]
    return FrameTable.apply(model, used, columns.n)


def stored_table(model: Model) -> dict[str, Any]:
    """The object "table" of a model; empty if it has none."""
    stored = lib.roofs_model_table(model.c)
    return json.loads(text(stored)) if stored else {}
