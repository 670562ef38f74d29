"""Embeddings of graphs by least distortion of their distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._input.arguments import check_count, check_generator, check_number
from .._input.coordinates import Coordinates, check_coordinates
from .._input.threads import one_blas_thread
from .._optimize.result import Ending
from ..estimators.fitting import check_climb
from ..geometry import ModelName, lift, pairwise_distance
from ..statistics import principal_axes
from .base import REACH, GraphEmbedding, rounded
from .descent import SETTLING, Ball, Descent, Fit, Schedule, Targets
from .graphs import as_graph
from .sarkar import best_scale, construct, spanning_tree

CLOUD = 0.1  # Size of a random start: small, so that points can still pass each other.
OPEN_DIMENSIONS = 10  # A random start in fewer dimensions unfolds in this many, then is flattened: a plane would entangle it.
FEW_NODES = 500  # Up to this size four random starts take seconds. Which of them ends best is a matter of chance.
OPENING = Schedule(1000, (0.15, 0.05), (0.1, 0.03))  # a random start in more dimensions than n_components
FLATTENING = Schedule(1000, (0.1, 0.05), (0.1, 0.1))  # the same while the extra dimensions shrink
DESCENT = Schedule(1500, (0.1, 1e-3), (0.1, 3e-3))  # a random start, or what was flattened
LARGEST_RATIO = 1e5  # Distances closer than 1e-6 round together in the search, and none is beyond twice the largest radius.
NEW_STARTS = 4  # A new node starts at this many of its nearest known nodes: 12, or 32 with random ones, end no better.
BALL_HOLDS = REACH["poincare"].held  # The search runs in the ball for every model.


class DistortionEmbedding(GraphEmbedding):
    """Points whose hyperbolic distances are those of the graph, up to a learnt scale, as closely as possible.

    Minimises the average distortion, the mean over pairs of ``|d / (scale * graph distance) - 1|``, over the points and the
    scale [1]_: by Adam on samples of the pairs, on a smooth form of the objective that is
    sharpened on the way. Every point moves in its own frame, so steps mean the same at every radius. One start is Sarkar's
    construction at its best scale. The others are random clouds, which unfold in ten dimensions and are flattened if
    `n_components` is smaller. The best result is improved further until it has converged.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the space, at least 2.
    scale : "auto" or float, default="auto"
        Hyperbolic distance per graph distance, in the space of the estimator's curvature; "auto" learns it.
    max_radius : "auto", float or None, default="auto"
        Largest distance of a point from the origin, at curvature -1. "auto" is 12 (6 in the Klein model), which a picture
        and float32 can show; None is the largest that float64 coordinates of the model can hold.
    model : str, default="poincare"
        Coordinates of the embedding.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    neighbor_weight : float, default=0.0
        Weight of neighbours relative to distances. A positive one, such as 0.2, adds a loss of neighbours at the end of the
        search (the cross entropy of neighbour probabilities, as in t-SNE): more neighbours are kept, at a larger distortion.
    n_init : "auto" or int, default="auto"
        Number of random clouds beside Sarkar's construction; "auto" is 2, or 4 for at most 500 nodes, and 1 in ten
        dimensions and more.
    max_iter : int, default=10000
        Largest number of steps that improve the best result.
    tol : float, default=0.02
        The search has converged when 500 further steps improve the distortion by less than this fraction.
    largest_component : bool, default=False
        Embed the largest component of a graph that is not connected, instead of raising an error.
    random_state : int, RandomState instance, Generator or None, default=None
        Seeds the clouds and the samples of pairs.
    verbose : int, default=0
        1: a line on stderr for each start and stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components) (one column more for a model with time)
    names_ : list of n_nodes names, in the order of the rows
    distance_scale_ : float
        Hyperbolic distance per graph distance.
    distortion_ : float
        Mean over pairs of ``|d / (distance_scale_ * graph distance) - 1|``, measured on ``embedding_`` (above 2048 nodes,
        on the pairs of a random sample of nodes with all).
    n_iter_ : int
        Number of steps that improved the best result.
    converged_ : bool
    status_ : str
        How the search ended.

    See Also
    --------
    SarkarEmbedding : a construction for trees, at once.
    PoincareEmbedding : a hierarchy from its relations, where distances do not matter.
    horopca.HoroPCA : from many dimensions to a picture.

    References
    ----------
    .. [1] Gu, A., Sala, F., Gunel, B., and Ré, C. (2019). Learning mixed-curvature representations in product spaces.
       International Conference on Learning Representations.

    Examples
    --------
    >>> from horopca.datasets import balanced_tree
    >>> embedding = DistortionEmbedding(n_components=2, random_state=0).fit(balanced_tree(branching=3, depth=3).parent)
    >>> embedding.embedding_.shape, bool(embedding.distortion_ < 0.03)
    ((40, 2), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        scale: float | Literal["auto"] = "auto",
        max_radius: float | Literal["auto"] | None = "auto",
        model: ModelName = "poincare",
        curvature: float = -1.0,
        neighbor_weight: float = 0.0,
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 10000,
        tol: float = 0.02,
        largest_component: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.max_radius = max_radius
        self.model = model
        self.curvature = curvature
        self.neighbor_weight = neighbor_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.largest_component = largest_component
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, graph: Any, coordinates: Coordinates) -> Ending:
        d = check_count("n_components", self.n_components, 2)
        starts = None if self.n_init == "auto" else check_count("n_init", self.n_init, 0)
        check_climb(self)
        weight = check_number("neighbor_weight", self.neighbor_weight, "a number of at least 0", least=0)
        far, scale = min(self._far(), BALL_HOLDS), self._scale(coordinates)
        graph, rng = as_graph(graph, largest_component=self.largest_component), check_generator(self.random_state)
        targets = Targets.of(graph, rng, least_sources=max(64, 4 * d))
        tree, unit = spanning_tree(graph, targets), float(targets.distances.mean())
        if scale is not None and not 1 / LARGEST_RATIO <= scale * unit <= LARGEST_RATIO:
            raise ValueError(
                f"scale must give the nodes a mean distance between {1 / LARGEST_RATIO:g} and {LARGEST_RATIO:g}, but is "
                f"{self.scale!r}, which gives {scale * unit:.3g}. Use scale='auto'."
            )
        # the mean distance is the unit of length, so that single precision holds every ratio
        targets = targets._replace(distances=targets.distances / unit)
        tree = tree._replace(length=tree.length / unit, depth=tree.depth / unit)
        if starts is None:
            starts = 1 if d >= OPEN_DIMENSIONS else 2 if graph.size > FEW_NODES else 4
        with one_blas_thread():
            search = Search(targets, coordinates, far, None if scale is None else scale * unit, rng, self._log)
            length = search.scale or best_scale(lambda s: construct(tree, d, s, far), tree, targets, coordinates, far)
            x = construct(tree, d, min(length, 2 * BALL_HOLDS / float(tree.depth.max())), far)
            start = search.candidate(x[targets.order])
            candidates = [start, search.after(SETTLING, start), *(search.from_cloud(d) for _ in range(starts))]
            best, ending = search.settled(min(candidates, key=distortion_of), self.max_iter, self.tol)
            if weight > 0:
                search.descent = search.make_descent(neighbor_weight=weight)
                best = search.after(SETTLING, best)
        x = best.x[np.argsort(targets.order)]
        self.names_, self.embedding_ = graph.names, coordinates.from_hyperboloid(x, x.dtype)
        self.distance_scale_ = (best.fit.scale / unit if scale is None else scale) / coordinates.scale
        self.distortion_ = best.fit.distortion
        return ending._replace(remedy=f"Raise max_iter (now {self.max_iter}) or tol (now {self.tol:g}).")

    def transform(self, distances: Any) -> np.ndarray:
        """Embed new nodes by their distances to the nodes of the fit, which do not move.

        Minimises the average distortion of each new node's distances at the learnt scale.

        Parameters
        ----------
        distances : array of shape (n_new, n_nodes)
            Distances of the new nodes to those in `names_`, in the unit of the graph. NaN and inf mark unknown ones.

        Returns
        -------
        ndarray of shape (n_new, n_components) (one column more for a model with time)
        """
        check_is_fitted(self)
        coordinates, rng = check_coordinates(self.model, self.curvature), check_generator(self.random_state)
        known = coordinates.to_hyperboloid(self.embedding_)
        D = _check_new(distances, len(known)) * self.distance_scale_ * coordinates.scale
        # every new node starts at the known nodes nearest to it, and the best of its ends is taken
        nearest = np.argsort(np.where(D > 0, D, np.inf), axis=1)[:, :NEW_STARTS]
        count, every = nearest.shape[1], np.repeat(D, nearest.shape[1], axis=0)
        start = Ball.of(np.concatenate([known, known[nearest.ravel()]]))
        far = min(self._far(), BALL_HOLDS)
        with one_blas_thread():
            descent = Descent(every.T, rng, lambda points: points.within(far), fixed_scale=True, first=len(known))
            x = descent.run(start, 1.0, DESCENT).hyperboloid()[len(known) :]
        ratio = np.divide(pairwise_distance(x, known), every, out=np.ones_like(every), where=every > 0)
        best = np.abs(ratio - 1).mean(axis=1).reshape(-1, count).argmin(axis=1)
        return np.asarray(coordinates.from_hyperboloid(x[np.arange(len(D)) * count + best], x.dtype))


