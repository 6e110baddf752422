"""A bar on standard error: tqdm where it is installed, a line of text otherwise."""
from __future__ import annotations

import sys
from typing import Any


class Bar:
    def __init__(self, wanted: bool, total: int | None) -> None:
        self.wanted, self.total, self.seen = wanted, total, 0
        self.tqdm: Any = None

    def __enter__(self) -> Bar:
        if self.wanted:
            try:
                from tqdm.auto import tqdm
                self.tqdm = tqdm(total=self.total, desc="roofs", unit=" features", file=sys.stderr)
            except ImportError:
                pass
        return self

    def step(self, count: int) -> None:
        self.seen += count
        if self.tqdm is not None:
            self.tqdm.update(count)
        elif self.wanted:
            of = f" of {self.total:,}" if self.total else ""
            print(f"\rroofs: {self.seen:,}{of} features", end="", file=sys.stderr, flush=True)

    def __exit__(self, *reason: Any) -> None:
        if self.tqdm is not None:
            self.tqdm.close()
        elif self.wanted:
            print(file=sys.stderr)
