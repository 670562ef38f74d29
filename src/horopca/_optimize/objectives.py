"""What HoroPCA maximises: points, their pairs, and values and gradients at bases of spines. One table.

Points are columns, in the frame of their mean, in random order, with weights. Pairs are (i, i + o mod n) for consecutive
offsets o. So every point occurs equally often, and a set of pairs is a few slices, without index arrays. The offsets up to
n/2 give all pairs.

An objective maps bases (S, K, d+1) to values (S,) and gradients. It is the projection (`projections.project`) followed by a
mean of a profile over pairs of images, or by the Fréchet variance. Images have coordinates beta and a height eta in the upper
half-space of H^K, with

    sinh^2(d/2) = (|beta - beta'|^2 + (eta - eta')^2) / (4 eta eta').

To add an objective, add a row to OBJECTIVES, and its name to ObjectiveName if users may choose it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from array_api_compat import device
from numpy.lib.stride_tricks import sliding_window_view

from ..geometry._arrays import Array, array_namespace, from_numpy, is_torch, norm, on_host, to_numpy
from ..geometry.hyperboloid import DEVICE_BLOCK_ELEMENTS as DEVICE_BLOCK
from ..geometry.models import halfspace_to_hyperboloid, hyperboloid_to_halfspace
from ..projections.horospherical import project
from ..statistics import frechet_mean, frechet_median
from ..statistics.means import frechet_means
from ..statistics.pairs import pair_distances

ObjectiveName = Literal["variance", "distortion", "frechet", "robust"]  # Those that users choose; a stretch is an option.

SHARPEST = 1e-3  # Softness of the last round with a stretch: it changes the distortion by less than 1e-5 on the paper's data.
TINY = 1e-290  # Added to squares whose root is a divisor, so that it is never 0; the root, 1e-145, has an inverse and a square.
BLOCK = 1 << 14
"""Pairs, or coordinates of images, that are processed at a time on the host: the dozen temporaries of a block, 128 kB each,
stay in a core's cache. (Larger ones are returned to the operating system and allocated again, which is three times as slow.)"""
KEPT_PAIRS = 1 << 22  # Distances of up to this many pairs are kept (32 MB); those of more are computed again in each pass.

FEW_ROWS = 1 << 9  # Up to this many points all pairs cost little, and more ascents reach the last round.
SUBSET_ROWS = 1 << 12
"""Points of a random subset where an approximation is enough: their directions are starts, and their mean is the centre of the
search. Up to this many points, objectives with many optima get more starts, and a stretch is searched by basin hopping."""

Profile = Callable[[Any, Any, Any, Any], tuple[Any, Any]]
"""A function of a projected distance d and the true distance. It takes a = sinh(d/2), c = cosh(d/2), h = d/2 and the inverse of
the true distance (None if it is not needed), and returns its value and its derivative with respect to a^2."""

Objective = Callable[..., tuple[np.ndarray, np.ndarray]]  # (bases, gradient=True) to values (S,) and gradients (S, K, .)


