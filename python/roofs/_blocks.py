"""Blocks of features as the library takes them, from whatever people have.

A block knows n, count, names, how to cut itself (`part`) and how to become a C struct (`c`). Dense arrays of either
order and CSC matrices are handed over where they lie. Frames and Arrow tables, whose columns lie apart, are gathered a
part at a time; integers and bools are converted a part at a time: what is copied is never more than one batch.
"""
from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from ._arrow import Table, is_arrow
from ._library import DTYPES
from ._native import ffi, lib
from ._tensors import Place, in_main_memory, is_on_gpu

Names = Sequence[str]


class Block:
    n: int
    count: int
    names: list[str] | None

    def part(self, first: int, last: int) -> Block:
        raise NotImplementedError

    def ahead(self, first: int, last: int) -> Block:
        """What to announce before this part is due: the part itself, or, where nothing is copied, all that is left."""
        return self.part(first, last)

    def dense(self) -> np.ndarray:
        """The values as an array of count rows, to be copied from."""
        raise NotImplementedError

    def c(self) -> tuple[Any, list]:
        """The C struct, and what must live as long as it."""
        raise NotImplementedError

    def _struct(self, values: np.ndarray) -> tuple[Any, list]:
        out = ffi.new("roofs_block *", {"count": self.count, "n": self.n, "dtype": DTYPES[values.dtype],
                                        "values": address(values)})
        return out, [values, *self._name(out)]

    def _name(self, out: Any) -> list:
        """Gives the struct its names, and returns what must live as long as it."""
        if self.names is None:
            return []
        texts = [ffi.new("char[]", name.encode()) for name in self.names]
        out.names = pointers = ffi.new("char *[]", texts)
        return [texts, pointers]


def address(values: np.ndarray) -> Any:
    return ffi.cast("void *", values.__array_interface__["data"][0])


def float_of(dtype: np.dtype) -> np.dtype:
    """How values of this type are handed over: floats as they are, halves as float32, the others as float64."""
    dtype = dtype.newbyteorder("=")
    return dtype if dtype in DTYPES else np.dtype(np.float32 if dtype == np.float16 else np.float64)


def part_of(names: list[str] | None, first: int, last: int) -> list[str] | None:
    return names[first:last] if names is not None else None


def is_usable(values: np.ndarray, dtype: np.dtype) -> bool:
    return values.dtype == dtype and values.flags.aligned and all(s % values.itemsize == 0 for s in values.strides)


