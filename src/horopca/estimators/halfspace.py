"""HalfSpaceProjection: random projections of the upper half-space, the best of several."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._points.door import check_count, check_generator
from .._points.memory import Rows
from .._search.ending import Ending
from ..geometry import ModelName, distance, from_hyperboloid, lift, translate, translate_to_origin
from ..geometry._arrays import AnyArray, Array, array_namespace, dot, from_numpy
from ..statistics import principal_axes
from .fitting import mean_ending, store_mean
from .linear import TRUSTED, LinearReduction

PAIRS = 1 << 13  # pairs on which the draws are compared
SCALES = 2.0 ** np.linspace(-1, 1, 5)  # that are tried with each draw, relative to Johnson and Lindenstrauss's


class HalfSpaceProjection(LinearReduction):
    """A random projection in the upper half-space (Benjamini and Makarychev 2009), the best of several.

    With a random ideal point at infinity, a point of the upper half-space has a height, which is kept, and horizontal
    coordinates, which go through a random orthogonal projection to K - 1 dimensions and are scaled up again, as in the lemma
    of Johnson and Lindenstrauss. Of `n_draws` such maps, each in a few scales, the one with the least average distortion on
    a sample of pairs is taken. Nothing else is learnt: a baseline for what is.

    Parameters
    ----------
    n_components : int or None, default=2
        K, the dimension of the image, from 1 to the dimension of the data (and at most the number of points). None: all.
    n_draws : int, default=60
        How many maps are drawn.
    model : {"poincare", "lorentz", "klein", "halfspace", "tangent"}, default="poincare"
        The coordinates of the input, and of the output.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    random_state : int, RandomState, Generator or None, default=None
        Seeds the draws and the pairs.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_dimensions)
        Orthonormal directions at the mean, carried to the origin: that of infinity, and the horizontal ones.
    scale_ : float
        By how much the horizontal coordinates are scaled.
    distortion_ : float
        Average distortion on the pairs on which the draws were compared.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean, in the estimator's model.
    n_components_ : int
        How many components there are.
    explained_variance_ : ndarray of shape (n_components_,)
        What each component adds to the pair variance of the images: the mean squared distance over ordered pairs of points
        (of at most 16384 of them; of more than 2048, over half a million pairs).
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        The same as fractions of ``total_variance_``; their sum is the share that is kept, which may be more than 1.
    total_variance_ : float
        Pair variance of the points.
    n_iter_, converged_, status_
        How the search for the mean ended.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,), if X had column names

    Examples
    --------
    >>> from horopca import HalfSpaceProjection
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> HalfSpaceProjection(n_components=2, random_state=0).fit_transform(X).shape
    (121, 2)
    """

    objective = "distortion"

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        n_draws: int = 60,
        model: ModelName = "poincare",
        curvature: float = -1.0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_draws = n_draws
        self.model = model
        self.curvature = curvature
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_draws", self.n_draws, 1)

    def _lengthens(self) -> bool:
        return True

    def _fit_components(self, rows: Rows, K: int) -> Ending:
        rng = check_generator(self.random_state)
        mean = store_mean(self, rows)
        n, d = rows.shape[0], rows.shape[1] - 1
        first, second = (rows.take(rng.integers(n, size=PAIRS)) for _ in range(2))
        self.distortion_, components, self.scale_ = np.inf, np.eye(K, d), 1.0
        first, second = (translate_to_origin(x, self._mean) for x in (first, second))
        turn, _ = principal_axes(first)  # the draws turn with the data
        far = distance(first, second)
        usual = np.sqrt((d - 1) / (K - 1)) if K > 1 else 1.0
        for _ in range(self.n_draws):
            axes = np.linalg.qr(rng.standard_normal((d, K)))[0].T @ turn
            for scale in usual * SCALES if 1 < K < d else [1.0]:
                found = _distortion(first, second, far, axes, scale)
                if found < self.distortion_:
                    self.distortion_, components, self.scale_ = found, axes, float(scale)
        self._set(rows, self._mean, components)
        return mean_ending(mean)

    def _low(self, t: Array, b: Array, rest: Array) -> Array:
        """t - s.q along the direction q of infinity, whose product with s is the first of b; without cancellation."""
        xp = array_namespace(b)
        along = b[0, :]
        across = 1 + xp.sum(b[1:, :] ** 2, axis=0) + rest  # (t - s.q)(t + s.q)
        return xp.where(along > 0, across / (t + xp.abs(along)), t - along)

    def _flat(self, t: Array, b: Array, rest: Array) -> Array:
        xp = array_namespace(b)
        low, beside = self._low(t, b, rest), self.scale_ * b[1:, :]
        high = (1 + xp.sum(beside * beside, axis=0)) / low
        return lift(xp.concat([beside.T, ((high - low) / 2)[:, None]], axis=1))

    def _sound(self, t: Array, b: Array, rest: Array, error: Array) -> AnyArray:
        return (2 * error < TRUSTED / 4 * self._low(t, b, rest)) & (error * self.scale_ < TRUSTED / 4)

    def _embed(self, y: Array) -> Array:
        image = from_hyperboloid(self._frame.leave(y), "halfspace")
        low, beside = 1 / image[:, -1], image[:, :-1] / image[:, -1:] / self.scale_
        along = ((1 + dot(beside, beside)) / low - low) / 2
        components = from_numpy(self.components_, y)
        return translate(lift(along[:, None] * components[0, :] + beside @ components[1:, :]), from_numpy(self._centre, y))


def _distortion(x: np.ndarray, y: np.ndarray, far: np.ndarray, axes: np.ndarray, scale: float) -> float:
    """The average distortion of pairs of points x and y (n, d+1), at distances `far`, by the map of some axes and a scale."""
    (low, beside), (other, aside) = ((x[:, 0] - x[:, 1:] @ axes[0], x[:, 1:] @ axes[1:].T) for x in (x, y))
    low, other = (np.maximum(a, 1 / (2 * p[:, 0])) for a, p in ((low, x), (other, y)))  # nothing is lower: rounding aside
    ahead = np.sum((beside * (other / low)[:, None] - aside) ** 2, axis=1) * (low / other)  # |b/low - b'/low'|^2 low low'
    near = 2 * np.arcsinh(np.sqrt(scale**2 * ahead + (low - other) ** 2 / (low * other)) / 2)
    apart = far > 0
    return float(np.mean(np.abs(near[apart] / far[apart] - 1))) if apart.any() else 0.0