class Sample(NamedTuple):
    """Points (n, d+1) of the hyperboloid as columns."""

    columns: Any  # (d+1, n)
    floor: Any  # (n,), the least value of t - s.u over unit vectors u: e^{-radius}
    weights: Any = None  # (n,), or None where all are equal
    full: Any = None  # (D+1, n): the points with all coordinates, where `columns` has only some of them
    reach: float = 1.0  # a typical distance between the points, from which on the robust objective levels off

    @property
    def size(self) -> int:
        return int(self.columns.shape[1])

    @property
    def dimension(self) -> int:
        return int(self.columns.shape[0]) - 1

    def shuffled_order(self) -> np.ndarray:
        """A shuffled order of the points that depends neither on their original order nor on their original position."""
        s = to_numpy(self.columns[1:, :])
        return np.argsort(0.5 ** np.arange(len(s)) @ s, kind="stable")[np.random.default_rng(0).permutation(self.size)]

    def take(self, rows: np.ndarray | slice) -> Sample:
        """Some of the points. The first of them are a random subset, since the points are in random order."""
        if not isinstance(rows, slice):
            rows = array_namespace(self.columns).asarray(rows, device=device(self.columns))
        weights = None if self.weights is None else self.weights[rows]
        full = None if self.full is None else self.full[:, rows]
        return self._replace(columns=self.columns[:, rows], floor=self.floor[rows], weights=weights, full=full)

    def points(self) -> Any:
        """The points (n, D+1) with all their coordinates."""
        return (self.columns if self.full is None else self.full).T

    def along(self, axes: np.ndarray) -> Sample:
        """The points restricted to the time axis and orthonormal directions, the columns of `axes` (d, m).

        Projections on spines in the span of these need no other coordinates.
        """
        xp = array_namespace(self.columns)
        s = from_numpy(axes.T, like=self.columns) @ self.columns[1:, :]
        inside, whole = xp.sum(s * s, axis=0), xp.sum(self.columns[1:, :] ** 2, axis=0)
        rest = xp.maximum(whole - inside, xp.zeros_like(inside))
        t = self.columns[0, :]
        columns, floor = xp.concat([t[None, :], s], axis=0), (1 + rest) / (t + xp.sqrt(inside))
        return self._replace(columns=columns, floor=floor, full=self.points().T)

    def directions(self) -> np.ndarray:
        """Unit vectors (n, d) from the origin to the points; the first axis for a point at the origin."""
        s = to_numpy(self.columns[1:, :]).T
        size = np.linalg.norm(s, axis=1, keepdims=True)
        return np.where(size > 0, s / np.where(size > 0, size, 1.0), np.eye(1, s.shape[1]))


def as_sample(x: Array, weights: Any = None) -> Sample:
    """A sample of the points x (n, d+1) of the hyperboloid."""
    return Sample(x.T, 1 / (x[:, 0] + norm(x[:, 1:])), None if weights is None else from_numpy(weights, like=x))


def _square(a: Array, c: Array, h: Array, _: Any) -> tuple[Array, Array]:
    return h * h, h / (a * c)  # d^2 / 4


def _ratio(a: Array, c: Array, h: Array, inverse: Array) -> tuple[Array, Array]:
    return h * inverse, inverse / (2 * (a * c))  # d / (2 d_0)


def _closeness(softness: float) -> Profile:
    """1 - |d / d_0 - 1| for the true distance d_0, with sqrt(x^2 + softness^2) in place of |x|, less its value at d = 0.

    The inverse distance of a pair of coincident points is 0, so the pair adds nothing.
    """
    value_at_zero = float(np.sqrt(1 + softness**2))

    def profile(a: Array, c: Array, h: Array, inverse: Array) -> tuple[Array, Array]:
        off = h * inverse
        off *= 2
        off -= 1
        size = off * off
        size += softness**2
        size = array_namespace(h).sqrt(size)
        off *= inverse
        off /= size * a * c
        return value_at_zero - size, -off

    return profile


def _bounded(reach: float) -> Profile:
    """d^2 / (d^2 + reach^2): nearly a squared distance where d is below the reach, and never more than 1."""

    def profile(a: Array, c: Array, h: Array, _: Any) -> tuple[Array, Array]:
        square, unit = h * h, reach * reach / 4
        whole = square + unit
        return square / whole, h / (a * c) * (unit / whole) / whole

    return profile


class ObjectiveRow(NamedTuple):
    """An objective: the profile whose mean over pairs it is, and properties that the search depends on."""

    profile: Callable[[Sample, float], Profile] | None  # for a sample and a softness; None: the Fréchet variance
    factor: float = 1.0  # of the profile
    distances: bool = False  # whether the profile needs the true distances
    stretched: bool = False  # whether bases have one more column, whose sum is the logarithm of the stretch
    rugged: int = 0  # up to this many points it is searched from more starts, because many optima are nearly as good
    centre: Callable[..., Any] = frechet_mean  # of the points, where the search is centred


