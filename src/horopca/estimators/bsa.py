"""BSA: barycentric subspace analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._input.arguments import check_choice
from .._optimize.multi_start import Flag, SearchOptions
from .._optimize.objectives import Sample
from .._optimize.submanifolds import search_bsa
from .fitting import fitted_coordinates
from .geodesic import GeodesicReduction


@dataclass(eq=False, repr=False, kw_only=True)
class BSA(GeodesicReduction):
    """Barycentric subspace analysis: geodesic projection on the submanifold nearest to the points.

    The submanifold is K-dimensional and spanned by K+1 reference points; it need not contain the mean [1]_. The search starts
    from the eigen-solution of space-form PCA [2]_ and from hulls of data points, improved by exchanging one point for another.
    It uses L-BFGS with exact gradients.

    Parameters
    ----------
    n_components : int, float or None, default=2
        K, the dimension of the submanifold, from 1 to the dimension of the data (and at most the number of points). A float
        between 0 and 1 selects the fewest components that keep that fraction of the variance; None keeps all.
    strategy : {"flag", "last"}, default="flag"
        "flag" finds nested submanifolds of dimensions 1 to K with the smallest sum of unexplained variances (the area under the
        curve). "last" finds the K-dimensional one with the smallest unexplained variance, and then the best nested sequence
        inside it.
    base_point : None, "mean" or array of shape (n_features,), default=None
        A point that all submanifolds must contain: the Fréchet mean, or a point in the estimator's model.
    model : str, default="poincare"
        Coordinates of the input and of the output.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    n_init : "auto" or int, default="auto"
        The number of starting points of each kind: hulls of data points, and random ones. "auto" means 8.
    max_iter : int, default=1000
        The largest number of iterations.
    tol : float, default=1e-8
        The search stops if steps improve the objective by less than this fraction.
    random_state : int, RandomState, Generator or None, default=None
        Seed for the order of the points and the starting points.
    verbose : int, default=0
        If 1, print a line to stderr after each round of the search.

    Attributes
    ----------
    reference_points_ : ndarray of shape (n_components_ + 1, n_features_in_)
        Points in the estimator's model; the first k+1 span the k-dimensional submanifold.
    components_ : ndarray of shape (n_components_, n_dimensions)
        Orthonormal directions of the submanifolds at the first reference point, carried to the origin.
    base_point_ : ndarray of shape (n_features_in_,) or None
        The point that the submanifolds contain.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean, in the estimator's model.
    n_components_, explained_variance_, explained_variance_ratio_, total_variance_
        As in `HoroPCA`.
    unexplained_variance_ : ndarray of shape (n_components_,)
        Mean squared distance between the points and their projections on the first k components.
    n_iter_, converged_, status_
        How the search ended.
    objective_ : str
        The objective of the fit, which `score` measures: "residual", the mean squared distance between points and projections.
    model_, curvature_, n_features_in_, feature_names_in_
        As in `HoroPCA`.

    See Also
    --------
    PGA : submanifolds through the mean.
    HoroPCA : projects along horospheres, which shrinks distances far less.

    References
    ----------
    .. [1] Pennec, X. (2018). Barycentric subspace analysis on manifolds. Annals of Statistics 46(6A).
    .. [2] Tabaghi, P., Khanzadeh, M., Wang, Y., and Mirarab, S. (2024). Principal component analysis in space forms. IEEE
       Transactions on Signal Processing 72.

    Examples
    --------
    >>> from horopca import BSA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(3, 3, random_state=0).points
    >>> bsa = BSA(n_components=2, random_state=0).fit(X)
    >>> bsa.reference_points_.shape
    (3, 10)
    """

    objective = "residual"

    strategy: Literal["flag", "last"] = "flag"
    base_point: Any = None

    def _check_parameters(self) -> str:
        check_choice("strategy", self.strategy, ("flag", "last"))
        return super()._check_parameters()

    def _search(self, sample: Sample, K: int, options: SearchOptions, rng: np.random.Generator) -> Flag:
        return search_bsa(sample, K, self.base_point is not None, self.strategy == "last", options, rng)

    def _store_points(self, points: np.ndarray) -> None:
        self.reference_points_ = fitted_coordinates(self).from_hyperboloid(points, points.dtype)
