"""Embeddings of graphs by least distortion of their distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_array, gen_batches
from sklearn.utils.validation import check_is_fitted

from .._input.arguments import check_count, check_generator, check_number
from .._input.coordinates import Coordinates
from .._input.threads import one_blas_thread
from .._optimize.result import Ending
from ..estimators.fitting import check_stopping, log
from ..geometry import lift, pairwise_distance
from ..statistics.means import principal_axes
from .base import RADII, GraphEmbedding, check_scale, rounded
from .descent import FINE_TUNING, TARGET_PAIRS, Ball, Descent, Schedule, Targets
from .graphs import as_graph
from .sarkar import construct, search_scale, spanning_tree

CLOUD_SIZE = 0.1  # Size of a random start: small, so that points can still pass each other.
UNFOLDING_DIMENSIONS = 10  # Random starts unfold in this many dimensions or more, then are flattened: a plane entangles them.
FEW_NODES = 500  # Up to this size, four random starts take seconds. Which of them ends best is a matter of chance.
UNFOLDING = Schedule(1000, (0.15, 0.05), (0.1, 0.03))  # for a random start in more dimensions than n_components
FLATTENING = Schedule(1000, (0.1, 0.05), (0.1, 0.1))  # for the result, while the extra dimensions shrink
DESCENT = Schedule(1500, (0.1, 1e-3), (0.1, 3e-3))  # for a random start in n_components dimensions, or a flattened one
JOINING = Schedule(500, (0.1, 1e-3), (0.1, 3e-3))  # for all nodes, starting near the first ones
# With more than FEW_NODES nodes, random starts have this many, and the others join the best one. In the plane the distortion
# of a grid, a geometric and a scale-free graph of 1000 nodes is within 2 % of that of a start with all nodes, in half the time.
FIRST_NODES = 256
LARGEST_RATIO = 1e5  # The search cannot distinguish distances below 1e-6, nor represent more than twice the largest radius.
NEW_STARTS = 4  # Starts of each kind for a new node. Twelve of each, and as many random ones, are better by less than 1 %.
SCORED_NODES = 256  # Starts are compared by their distances to this many known nodes, which leaves an error of a few percent.
LARGEST_IN_BALL = RADII["poincare"][1]  # The search runs in the ball for every model.


@dataclass(eq=False, repr=False, kw_only=True)
class DistortionEmbedding(GraphEmbedding):
    """Points whose hyperbolic distances are those of the graph, up to a learnt scale, as closely as possible.

    Minimises the average distortion, the mean over pairs of ``|d / (scale * graph distance) - 1|``, over the points and the
    scale [1]_: by Adam on samples of the pairs, on a smooth form of the objective that is sharpened during the search. Every
    point moves in its own frame, so steps have the same scale at every radius. One start is Sarkar's construction at its best
    scale. The others are random clouds, which unfold in ten dimensions and are flattened if `n_components` is smaller. The
    best result is improved further until it has converged.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the space, at least 2.
    scale : "auto" or float, default="auto"
        Hyperbolic distance per graph distance, in the space of the estimator's curvature; "auto" learns it.
    max_radius : "auto", float or None, default="auto"
        Largest distance of a point from the origin, at curvature -1. "auto" is 12 (6 in the Klein model), which a picture
        and float32 can show; None is the largest for float64 coordinates of the model.
    model : str, default="poincare"
        Coordinates of the embedding.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    neighbor_weight : float, default=0.0
        Weight of neighbours relative to distances. A positive one, such as 0.2, adds a loss of neighbours at the end of the
        search (the cross entropy of neighbour probabilities, as in t-SNE): more neighbours are kept, at a larger distortion.
    n_init : "auto" or int, default="auto"
        Number of random clouds beside Sarkar's construction; "auto" is 2, or 4 for at most 500 nodes, and 1 in ten
        dimensions and more. With more than 500 nodes, clouds are of 256 nodes, which the others join in the best one.
    max_iter : int, default=10000
        Largest number of steps of each stage: the descents from the starts, and those that improve the best result.
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
        on the pairs between a random sample of nodes and all nodes).
    n_iter_ : int
        Number of steps that improved the best result.
    converged_ : bool
    status_ : str
        How the search ended.

    See Also
    --------
    SarkarEmbedding : a construction for trees, without a search.
    PoincareEmbedding : a hierarchy from its relations, where distances do not matter.
    horopca.HoroPCA : from many dimensions to a picture.

    References
    ----------
    .. [1] Gu, A., Sala, F., Gunel, B., and Ré, C. (2019). Learning mixed-curvature representations in product spaces.
       International Conference on Learning Representations.

    Examples
    --------
    >>> from horopca.datasets import balanced_tree
    >>> tree = balanced_tree(branching=3, depth=2)
    >>> embedding = DistortionEmbedding(n_components=2, n_init=0, random_state=0).fit(tree.parent)
    >>> embedding.embedding_.shape, bool(embedding.distortion_ < 0.02)
    ((13, 2), True)
    """

    n_components: int = field(default=2, kw_only=False)
    scale: float | Literal["auto"] = "auto"
    neighbor_weight: float = 0.0
    n_init: int | Literal["auto"] = "auto"
    max_iter: int = 10000
    tol: float = 0.02
    largest_component: bool = False

    def _learn(self, graph: Any, coordinates: Coordinates) -> tuple[list[Any], np.ndarray, Ending]:
        d = check_count("n_components", self.n_components, 2)
        starts = None if self.n_init == "auto" else check_count("n_init", self.n_init, 0)
        check_stopping(self)
        weight = check_number("neighbor_weight", self.neighbor_weight, "a number of at least 0", least=0)
        far, scale = min(self._largest_radius(), LARGEST_IN_BALL), check_scale(self.scale, coordinates)
        graph, rng = as_graph(graph, largest_component=self.largest_component), check_generator(self.random_state)
        targets = Targets.of(graph, rng, least_sources=max(64, 4 * d))
        tree, unit = spanning_tree(graph, targets), float(targets.distances.mean())
        if scale is not None and not 1 / LARGEST_RATIO <= scale * unit <= LARGEST_RATIO:
            raise ValueError(
                f"scale must give the nodes a mean distance between {1 / LARGEST_RATIO:g} and {LARGEST_RATIO:g}, but is "
                f"{self.scale!r}, which gives {scale * unit:.3g}. Use scale='auto'."
            )
        # the mean distance is the unit of length, so that single precision is enough for every ratio
        targets = targets._replace(distances=targets.distances / unit)
        tree = tree._replace(length=tree.length / unit, depth=tree.depth / unit)
        if starts is None:
            starts = 1 if d >= UNFOLDING_DIMENSIONS else 2 if graph.size > FEW_NODES else 4
        with one_blas_thread():
            given = None if scale is None else scale * unit
            search = Search(targets, coordinates, lambda x: x.within(far), given, rng, self.max_iter, partial(log, self))
            length = search.scale or search_scale(lambda s: construct(tree, d, s, far), tree, targets, coordinates, far)
            x = construct(tree, d, min(length, 2 * LARGEST_IN_BALL / float(tree.depth.max())), far)
            start = search.candidate(x[targets.order])
            best = best_of(start, search.after(FINE_TUNING, start), *search.from_clouds(d, starts))
            best, ending = search.fine_tuned(best, self.tol)
            if weight > 0:
                search.descent.neighbor_weight = weight
                best = search.after(FINE_TUNING, best)
        self.distance_scale_ = (best.scale / unit if scale is None else scale) / coordinates.scale
        self.distortion_ = best.distortion
        remedy = f"Raise max_iter (now {self.max_iter}) or tol (now {self.tol:g})."
        return graph.names, best.x[np.argsort(targets.order)], ending._replace(remedy=remedy)

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
        coordinates, rng = self._coordinates, check_generator(self.random_state)
        known, far = coordinates.to_hyperboloid(self.embedding_), min(self._largest_radius(), LARGEST_IN_BALL)
        D = _check_new(distances, len(known)) * self.distance_scale_ * coordinates.scale
        batches = gen_batches(len(D), max(1, TARGET_PAIRS // (2 * NEW_STARTS * len(known))))  # bounds the memory
        with one_blas_thread():
            x = np.concatenate([_place_new(D[rows], known, far, rng) for rows in batches])
        return np.asarray(coordinates.from_hyperboloid(x, x.dtype))


def _place_new(D: np.ndarray, known: np.ndarray, far: float, rng: np.random.Generator) -> np.ndarray:
    """Points (m, d+1) with distances D (m, n) to the known points, each the best result of descents from several starts."""
    m, n = D.shape
    inverse = np.divide(1.0, D, out=np.zeros_like(D), where=D > 0)
    some = rng.permutation(n)[:SCORED_NODES]
    E = pairwise_distance(known, known[some])
    fitting = np.stack([np.argsort(_misfit(E, row))[:NEW_STARTS] for row in inverse[:, some]])
    # the known points with the best distances to the others, and the nearest: in a tree, either alone leads to local minima
    starts = np.hstack([np.argsort(np.where(D > 0, D, np.inf), axis=1)[:, :NEW_STARTS], fitting])
    count = starts.shape[1]
    descent = Descent(np.repeat(D, count, axis=0).T, rng, lambda x: x.within(far), fixed_scale=True, first=n)
    ends = descent.run(Ball.of(known[np.append(np.arange(n), starts)]), 1.0, DESCENT).hyperboloid()[n:].reshape(m, count, -1)
    return np.stack([x[np.argmin(_misfit(pairwise_distance(x, known), row))] for x, row in zip(ends, inverse, strict=True)])


def _misfit(E: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Sums (k,) of |distance / target - 1| from distances E (k, n) and inverse targets (n,), 0 for unknown ones."""
    return np.asarray(np.abs(E * inverse - (inverse > 0)).sum(axis=1))


