"""Tensors of other libraries, without a copy: in main memory as NumPy arrays, on an NVIDIA GPU by their address.

The address of a tensor comes from `__cuda_array_interface__` (CuPy, PyTorch, Numba) or from DLPack (these, JAX and
others).
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrow import capsule_pointer
from ._native import ffi

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13   # device types of DLPack
KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}           # type codes of DLPack, and the NumPy kind of each


def dlpack_device(X: Any) -> int | None:
    """The DLPack number of the device that holds a tensor; None if X is not a tensor with DLPack."""
    if isinstance(X, (np.ndarray, np.generic)) or not hasattr(X, "__dlpack_device__") or not hasattr(X, "__dlpack__"):
        return None
    try:
        return int(X.__dlpack_device__()[0])
    except Exception:   # some libraries have the method but raise for some of their tensors
        return None


def is_on_gpu(X: Any) -> bool:
    return hasattr(X, "__cuda_array_interface__") or dlpack_device(X) in (CUDA, CUDA_MANAGED)


@dataclass
class GpuMatrix:
    """A matrix in the memory of a GPU."""

    owner: Any
    address: int
    shape: tuple[int, int]
    strides: tuple[int, int]   # in values
    dtype: np.dtype
    alive: Any                 # keeps the memory allocated

    @classmethod
    def of(cls, X: Any) -> GpuMatrix:
        matrix = cls.from_interface(X) if hasattr(X, "__cuda_array_interface__") else cls.from_dlpack(X)
        if matrix.dtype not in (np.float64, np.float32):
            raise ValueError(f"an array on the GPU must be float64 or float32, not {matrix.dtype}")
        if len(matrix.shape) == 1:
            matrix.shape, matrix.strides = (*matrix.shape, 1), (*matrix.strides, 0)
        if len(matrix.shape) != 2:
            raise ValueError(f"a block of features must be a matrix with one row per sample; this one has shape "
                             f"{matrix.shape}")
        return matrix

    @classmethod
    def from_interface(cls, X: Any) -> GpuMatrix:
        interface = X.__cuda_array_interface__
        if interface.get("mask") is not None:
            raise ValueError("an array on the GPU must not have a mask")
        dtype, shape, strides = np.dtype(interface["typestr"]), tuple(interface["shape"]), interface.get("strides")
        if strides and any(step % dtype.itemsize for step in strides):
            raise ValueError(f"the strides of an array on the GPU must be multiples of the {dtype.itemsize} bytes of a "
                             f"value, not {tuple(strides)}; copy the array")
        steps = tuple(step // dtype.itemsize for step in strides) if strides else c_order_strides(shape)
        return cls(X, int(interface["data"][0] or 0), shape, steps, dtype, X)

    @classmethod
    def from_dlpack(cls, X: Any) -> GpuMatrix:
        """The capsule keeps the tensor alive. stream=-1: no synchronisation, because the library waits for the whole
        GPU before it reads."""
        capsule = X.__dlpack__(stream=-1)
        tensor = ffi.cast("DLManagedTensor *", capsule_pointer(capsule, b"dltensor")).dl_tensor
        shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
        steps = tuple(tensor.strides[k] for k in range(tensor.ndim)) if tensor.strides else c_order_strides(shape)
        address = int(ffi.cast("uintptr_t", tensor.data)) + tensor.byte_offset
        return cls(X, address, shape, steps, dtype_of(tensor.dtype), capsule)

    def download(self, first: int, last: int) -> np.ndarray:
        """A copy of columns first to last - 1 in main memory."""
        X = self.owner[:, first:last] if len(self.owner.shape) == 2 else self.owner
        return downloaded(X).reshape(self.shape[0], last - first)


def c_order_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    steps = [1]
    for size in shape[:0:-1]:
        steps.insert(0, steps[0] * size)
    return tuple(steps)


def dtype_of(given: Any) -> Any:
    """The NumPy type of a DLPack type; a text with the numbers of DLPack where NumPy has no such type."""
    if given.lanes == 1 and given.code in KINDS and given.bits % 8 == 0:
        return np.dtype(f"{KINDS[given.code]}{given.bits // 8}")
    return f"DLPack type {given.code} with {given.bits} bits"


def downloaded(X: Any) -> np.ndarray:
    """A copy in main memory of an array on a GPU."""
    if hasattr(X, "get"):
        return np.asarray(X.get())
    if hasattr(X, "cpu"):
        return X.detach().cpu().numpy()
    try:
        return np.asarray(X)
    except (TypeError, ValueError, RuntimeError) as reason:
        raise ValueError(f"the CPU cannot read a {type(X).__name__} on a GPU ({reason}); use device=\"cuda\", or "
                         f"copy it to main memory") from None


def in_main_memory(X: Any) -> Any:
    """A tensor as a NumPy array: a copy if the tensor is on a GPU, a view otherwise. Any other X is returned as is."""
    if is_on_gpu(X):
        return downloaded(X)
    device = dlpack_device(X)
    if device is None:
        return X
    if device not in (CPU, CUDA_HOST):
        raise ValueError(f"a {type(X).__name__} on DLPack device {device} cannot be read; copy it to main memory or to "
                         f"an NVIDIA GPU")
    try:
        return np.asarray(X) if hasattr(X, "__array__") else np.from_dlpack(X)
    except (TypeError, BufferError, RuntimeError) as reason:
        raise ValueError(f"a {type(X).__name__} cannot be read: {reason}. Pass float64, float32 or integers without a "
                         f"gradient") from None
