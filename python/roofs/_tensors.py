"""Tensors of other libraries: those in main memory as NumPy arrays, those on an NVIDIA GPU by their address, both in
place.

Libraries tell where a tensor lies by `__cuda_array_interface__` (CuPy, PyTorch, Numba) or by DLPack (these, JAX and
others).
"""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._native import ffi

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13   # of DLPack
KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}           # the codes of DLPack that NumPy has, too

capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object,
                                    ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def dlpack_kind(X: Any) -> int | None:
    """The kind of device a tensor lies on, where it tells."""
    if isinstance(X, (np.ndarray, np.generic)) or not hasattr(X, "__dlpack_device__") or not hasattr(X, "__dlpack__"):
        return None
    try:
        return int(X.__dlpack_device__()[0])
    except Exception:   # it knows DLPack, but not for what it holds
        return None


def is_on_gpu(X: Any) -> bool:
    return hasattr(X, "__cuda_array_interface__") or dlpack_kind(X) in (CUDA, CUDA_MANAGED)


@dataclass
class Place:
    """A matrix in the memory of a GPU."""

    owner: Any
    address: int
    shape: tuple[int, int]
    strides: tuple[int, int]   # in values
    dtype: np.dtype
    alive: Any                 # as long as it is used

    @classmethod
    def of(cls, X: Any) -> Place:
        place = cls.by_interface(X) if hasattr(X, "__cuda_array_interface__") else cls.by_dlpack(X)
        if place.dtype not in (np.float64, np.float32):
            raise ValueError(f"an array on the GPU must be float64 or float32, not {place.dtype}")
        if len(place.shape) == 1:
            place.shape, place.strides = (*place.shape, 1), (*place.strides, 0)
        if len(place.shape) != 2:
            raise ValueError(f"a block of features is a matrix with one row per sample; this one has the shape "
                             f"{place.shape}")
        return place

    @classmethod
    def by_interface(cls, X: Any) -> Place:
        what = X.__cuda_array_interface__
        if what.get("mask") is not None:
            raise ValueError("an array on the GPU must not have a mask")
        dtype, shape = np.dtype(what["typestr"]), tuple(what["shape"])
        strides = what.get("strides")
        if strides and any(step % dtype.itemsize for step in strides):
            raise ValueError("the values of an array on the GPU must lie at whole distances of each other")
        steps = tuple(step // dtype.itemsize for step in strides) if strides else rows_first(shape)
        return cls(X, int(what["data"][0] or 0), shape, steps, dtype, X)

    @classmethod
    def by_dlpack(cls, X: Any) -> Place:
        """The capsule stays the owner of the tensor. The library waits for the whole GPU before it reads: no stream is
        named."""
        capsule = X.__dlpack__(stream=-1)
        tensor = ffi.cast("DLManagedTensor *", capsule_pointer(capsule, b"dltensor")).dl_tensor
        shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
        steps = tuple(tensor.strides[k] for k in range(tensor.ndim)) if tensor.strides else rows_first(shape)
        address = int(ffi.cast("uintptr_t", tensor.data)) + tensor.byte_offset
        return cls(X, address, shape, steps, dtype_of(tensor.dtype), capsule)

    def here(self, first: int, last: int) -> np.ndarray:
        """Some of its columns in main memory."""
        X = self.owner[:, first:last] if len(self.owner.shape) == 2 else self.owner
        return fetched(X).reshape(self.shape[0], last - first)


def rows_first(shape: tuple[int, ...]) -> tuple[int, ...]:
    steps = [1]
    for size in shape[:0:-1]:
        steps.insert(0, steps[0] * size)
    return tuple(steps)


def dtype_of(what: Any) -> Any:
    """In NumPy's words; the numbers of DLPack where NumPy has none."""
    if what.lanes == 1 and what.code in KINDS and what.bits % 8 == 0:
        return np.dtype(f"{KINDS[what.code]}{what.bits // 8}")
    return f"type {what.code} with {what.bits} bits of DLPack"


def fetched(X: Any) -> np.ndarray:
    """A copy in main memory of what lies on a GPU."""
    if hasattr(X, "get"):
        return np.asarray(X.get())
    if hasattr(X, "cpu"):
        return X.detach().cpu().numpy()
    try:
        return np.asarray(X)
    except (TypeError, ValueError, RuntimeError) as reason:
        raise ValueError(f"a {type(X).__name__} on a GPU cannot be read by the CPU ({reason}); use device=\"cuda\", or "
                         f"copy it to main memory") from None


def in_main_memory(X: Any) -> Any:
    """A tensor as a NumPy array, in place unless it lies on a GPU; anything else as it is."""
    if is_on_gpu(X):
        return fetched(X)
    kind = dlpack_kind(X)
    if kind is None:
        return X
    if kind not in (CPU, CUDA_HOST):
        raise ValueError(f"a {type(X).__name__} lies on a device (number {kind} of DLPack) that cannot be read; main "
                         f"memory and NVIDIA GPUs can: copy it there")
    try:
        return np.asarray(X) if hasattr(X, "__array__") else np.from_dlpack(X)
    except (TypeError, BufferError, RuntimeError) as reason:
        raise ValueError(f"a {type(X).__name__} cannot be read: {reason}. What can: float64, float32 and whole numbers "
                         f"in main memory, without a gradient") from None