def _check_new(distances: Any, n: int) -> np.ndarray:
    """Distances (m, n) with 0 for unknown ones. Raises ValueError if a row has no distance."""
    D = check_array(distances, dtype=np.float64, ensure_all_finite=False, input_name="distances")
    if D.shape[1] != n:
        raise ValueError(f"distances must have a column for each of the {n} nodes of the fit, but has shape {D.shape}.")
    if (D < 0).any():
        raise ValueError(f"distances must not be negative, but row {int(np.argwhere(D < 0)[0, 0])} has {D[D < 0][0]:g}.")
    D = np.where(np.isfinite(D), D, 0.0)
    if not (known := D.any(axis=1)).all():
        raise ValueError(f"Every row of distances must have a finite distance > 0, but row {known.argmin()} has none.")
    return D


class Candidate(NamedTuple):
    """Points (n, d+1) during the search, with their scale and their distortion after rounding to the user's coordinates."""

    x: np.ndarray
    scale: float
    distortion: float


def best_of(*candidates: Candidate) -> Candidate:
    return min(candidates, key=lambda candidate: candidate.distortion)


@dataclass
class Search:
    """The stages of a search for points with target distances. Points are in the order of the targets."""

    targets: Targets
    coordinates: Coordinates
    constrain: Callable[[Ball], Ball]  # called after every step
    scale: float | None  # None: learnt
    rng: np.random.Generator
    max_iter: int  # of each descent
    log: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        self.descent = Descent(self.targets.distances, self.rng, self.constrain, fixed_scale=self.scale is not None)

    def candidate(self, x: np.ndarray) -> Candidate:
        return Candidate(x, *self.targets.scale_and_distortion(rounded(x, self.coordinates), self.scale))

    def after(self, schedule: Schedule, start: Candidate, d: int | None = None) -> Candidate:
        """The points after a descent, which may flatten them to d dimensions."""
        schedule = schedule._replace(steps=min(schedule.steps, self.max_iter))
        end = self.candidate(self.descent.run(Ball.of(start.x), start.scale, schedule, d).hyperboloid())
        self.log(f"distortion {start.distortion:.4f} to {end.distortion:.4f} at scale {end.scale:.4g}")
        return end

    def from_clouds(self, d: int, count: int) -> list[Candidate]:
        """The results of descents from random starts; for many nodes only one, from the best result for the first nodes."""
        distances, order = self.targets
        if len(order) <= FEW_NODES or not count:
            return [self.from_cloud(d) for _ in range(count)]
        m = min(FIRST_NODES, len(distances))
        first = replace(self, targets=Targets(distances[:m, :m], order[:m]))
        found = best_of(*(first.from_cloud(d) for _ in range(count)))
        nearest = distances[:m].argmin(axis=0)  # of the first nodes
        gap = found.scale * distances[nearest, np.arange(len(order)), None]
        beside = Ball.of(found.x[nearest]).moved(gap * self.rng.standard_normal((len(order), d)) / (2 * np.sqrt(d)))
        return [self.after(JOINING, self.candidate(self.constrain(beside).hyperboloid()))]

    def from_cloud(self, d: int) -> Candidate:
        """The result of a descent from a random start, which begins in more dimensions if d is small."""
        wide = max(d, UNFOLDING_DIMENSIONS)
        start = self.candidate(lift(CLOUD_SIZE * self.rng.standard_normal((len(self.targets.order), wide))))
        if wide > d:
            x = self.after(UNFOLDING, start).x
            axes, _ = principal_axes(x)  # the first d of them stay
            start = self.after(FLATTENING, self.candidate(lift(x[:, 1:] @ axes.T)), d)
        return self.after(DESCENT, start)

    def fine_tuned(self, best: Candidate, tol: float) -> tuple[Candidate, Ending]:
        """The points after further descents, until one improves the distortion by less than a fraction tol."""
        steps, converged = 0, False
        size = min(1.0, best.scale * float(self.targets.distances.mean()))  # small for a nearly flat embedding
        while steps < self.max_iter and not converged:
            rates = (FINE_TUNING.rates[0] * size, FINE_TUNING.rates[1] * size)
            schedule = FINE_TUNING._replace(steps=min(FINE_TUNING.steps, self.max_iter - steps), rates=rates)
            found = self.after(schedule, best)
            steps += schedule.steps
            converged = schedule.steps == FINE_TUNING.steps and found.distortion >= (1 - tol) * best.distortion
            best = best_of(best, found)
        return best, Ending(steps, converged, "converged" if converged else f"stopped after {steps} steps")
