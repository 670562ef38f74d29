"""PGA: exact principal geodesic analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._input.arguments import check_choice
from .._optimize.multi_start import Flag, SearchOptions
from .._optimize.objectives import Sample
from .._optimize.submanifolds import search_pga
from .geodesic import GeodesicReduction


@dataclass(eq=False, repr=False, kw_only=True)
class PGA(GeodesicReduction):
    """Principal geodesic analysis: geodesic projection on the best submanifold through the mean.

    This is exact PGA [1]_: the objective is measured on the manifold, not in a tangent space. The search starts from hulls of
    data points, improved by exchanging one point for another, and uses L-BFGS with exact gradients.

    Parameters
    ----------
    n_components : int, float or None, default=2
        K, the dimension of the submanifold, from 1 to the dimension of the data (and at most the number of points). A float
        between 0 and 1 selects the fewest components that keep that fraction of the variance; None keeps all.
    strategy : {"joint", "greedy"}, default="joint"
        "joint" optimises all directions together, "greedy" one after another, as in the paper.
    objective : {"variance", "residual"}, default="variance"
        "variance" maximises the mean squared distance of the projections from the base point, "residual" minimises the mean
        squared distance between the points and their projections. In flat space the two agree.
    base_point : "mean" or array of shape (n_features,), default="mean"
        The point that the submanifolds pass through: the Fréchet mean, or a point in the estimator's model.
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
    components_ : ndarray of shape (n_components_, n_dimensions)
        Orthonormal directions at ``base_point_``, transported to the origin along the geodesic between them.
    base_point_, mean_ : ndarray of shape (n_features_in_,)
        The point that the submanifolds pass through, and the Fréchet mean, in the estimator's model.
    n_components_, explained_variance_, explained_variance_ratio_, total_variance_
        As in `HoroPCA`.
    unexplained_variance_ : ndarray of shape (n_components_,)
        Mean squared distance between the points and their projections on the first k components.
    n_iter_, converged_, status_
        How the search ended.
    objective_ : str
        ``objective`` as it was in the fit, which `score` measures: "variance", the pair variance of the images (in flat
        space, twice their variance about the base point), or "residual".
    model_, curvature_, n_features_in_, feature_names_in_
        As in `HoroPCA`.

    See Also
    --------
    TangentPCA : its approximation, without a search.
    BSA : submanifolds spanned by reference points, without a base point.
    HoroPCA : projects along horospheres, which shrinks distances far less.

    References
    ----------
    .. [1] Sommer, S., Lauze, F., and Nielsen, M. (2014). Optimization over geodesics for exact principal geodesic analysis.
       Advances in Computational Mathematics 40(2).

    Examples
    --------
    >>> from horopca import PGA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> pga = PGA(n_components=2, random_state=0).fit(X)
    >>> pga.transform(X).shape
    (121, 2)
    """

    strategy: Literal["joint", "greedy"] = "joint"
    objective: Literal["variance", "residual"] = "variance"
    base_point: Any = "mean"

    def _check_parameters(self) -> str:
        check_choice("strategy", self.strategy, ("joint", "greedy"))
        check_choice("objective", self.objective, ("variance", "residual"))
        if self.base_point is None:
            raise ValueError("base_point must be 'mean' or a point in the model of X, but is None. BSA needs no base point.")
        return super()._check_parameters()

    def _search(self, sample: Sample, K: int, options: SearchOptions, rng: np.random.Generator) -> Flag:
        return search_pga(sample, K, self.objective, self.strategy == "greedy", options, rng)
