"""Samples split over the ranks of an mpi4py communicator: how partial sums meet, see roofs_comm in roofs.h."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._native import ffi, lib


class Ranks:
    """A roofs_comm on a communicator. Sums are made in the order of the ranks: the same number of them gives the same
    bits."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self.raised: BaseException | None = None
        self.handle = ffi.new_handle(self)
        self.c = ffi.new("roofs_comm *",
                         {"rank": self.rank, "size": self.size, "user": self.handle, "start": lib.roofs_python_start,
                                          "finish": lib.roofs_python_finish, "gather": lib.roofs_python_gather})
        self.under_way = np.empty(0)

    def add_up(self) -> None:
        parts = np.empty((self.size, len(self.under_way)))
        self.comm.Allgather(self.under_way.copy(), parts)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        self.under_way[:] = total

    def gather(self, mine: np.ndarray, sizes: list[int], all_of_them: np.ndarray) -> None:
        self.comm.Allgatherv(mine, [all_of_them, sizes])


def view(pointer: Any, size: int, dtype: Any) -> np.ndarray:
    return np.frombuffer(ffi.buffer(pointer, size), dtype=dtype) if size > 0 else np.empty(0, dtype=dtype)


def keep_exception(kind: Any, value: BaseException, trace: Any) -> None:
    user = trace.tb_frame.f_locals.get("user") if trace else None
    if user:
        ffi.from_handle(user).raised = value


@ffi.def_extern(error=1, onerror=keep_exception)
def roofs_python_start(user: Any, values: Any, count: int) -> int:
    ffi.from_handle(user).under_way = view(values, 8 * count, np.float64)
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def roofs_python_finish(user: Any) -> int:
    ffi.from_handle(user).add_up()
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def roofs_python_gather(user: Any, mine: Any, sizes: Any, all_of_them: Any) -> int:
    ranks = ffi.from_handle(user)
    given = [sizes[k] for k in range(ranks.size)]
    ranks.gather(view(mine, given[ranks.rank], np.uint8), given, view(all_of_them, sum(given), np.uint8))
    return 0
