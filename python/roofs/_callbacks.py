"""Python functions that the library calls: the object behind `user`, and the exceptions they raise."""
from __future__ import annotations

from typing import Any

from ._native import ffi


class Callbacks:
    """An object that callbacks reach through their `user` pointer, `handle`. `raised` is the last exception that one
    of them raised: C code cannot pass it on."""

    def __init__(self) -> None:
        self.raised: BaseException | None = None
        self.handle = ffi.new_handle(self)


def keep_exception(kind: Any, value: BaseException, trace: Any) -> None:
    user = trace.tb_frame.f_locals.get("user") if trace else None
    if user:
        ffi.from_handle(user).raised = value
