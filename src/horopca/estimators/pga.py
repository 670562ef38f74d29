"""PGA: exact principal geodesic analysis."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._input.arguments import check_choice
from .._input.coordinates import ModelChoice
from .._optimize.sample import Sample
from .._optimize.submanifold_search import TARGETS, Nested, SubmanifoldOptions, search_greedy, search_joint
from .geodesic import GeodesicReduction

STRATEGIES = {"joint": search_joint, "greedy": search_greedy}


class PGA(GeodesicReduction):
    """Principal geodesic analysis: geodesic projection on the best submanifold through the mean.

    Exact: the objective is measured along the manifold, not in a tangent space. Starts are hulls of data points improved by
    exchange, then L-BFGS climbs with exact gradients.

    Parameters
    ----------
    n_components : int, float or None, default=2
        K, the dimension of the submanifold, from 1 to the dimension of the data (and at most the number of points). A
        float between 0 and 1: as few as keep that share of the variance. None: all.
    strategy : {"joint", "greedy"}, default="joint"
        "joint": optimise all directions together. "greedy": one after another, each given those before, as in the paper.
    objective : {"variance", "residual"}, default="variance"
        What the search is for. "variance": the largest mean squared distance of the projections from the base point.
        "residual": the least mean squared distance between the points and their projections. In flat space these are one and
        the same.
    base_point : "mean" or array of shape (n_features,), default="mean"
        The point that the submanifolds pass through: the Fréchet mean, or a point in the estimator's model.
    base_noise : float, default=0.0
        Standard deviation of Gaussian noise added to the base point, along each axis of its tangent space, in units of length:
        how much does the method depend on it?
    model : str, default="poincare"
        Coordinates of the input, and of the output.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    n_init : "auto" or int, default="auto"
        How many starts of each kind are climbed from: hulls of data points, improved by exchange, and random ones. "auto" is 8.
    max_iter : int, default=1000
        Iterations of the last climb.
    tol : float, default=1e-8
        A climb ends when a step improves the objective by less than this fraction.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the order of the points, the starts and the noise.
    verbose : int, default=0
        1: a line on stderr after each heat of the search.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_dimensions)
        Orthonormal directions at ``base_point_``, carried to the origin along the geodesic between them.
    base_point_, mean_ : ndarray of shape (n_features_in_,)
        The point that the submanifolds pass through, and the Fréchet mean, in the estimator's model.
    n_components_ : int
        How many components there are.
    explained_variance_, explained_variance_ratio_ : ndarrays of shape (n_components_,)
        What each component adds to the pair variance of the images, the mean squared distance over ordered pairs (of many
        points, over some pairs), and that as a share of ``total_variance_``: their sum is the share that is kept.
    total_variance_ : float
        Pair variance of the points.
    unexplained_variance_ : ndarray of shape (n_components_,)
        Mean squared distance between the points and their projections on the first k components.
    n_iter_, converged_, status_
        How the search ended.
    objective_ : str
        ``objective`` as it was in the fit, which `score` measures: "variance", the pair variance of the images (twice their
        variance about the base point, were the space flat), or "residual".
    model_, curvature_
        Those of the fit, in which `transform` reads and writes, whatever is set since.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,), if X had column names

    See Also
    --------
    TangentPCA : its approximation, without a search.
    BSA : submanifolds spanned by points of the data, without a base point in the middle.
    HoroPCA : projects along horospheres, which shrinks far less.

    Examples
    --------
    >>> from horopca import PGA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> pga = PGA(n_components=2, random_state=0).fit(X)
    >>> pga.transform(X).shape
    (121, 2)
    """

    def __init__(
        self,
        n_components: int | float | None = 2,
        *,
        strategy: Literal["joint", "greedy"] = "joint",
        objective: Literal["variance", "residual"] = "variance",
        base_point: Any = "mean",
        base_noise: float = 0.0,
        model: ModelChoice = "poincare",
        curvature: float = -1.0,
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.strategy = strategy
        self.objective = objective
        self.base_point = base_point
        self.base_noise = base_noise
        self.model = model
        self.curvature = curvature
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice("strategy", self.strategy, STRATEGIES)
        check_choice("objective", self.objective, TARGETS)
        if self.base_point is None:
            raise ValueError("base_point must be 'mean' or a point in the model of X, but is None. BSA needs no base point.")
        super()._check_parameters()

    def _search(self, sample: Sample, K: int, options: SubmanifoldOptions, rng: np.random.Generator) -> Nested:
        return STRATEGIES[self.strategy](sample, K, self.objective, options, rng)
