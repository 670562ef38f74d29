"""The base of the linear reductions: K directions at a centre, and images that depend on K + 1 inner products with a point.

Relative to the centre a point is (t, s). With b its coordinates along the directions, the space part of its image is

    factor(t, |b|^2, rest) b,       rest = |s|^2 - |b|^2 = t^2 - 1 - |b|^2

or similar, rotated into the canonical frame of the images. Since t and b are inner products with the point, they can be
computed from the user's own row (`Chunk`), and many rows are mapped in about the time that it takes to read them. Rows whose
products lose digits to cancellation are translated to the centre first.
"""

# Annotations are evaluated here: `get_type_hints` of a subclass's constructor would look for their names in its module.
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from .._input.coordinates import ModelChoice
from .._input.rows import Rows
from .._optimize.result import Ending
from ..geometry import lift, translate, translate_to_origin
from ..geometry._arrays import Array, array_namespace, concat_time, dot, from_numpy, to_numpy, with_rows
from ..geometry._points import Chunk, TranslatedPoints
from ..geometry.isometries import BOOSTABLE_TIME, boosted_to_origin
from ..statistics.means import axis_signs, frame_of, sides_of_axes
from .base import HyperbolicReduction
from .fitting import mean_ending, measured_rows, nested_variances, store_mean, store_variances

ROUNDING = 2e-16  # The error of a product, relative to the sum of the sizes of its terms.
IMAGE_ERROR = 1e-9  # If the error of an image may be larger than this, its point is translated first.


@dataclass(eq=False, repr=False, kw_only=True)
class LinearReduction(HyperbolicReduction):
    """Reduction by K directions at a centre. Subclasses choose directions by `_scale` and the length of images by `_factor`."""

    n_components: int | float | None = field(default=2, kw_only=False)
    model: ModelChoice = "poincare"
    curvature: float = -1.0

    def _fit_components(self, rows: Rows, K: int) -> Ending:
        mean = store_mean(self, rows)
        self._store_map(rows, self._mean, self._find_components(rows, K))
        return mean_ending(mean)

    def _find_components(self, rows: Rows, K: int) -> np.ndarray:
        """The components (K, d), orthonormal directions at the mean."""
        return leading_axes(rows, self._mean, self._scale, K)[1]

    @staticmethod
    def _scale(t: Any) -> Any:
        """Factors (n,) for points at time t: the components are the principal axes of the vectors _scale(t) s."""
        raise NotImplementedError

    @staticmethod
    def _factor(t: Array, square: Array, rest: Array) -> Array:
        """The ratio (n,) of the length of the space part of an image to that of b."""
        return array_namespace(t).ones_like(t)

    def _store_map(self, rows: Rows, centre: np.ndarray, components: np.ndarray) -> None:
        """Store the map, its frame and its variances."""
        self._centre, self.components_ = centre, components
        x = rows.points(measured_rows(rows.shape[0]))
        x = translate_to_origin(x, from_numpy(centre, x))
        nested = [self._unrotated_images(x, k) for k in range(1, len(components) + 1)]
        self._frame = frame_of(nested[-1])
        *kept, total = nested_variances([*nested, x])
        store_variances(self, kept, total)

    def _coordinates(self, x: Array) -> tuple[Array, Array, Array]:
        """t (n,), b (K, n) and rest (n,) of points x (n, d+1) relative to the centre."""
        W, s = from_numpy(self.components_, x), x[:, 1:]
        b = s @ W.T
        dropped = s - b @ W
        return x[:, 0], b.T, dot(dropped, dropped)

    def _images_from_coordinates(self, t: Array, b: Array, rest: Array) -> Array:
        """Images (n, K+1), before the rotation, of points with these coordinates."""
        square = array_namespace(b).sum(b * b, axis=0)
        return lift((b * self._factor(t, square, rest)).T)

    def _unrotated_images(self, x: Array, k: int | None = None) -> Array:
        """Images (n, k+1), before the rotation, of points x (n, d+1) relative to the centre, on the first k components."""
        t, b, rest = self._coordinates(x)
        k = b.shape[0] if k is None else k
        return self._images_from_coordinates(t, b[:k, :], rest + array_namespace(b).sum(b[k:, :] ** 2, axis=0))

    def _project(self, x: Array) -> Array:
        return self._frame.enter(self._unrotated_images(translate_to_origin(x, from_numpy(self._centre, x))))

    def _embed(self, y: Array) -> Array:
        s = self._frame.leave(y)[:, 1:] @ from_numpy(self.components_, y)
        return translate(lift(s), from_numpy(self._centre, y))

    def _products(self, chunk: Chunk) -> tuple[Any, Any, Any]:
        """`_coordinates` of a chunk of points, as products with the rows themselves."""
        xp = array_namespace(chunk.t)
        vectors = boosted_to_origin(block_diag(1.0, self.components_), self._centre)
        error = ROUNDING * float(np.abs(vectors).sum(axis=1).max()) * chunk.t
        with np.errstate(over="ignore", invalid="ignore"):  # such rows are computed again below
            y = chunk.products(from_numpy(vectors, chunk.t))
            t, square = y[0, :], xp.sum(y[1:, :] ** 2, axis=0)
            rest = t * t - 1 - square
            lost = ~((t > 0) & (rest >= 0) & self._is_accurate(t, y[1:, :], rest, error))  # rounding can make t < 0
        if not bool(xp.any(lost)):
            return t, y[1:, :], rest
        x = translate_to_origin(chunk.points(lost), from_numpy(self._centre, chunk.t))
        again = self._coordinates(x)
        return with_rows(t, lost, again[0]), with_rows(y[1:, :].T, lost, again[1].T).T, with_rows(rest, lost, again[2])

    def _images(self, chunk: Chunk) -> Any:
        y = self._images_from_coordinates(*self._products(chunk))
        turn = from_numpy(self._frame.matrix()[1:], y)
        images = lift(y @ turn.T)
        far = y[:, 0] * (ROUNDING * float(np.abs(self._frame.matrix()).sum(axis=1).max())) > IMAGE_ERROR
        return with_rows(images, far, self._frame.enter(y[far])) if bool(array_namespace(y).any(far)) else images

    def _is_accurate(self, t: Array, b: Array, rest: Array, error: Array) -> Array:
        """A mask (n,): whether products with errors of at most `error` (n,) give an image with one of at most IMAGE_ERROR."""
        return error * t < IMAGE_ERROR / 4 * (1 + rest)


