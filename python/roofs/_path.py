"""Coefficients and trusted samples while the features arrive, for pictures."""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ._library import Fit

MAX_SNAPSHOTS = 128   # bounds the memory: at this number every other snapshot is dropped


@dataclass
class Snapshot:
    """The fit after one batch."""

    features_seen: int
    indices: np.ndarray
    coefs: np.ndarray
    trust: np.ndarray = field(repr=False)   # packed bits


@dataclass
class Path:
    """At most 128 snapshots, evenly spread over the batches of a fit."""

    snapshots: list[Snapshot] = field(default_factory=list, repr=False)
    every: int = 1
    batches: int = 0
    order: np.ndarray | None = field(default=None, repr=False)   # the number in X of each feature of the stream

    def record(self, fit: Fit) -> None:
        self.batches += 1
        if self.batches % self.every:
            return
        result = fit.view()
        indices = result.indices if self.order is None else self.order[result.indices]
        self.snapshots.append(Snapshot(result.features_seen, indices, result.coef, np.packbits(result.trust)))
        if len(self.snapshots) == MAX_SNAPSHOTS:
            self.snapshots = self.snapshots[1::2]
            self.every *= 2

    def __len__(self) -> int:
        return len(self.snapshots)

    def features_seen(self) -> np.ndarray:
        return np.array([s.features_seen for s in self.snapshots])

    def coefs(self, indices: np.ndarray) -> np.ndarray:
        """Coefficient of each of these features in each snapshot; 0 if the feature was not kept."""
        table = np.zeros((len(self), len(indices)))
        for row, s in zip(table, self.snapshots):
            found = dict(zip(s.indices.tolist(), s.coefs.tolist()))
            row[:] = [found.get(int(k), 0.0) for k in indices]
        return table

    def trust(self, n: int) -> np.ndarray:
        """True for each of the n samples that was trusted, in each snapshot."""
        return np.array([np.unpackbits(s.trust, count=n) for s in self.snapshots], dtype=bool).reshape(len(self), n)
