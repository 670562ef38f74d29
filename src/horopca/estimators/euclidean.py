"""EuclideanPCA: principal components of coordinates in the ball."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._points.places import check_rows
from ..geometry import Chunk, from_hyperboloid, lift, translate, translate_to_origin
from ..geometry._arrays import Array, array_namespace, dot, from_numpy, to_numpy
from ..statistics import Seen, frame_of, some_of
from .base import HyperbolicReduction
from .fitting import check_fit, report_mean, store_mean


class EuclideanPCA(HyperbolicReduction):
    """Principal component analysis of Poincaré ball coordinates, as if the ball were flat.

    The points are moved to their Fréchet mean first, and the components pass through it, so that projections stay in
    the ball. A baseline: near the boundary, where hyperbolic data lives, the ball's straight lines keep little.

    Parameters
    ----------
    n_components : int, default=2
        K, the dimension of the image, from 1 to the dimension of the data (and at most the number of points).
    model : {"poincare", "lorentz", "klein", "halfspace", "tangent"}, default="poincare"
        The coordinates of the input, and of the output. The components are those of the ball in any case.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_dimensions)
        Orthonormal directions in the ball with the mean at its centre.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean, in the estimator's model.
    explained_variance_ : ndarray of shape (n_components,)
        Mean squared norm of the projections, in the unit ball, on the first k components.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as fractions of the mean squared norm of the points; cumulative.
    n_iter_, converged_, status_
        How the search for the mean ended; the rest is a closed form.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,), if X had column names

    Examples
    --------
    >>> from horopca import EuclideanPCA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> EuclideanPCA(n_components=2).fit_transform(X).shape
    (121, 2)
    """

    def __init__(self, n_components: int = 2, *, model: str = "poincare", curvature: float = -1.0) -> None:
        self.n_components = n_components
        self.model = model
        self.curvature = curvature

    def fit(self, X: Any, y: Any = None) -> EuclideanPCA:
        """Find the components of the points X, an array of shape (n_samples, n_features); y is ignored."""
        rows, K = check_fit(self, X)
        mean = store_mean(self, rows)
        seen = Seen(rows, self._mean)
        second = seen.fold(_second_moments)
        variances, columns = np.linalg.eigh(second / rows.shape[0])
        self.components_ = columns[:, ::-1][:, :K].T.copy()
        kept = variances[::-1].clip(0).cumsum()
        self.explained_variance_ = kept[:K]
        self.explained_variance_ratio_ = kept[:K] / kept[-1] if kept[-1] > 0 else kept[:K] + 1
        self._frame = frame_of(self._flatten(some_of(seen)))
        self._n_features_out = rows.door.columns(K)
        report_mean(self, mean)
        return self

    def _flatten(self, x: Array) -> Array:
        """Images (n, K+1) of points (n, d+1) seen from the mean."""
        # W z in the ball is W s / (1 + |s'|^2 / 2(1+t)) on the hyperboloid, s' the part that W drops: exact at the boundary
        s, W = x[:, 1:], from_numpy(self.components_, x)
        b = s @ W.T
        dropped = s - b @ W
        return lift(b / (1 + dot(dropped, dropped / (1 + x[:, :1])) / 2)[:, None])

    def _project(self, x: Array) -> Array:
        return self._frame.enter(self._flatten(translate_to_origin(x, from_numpy(self._mean, x))))

    def _embed(self, y: Array) -> Array:
        s = self._frame.leave(y)[:, 1:] @ from_numpy(self.components_, y)
        return translate(lift(s), from_numpy(self._mean, y))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean squared norm of the projections of points X, in the unit ball with the mean at its centre."""
        check_is_fitted(self)
        rows = check_rows(X, self._door(), estimator=self)
        flat = lambda chunk: from_hyperboloid(self._flatten(chunk.points()), "poincare")
        return Seen(rows, self._mean).fold(lambda chunk: _squares(flat(chunk))) / rows.shape[0]


def _second_moments(chunk: Chunk) -> np.ndarray:
    z = to_numpy(from_hyperboloid(chunk.points(), "poincare"))
    return z.T @ z


def _squares(z: Array) -> float:
    return float(array_namespace(z).sum(z * z))
