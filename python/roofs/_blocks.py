"""Blocks of features for the library, made from arrays, frames, tables, sparse matrices and tensors.

Dense arrays of floats, 8-bit integers and bools, of either order, and CSC matrices are passed in place. Frames and
Arrow tables, whose columns are separate arrays, are gathered one batch at a time. Other integers are converted one
batch at a time.
"""
from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from ._arrow import Table, is_arrow
from ._library import BYTES, DTYPES, FLOATS
from ._native import ffi, lib
from ._sparse import check_sparse
from ._tensors import GpuMatrix, in_main_memory, is_on_gpu


class Block:
    """Some features of all samples: `count` features, `n` samples, and names or None."""

    n: int
    count: int
    names: list[str] | None

    def slice(self, first: int, last: int) -> Block:
        """Features first to last - 1."""
        raise NotImplementedError

    def prefetch_slice(self, first: int, last: int) -> Block:
        """What to prefetch before slice(first, last) is consumed. Blocks in place return all that follows `first`."""
        return self.slice(first, last)

    def is_in_place(self) -> bool:
        """True if the library reads the values where they are, without a copy by Python."""
        return False

    def dense(self) -> np.ndarray:
        """The values as an array of count rows. It may be a view."""
        raise NotImplementedError

    def on_host(self) -> Block:
        """The same block in the memory of the host."""
        return self

    def gathered(self) -> Block:
        """The same block with its features in the order in which they are stored."""
        return self

    def c(self) -> tuple[Any, list]:
        """The C struct, and the objects that must live as long as the struct."""
        return Dense(self.dense().T, self.names).c()

    def _struct(self, address: int, dtype: np.dtype, **fields: Any) -> tuple[Any, list]:
        out = ffi.new("roofs_block *", {"count": self.count, "n": self.n, "dtype": DTYPES[dtype],
                                        "values": ffi.cast("void *", address), **fields})
        if self.names is None:
            return out, []
        texts = [ffi.new("char[]", name.encode()) for name in self.names]
        out.names = pointers = ffi.new("char *[]", texts)
        return out, [texts, pointers]


def address_of(values: np.ndarray) -> int:
    return values.__array_interface__["data"][0]


def float_of(dtype: np.dtype) -> np.dtype:
    """The float type that holds the values: float64 and float32 unchanged, float16 as float32, others as float64."""
    dtype = dtype.newbyteorder("=")
    return dtype if dtype in FLOATS else np.dtype(np.float32 if dtype == np.float16 else np.float64)


def passed_type(dtype: np.dtype) -> np.dtype:
    """The type in which dense values are passed: bytes and bools unchanged, others as floats."""
    return dtype if dtype in BYTES else float_of(dtype)


def slice_names(names: list[str] | None, first: int, last: int) -> list[str] | None:
    return names[first:last] if names is not None else None


def needs_no_copy(values: np.ndarray, dtype: np.dtype) -> bool:
    return values.dtype == dtype and values.flags.aligned and all(s % values.itemsize == 0 for s in values.strides)


