"""TangentPCA: principal components in the tangent space at the Fréchet mean."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from .._points.places import check_rows
from ..geometry import Chunk, from_hyperboloid, lift, radius, to_hyperboloid, translate, translate_to_origin
from ..geometry._arrays import Array, array_namespace, from_numpy
from ..statistics import Seen, principal_axes
from .base import HyperbolicReduction
from .fitting import check_fit, report_mean, store_mean


class TangentPCA(HyperbolicReduction):
    """Principal component analysis in the tangent space at the Fréchet mean.

    Every point x becomes the tangent vector at the mean that leads to it, of length d(mean, x); these vectors go through
    PCA, and their projections lead back into hyperbolic space. Distances from the mean along the components are
    kept; distances between points far from the mean are not.

    Parameters
    ----------
    n_components : int, default=2
        K, the dimension of the image, from 1 to the dimension of the data (and at most the number of points).
    model : {"poincare", "lorentz", "klein", "halfspace", "tangent"}, default="poincare"
        The coordinates of the input, and of the output.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_dimensions)
        Orthonormal directions at the mean, carried to the origin along the geodesic between them.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean, in the estimator's model.
    explained_variance_ : ndarray of shape (n_components,)
        Mean squared length of the tangent vectors projected on the first k components.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as fractions of ``total_variance_``; cumulative.
    total_variance_ : float
        Fréchet variance: mean squared distance from the mean.
    n_iter_, converged_, status_
        How the search for the mean ended; the rest is a closed form.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,), if X had column names

    Examples
    --------
    >>> from horopca import TangentPCA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> TangentPCA(n_components=2).fit_transform(X).shape
    (121, 2)
    """

    def __init__(self, n_components: int = 2, *, model: str = "poincare", curvature: float = -1.0) -> None:
        self.n_components = n_components
        self.model = model
        self.curvature = curvature

    def fit(self, X: Any, y: Any = None) -> TangentPCA:
        """Find the components of the points X, an array of shape (n_samples, n_features); y is ignored."""
        rows, K = check_fit(self, X)
        mean = store_mean(self, rows)
        axes, variances = principal_axes(Seen(rows, self._mean))
        self.components_ = axes[:K]
        kept, total = variances.cumsum(), variances.sum()
        self.explained_variance_ = kept[:K] / -self.curvature
        self.explained_variance_ratio_ = kept[:K] / total if total > 0 else kept[:K] + 1
        self.total_variance_ = float(total) / -self.curvature
        self._n_features_out = rows.door.columns(K)
        report_mean(self, mean)
        return self

    def _project(self, x: Array) -> Array:
        v = from_hyperboloid(translate_to_origin(x, from_numpy(self._mean, x)), "tangent")
        return to_hyperboloid(v @ from_numpy(self.components_.T.copy(), x), "tangent")

    def _embed(self, y: Array) -> Array:
        return translate(lift(y[:, 1:] @ from_numpy(self.components_, y)), from_numpy(self._mean, y))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean squared length of the tangent vectors of points X projected on the components."""
        check_is_fitted(self)
        rows = check_rows(X, self._door(), estimator=self)

        def total(chunk: Chunk) -> float:
            r = radius(self._project(chunk.points()))
            return float(array_namespace(r).sum(r * r))

        return rows.fold(total) / rows.shape[0] / -self.curvature
