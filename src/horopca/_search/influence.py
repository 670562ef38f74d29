"""How much the picture would change if a point were left out, without fitting again.

At the optimum of an objective the pulls of all points, what each adds to the gradient, cancel. Without one of them they do not,
and one step of Newton's method leads to where they would: the implicit function theorem, the influence function of statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .._objectives.frechet import mean_of_images, on_hyperboloid
from .._objectives.objectives import OBJECTIVES, SHARPEST, Term, inverse
from .._objectives.pairs import some_offsets, some_pairs
from .._objectives.profiles import half_sinh_squared
from .._objectives.sample import Sample
from ..geometry import distance, pairwise_distance
from ..geometry.clouds import row_slices
from ..projections.horospherical import Slid, slide_with_pullback
from .families import Family, compose

PAIRS_AT_ONCE = 1 << 18  # Pulls are taken from so many pairs at a time.
CURVED_PAIRS = 1 << 19  # The curvature of an objective is that over so many pairs, or over all if they are fewer.
MEASURED_PAIRS = 1 << 15  # How much distances change is measured on about so many of them.
STEP = 1e-5  # Differences are taken over steps of this length.
EDGE = 1e-3  # An objective that bends up in a direction, by this share of the largest curvature, has an edge nearby.
FLAT = 1e-7  # Directions with less than this share of the largest curvature change nothing but the basis of a spine.


class Optimum(NamedTuple):
    """Where an objective over a sample, which stands for `seen` points, has its maximum: at theta in a family of spines."""

    name: str
    sample: Sample
    family: Family
    theta: np.ndarray
    seen: int

    def around(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each parameter, theta a step ahead and a step back."""
        for k in range(self.theta.size):
            step = STEP * np.eye(1, self.theta.size, k).reshape(self.theta.shape)
            yield self.theta + step, self.theta - step

    def slid(self, sample: Sample, theta: np.ndarray) -> np.ndarray:
        """The images (K, n) of a sample in the half-space, heights last."""
        soft = OBJECTIVES[self.name].term
        slide: Callable[..., Slid] = slide_with_pullback if soft is None else soft(self.sample, SHARPEST).slide
        beta, eta, _ = slide(sample, self.family.basis(theta)[0])
        return np.concatenate([beta, eta[None]])

    def slopes(self, sample: Sample) -> np.ndarray:
        """The derivatives (p, K, n) of the images of a sample in the parameters."""
        ends = ((self.slid(sample, ahead), self.slid(sample, back)) for ahead, back in self.around())
        return np.array([(ahead - back) / (2 * STEP) for ahead, back in ends])


class Influence(NamedTuple):
    """How much the distances of images would change without each of some points, as a share; and how far to believe it."""

    changes: np.ndarray  # (m,), root mean squares over pairs of images
    errors: np.ndarray  # (m,), standard errors: 0 where the sample is all there is
    left: float  # how much they would change if the climb had gone on to where the pulls of all points cancel
    peak: bool  # whether the objective bends down in all directions: not so beside an edge


def influence(optimum: Optimum, points: Sample, copies: np.ndarray) -> Influence:
    """What an optimum owes to each of some points that count as often as `copies` (m,) says."""
    soft, sample, seen = OBJECTIVES[optimum.name].term, optimum.sample, optimum.seen
    gradient, inverse_hessian, peak = _curvature(optimum)
    if soft is None:
        parts, alone, total = [_pulls_about_mean(optimum, points)] * 2, 1.0, float(seen)
    else:
        halves = [sample.take(half) for half in np.array_split(np.arange(sample.size), 2)]
        found = [_pulls(soft(sample, SHARPEST), optimum, points, half) for half in halves]
        parts, apart = [pull for pull, _ in found], float(np.mean([share for _, share in found]))
        alone, total = float(seen), seen * (seen - 1) / 2 if apart == 1 else apart * seen * seen / 2
    # without a point the others pull as much as it did, the other way; and they are fewer
    share = (copies * alone / (total - copies * alone))[:, None]
    first, second = (share * pull @ inverse_hessian for pull in parts)
    root = _changed(optimum.slid(sample, optimum.theta), optimum.slopes(sample))
    steps = (first + second) / 2, (first - second) / 2, gradient @ inverse_hessian
    changes, errors, left = (np.linalg.norm(step @ root.T, axis=-1) for step in steps)
    return Influence(changes, errors if sample.size < seen else np.zeros(len(copies)), float(left), peak)


