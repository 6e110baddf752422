"""Arrow tables through the PyCapsule interface: columns as NumPy views, without pyarrow and without a copy."""
from __future__ import annotations

import ctypes
from typing import Any, Iterator

import numpy as np

from ._native import ffi

FORMATS = {"g": np.float64, "f": np.float32, "e": np.float16, "c": np.int8, "C": np.uint8, "s": np.int16,
           "S": np.uint16, "i": np.int32, "I": np.uint32, "l": np.int64, "L": np.uint64}
CAPSULE_NAMES = {"ArrowSchema": b"arrow_schema", "ArrowArray": b"arrow_array",
                 "ArrowArrayStream": b"arrow_array_stream"}

capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def is_arrow(X: Any) -> bool:
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def from_capsule(capsule: Any, kind: str) -> Any:
    """The struct in a capsule. The capsule owns it."""
    return ffi.cast(f"struct {kind} *", capsule_pointer(capsule, CAPSULE_NAMES[kind]))


def release(struct: Any) -> None:
    if struct.release:
        struct.release(struct)


class Table:
    """Names and columns of an Arrow table. A column has one piece per chunk of rows."""

    def __init__(self, X: Any) -> None:
        self._alive: list[Any] = []
        schema, chunks = self._stream(X) if hasattr(X, "__arrow_c_stream__") else self._array(X)
        if ffi.string(schema.format) != b"+s":
            raise ValueError("Arrow data must be a table with one column per feature")
        self.names = [ffi.string(schema.children[k].name).decode() for k in range(schema.n_children)]
        self.formats = [ffi.string(schema.children[k].format).decode() for k in range(schema.n_children)]
        self._coded = [bool(schema.children[k].dictionary) for k in range(schema.n_children)]
        self._chunks = chunks
        self.length = sum(chunk.length for chunk in chunks)

    def _stream(self, X: Any) -> tuple[Any, list]:
        capsule = X.__arrow_c_stream__()
        stream = from_capsule(capsule, "ArrowArrayStream")
        schema = ffi.gc(ffi.new("struct ArrowSchema *"), release)
        self._alive += [X, capsule, schema]
        self._check(stream, stream.get_schema(stream, schema))
        return schema, list(self._chunks_of(stream))

    def _chunks_of(self, stream: Any) -> Iterator[Any]:
        while True:
            chunk = ffi.new("struct ArrowArray *")
            self._check(stream, stream.get_next(stream, chunk))
            if not chunk.release:
                return
            self._alive.append(ffi.gc(chunk, release))
            yield chunk

    def _array(self, X: Any) -> tuple[Any, list]:
        schema, array = X.__arrow_c_array__()
        self._alive += [X, schema, array]
        return from_capsule(schema, "ArrowSchema"), [from_capsule(array, "ArrowArray")]

    @staticmethod
    def _check(stream: Any, code: int) -> None:
        if code:
            reason = stream.get_last_error(stream)
            raise ValueError(f"the Arrow stream failed: {ffi.string(reason).decode() if reason else code}")

    def column(self, k: int) -> list[np.ndarray]:
        """The pieces of column k. They share the memory of the table, except bools, which Arrow stores as bits."""
        if self._coded[k] or self.formats[k] not in (*FORMATS, "b"):
            raise ValueError(f"column {self.names[k]!r} has the Arrow type {self.formats[k]!r}; could not convert it "
                             f"to float")
        return [self._piece(chunk, k) for chunk in self._chunks if chunk.length]

    def _piece(self, chunk: Any, k: int) -> np.ndarray:
        child, name = chunk.children[k], self.names[k]
        if child.null_count > 0 or (child.null_count < 0 and child.buffers[0] and self._has_null(chunk, child)):
            raise ValueError(f"Input contains NaN or infinity: column {name!r} has missing values (nulls)")
        first, count = child.offset + chunk.offset, chunk.length
        if self.formats[k] == "b":
            return self._bits(child.buffers[1], first, count).astype(bool)
        dtype = np.dtype(FORMATS[self.formats[k]])
        start = ffi.cast("char *", child.buffers[1]) + first * dtype.itemsize
        return np.frombuffer(ffi.buffer(start, count * dtype.itemsize), dtype)

    @staticmethod
    def _bits(buffer: Any, first: int, count: int) -> np.ndarray:
        whole = np.frombuffer(ffi.buffer(ffi.cast("char *", buffer), (first + count + 7) // 8), np.uint8)
        return np.unpackbits(whole[first // 8:], bitorder="little")[first % 8:first % 8 + count]

    def _has_null(self, chunk: Any, child: Any) -> bool:
        return not self._bits(child.buffers[0], child.offset + chunk.offset, chunk.length).all()