class Dense(Block):
    """An array of n rows, in any order; float64 and float32 in place."""

    def __init__(self, values: np.ndarray, names: list[str] | None = None) -> None:
        self.values, self.names = values, names
        self.n, self.count = values.shape
        self.dtype = float_of(values.dtype)

    def part(self, first: int, last: int) -> Block:
        return Dense(self.values[:, first:last], part_of(self.names, first, last))

    def ahead(self, first: int, last: int) -> Block:
        in_place = is_usable(self.values, self.dtype)
        return Dense(self.values[:, first:]) if in_place and last < self.count else self.part(first, last)

    def dense(self) -> np.ndarray:
        return self.values.T

    def c(self) -> tuple[Any, list]:
        values = self.values if is_usable(self.values,
                                          self.dtype) else np.array(self.values, dtype=self.dtype, order="F")
        out, alive = self._struct(values)
        out.sample_stride, out.feature_stride = (stride // values.itemsize for stride in values.strides)
        return out, alive


class OnGpu(Block):
    """Columns of an array in the memory of a GPU, in place."""

    def __init__(self, place: Place, names: list[str] | None = None, first: int = 0, last: int | None = None) -> None:
        self.place, self.names, self.first = place, names, first
        self.n, self.count = place.shape[0], (place.shape[1] if last is None else last) - first
        self.dtype = place.dtype

    def part(self, first: int, last: int) -> Block:
        return OnGpu(self.place, part_of(self.names, first, last), self.first + first, self.first + last)

    def here(self) -> Block:
        """The same in main memory."""
        return Dense(self.dense().T, self.names)

    def dense(self) -> np.ndarray:
        return self.place.here(self.first, self.first + self.count).T

    def c(self) -> tuple[Any, list]:
        rows, columns = self.place.strides
        start = self.place.address + self.first * columns * self.dtype.itemsize
        out = ffi.new("roofs_block *",
                      {"count": self.count, "n": self.n, "dtype": DTYPES[self.dtype],
                       "values": ffi.cast("void *", start),
                                        "sample_stride": rows, "feature_stride": columns})
        return out, [self.place, *self._name(out)]


class Sparse(Block):
    """A CSC matrix, in place."""

    def __init__(self, matrix: Any, names: list[str] | None = None, starts: np.ndarray | None = None) -> None:
        self.matrix, self.names = matrix, names
        self.starts = matrix.indptr if starts is None else starts
        self.n, self.count = matrix.shape[0], len(self.starts) - 1
        self.dtype = float_of(matrix.dtype)

    def part(self, first: int, last: int) -> Block:
        return Sparse(self.matrix, part_of(self.names, first, last), self.starts[first:last + 1])

    def matrix_part(self) -> Any:
        low, high = self.starts[0], self.starts[-1]
        pieces = self.matrix.data[low:high], self.matrix.indices[low:high], self.starts - low
        return sp.csc_matrix(pieces, shape=(self.n, self.count), copy=False)

    def dense(self) -> np.ndarray:
        return self.matrix_part().toarray().T

    def c(self) -> tuple[Any, list]:
        m, starts = self.matrix, self.starts
        values, samples = m.data, m.indices
        if values.dtype != self.dtype:
            low, high = starts[0], starts[-1]
            values, samples, starts = values[low:high].astype(self.dtype), samples[low:high], starts - low
        index = np.dtype(np.int32) if starts.dtype == samples.dtype == np.int32 else np.dtype(np.int64)
        starts, samples = starts.astype(index, copy=False), samples.astype(index, copy=False)
        out, alive = self._struct(values)
        out.starts, out.samples = address(starts), address(samples)
        out.index = lib.ROOFS_I32 if index == np.int32 else lib.ROOFS_I64
        return out, alive + [starts, samples]


class Columns(Block):
    """Columns that lie apart, each asked for when its part is due."""

    def __init__(self, n: int, read: Sequence[Callable[[], list[np.ndarray]]], names: list[str] | None) -> None:
        self.n, self.count, self.read, self.names = n, len(read), read, names

    def part(self, first: int, last: int) -> Block:
        return Columns(self.n, self.read[first:last], part_of(self.names, first, last))

    def dense(self) -> np.ndarray:
        columns = [read() for read in self.read]
        side_by_side = as_one_array(columns)
        if side_by_side is not None:
            return side_by_side
        out = np.empty((self.count, self.n),
                       np.result_type(np.float32, *(float_of(c.dtype) for pieces in columns for c in pieces)))
        for row, pieces in zip(out, columns):
            np.concatenate(pieces, out=row, casting="unsafe")
        return out

    def c(self) -> tuple[Any, list]:
        return Dense(self.dense().T, self.names).c()


class Rows(Block):
    """Some rows of a block, gathered when their part is due."""

    def __init__(self, block: Block, rows: np.ndarray) -> None:
        self.block, self.rows = block, rows
        self.n, self.count, self.names = len(rows), block.count, block.names

    def part(self, first: int, last: int) -> Block:
        return Rows(self.block.part(first, last), self.rows)

    def dense(self) -> np.ndarray:
        return self.block.dense()[:, self.rows]

    def c(self) -> tuple[Any, list]:
        if isinstance(self.block, Sparse):
            return Sparse(self.block.matrix_part()[self.rows].tocsc(), self.names).c()
        return Dense(self.dense().T, self.names).c()


def as_one_array(columns: list[list[np.ndarray]]) -> np.ndarray | None:
    """Whole float columns that lie at equal distances, as one array of count rows in place; None for any others."""
    whole = [pieces[0] for pieces in columns if len(pieces) == 1]
    if not whole or len(whole) < len(columns) or whole[0].dtype not in DTYPES:
        return None
    places = np.array([column.__array_interface__["data"][0] for column in whole], dtype=np.int64)
    steps = np.diff(places)
    same = all(c.dtype == whole[0].dtype and c.strides == whole[0].strides for c in whole)
    if not same or (len(steps) and (steps != steps[0]).any()) or not whole[0].flags.aligned:
        return None
    shape, strides = (len(whole), len(whole[0])), (int(steps[0]) if len(steps) else 0, whole[0].strides[0])
    return np.lib.stride_tricks.as_strided(whole[0], shape, strides, writeable=False)


# ---- from what people have -------------------------------------------------------------------

def is_pandas(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "iloc")


def is_frame(X: Any) -> bool:
    return is_pandas(X) or (is_arrow(X) and not isinstance(X, np.ndarray))


def pandas_block(X: Any) -> Block:
    def reader(k: int) -> Callable[[], list[np.ndarray]]:
        return lambda: [as_number_column(X.iloc[:, k].to_numpy())]
    names = list(X.columns) if all(isinstance(c, str) for c in X.columns) else None
    return Columns(len(X), [reader(k) for k in range(X.shape[1])], names)


def as_number_column(values: np.ndarray) -> np.ndarray:
    return values if values.dtype.kind in "fiub" else np.asarray(values, dtype=np.float64)


def arrow_block(X: Any) -> Block:
    table = Table(X)

    def reader(k: int) -> Callable[[], list[np.ndarray]]:
        return lambda: table.column(k)
    return Columns(table.length, [reader(k) for k in range(len(table.names))], table.names)


def sparse_block(X: Any, names: list[str] | None) -> Block:
    """CSC in place; any other layout, and unsorted indices, cost a copy."""
    matrix = X if X.format == "csc" else X.tocsc()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return Sparse(matrix, names)


def as_block(X: Any, names: Names | str | None = None) -> Block:
    """A block from an array, a frame, an Arrow table, a sparse matrix, a mapping, or a pair of names and any of
    these."""
    if isinstance(X, Block):
        return X
    if isinstance(X, tuple) and len(X) == 2:
        return as_block(X[1], X[0])
    if isinstance(X, dict) and not sp.issparse(X):   # a dok_matrix is both
        return as_block(np.column_stack([np.asarray(column) for column in X.values()]), list(X))
    given = None if names is None else [names] if isinstance(names, str) else [str(name) for name in names]
    if sp.issparse(X):
        block = sparse_block(X, given)
    elif is_on_gpu(X):
        block = OnGpu(Place.of(X), given)
    elif is_frame(X):
        block = pandas_block(X) if is_pandas(X) else arrow_block(X)
        block.names = given or block.names
    else:
        values = np.asarray(in_main_memory(X))
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or values.dtype.kind not in "fiubO":
            raise ValueError(f"a block of features is an array of numbers with one row per sample; this one has the "
                             f"shape {np.shape(X)} and the type {values.dtype}")
        block = Dense(values if values.dtype.kind != "O" else values.astype(np.float64), given)
    if given is not None and len(given) != block.count:
        raise ValueError(f"{len(given)} names for {block.count} features")
    return block


# ---- batches ---------------------------------------------------------------------------------

def pieces(block: Block, size: int) -> Iterator[tuple[Block, Block | None]]:
    """Parts of this size (the last may be smaller), each with what comes after it: announced, it is not copied again
    when it is due."""
    after = None
    for first in range(0, block.count, size):
        last = min(first + size, block.count)
        batch = after if after is not None and after.count == last - first else block.part(first, last)
        after = block.ahead(last, min(last + size, block.count)) if last < block.count else None
        yield batch, after


class Batches:
    """Cuts a stream of blocks into batches of equal size, wherever the blocks begin and end, so that cutting data
    differently cannot change the answer. What does not fill a batch waits in a copy, as callers may reuse their
    arrays."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.waiting: list[Block] = []

    def cut(self, block: Block) -> Iterator[tuple[Block, Block | None]]:
        """Each batch, and what comes after it where the block holds that, too: blocks that have not come are not asked
        for."""
        first = 0
        held = sum(part.count for part in self.waiting)
        if held:
            first = min(self.size - held, block.count)
            self._hold(block.part(0, first))
            if held + first == self.size:
                yield from self.rest()
        last = block.count - (block.count - first) % self.size
        yield from pieces(block.part(first, last), self.size)
        if last < block.count:
            self._hold(block.part(last, block.count))

    def _hold(self, part: Block) -> None:
        if part.count == 0:
            return
        if isinstance(part, Sparse):
            self.waiting.append(Sparse(part.matrix_part().copy(), part.names))
        else:
            rows = part.dense()
            self.waiting.append(Dense(np.array(rows, dtype=float_of(rows.dtype), order="C").T, part.names))

    def rest(self) -> Iterator[tuple[Block, None]]:
        """What waits, as one batch."""
        waiting, self.waiting = self.waiting, []
        if waiting:
            yield (joined(waiting) if len(waiting) > 1 else waiting[0]), None


def joined(blocks: list[Block]) -> Block:
    named = {block.names is not None for block in blocks}
    if len(named) > 1:
        raise ValueError("some features of the stream have names and others have none")
    names = [name for block in blocks for name in block.names] if named == {True} else None
    if all(isinstance(block, Sparse) for block in blocks):
        return Sparse(sp.hstack([block.matrix for block in blocks], format="csc"), names)
    return Dense(np.concatenate([block.dense() for block in blocks], axis=0).T, names)


def batches(blocks: Iterable[Any], size: int, n: int) -> Iterator[tuple[Block, Block | None]]:
    """Batches of the whole stream, each with what comes after it where that is known; a block with another number of
    samples is refused by its number."""
    cutter = Batches(size)
    for number, item in enumerate(blocks):
        block = as_block(item)
        if block.n != n:
            raise ValueError(f"block {number} (counted from 0) has {block.n} samples, but there are {n} responses")
        yield from cutter.cut(block)
    yield from cutter.rest()