OBJECTIVES = {
    "variance": ObjectiveRow(lambda *_: _square, 4.0),
    # the projection lengthens no distance, so the mean of d / d_0 is one minus the distortion
    "distortion": ObjectiveRow(lambda *_: _ratio, 2.0, distances=True, rugged=SUBSET_ROWS),
    "stretch": ObjectiveRow(lambda _, soft: _closeness(soft), distances=True, stretched=True, rugged=SUBSET_ROWS),
    "frechet": ObjectiveRow(None, rugged=FEW_ROWS),
    "robust": ObjectiveRow(lambda sample, _: _bounded(sample.reach), rugged=SUBSET_ROWS, centre=frechet_median),
}


def objective_over(sample: Sample, name: str, offsets: range, softness: float = SHARPEST, *, precise: bool = True) -> Objective:
    """The objective over the pairs of a sample at some offsets: (bases, gradient=True) -> values (S,), gradients (S, K, .).

    Values that are not finite, as after too long a step, are replaced by -inf. `precise` is as in `project`.
    """
    row, d = OBJECTIVES[name], sample.dimension + 1
    pairs = Pairs(sample.points(), offsets, sample.weights, row.distances)
    profile = row.profile(sample, softness) if row.profile is not None else None

    def objective(A: np.ndarray, gradient: bool = True) -> tuple[np.ndarray, np.ndarray]:
        values, G = np.zeros(len(A)), np.zeros(A.shape)
        step = max(1, (BLOCK if on_host(sample.columns) else DEVICE_BLOCK) // (sample.size * A.shape[1]))
        with np.errstate(all="ignore"):
            for some in (slice(i, i + step) for i in range(0, len(A), step)):
                log_stretch = A[some, :, d:].sum(axis=(1, 2)) if row.stretched else None
                y, r, pullback = project(sample.columns, sample.floor, A[some, :, :d], log_stretch, precise=precise)
                if profile is None:
                    value, slopes = _frechet_variances(y, sample.weights)
                elif name == "variance" and A.shape[1] == 1:
                    value, slopes = log_variance(r, sample.weights)
                else:
                    value, slopes = mean_over_pairs(y, r, pairs, profile, gradient)
                values[some] = row.factor * to_numpy(value)
                if gradient:
                    G[some] = pullback(row.factor * slopes)
        return np.where(np.isfinite(values), values, -np.inf), G

    return objective


def _frechet_variances(y: Array, weights: Any) -> tuple[Array, Array]:
    """Variances (S,) of images y (S, K, n) about their Fréchet means, and gradients in y.

    At the mean the derivative in the mean vanishes, so the gradient is that of the squared distances to a fixed point.
    """
    xp = array_namespace(y)
    w = xp.ones_like(y[0, 0, :]) if weights is None else weights
    w = w / xp.sum(w)
    means = frechet_means(halfspace_to_hyperboloid(xp.permute_dims(y, (0, 2, 1))), w)
    centres = hyperboloid_to_halfspace(means)[:, :, None]
    delta, near = y - centres, 1 / (4 * y[:, -1:, :] * centres[:, -1:, :])
    square = half_sinh_squared(delta, near[:, 0, :])
    a, c = xp.sqrt(square), xp.sqrt(1 + square)
    h = xp.asinh(a)
    slope = 4 * h / (a * c) * w
    gradient = 2 * slope[:, None, :] * near * delta
    gradient[:, -1, :] -= slope * square / y[:, -1, :]
    return xp.sum(4 * h * h * w, axis=1), gradient


# ---------------------------------------------------------------- means over pairs


class Pairs:
    """The pairs (i, i + o mod n) of points x (n, D+1) for a range of offsets o <= n/2, their weights and true distances.

    Pairs of the offset n/2 occur twice, and count half. Coincident points have no distortion: if distances are needed, their
    pairs have weight 0.
    """

    def __init__(self, x: Array, offsets: range, weights: Any, distances: bool) -> None:
        xp, n = array_namespace(x), x.shape[0]
        self.x, self.offsets, self.distances = x, offsets, distances
        self.wrapped = None if weights is None else xp.concat([weights, weights[: offsets[-1]]])
        self.kept = self._inverse_distances(offsets) if distances and n * len(offsets) <= KEPT_PAIRS else None
        self.total = n * (len(offsets) - (0.5 if 2 * offsets[-1] == n else 0.0))  # the total weight of the pairs that count
        if weights is None and not distances:
            return
        self.total = 0.0
        for o in offsets:
            factors, inverse = self.terms(slice(0, n), range(o, o + 1))
            mass = xp.ones_like(x[:, 0]) if factors is None else factors[0, :]
            self.total += float(xp.sum(mass if inverse is None else xp.where(inverse[0, :] > 0, mass, xp.zeros_like(mass))))

    def blocks(self, starts: int) -> Iterator[tuple[slice, range]]:
        """Rows and offsets that cover all pairs, sized for the device and the number of starts."""
        n, offsets = self.x.shape[0], self.offsets
        pairs = (BLOCK if on_host(self.x) else DEVICE_BLOCK) // starts
        width = min(n, max(pairs // 4, 64))
        height = max(1, pairs // width)
        for k in range(0, len(offsets), height):
            for i in range(0, n, width):
                yield slice(i, min(i + width, n)), offsets[k : k + height]

    def terms(self, rows: slice, offsets: range) -> tuple[Any, Any]:
        """(factors, inverse distances) of a block, (offsets, rows) each; None where all are 1, or not needed."""
        inverse = None
        if self.distances:
            first = offsets[0] - self.offsets[0]
            known = self._inverse_distances(offsets) if self.kept is None else self.kept[first : first + len(offsets), :]
            inverse = known[:, rows]
        w, n = self.wrapped, self.x.shape[0]
        if w is None and 2 * offsets[-1] != n:
            return None, inverse
        xp = array_namespace(self.x)
        ones = xp.ones_like(self.x[rows, 0])
        factors = [ones if w is None else w[rows] * w[rows.start + o : rows.stop + o] for o in offsets]
        return xp.stack([f / 2 if 2 * o == n else f for o, f in zip(offsets, factors, strict=True)]), inverse

    def _inverse_distances(self, offsets: range) -> Any:
        xp = array_namespace(self.x)
        d = xp.stack([d for (d,) in pair_distances(self.x, offsets=offsets)])
        return xp.where(d > 0, 1 / xp.where(d > 0, d, xp.ones_like(d)), xp.zeros_like(d))


def mean_over_pairs(y: Array, r: Array, pairs: Pairs, profile: Profile, gradient: bool = True) -> tuple[Array, Any]:
    """Means (S,) of a profile over pairs of images y (S, K, n), and gradients in y; r (S, n) is 1 / height."""
    xp, (S, K, n), most = array_namespace(y), y.shape, pairs.offsets[-1]
    stack = xp.concat([y, r[:, None, :] / 2], axis=1)
    ahead = xp.concat([stack, stack[:, :, :most]], axis=2)
    value, half_distance = xp.zeros_like(r[:, 0]), _half_distance(y)
    # sums over the pairs at either end: the gradients differ in sign; slope * a^2, in the last row, is the same at both
    here = xp.zeros((S, K + 1, n), dtype=y.dtype, device=device(y))
    there = xp.zeros_like(ahead)
    windows = padded = xp.zeros((S, 1, 1, 1), dtype=y.dtype, device=device(y))  # made for the first block
    for rows, offsets in pairs.blocks(S):
        factors, inverse = pairs.terms(rows, offsets)
        width, m = rows.stop - rows.start, len(offsets)
        if width != windows.shape[3]:  # all windows (S, K+1, positions, width) of consecutive columns: a view
            windows = ahead.unfold(2, width, 1) if is_torch(ahead) else sliding_window_view(ahead, width, axis=2)
        others = windows[:, :, rows.start + offsets[0] : rows.start + offsets[-1] + 1, :]
        near = stack[:, -1:, rows] * others[:, -1, ...]  # 1 / (4 eta eta')
        if padded.shape[2:] != (m, width + m):
            padded = xp.zeros((S, K + 1, m, width + m), dtype=y.dtype, device=device(y))
        terms = padded[..., :width]
        terms[:, :-1, ...] = stack[:, :-1, None, rows]
        terms[:, :-1, ...] -= others[:, :-1, ...]
        square = half_sinh_squared(terms[:, :-1, ...], near)
        a, c = xp.sqrt(square), xp.sqrt(1 + square)
        part, slope = profile(a, c, half_distance(a, c), inverse)
        if factors is not None:
            part, slope = part * factors, slope * factors
        value = value + xp.sum(part, axis=(1, 2))
        if gradient:
            near *= slope
            terms[:, :-1, ...] *= near[:, None, ...]
            terms[:, -1, ...] = square * slope
            here[..., rows] += xp.sum(terms, axis=2)
            # reshaped with rows one shorter, each row moves one to the right of the one above, as its offset does
            flat = xp.reshape(padded, (S, K + 1, -1))[..., : m * (width + m - 1)]
            begin = rows.start + offsets[0]
            there[..., begin : begin + width + m - 1] += xp.sum(xp.reshape(flat, (S, K + 1, m, -1)), axis=2)
    scale = 1 / max(pairs.total, TINY)
    if not gradient:
        return scale * value, None
    there[..., :most] += there[..., n:]
    slopes = (2 * scale) * (here[:, :-1, :] - there[:, :-1, :n])
    slopes[:, -1, :] -= scale * (here[:, -1, :] + there[:, -1, :n]) * r
    return scale * value, slopes


def half_sinh_squared(delta: Array, near: Array) -> Array:
    """sinh^2(d/2) from differences of images (S, K, ...), heights last, and 1 / (4 eta eta'). It is never 0."""
    square = delta[:, 0, ...] * delta[:, 0, ...]
    for k in range(1, delta.shape[1]):
        square += delta[:, k, ...] * delta[:, k, ...]
    square *= near
    square += TINY
    return square


def _half_distance(y: Array) -> Callable[[Array, Array], Array]:
    """asinh(a) from a and c = sqrt(1 + a^2).

    NumPy's asinh costs as much as six logarithms. The logarithm loses digits of a small a, which do not matter in a sum with
    large ones. So asinh is used only if all points of some image are close to each other.
    """
    xp = array_namespace(y)
    close = xp.reshape(xp.abs(y - y[:, :, :1]) < 1e-2 * y[:, -1:, :1], (y.shape[0], -1))
    return (lambda a, c: xp.asinh(a)) if bool(xp.any(xp.all(close, axis=1))) else lambda a, c: xp.log(a + c)


def log_variance(r: Array, weights: Any = None) -> tuple[Array, Array]:
    """A quarter of the mean squared distance over all pairs of images on a line (K = 1), from r (S, n) = 1 / height.

    Also returns the gradient in the heights, (S, 1, n). On a line d = |log r - log r'|, so the mean over pairs is twice the
    variance of log r.
    """
    xp = array_namespace(r)
    w = xp.ones_like(r[0, :]) if weights is None else weights
    mass, own = xp.sum(w), xp.sum(w * w)
    logs = xp.log(r)
    off = logs - (logs @ w / mass)[:, None]
    scale = mass / 2 / xp.maximum(mass * mass - own, from_numpy(np.asarray(TINY), r))
    return scale * xp.sum(w * off * off, axis=1), (-2 * scale * w * off * r)[:, None, :]