class Dense(Block):
    """An array of n rows, of either order. Arrays of floats, 8-bit integers and bools are passed in place."""

    def __init__(self, values: np.ndarray, names: list[str] | None = None) -> None:
        self.values, self.names = values, names
        self.n, self.count = values.shape
        self.dtype = passed_type(values.dtype)

    def slice(self, first: int, last: int) -> Block:
        return Dense(self.values[:, first:last], slice_names(self.names, first, last))

    def is_in_place(self) -> bool:
        return needs_no_copy(self.values, self.dtype)

    def prefetch_slice(self, first: int, last: int) -> Block:
        return Dense(self.values[:, first:]) if self.is_in_place() and last < self.count else self.slice(first, last)

    def dense(self) -> np.ndarray:
        return self.values.T

    def c(self) -> tuple[Any, list]:
        values = self.values if self.is_in_place() else np.array(self.values, dtype=self.dtype, order="F")
        sample, feature = (stride // values.itemsize for stride in values.strides)
        out, alive = self._struct(address_of(values), values.dtype, sample_stride=sample, feature_stride=feature)
        return out, [values, *alive]


class OnGpu(Block):
    """Columns of a matrix in the memory of a GPU, in place."""

    def __init__(self, matrix: GpuMatrix, names: list[str] | None = None, first: int = 0,
                 last: int | None = None) -> None:
        self.matrix, self.names, self.first = matrix, names, first
        self.n, self.count = matrix.shape[0], (matrix.shape[1] if last is None else last) - first

    def slice(self, first: int, last: int) -> Block:
        return OnGpu(self.matrix, slice_names(self.names, first, last), self.first + first, self.first + last)

    def is_in_place(self) -> bool:
        return True

    def on_host(self) -> Block:
        return Dense(self.dense().T, self.names)

    def dense(self) -> np.ndarray:
        return self.matrix.download(self.first, self.first + self.count).T

    def c(self) -> tuple[Any, list]:
        (sample, feature), dtype = self.matrix.strides, self.matrix.dtype
        start = self.matrix.address + self.first * feature * dtype.itemsize
        out, alive = self._struct(start, dtype, sample_stride=sample, feature_stride=feature)
        return out, [self.matrix, *alive]


class Sparse(Block):
    """A CSC matrix, in place."""

    def __init__(self, matrix: Any, names: list[str] | None = None, starts: np.ndarray | None = None) -> None:
        self.matrix, self.names = matrix, names
        self.starts = matrix.indptr if starts is None else starts
        self.n, self.count = matrix.shape[0], len(self.starts) - 1
        self.dtype = float_of(matrix.dtype)

    def slice(self, first: int, last: int) -> Block:
        return Sparse(self.matrix, slice_names(self.names, first, last), self.starts[first:last + 1])

    def is_in_place(self) -> bool:
        return self.matrix.data.dtype == self.dtype

    def sliced_matrix(self) -> Any:
        """The matrix of this block's features only. It shares the values."""
        low, high = self.starts[0], self.starts[-1]
        arrays = self.matrix.data[low:high], self.matrix.indices[low:high], self.starts - low
        return sp.csc_matrix(arrays, shape=(self.n, self.count), copy=False)

    def dense(self) -> np.ndarray:
        return self.sliced_matrix().toarray().T

    def c(self) -> tuple[Any, list]:
        m, starts = self.matrix, self.starts
        values, samples = m.data, m.indices
        if values.dtype != self.dtype:
            low, high = starts[0], starts[-1]
            values, samples, starts = values[low:high].astype(self.dtype), samples[low:high], starts - low
        index = np.dtype(np.int32) if starts.dtype == samples.dtype == np.int32 else np.dtype(np.int64)
        starts, samples = starts.astype(index, copy=False), samples.astype(index, copy=False)
        out, alive = self._struct(address_of(values), values.dtype,
                                  starts=ffi.cast("void *", address_of(starts)),
                                  samples=ffi.cast("void *", address_of(samples)),
                                  index=lib.ROOFS_I32 if index == np.int32 else lib.ROOFS_I64)
        return out, [values, starts, samples, *alive]


class Columns(Block):
    """Columns in separate arrays. Each is read when its batch is consumed."""

    def __init__(self, n: int, read: Sequence[Callable[[], list[np.ndarray]]], names: list[str] | None) -> None:
        self.n, self.count, self.read, self.names = n, len(read), read, names

    def slice(self, first: int, last: int) -> Block:
        return Columns(self.n, self.read[first:last], slice_names(self.names, first, last))

    def dense(self) -> np.ndarray:
        columns = [read() for read in self.read]
        in_place = as_one_array(columns)
        if in_place is not None:
            return in_place
        out = np.empty((self.count, self.n),
                       np.result_type(np.float32, *(float_of(c.dtype) for pieces in columns for c in pieces)))
        for row, pieces in zip(out, columns):
            np.concatenate(pieces, out=row, casting="unsafe")
        return out


class Rows(Block):
    """Some samples of a block. They are gathered when their batch is consumed."""

    def __init__(self, block: Block, rows: np.ndarray) -> None:
        self.block, self.rows = block, rows
        self.n, self.count, self.names = len(rows), block.count, block.names

    def slice(self, first: int, last: int) -> Block:
        return Rows(self.block.slice(first, last), self.rows)

    def dense(self) -> np.ndarray:
        return self.block.dense()[:, self.rows]

    def c(self) -> tuple[Any, list]:
        block = self.block.gathered()
        if isinstance(block, Sparse):
            return Sparse(block.sliced_matrix()[self.rows].tocsc(), self.names).c()
        return super().c()


class Shuffled(Block):
    """The features of a block in another order. They are gathered when their batch is consumed."""

    def __init__(self, block: Block, order: np.ndarray, dtype: np.dtype | None = None) -> None:
        self.block, self.order = block, order
        self.n, self.count = block.n, len(order)
        self.names = None if block.names is None else [block.names[k] for k in order]
        self.dtype = dtype or common_type(block)

    def slice(self, first: int, last: int) -> Block:
        return Shuffled(self.block, self.order[first:last], self.dtype)

    def gathered(self) -> Block:
        block = select_features(self.block, self.order)
        return Dense(block.values.astype(self.dtype, copy=False), block.names) if isinstance(block, Dense) else block

    def dense(self) -> np.ndarray:
        return self.gathered().dense()

    def c(self) -> tuple[Any, list]:
        return self.gathered().c()


def common_type(block: Block) -> np.dtype:
    """A type for all features of a block. The columns of a frame may differ, and so would batches of them."""
    if isinstance(block, Columns):
        return np.result_type(np.float32, *(float_of(piece.dtype) for read in block.read for piece in read()))
    return passed_type(block.matrix.dtype if isinstance(block, OnGpu) else block.dtype)


def as_one_array(columns: list[list[np.ndarray]]) -> np.ndarray | None:
    """One array of count rows that shares the memory of the columns. None unless they are float arrays, in one piece
    each, at equal distances in memory."""
    whole = [pieces[0] for pieces in columns if len(pieces) == 1]
    if not whole or len(whole) < len(columns) or whole[0].dtype not in FLOATS:
        return None
    steps = np.diff(np.array([address_of(column) for column in whole], dtype=np.int64))
    same = all(c.dtype == whole[0].dtype and c.strides == whole[0].strides for c in whole)
    if not same or (len(steps) and (steps != steps[0]).any()) or not whole[0].flags.aligned:
        return None
    shape, strides = (len(whole), len(whole[0])), (int(steps[0]) if len(steps) else 0, whole[0].strides[0])
    return np.lib.stride_tricks.as_strided(whole[0], shape, strides, writeable=False)


# ---- from other types -------------------------------------------------------------------------

def is_pandas(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "iloc")


def is_frame(X: Any) -> bool:
    return is_pandas(X) or (is_arrow(X) and not isinstance(X, np.ndarray))


def pandas_block(X: Any) -> Block:
    names = list(X.columns) if all(isinstance(c, str) for c in X.columns) else None
    return Columns(len(X), [lambda k=k: [as_number_column(X.iloc[:, k].to_numpy())] for k in range(X.shape[1])], names)


def as_number_column(values: np.ndarray) -> np.ndarray:
    return values if values.dtype.kind in "fiub" else np.asarray(values, dtype=np.float64)


def arrow_block(X: Any) -> Block:
    table = Table(X)
    return Columns(table.length, [lambda k=k: table.column(k) for k in range(len(table.names))], table.names)


def sparse_block(X: Any, names: list[str] | None) -> Block:
    """CSC is passed in place. Any other layout and unsorted indices need a copy."""
    check_sparse(X)
    matrix = X if X.format == "csc" else X.tocsc()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return Sparse(matrix, names)


def as_block(X: Any, names: Sequence[str] | str | None = None) -> Block:
    """A block from an array, a frame, an Arrow table, a sparse matrix, a tensor, a mapping from names to columns, or a
    pair of names and one of these."""
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
        block = OnGpu(GpuMatrix.of(X), given)
    elif is_frame(X):
        block = pandas_block(X) if is_pandas(X) else arrow_block(X)
        block.names = given or block.names
    else:
        values = np.asarray(in_main_memory(X))
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or values.dtype.kind not in "fiubO":
            raise ValueError(f"a block of features must be an array of numbers with one row per sample; this one has "
                             f"shape {np.shape(X)} and type {values.dtype}")
        block = Dense(values if values.dtype.kind != "O" else values.astype(np.float64), given)
    if given is not None and len(given) != block.count:
        raise ValueError(f"{len(given)} names for {block.count} features")
    return block


# ---- batches ---------------------------------------------------------------------------------

def pieces(block: Block, size: int) -> Iterator[tuple[Block, Block | None]]:
    """Slices of `size` features (the last may be shorter), each with the block to prefetch meanwhile. A slice that was
    prefetched is the same object, so it is copied once."""
    ahead = None
    for first in range(0, block.count, size):
        last = min(first + size, block.count)
        batch = ahead if ahead is not None and ahead.count == last - first else block.slice(first, last)
        ahead = block.prefetch_slice(last, min(last + size, block.count)) if last < block.count else None
        yield batch, ahead


class Batches:
    """Cuts a stream of blocks into batches of equal size. The result of a fit then does not depend on where blocks
    begin and end. Features that do not fill a batch are copied, because callers may reuse their arrays. `together`
    batches of one block in place are passed in one call: the library cuts them."""

    def __init__(self, size: int, together: int = 1) -> None:
        self.size, self.together = size, together
        self.held: list[Block] = []

    def cut(self, block: Block) -> Iterator[tuple[Block, Block | None]]:
        """The batches that this block completes, each with the block to prefetch meanwhile, or None. Only features of
        this block are prefetched: the next block of the stream is not read early."""
        first = 0
        held = sum(each.count for each in self.held)
        if held:
            first = min(self.size - held, block.count)
            self._hold(block.slice(0, first))
            if held + first == self.size:
                yield from self.flush()
        last = block.count - (block.count - first) % self.size
        yield from pieces(block.slice(first, last), self.size * (self.together if block.is_in_place() else 1))
        self._hold(block.slice(last, block.count))

    def _hold(self, block: Block) -> None:
        if block.count == 0:
            return
        block = block.gathered()
        if isinstance(block, Sparse):
            self.held.append(Sparse(block.sliced_matrix().copy(), block.names))
        else:
            rows = block.dense()
            self.held.append(Dense(np.array(rows, dtype=passed_type(rows.dtype), order="C").T, block.names))

    def flush(self) -> Iterator[tuple[Block, None]]:
        """The features that are held, as one batch."""
        held, self.held = self.held, []
        if held:
            yield (joined(held) if len(held) > 1 else held[0]), None


def joined(blocks: list[Block]) -> Block:
    """One block of the features of several blocks. It copies them."""
    named = {block.names is not None for block in blocks}
    if len(named) > 1:
        raise ValueError("some features of the stream have names and others have none; name all of them, or none")
    names = [name for block in blocks for name in block.names] if named == {True} else None
    if all(isinstance(block, Sparse) for block in blocks):
        return Sparse(sp.hstack([block.sliced_matrix() for block in blocks], format="csc"), names)
    values = [block.dense() for block in blocks]
    if len({each.dtype for each in values}) > 1:
        values = [each.astype(float_of(each.dtype), copy=False) for each in values]
    return Dense(np.concatenate(values, axis=0).T, names)


def select_features(block: Block, indices: Iterable[int]) -> Block:
    """The features of the block with these indices, in this order."""
    selected = [block.slice(k, k + 1) for k in indices]
    return joined(selected) if selected else block.slice(0, 0)


def batches(blocks: Iterable[Any], size: int, n: int, together: int = 1) -> Iterator[tuple[Block, Block | None]]:
    """The batches of the whole stream, each with the block to prefetch meanwhile, or None; see Batches."""
    cutter = Batches(size, together)
    for number, item in enumerate(blocks):
        block = as_block(item)
        if block.n != n:
            raise ValueError(f"block {number} (counted from 0) has {block.n} samples, but there are {n} responses")
        yield from cutter.cut(block)
    yield from cutter.flush()
