"""HalfSpaceProjection: the best of several random projections in the upper half-space."""

from __future__ import annotations

from heapq import nsmallest
from typing import Any

import numpy as np

from .._input.arguments import check_count, check_generator
from .._input.coordinates import ModelChoice
from .._input.rows import Rows
from ..geometry import distance, from_hyperboloid, lift, translate, translate_to_origin
from ..geometry._arrays import Array, array_namespace, dot, from_numpy
from ..statistics import principal_axes
from .linear import IMAGE_ERROR, LinearReduction

FINAL_PAIRS = 1 << 13  # Pairs on which the best draws are compared: the standard error is about 1 % of the distortion.
FIRST_PAIRS = 1 << 9  # Pairs on which all draws are compared first.
FINALISTS = 16  # The best draws, which are compared on all of FINAL_PAIRS.
SCALES = 2.0 ** np.linspace(-1, 1, 5)  # Factors that are tried for each draw, relative to the Johnson-Lindenstrauss factor.

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]  # points (n, d+1) and (n, d+1) relative to their mean, and distances (n,)


class HalfSpaceProjection(LinearReduction):
    """The best of several random projections in the upper half-space [1]_.

    In the upper half-space a point has a height, which is kept, and horizontal coordinates, which are reduced to K - 1
    dimensions by a random orthogonal projection and scaled up again, as in the Johnson-Lindenstrauss lemma. Of `n_draws` such
    maps, each with a few scales, the estimator uses the one with the smallest average distortion on a sample of pairs. Nothing
    else is learnt: it is a baseline.

    In the theorem the ideal point at infinity is arbitrary. Here it is the direction of a random data point, seen from the
    mean. On the paper's data this lowers the distortion by a tenth.

    Parameters
    ----------
    n_components : int or None, default=2
        K, the dimension of the image, from 1 to the dimension of the data (and at most the number of points). None keeps all.
    n_draws : int, default=1000
        The number of random maps. All are compared on a few hundred pairs, the best of them on thousands.
    model : str, default="poincare"
        Coordinates of the input and of the output.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    random_state : int, RandomState, Generator or None, default=None
        Seed for the maps and the pairs.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_dimensions)
        Orthonormal directions at the mean, transported to the origin: that of infinity, and the horizontal ones.
    scale_ : float
        The factor of the horizontal coordinates.
    distortion_ : float
        Average distortion on the pairs on which the draws were compared.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean, in the estimator's model.
    n_components_, explained_variance_, explained_variance_ratio_, total_variance_
        As in `HoroPCA`. The ratios may sum to more than 1, because this map can lengthen distances.
    n_iter_, converged_, status_
        How the search for the mean ended; everything else has a closed form.
    objective_, model_, curvature_, n_features_in_, feature_names_in_
        As in `HoroPCA`.

    See Also
    --------
    RadialPCA : another baseline with a closed form.
    HoroPCA : optimises the directions that this method draws at random.

    References
    ----------
    .. [1] Benjamini, I., and Makarychev, Y. (2009). Dimension reduction for hyperbolic space. Proceedings of the AMS 137(2).

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
        n_draws: int = 1000,
        model: ModelChoice = "poincare",
        curvature: float = -1.0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_draws = n_draws
        self.model = model
        self.curvature = curvature
        self.random_state = random_state

    def _check_parameters(self) -> str:
        check_count("n_draws", self.n_draws, 1)
        return super()._check_parameters()

    def _lengthens(self) -> bool:
        return True

    def _find_components(self, rows: Rows, K: int) -> np.ndarray:
        rng = check_generator(self.random_state)
        x, y = (translate_to_origin(rows.take(rng.integers(rows.shape[0], size=FINAL_PAIRS)), self._mean) for _ in range(2))
        turn, _ = principal_axes(x)  # so that the maps rotate with the data
        pairs: Pairs = (lift(x[:, 1:] @ turn.T), lift(y[:, 1:] @ turn.T), distance(x, y))
        few: Pairs = (pairs[0][:FIRST_PAIRS], pairs[1][:FIRST_PAIRS], pairs[2][:FIRST_PAIRS])
        draws = (_drawn(pairs[0], K, rng) for _ in range(self.n_draws))
        best = nsmallest(FINALISTS, draws, key=lambda axes: float(_distortions(few, axes).min()))
        found = np.stack([_distortions(pairs, axes) for axes in best])
        self.distortion_ = float(found.min())
        k, scale = np.unravel_index(found.argmin(), found.shape)
        self.scale_ = float(_scales(*best[k].shape)[scale])
        return best[k] @ turn

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

    def _is_accurate(self, t: Array, b: Array, rest: Array, error: Array) -> Array:
        return (2 * error < IMAGE_ERROR / 4 * self._low(t, b, rest)) & (error * self.scale_ < IMAGE_ERROR / 4)

    def _embed(self, y: Array) -> Array:
        image = from_hyperboloid(self._frame.leave(y), "halfspace")
        low, beside = 1 / image[:, -1], image[:, :-1] / image[:, -1:] / self.scale_
        along = ((1 + dot(beside, beside)) / low - low) / 2
        components = from_numpy(self.components_, y)
        return translate(lift(along[:, None] * components[0, :] + beside @ components[1:, :]), from_numpy(self._centre, y))


def _drawn(x: np.ndarray, K: int, rng: np.random.Generator) -> np.ndarray:
    """Orthonormal directions (K, d): that of one of the points x (n, d+1), and random ones across it."""
    columns = rng.standard_normal((x.shape[1] - 1, K))
    columns[:, 0] = x[rng.integers(len(x)), 1:]
    axes, turned = np.linalg.qr(columns)
    return np.asarray(np.where(turned[0, 0] < 0, -axes, axes).T)


def _scales(K: int, d: int) -> np.ndarray:
    """Factors of the horizontal coordinates, around the one with which a random projection keeps squared lengths on average."""
    return np.sqrt((d - 1) / (K - 1)) * SCALES if 1 < K < d else np.ones(1)


def _distortions(pairs: Pairs, axes: np.ndarray) -> np.ndarray:
    """The average distortion of pairs by the maps of some axes, for each of the scales."""
    x, y, apart = pairs
    (low, beside), (other, aside) = ((p[:, 0] - p[:, 1:] @ axes[0], p[:, 1:] @ axes[1:].T) for p in (x, y))
    low, other = (np.maximum(a, 1 / (2 * p[:, 0])) for a, p in ((low, x), (other, y)))  # the least, but for rounding
    differ = apart > 0
    if not differ.any():
        return np.zeros(1)
    scales = _scales(*axes.shape)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):  # a map that overflows has an infinite distortion
        ratio = np.sqrt(low / other)
        across = np.sum((beside / ratio[:, None] - aside * ratio[:, None]) ** 2, axis=1)  # |b/low - b'/low'|^2 low low'
        chords = np.sqrt(scales**2 * across + (ratio - 1 / ratio) ** 2)
        found = np.mean(np.abs(2 * np.arcsinh(chords / 2)[:, differ] / apart[differ] - 1), axis=1)
    return np.where(np.isfinite(found), found, np.inf)
