"""The roofs_comm of roofs.h on an mpi4py communicator, for samples that are split over ranks."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import Callbacks, keep_exception
from ._native import ffi, lib


class Ranks(Callbacks):
    """A roofs_comm on a communicator. Sums are made in the order of the ranks, so the bits depend on the number of
    ranks only."""

    def __init__(self, comm: Any) -> None:
        super().__init__()
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self.c = ffi.new("roofs_comm *", {"rank": self.rank, "size": self.size, "user": self.handle,
                                          "start": lib.roofs_python_start, "finish": lib.roofs_python_finish,
                                          "gather": lib.roofs_python_gather})
        self.summands = np.empty(0)   # of the sum in progress; view of the library's memory

    def add_up(self) -> None:
        gathered = np.empty((self.size, len(self.summands)))
        self.comm.Allgather(self.summands.copy(), gathered)
        total = gathered[0]
        for summands in gathered[1:]:
            total = total + summands
        self.summands[:] = total


def view(pointer: Any, size: int, dtype: Any) -> np.ndarray:
    return np.frombuffer(ffi.buffer(pointer, size), dtype=dtype) if size > 0 else np.empty(0, dtype=dtype)


@ffi.def_extern(error=1, onerror=keep_exception)
def roofs_python_start(user: Any, values: Any, count: int) -> int:
    ffi.from_handle(user).summands = view(values, 8 * count, np.float64)
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def roofs_python_finish(user: Any) -> int:
    ffi.from_handle(user).add_up()
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def roofs_python_gather(user: Any, mine: Any, sizes: Any, gathered: Any) -> int:
    ranks = ffi.from_handle(user)
    counts = [sizes[k] for k in range(ranks.size)]
    ranks.comm.Allgatherv(view(mine, counts[ranks.rank], np.uint8), [view(gathered, sum(counts), np.uint8), counts])
    return 0
