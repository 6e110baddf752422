"""A progress bar on standard error: of tqdm if it is installed, else a line of text."""
from __future__ import annotations

import sys
from typing import Any


class Bar:
    def __init__(self, enabled: bool, total: int | None) -> None:
        self.enabled, self.total, self.seen = enabled, total, 0
        self.tqdm: Any = None

    def __enter__(self) -> Bar:
        if self.enabled:
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
        elif self.enabled:
            total = f" of {self.total:,}" if self.total else ""
            print(f"\rroofs: {self.seen:,}{total} features", end="", file=sys.stderr, flush=True)

    def extend(self, count: int) -> None:
        """More features are to come than were expected."""
        self.total = (self.total or 0) + count
        if self.tqdm is not None:
            self.tqdm.total = self.total

    def __exit__(self, *reason: Any) -> None:
        if self.tqdm is not None:
            self.tqdm.close()
        elif self.enabled:
            print(file=sys.stderr)
