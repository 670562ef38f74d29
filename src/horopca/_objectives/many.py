"""An objective at many spines at once, on a few pairs: for telling promising starts from others, and for their first steps.

All spines go through the same products and the same loops over pairs: each costs a fraction of an evaluation of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..geometry._arrays import to_numpy
from ..projections.horospherical import lower, stretch_with_pullback
from ..statistics import pair_distances
from .objectives import OBJECTIVES, VARIANCE, Term, inverse
from .pairs import some_offsets
from .profiles import TINY
from .sample import Sample

BLOCK = 1 << 14  # So many coordinates of images are worked on at a time: as few kilobytes as a process has (see `pairs`).

Many = Callable[..., tuple[np.ndarray, np.ndarray]]


def over_many(sample: Sample, objective: str, shifts: int, softness: float, rng: np.random.Generator) -> Many:
    """The function from bases (S, k, d+1) (with a stretch (S, k, d+2)) to their values (S,) and, if asked for, gradients.

    The pairs are those of a few shifts; a single component, whose variance needs no pairs, has its exact one. The variance
    stands for objectives that are not means over pairs.
    """
    term = (OBJECTIVES[objective].term or (lambda *_: VARIANCE))(sample, softness)
    offsets = some_offsets(sample.size, shifts, rng) or (1,)  # of two points there is one pair
    few = Few(sample, term, offsets)

    def values(A: np.ndarray, gradient: bool = True) -> tuple[np.ndarray, np.ndarray]:
        step = max(1, BLOCK // (sample.size * A.shape[1]))
        with np.errstate(all="ignore"):  # a runner that overflows is told by its value
            parts = [few.at(A[i : i + step], gradient) for i in range(0, len(A), step)]
        value, G = (np.concatenate(part) for part in zip(*parts, strict=True))
        bad = ~np.isfinite(value)
        return np.where(bad, -np.inf, value), np.where(bad[:, None, None], 0.0, G)

    return values


class Few:
    """A few pairs of a sample, and what they add to an objective."""

    def __init__(self, sample: Sample, term: Term, offsets: Sequence[int]) -> None:
        self.columns, self.floor = to_numpy(sample.columns), to_numpy(sample.floor)
        self.term, self.offsets, self.stretched = term, offsets, term.slide is stretch_with_pullback
        self.known: list[np.ndarray | None] = [None] * len(offsets)
        self.scale = term.factor / len(offsets)
        if term.distances:
            x = to_numpy(sample.points())
            known = [inverse(d) for (d,) in pair_distances(x, offsets=offsets)]
            self.known, apart = list(known), sum(int(np.count_nonzero(d)) for d in known)
            self.scale = term.factor * sample.size / max(apart, 1)

    def at(self, A: np.ndarray, gradient: bool) -> tuple[np.ndarray, np.ndarray]:
        """Values (S,) and gradients (S, k, .) at bases A; no gradients but zeros if they are not asked for."""
        stretch = np.exp(A[:, :, -1].sum(axis=1))[:, None] if self.stretched else np.ones((len(A), 1))
        B = A[:, :, : len(self.columns)]
        V, g = split_many(B)
        c, b = self._coordinates(V, g, stretch)
        size = 1 + np.sum(b * b, axis=1)
        root = np.sqrt(np.maximum(c * c + g * size, 1e-24 * c * c))
        r = lower(c, root, -g / 4, size)
        value, g_y = self._pairs(np.concatenate([b, np.ones_like(r)[:, None]], axis=1) / r[:, None], r, gradient)
        if not gradient:
            return value, np.zeros_like(A)
        g_beta, g_eta = g_y[:, :-1], g_y[:, -1]
        g_r = -(np.sum(g_beta * b, axis=1) + g_eta) / (r * r)
        g_b = g_beta / r[:, None] + (g_r * g / (2 * root))[:, None] * b
        # as in `projections.horospherical`, where it is derived
        g_y = np.concatenate([-(g_r * r / root)[:, None], g_b], axis=1)
        gamma = g_y @ np.swapaxes(np.concatenate([-c[:, None], b], axis=1), 1, 2)
        F = -gamma / 2
        F[:, 1:, 0] = F[:, 0, 1:]
        F[:, 0, 0] = np.sum(g_r * size / root, axis=1) / 4
        G = stretch[:, :, None] * (g_y @ self.columns.T) + 2 * F @ V
        G[:, :, 0] *= -1
        change = B @ np.swapaxes(V, 1, 2)
        change = np.where(np.isfinite(change), change, 0.0)  # of a runner that has overflown, whose value says so
        G = np.swapaxes(np.linalg.pinv(change), 1, 2) @ G
        slope = np.broadcast_to(np.trace(gamma, axis1=1, axis2=2)[:, None, None], (*A.shape[:2], A.shape[2] - B.shape[2]))
        return value, np.concatenate([G, slope], axis=2)

    def _coordinates(self, V: np.ndarray, g: np.ndarray, stretch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """c (S, n) and b (S, k-1, n) of the points, c from light-cone coordinates that are never below what they can be."""
        t, s, n = self.columns[0], self.columns[1:], self.columns.shape[1]
        v0, w = V[:, 0, :1], V[:, 0, 1:]
        length = np.linalg.norm(w, axis=1)[:, None]
        along = (w / np.maximum(length, 1e-300)) @ s
        low, high = np.maximum(t - along, self.floor), np.maximum(t + along, self.floor)
        b = (V[:, 1:, 1:].reshape(-1, len(s)) @ s).reshape(len(V), V.shape[1] - 1, n)
        return stretch * ((v0 + length) / 2 * low + (v0 - length) / 2 * high), stretch[:, :, None] * b

    def _pairs(self, y: np.ndarray, r: np.ndarray, gradient: bool) -> tuple[np.ndarray, np.ndarray]:
        """Values (S,) of images y (S, k, n), heights last, r one over them; and gradients in y."""
        n, most = y.shape[2], max(self.offsets)
        if y.shape[1] == 1 and self.term.on_a_line:
            off = np.log(r)
            off = off - off.mean(axis=1, keepdims=True)
            return 2 * np.sum(off * off, axis=1) / (n - 1), -4 * (off * r)[:, None] / (n - 1)
        value, r = np.zeros(len(y)), r / 2
        # slices of rows that go on with the first ones: what is collected past the last is added to these at the end
        ahead, high = np.concatenate([y, y[:, :, :most]], axis=2), np.concatenate([r, r[:, :most]], axis=1)
        pull, level = np.zeros_like(ahead), np.zeros_like(high)
        for o, known in zip(self.offsets, self.known, strict=True):
            there = slice(o, o + n)
            delta = y - ahead[:, :, there]
            near = r * high[:, there]
            square = np.einsum("skn,skn->sn", delta, delta)
            square *= near
            square += TINY
            a, cosh = np.sqrt(square), np.sqrt(1 + square)
            part, slope = self.term.profile.host(a, cosh, np.log(a + cosh), known)
            value += part.sum(axis=1)
            if gradient:
                near *= slope
                delta *= near[:, None]
                pull[:, :, :n] += delta
                pull[:, :, there] -= delta
                square *= slope
                level[:, :n] += square
                level[:, there] += square
        for total in (pull, level):
            total[..., :most] += total[..., n:]
        scale = self.scale / n
        pull = 2 * pull[:, :, :n]
        pull[:, -1] -= 2 * level[:, :n] * r
        return scale * value, scale * pull


def split_many(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`geometry.hulls.split_basis` of many bases (S, k, d+1) at once: V of the same shape, and g = |w|^2 - v0^2 (S, 1)."""
    mirror = A[:, :, 0].copy()  # Householder's: it gives all of the time to the first row
    size = np.linalg.norm(mirror, axis=1)
    mirror[:, 0] += np.where(mirror[:, 0] >= 0, size, -size)
    square = np.sum(mirror * mirror, axis=1)
    turned = A - (2 / np.where(square > 0, square, 1.0))[:, None, None] * mirror[:, :, None] * (mirror[:, None, :] @ A)
    V = np.zeros_like(turned)
    V[:, 1:, 1:] = np.swapaxes(np.linalg.qr(np.swapaxes(turned[:, 1:, 1:], 1, 2))[0], 1, 2)
    pole = turned[:, 0] * np.where(turned[:, :1, 0] < 0, -1.0, 1.0)
    pole -= ((pole[:, None, :] @ np.swapaxes(V[:, 1:], 1, 2)) @ V[:, 1:])[:, 0]
    V[:, 0] = pole / np.linalg.norm(pole, axis=1, keepdims=True)
    length = np.linalg.norm(V[:, 0, 1:], axis=1)
    return V, ((length - V[:, 0, 0]) * (length + V[:, 0, 0]))[:, None]
