"""Values of an objective at many spines at once, on a few pairs: for telling promising starts from others.

All spines go through the same products, and no gradient is taken: a hundredth of what a climb from each would cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .._objectives.objectives import OBJECTIVES, Term, inverse
from .._objectives.pairs import some_offsets
from .._objectives.sample import Sample
from ..geometry import distance
from ..geometry._arrays import to_numpy
from ..projections.horospherical import stretch_with_pullback

BLOCK = 1 << 17  # numbers of each kind worked on at a time

Screen = Callable[[Sequence[np.ndarray]], np.ndarray]


def screen(sample: Sample, objective: str, shifts: int, rng: np.random.Generator) -> Screen:
    """The function from bases (k, d+1) (or (k, d+2), with a stretch), all of one k, to their values on the pairs of a few shifts.

    A single component, whose variance needs no pairs, has its exact one. The variance stands for objectives that are not means over pairs.
    """
    term = OBJECTIVES[objective].term or OBJECTIVES["variance"].term
    columns, n = to_numpy(sample.columns), sample.size
    offsets = some_offsets(n, shifts, rng)
    known = None
    if term.distances:
        x = to_numpy(sample.points())
        known = np.stack([inverse(distance(x, np.roll(x, -o, axis=0))) for o in offsets])
    floor = to_numpy(sample.floor)

    def values(bases: Sequence[np.ndarray]) -> np.ndarray:
        step = max(1, BLOCK // (n * max(1, len(bases[0]) - 1)))
        with np.errstate(all="ignore"):  # a start that overflows is not a promising one
            parts = [
                _values(columns, floor, np.stack(bases[i : i + step]), term, offsets, known)
                for i in range(0, len(bases), step)
            ]
        found = np.concatenate(parts)
        return np.where(np.isfinite(found), found, -np.inf)

    return values


def _values(
    columns: np.ndarray, floor: np.ndarray, A: np.ndarray, term: Term, offsets: Sequence[int], known: np.ndarray | None
) -> np.ndarray:
    """Values (S,) at bases A (S, k, .)."""
    stretch = 1.0
    if term.slide is stretch_with_pullback:
        A, stretch = A[:, :, :-1], np.exp(A[:, :, -1].sum(axis=1))[:, None]
    v0, w, U = _split(A)
    length = np.linalg.norm(w, axis=1)
    g = ((length - v0) * (length + v0))[:, None]
    along = (w / np.maximum(length, 1e-300)[:, None]) @ columns[1:]
    low, high = np.maximum(columns[0] - along, floor), np.maximum(columns[0] + along, floor)
    c = stretch * (((v0 + length) / 2)[:, None] * low + ((v0 - length) / 2)[:, None] * high)
    b = (U.reshape(-1, U.shape[2]) @ columns[1:]).reshape(*U.shape[:2], -1) * np.asarray(stretch)[..., None]
    size = 1 + np.sum(b * b, axis=1)
    root = np.sqrt(np.maximum(c * c + g * size, 0))
    r = np.where(c >= 0, (c + root) / 2, g * size / (2 * (root + np.abs(c))))
    if A.shape[1] == 1 and not term.distances:
        return 2 * np.log(r).var(axis=1)
    y = np.concatenate([b, np.ones_like(r)[:, None]], axis=1) / r[:, None]
    total = np.zeros(len(A))
    for k, o in enumerate(offsets):
        gap = np.sum((y - np.roll(y, -o, axis=2)) ** 2, axis=1) * (r * np.roll(r, -o, axis=1)) / 4 + 1e-290
        a, cosh = np.sqrt(gap), np.sqrt(1 + gap)
        part, _ = term.profile.host(a, cosh, np.log(a + cosh), None if known is None else known[k])
        total += part.mean(axis=1)
    return term.factor * total / len(offsets)


def _split(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`geometry.hulls.split_basis` of many bases (S, k, d+1) at once, the pole not of unit length: v0 (S,), w (S, d), U (S, k-1, d)."""
    mirror = A[:, :, 0].copy()  # Householder's: it gives all of the time to the first row
    size = np.linalg.norm(mirror, axis=1)
    mirror[:, 0] += np.where(mirror[:, 0] >= 0, size, -size)
    square = np.sum(mirror * mirror, axis=1)
    turned = A - (2 / np.where(square > 0, square, 1.0))[:, None, None] * mirror[:, :, None] * (mirror[:, None, :] @ A)
    sign = np.where(turned[:, 0, 0] < 0, -1.0, 1.0)
    U = np.swapaxes(np.linalg.qr(np.swapaxes(turned[:, 1:, 1:], 1, 2))[0], 1, 2)
    w = turned[:, 0, 1:] * sign[:, None]
    w = w - ((w[:, None, :] @ np.swapaxes(U, 1, 2)) @ U)[:, 0]
    return sign * turned[:, 0, 0], w, U
