"""How coefficients and trust came about, for pictures."""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ._library import Fit, Result

MOST = 128   # snapshots kept: when there are more, every other one goes, so memory stays bounded


@dataclass
class Snapshot:
    """The fit after one batch."""

    features_seen: int
    indices: np.ndarray
    coefs: np.ndarray
    trust: np.ndarray = field(repr=False)   # packed bits


@dataclass
class Path:
    """Snapshots evenly spread over the batches of a fit, at most 128."""

    snapshots: list[Snapshot] = field(default_factory=list, repr=False)
    every: int = 1
    batches: int = 0

    def record(self, fit: Fit) -> None:
        self.batches += 1
        if self.batches % self.every:
            return
        result: Result = fit.view()
        self.snapshots.append(Snapshot(result.features_seen, result.indices, result.coef, np.packbits(result.trust)))
        if len(self.snapshots) == MOST:
            self.snapshots = self.snapshots[1::2]
            self.every *= 2

    def __len__(self) -> int:
        return len(self.snapshots)

    def features_seen(self) -> np.ndarray:
        return np.array([s.features_seen for s in self.snapshots])

    def coefs(self, indices: np.ndarray) -> np.ndarray:
        """Coefficient of each of these features at each snapshot; 0 where it was not kept."""
        table = np.zeros((len(self), len(indices)))
        for row, s in zip(table, self.snapshots):
            found = dict(zip(s.indices.tolist(), s.coefs.tolist()))
            row[:] = [found.get(int(k), 0.0) for k in indices]
        return table

    def trust(self, n: int) -> np.ndarray:
        """Which of the n samples was trusted at each snapshot."""
        return np.array([np.unpackbits(s.trust, count=n) for s in self.snapshots], dtype=bool).reshape(len(self), n)