def sinh_of(t: Array) -> Array:
    """sinh r for points at time t = cosh r; 0 if rounding made t less than 1."""
    xp = array_namespace(t)
    above = xp.where(t > 1, t - 1, xp.zeros_like(t))
    return xp.sqrt(above) * xp.sqrt(above + 2)


def leading_axes(
    rows: Rows, centre: np.ndarray, scale: Callable[[Array], Array], K: int, *, centred: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The mean (d,) and K principal axes (K, d) of the vectors scale(t) s, for points (t, s) relative to a centre.

    The axes are about 0, or about the mean if `centred`. Their signs are determined by the data, as in `principal_axes`.
    """
    n, d = rows.shape[0], rows.shape[1] - 1
    x = rows.points(measured_rows(n))
    x = translate_to_origin(x, from_numpy(centre, x))
    v = x[:, 1:] * scale(x[:, 0])[:, None]
    if d > v.shape[0] == n:  # the singular vectors of n rows cost less than the eigenvectors of a (d, d) matrix
        few = to_numpy(v)
        mean = few.mean(axis=0)
        axes = np.linalg.svd(few - mean if centred else few, full_matrices=False)[2][:K]
    else:
        mean, second = _moments(rows, centre, scale)
        axes = np.linalg.eigh(second - np.outer(mean, mean) if centred else second)[1][:, ::-1][:, :K].T
    along = (v - from_numpy(mean, v) if centred else v) @ from_numpy(axes.T, v)
    return mean, np.asarray(axes * axis_signs(sides_of_axes(along))[:, None])


def _moments(rows: Rows, centre: np.ndarray, scale: Callable[[Array], Array]) -> tuple[np.ndarray, np.ndarray]:
    """The means (d,) of v and (d, d) of v v^T over the vectors v of `leading_axes`, from all rows."""
    n = rows.shape[0]
    if centre[0] > BOOSTABLE_TIME:
        first, second = TranslatedPoints(rows, centre).fold(lambda chunk: _sums(chunk.X * scale(chunk.t)[:, None]))
        return first / n, second / n
    time = boosted_to_origin(np.eye(1, len(centre)), centre)

    def chunk_sums(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        weight = scale(chunk.products(from_numpy(time, chunk.t))[0, :])
        return _sums(concat_time(weight * chunk.t, chunk.X * (weight * chunk.factor)[:, None]))

    first, second = rows.fold(chunk_sums)
    second = boosted_to_origin(boosted_to_origin(second, centre).T, centre)
    return boosted_to_origin(first, centre)[1:] / n, second[1:, 1:] / n


def _sums(v: Array) -> tuple[np.ndarray, np.ndarray]:
    return to_numpy(array_namespace(v).sum(v, axis=0)), to_numpy(v.T @ v)
