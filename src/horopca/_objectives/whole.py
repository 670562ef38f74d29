"""The objectives over all rows of a large array, from passes over it.

Every row i is paired with a few points j of a random sample S of the rows, so a chunk of rows needs nothing but itself
and the images of S. With f_ij the term of a pair, mean over rows and sample A = mean f_is, and over the sample alone
B = mean f_ss',

    2 A - B

is the mean over all pairs of rows: what is peculiar to the sample is in 2 A twice and in B twice, and goes. The sample's own
objective, tilted so that its gradient is that of 2 A - B, has the optimum of all rows but for a fraction of the
distance between the two; one pass is enough. A mean over points (the variance about the mean) is taken over all rows as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from .._input.rows import Rows
from ..geometry import Frame
from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy, with_rows
from ..geometry._points import ArrayPoints, Chunk
from ..geometry.isometries import BOOSTABLE_TIME
from ..projections.horospherical import Products, slide_with_pullback, stretch_with_pullback
from ..statistics import exp_from, newton_terms
from .frechet import mean_of_images, on_hyperboloid, squares_from
from .objectives import OBJECTIVES, SHARPEST, Term, inverse
from .pairs import Across, some_offsets
from .profiles import half_sinh_squared, mean_over_pairs
from .sample import CLOSE, Objective, Sample, pole_product

SAME = 1e-6  # A row and a point of the sample at less than this distance are taken for one.
PARTNERS = 4  # A row is paired with at least so many points of the sample.
LEAST_PAIRS_ACROSS = 1 << 18  # All rows together are in at least so many pairs.
MEASURED_ACROSS = 1 << 20  # The variances that are reported are taken over at most so many of these pairs.


class Placed(NamedTuple):
    """A chunk of rows as seen from a frame."""

    chunk: Chunk
    frame: Frame
    matrix: np.ndarray

    def products(self, M: np.ndarray) -> Any:
        return self.chunk.products(from_numpy(M @ self.matrix, self.chunk.t))

    def gather(self, weights: Array) -> np.ndarray:
        return np.asarray(to_numpy(self.chunk.gather(weights)) @ self.matrix.T)

    def sharpened(self, c: Array, v0: float, w: np.ndarray) -> Array:
        xp = array_namespace(c)
        size = float(np.linalg.norm(np.concatenate([[v0], -w]) @ self.matrix))
        lost = xp.abs(c) < CLOSE * size * self.chunk.t
        if not bool(xp.any(lost)):
            return c
        x = self.frame.enter(self.chunk.points(lost))
        floor = 1 / (x[:, 0] + xp.sqrt(xp.sum(x[:, 1:] ** 2, axis=1)))
        return with_rows(c, lost, pole_product(x, floor, v0, w))


class Whole:
    """All rows, against a random sample of them.

    `some` (m, d+1) are the points of the sample as they come from the rows, `sample` the same as seen from the frame.
    """

    def __init__(self, rows: Rows, some: np.ndarray, frame: Frame, sample: Sample, rng: np.random.Generator) -> None:
        self.rows, self.some, self.frame, self.sample = rows, some, frame, sample
        shifts = max(PARTNERS, LEAST_PAIRS_ACROSS // rows.shape[0])
        self.offsets = some_offsets(2 * sample.size, min(shifts, sample.size // 2), rng)

    def objective(self, name: str) -> Objective:
        """The objective over pairs of a row and a point of the sample; over all rows, if it has no pairs."""
        soft = OBJECTIVES[name].term
        if soft is None:
            return self._about_mean
        term = soft(self.sample, SHARPEST)
        return lambda A: self._across(A, term)

    def tilt(self, name: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """The function from a basis and the gradient there of the sample's objective to how much that of all rows is more."""
        weight, objective = 1 if OBJECTIVES[name].term is None else 2, self.objective(name)
        return lambda A, gradient: weight * (objective(A)[1] - gradient)

    def _across(self, A: np.ndarray, term: Term) -> tuple[float, np.ndarray]:
        """The mean over pairs of a row and a point of the sample, and its gradient."""
        beta, eta, pullback = term.slide(self.sample, A)
        count, value, G, g_beta, g_eta = self.rows.fold(_terms(self._task(), term, A, beta, eta))
        return value / count, (G + pullback(g_beta, g_eta)) / count

    def _about_mean(self, A: np.ndarray) -> tuple[float, np.ndarray]:
        """The variance of the images of all rows about their mean, and its gradient; the mean by one step from the sample's."""
        beta, eta, _ = slide_with_pullback(self.sample, A)
        task, n = self._task(), self.rows.shape[0]
        mean = mean_of_images(beta, eta)

        def steps(chunk: Chunk) -> Any:
            images = ArrayPoints(on_hyperboloid(*slide_with_pullback(task.placed(chunk)[0], A)[:2]))
            return tuple(chunk.t.shape[0] * term for term in newton_terms(images, mean))

        _, gradient, hessian = self.rows.fold(steps)
        mean = exp_from(mean, np.linalg.solve(hessian, gradient))

        def terms(chunk: Chunk) -> tuple[float, np.ndarray]:
            b, e, pullback = slide_with_pullback(task.placed(chunk)[0], A)
            value, g_b, g_e = squares_from(b, e, mean)
            return value, pullback(g_b, g_e)

        value, G = self.rows.fold(terms)
        return value / n, G / n

    def squares(self, A: np.ndarray) -> Callable[[Chunk], tuple[int, float, float]]:
        """The function of a chunk to a number of its pairs with the sample, and the sums of their squared distances: of the
        images, and of the points.

        A has a column more than the points where there is a stretch.
        """
        slide = slide_with_pullback if A.shape[1] == self.rows.shape[1] else stretch_with_pullback
        beta, eta, _ = slide(self.sample, A)
        shifts = min(len(self.offsets), max(1, MEASURED_ACROSS // self.rows.shape[0]))
        task = self._task()._replace(offsets=self.offsets[:shifts])
        return _squares(task, lambda placed: slide(placed, A)[:2], beta, eta)

    def _task(self) -> Task:
        return Task(self.frame, self.frame.matrix(), self.some, self.offsets)


class Task(NamedTuple):
    """What the work on a chunk of rows needs to know, wherever it is done."""

    frame: Frame
    matrix: np.ndarray
    some: np.ndarray
    offsets: tuple[int, ...]

    def placed(self, chunk: Chunk) -> tuple[Placed, Across]:
        """The chunk as seen from the frame, and its pairs with the sample."""
        m = len(self.some)
        pairs = Across(chunk.t.shape[0], m, tuple((chunk.start + o) % m for o in self.offsets))
        if self.frame.mean[0] <= BOOSTABLE_TIME:
            return Placed(chunk, self.frame, self.matrix), pairs
        moved, eye = Chunk.of(self.frame.enter(chunk.points())), np.eye(len(self.matrix))
        return Placed(moved, Frame(eye[0], eye[1:, 1:]), eye), pairs


def _terms(task: Task, term: Term, A: np.ndarray, beta: np.ndarray, eta: np.ndarray) -> Callable[[Chunk], tuple[Any, ...]]:
    """What a chunk adds, with the images (beta, eta) of the sample: number of pairs, value, gradients in A and in them."""

    def terms(chunk: Chunk) -> tuple[Any, ...]:
        placed, pairs = task.placed(chunk)
        b, e, pullback = term.slide(placed, A)
        xp, n = array_namespace(e), e.shape[0]
        count, known = pairs.total, None
        if term.distances:
            count, known = _true_distances(chunk, task.some, pairs)
        b, e = xp.concat([b, from_numpy(beta, e)], axis=1), xp.concat([e, from_numpy(eta, e)])
        value, g_b, g_e = mean_over_pairs(b, e, pairs, term.profile, known)
        weight = term.factor * pairs.total
        G = weight * pullback(g_b[:, :n], g_e[:n])
        return count, weight * value, G, weight * to_numpy(g_b[:, n:]), weight * to_numpy(g_e[n:])

    return terms


def _true_distances(chunk: Chunk, some: np.ndarray, pairs: Across) -> tuple[int, Callable[[Any], Any]]:
    """How many of the pairs do not coincide, and 1 / d for those of a block (0 where they do).

    A row that is itself in the sample may be a rounding away from itself.
    """
    xp, known = array_namespace(chunk.t), {}
    for o, others in _partners(some, pairs, chunk.t):
        d = chunk.distances(others)
        known[o] = inverse(xp.where(d > SAME, d, xp.zeros_like(d)))
    apart = sum(int(xp.count_nonzero(row)) for row in known.values())
    return apart, lambda block: xp.stack([known[o][block[0]] for o in block[1]])


def _squares(
    task: Task, slide: Callable[[Products], tuple[Any, Any]], beta: np.ndarray, eta: np.ndarray
) -> Callable[[Chunk], tuple[int, float, float]]:
    """What a chunk adds: number of pairs, squared projected distances, squared distances."""

    def squares(chunk: Chunk) -> tuple[int, float, float]:
        placed, pairs = task.placed(chunk)
        b, e = slide(placed)
        xp = array_namespace(e)
        kept, true, here = 0.0, 0.0, xp.concat([b, e[None, :]], axis=0)
        images = np.concatenate([beta, eta[None]]).T
        for (_, y), (_, others) in zip(_partners(images, pairs, e), _partners(task.some, pairs, e), strict=True):
            square = half_sinh_squared(here - y.T, 1 / (4 * e * y[:, -1]))
            kept += float(xp.sum(4 * xp.asinh(xp.sqrt(square)) ** 2))
            true += float(xp.sum(chunk.distances(others) ** 2))
        return pairs.total, kept, true

    return squares


def _partners(some: np.ndarray, pairs: Across, like: Array) -> Iterator[tuple[int, Array]]:
    """For each shift, the rows of `some` that stand opposite the rows of a chunk."""
    xp, n, m = array_namespace(like), pairs.first, pairs.others
    others, where = from_numpy(some, like), xp.arange(n, device=device(like))
    for o in pairs.offsets:
        yield o, others[o : o + n, :] if o + n <= m else xp.take(others, (where + o) % m, axis=0)
