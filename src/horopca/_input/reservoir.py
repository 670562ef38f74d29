"""A uniform sample of a stream of points, which arrive in batches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .coordinates import Coordinates
from .rows import Rows


class Reservoir(NamedTuple):
    """A uniform sample of a stream of points, for any order and size of the batches.

    It holds the points with the smallest random keys, sorted by key.
    """

    points: np.ndarray  # (m, d+1)
    keys: np.ndarray  # (m,)
    seen: int
    changed: int  # points that were added since the last fit
    seed: int
    model: str
    curvature: float

    @classmethod
    def empty(cls, columns: int, coordinates: Coordinates, seed: int) -> Reservoir:
        return cls(np.zeros((0, columns)), np.zeros(0), 0, 0, seed, *coordinates)

    def after(self, rows: Rows, size: int) -> Reservoir:
        """The sample of at most `size` points after these rows."""
        n = rows.shape[0]
        keys = np.random.default_rng((self.seed, self.seen)).random(n)
        if len(self.keys) == size:
            new = np.flatnonzero(keys < self.keys[-1])
        else:
            new = np.argsort(keys)[:size]
        merged = np.concatenate([self.keys, keys[new]])
        order = np.argsort(merged)[:size]
        points = np.concatenate([self.points, rows.take(new)])[order] if len(new) else self.points
        added = int(np.count_nonzero(order >= len(self.keys)))
        return self._replace(points=points, keys=merged[order], seen=self.seen + n, changed=self.changed + added)