def _check_new(distances: Any, n: int) -> np.ndarray:
    """Distances (m, n) with 0 for unknown ones. Raises ValueError if a row has no distance."""
    D = check_array(distances, dtype=np.float64, ensure_all_finite=False, input_name="distances")
    if D.shape[1] != n:
        raise ValueError(f"distances must have a column for each of the {n} nodes of the fit, but has shape {D.shape}.")
    if (D < 0).any():
        raise ValueError(f"distances must not be negative, but row {int(np.argwhere(D < 0)[0, 0])} has {D[D < 0][0]:g}.")
    D = np.where(np.isfinite(D), D, 0.0)
    if not D.any(axis=1).all():
        raise ValueError(
            f"distances must have a finite one > 0 in every row, but row {int(np.argmin(D.any(axis=1)))} has none."
        )
    return D


class Candidate(NamedTuple):
    """Points (n, d+1) during the search, and how well they fit as rounded to the user's coordinates."""

    x: np.ndarray
    fit: Fit


def distortion_of(candidate: Candidate) -> float:
    return candidate.fit.distortion


class Search:
    """The stages of a search for points with target distances. Points are in the order of the targets."""

    def __init__(
        self,
        targets: Targets,
        coordinates: Coordinates,
        far: float,
        scale: float | None,
        rng: np.random.Generator,
        log: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.targets, self.coordinates, self.far, self.scale, self.rng, self.log = targets, coordinates, far, scale, rng, log
        self.descent = self.make_descent()

    def make_descent(self, neighbor_weight: float = 0.0) -> Descent:
        limit = lambda points: points.within(self.far)
        distances, fixed = self.targets.distances, self.scale is not None
        return Descent(distances, self.rng, limit, fixed_scale=fixed, neighbor_weight=neighbor_weight)

    def candidate(self, x: np.ndarray) -> Candidate:
        return Candidate(x, self.targets.fit(rounded(x, self.coordinates), self.scale))

    def after(self, plan: Schedule, start: Candidate, d: int | None = None) -> Candidate:
        """The points after a descent, which may flatten them to d dimensions."""
        end = self.candidate(self.descent.run(Ball.of(start.x), start.fit.scale, plan, d).hyperboloid())
        self.log(f"distortion {start.fit.distortion:.4f} to {end.fit.distortion:.4f} at scale {end.fit.scale:.4g}")
        return end

    def from_cloud(self, d: int) -> Candidate:
        """A random start after its descent, which begins in more dimensions if d is small."""
        size, wide = min(CLOUD, self.far / 10), max(d, OPEN_DIMENSIONS)
        start = self.candidate(lift(size * self.rng.standard_normal((len(self.targets.order), wide))))
        if wide > d:
            x = self.after(OPENING, start).x
            axes, _ = principal_axes(x)  # the first d of them stay
            start = self.after(FLATTENING, self.candidate(lift(x[:, 1:] @ axes.T)), d)
        return self.after(DESCENT, start)

    def settled(self, best: Candidate, max_iter: int, tol: float) -> tuple[Candidate, Ending]:
        """The points after further descents, until one improves the distortion by less than a fraction tol."""
        steps, converged = 0, False
        size = min(1.0, best.fit.scale * float(self.targets.distances.mean()))  # small for a nearly flat embedding
        while steps < max_iter and not converged:
            plan = SETTLING._replace(
                steps=min(SETTLING.steps, max_iter - steps), rates=(SETTLING.rates[0] * size, SETTLING.rates[1] * size)
            )
            found = self.after(plan, best)
            steps += plan.steps
            converged = plan.steps == SETTLING.steps and found.fit.distortion >= (1 - tol) * best.fit.distortion
            best = min(best, found, key=distortion_of)
        return best, Ending(steps, converged, "converged" if converged else f"stopped after {steps} steps")