def _curvature(optimum: Optimum) -> tuple[np.ndarray, np.ndarray, bool]:
    """The gradient (p,), the inverse (p, p) of the Hessian in the directions in which the objective bends down, and whether it
    bends up in none."""
    sample = optimum.sample
    pairs = some_pairs(sample.size, max(1, CURVED_PAIRS // sample.size), np.random.default_rng(0))
    objective = compose(OBJECTIVES[optimum.name].over(sample, pairs, SHARPEST), optimum.family)
    columns = [(objective(ahead)[1] - objective(back)[1]).ravel() / (2 * STEP) for ahead, back in optimum.around()]
    hessian = np.array(columns)
    sizes, axes = np.linalg.eigh((hessian + hessian.T) / 2)
    bent = sizes < -FLAT * np.abs(sizes).max()
    inverse_hessian = (axes[:, bent] / sizes[bent]) @ axes[:, bent].T
    return objective(optimum.theta)[1].ravel(), inverse_hessian, bool(sizes.max() <= EDGE * np.abs(sizes).max())


def _pulls(term: Term, optimum: Optimum, points: Sample, others: Sample) -> tuple[np.ndarray, float]:
    """The mean gradients (m, p) of what the pairs of each of some points with others add, and the share of pairs that count."""
    y, there = (optimum.slid(part, optimum.theta) for part in (points, others))
    own, beside = (optimum.slopes(part) for part in (points, others))
    found, counted = [], 0
    for rows in row_slices(points.size, max(1, PAIRS_AT_ONCE // others.size)):
        here = y[:, rows, None]
        delta, near = here - there[:, None, :], 1 / (4 * here[-1] * there[-1])
        square = half_sinh_squared(delta, near)
        a, c = np.sqrt(square), np.sqrt(1 + square)
        known = inverse(pairwise_distance(points.points()[rows], others.points())) if term.distances else None
        slope = term.profile.host(a, c, np.arcsinh(a), known)[1]
        pull, level = 2 * slope * near * delta, slope * square  # opposite at the two ends of a pair, and alike
        mine, theirs = pull.sum(axis=2), -pull
        mine[-1] -= level.sum(axis=1) / y[-1, rows]
        theirs[-1] -= level / there[-1]
        total = np.einsum("ki,pki->ip", mine, own[:, :, rows])
        total += np.swapaxes(theirs, 0, 1).reshape(len(total), -1) @ beside.reshape(len(beside), -1).T
        found.append(term.factor * total / others.size)
        counted += square.size if known is None else int(np.count_nonzero(known))
    return np.concatenate(found), counted / (points.size * others.size)


def _pulls_about_mean(optimum: Optimum, points: Sample) -> np.ndarray:
    """The gradients (m, p) of the squared distances of images of some points from the mean of all images, which moves too."""

    def squares(theta: np.ndarray) -> np.ndarray:
        y, everywhere = (optimum.slid(part, theta) for part in (points, optimum.sample))
        return np.asarray(distance(on_hyperboloid(y[:-1], y[-1]), mean_of_images(everywhere[:-1], everywhere[-1])) ** 2)

    return np.array([(squares(ahead) - squares(back)) / (2 * STEP) for ahead, back in optimum.around()]).T


def _changed(y: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """The matrix (., p) that takes a step of the parameters to a vector as long as the distances of images y (K, n) change by
    it: the root mean square over pairs, over that of the distances. Isometries of the images change none."""
    n, changes, squares = y.shape[1], [], 0.0
    for o in some_offsets(n, max(1, MEASURED_PAIRS // n), np.random.default_rng(0)) or (1,):
        there = np.roll(y, -o, axis=1)
        delta, near = y - there, 1 / (4 * y[-1] * there[-1])
        square = half_sinh_squared(delta, near)
        level = slopes[:, -1] / y[-1]
        change = 2 * near * np.einsum("kn,pkn->pn", delta, slopes - np.roll(slopes, -o, axis=2))
        change -= square * (level + np.roll(level, -o, axis=1))
        changes.append(change / np.sqrt(square * (1 + square)))
        squares += float(np.sum(4 * np.arcsinh(np.sqrt(square)) ** 2))
    return np.asarray(np.linalg.qr(np.concatenate(changes, axis=1).T, mode="r") / max(np.sqrt(squares), 1e-300))
