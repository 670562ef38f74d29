"""BusemannWhitener: Busemann coordinates along principal directions as Euclidean features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .._input.arguments import check_choice, check_count, check_generator
from .._input.coordinates import ModelChoice
from .._input.rows import Rows
from .._input.threads import one_blas_thread
from .._optimize.directions import search_directions
from .._optimize.objectives import as_sample
from .._optimize.result import Ending
from ..geometry import busemann, lift, translate_to_origin
from ..geometry._arrays import Array, array_namespace, dot, finite_root, from_numpy
from ..geometry.isometries import translate_ideal
from ..projections import spine_from_ideal_points, unslide
from ..statistics.means import principal_axes
from .fitting import check_starts, check_stopping, log
from .whitening import ALL_COINCIDE, Whitener

DIRECTION_STARTS = 6  # Starts for each direction by default, the best of eight times as many candidates.
DIRECTION_ROWS = 1 << 13  # The search uses a random sample of at most this many rows.


@dataclass(eq=False, repr=False, kw_only=True)
class BusemannWhitener(Whitener):
    """Busemann coordinates along principal directions, as Euclidean features of zero mean and unit variance [1]_.

    The Busemann function of an ideal point is the coordinate of a point in that direction, as the dot product with a unit
    vector is in Euclidean space. The directions maximise the generalised variance of the coordinates, the determinant of
    their covariance, so that they are not redundant. Any number of different directions is independent in curved space; the
    default is twice the dimension. The features are invariant under isometries of the data.

    Parameters
    ----------
    n_components : int or None, default=None
        The number of directions, at most ``n_samples - 1``. None: twice the dimension of X, one for each end of each axis, or
        the number of independent coordinates of X if that is smaller.
    strategy : {"joint", "greedy"}, default="joint"
        "greedy": one direction after another, each with the largest variance that those before do not explain. "joint": the
        greedy directions are then optimised together.
    decorrelate : bool, default=False
        True: the features are uncorrelated; the k-th is the normalised residual of the k-th coordinate on those before it.
        False: each coordinate is only normalised.
    model : str, default="poincare"
        Coordinates of the input. "tangent": tangent vectors at the origin.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    n_init : "auto" or int, default="auto"
        The number of starts for each direction, the best of eight times as many candidates. "auto" is 6.
    max_iter : int, default=500
        Iterations from each start.
    tol : float, default=1e-6
        A search ends when a step improves the logarithm of the generalised variance by less than this fraction.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the starts, and the subset of more than 8192 points that is searched on.
    verbose : int, default=0
        If 1, print a line to stderr after each direction.

    Attributes
    ----------
    ideal_points_ : ndarray of shape (n_components, n_dimensions)
        The directions as unit vectors, in decreasing order of what they add.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean of the training data, in the estimator's model. All Busemann functions are zero there.
    explained_variance_ : ndarray of shape (n_components,)
        Pair variance (mean squared difference over ordered pairs) of the residual of each coordinate, before normalisation, on
        those before it: twice its variance.
    n_components_ : int
        The number of directions.
    coordinate_mean_, coordinate_scale_ : ndarray of shape (n_components,)
        Mean and standard deviation of the coordinates before they are normalised.
    n_iter_, converged_, status_
        How the search ended.
    model_, curvature_, n_features_in_, feature_names_in_
        As in `HoroPCA`.

    See Also
    --------
    TangentWhitener : logarithmic coordinates at the Fréchet mean.
    HyperbolicSVC : classifies the points themselves.
    HoroPCA : directions that preserve distances.

    References
    ----------
    .. [1] Chami, I., Gu, A., Nguyen, D., and Ré, C. (2021). HoroPCA: Hyperbolic dimensionality reduction via horospherical
       projections. Proceedings of the 38th International Conference on Machine Learning.

    Examples
    --------
    >>> from horopca import BusemannWhitener
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> features = BusemannWhitener(n_components=4, random_state=0).fit_transform(X)
    >>> features.shape, bool(abs(features.std(axis=0) - 1).max() < 1e-12)
    ((121, 4), True)
    """

    n_components: int | None = field(default=None, kw_only=False)
    strategy: Literal["joint", "greedy"] = "joint"
    decorrelate: bool = False
    model: ModelChoice = "poincare"
    curvature: float = -1.0
    n_init: int | Literal["auto"] = "auto"
    max_iter: int = 500
    tol: float = 1e-6
    random_state: Any = None
    verbose: int = 0

    def _learn(self, rows: Rows) -> Ending:
        n, d = rows.shape[0], rows.shape[1] - 1
        check_choice("strategy", self.strategy, ("joint", "greedy"))
        n_init = check_starts(self.n_init, DIRECTION_STARTS)
        check_stopping(self)
        K = min(2 * d, n - 1)
        if self.n_components is not None:
            K = check_count("n_components", self.n_components, 1, n - 1, f" or None (X has {n} rows)")
        rng = check_generator(self.random_state)
        x = translate_to_origin(rows.take(rng.permutation(n)[:DIRECTION_ROWS]), self._mean)
        axes, _ = principal_axes(x)
        with one_blas_thread():
            q, ending = search_directions(
                as_sample(lift(x[:, 1:] @ axes.T)),
                K,
                joint=self.strategy == "joint",
                n_init=n_init,
                max_iter=self.max_iter,
                tol=self.tol,
                rng=rng,
                log=lambda text: log(self, text),
            )
        if len(q) == 0:
            raise ValueError(ALL_COINCIDE)
        if len(q) < K and self.n_components is not None:
            raise ValueError(f"n_components must be at most {len(q)}, the number of independent coordinates of X, but is {K}.")
        self._directions = q @ axes
        self.ideal_points_ = translate_ideal(self._directions, self._mean)
        return ending._replace(remedy=f"Raise max_iter (now {self.max_iter}) or tol (now {self.tol:g}).")

    def _coordinates(self, x: Array) -> Array:
        xp = array_namespace(x)
        return xp.stack([busemann(x, from_numpy(q, x)) for q in self._directions], axis=1)

    def _points(self, c: Array) -> Array:
        q, xp = self._directions, array_namespace(c)
        K, d = q.shape
        level = xp.exp(c)  # t - s.q, which is linear in the point
        if K > d:  # solved for the point, in the sense of least squares if there are more equations than unknowns
            return lift(level @ from_numpy(np.linalg.pinv(np.column_stack([np.ones(K), -q])).T[:, 1:].copy(), c))
        _, kappa, U, _ = spine = spine_from_ideal_points(q)
        solved = np.linalg.inv(np.column_stack([np.full(K, 1 / (1 + kappa)), -q @ U.T]))
        kept = level @ from_numpy(solved.T.copy(), c)
        pole, across = kept[:, 0], kept[:, 1:]
        square = pole**2 - 4 * kappa * (1 + dot(across, across))
        square = xp.where(square > 0, square, xp.zeros_like(square))  # if no point has these coordinates, the nearest one
        r = ((pole + finite_root(square)) / 2)[:, None]
        return unslide(xp.concat([across, xp.ones_like(r)], axis=1) / r, spine)
