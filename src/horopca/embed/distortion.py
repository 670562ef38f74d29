"""Embeddings of graphs by least distortion of their distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._input.arguments import check_count, check_generator
from .._input.coordinates import Coordinates, check_coordinates
from .._input.threads import one_blas_thread
from .._optimize.result import Ending
from ..estimators.fitting import check_climb
from ..geometry import ModelName, lift, pairwise_distance
from ..statistics import principal_axes
from .ball import from_ball, to_ball, within
from .base import REACH, GraphEmbedding, through
from .forms import as_graph
from .graphs import Tree
from .relaxation import SETTLING, Descent, Schedule
from .sarkar import best_tau, best_tree, drawn_in, place
from .targets import Fit, Targets, Tiling, measure, targets_of

CLOUD = 0.1  # Size of a random start: small, so that points can still pass each other.
OPEN_DIMENSIONS = (
    10  # A random start in fewer dimensions unfolds in this many, then is flattened: in a plane it would stay entangled.
)
FEW_NODES = 500  # Up to this size four random starts take seconds. Which of them ends best is a matter of chance.
OPENING = Schedule(1000, (0.15, 0.05), (0.1, 0.03))  # a random start in more dimensions than n_components
FLATTENING = Schedule(1000, (0.1, 0.05), (0.1, 0.1))  # the same while the extra dimensions shrink
DESCENT = Schedule(1500, (0.1, 1e-3), (0.1, 3e-3))  # a random start, or what was flattened
ENDING = Schedule(100, (1e-3, 1e-5), (3e-3, 1e-3), all_pairs=True)  # the best of all
LARGEST_RATIO = 1e5  # Distances closer than 1e-6 round together in the search, and none is beyond twice the largest radius.
NEW_STARTS = 4  # A new node starts at this many of its nearest known nodes: one alone may be on the wrong branch.
AT_THE_LIMIT = 0.95  # Points beyond this fraction of the largest radius may be held back by it.
BALL_HOLDS = REACH["poincare"].held  # The search runs in the ball for every model.


class DistortionEmbedding(GraphEmbedding):
    """Points whose hyperbolic distances are those of the graph, up to a learnt scale, as nearly as can be.

    Minimises the average distortion, the mean over pairs of ``|d / (scale * graph distance) - 1|``, over the points and the
    scale (Gu, Sala, Gunel and Ré, 2019): by Adam on samples of the pairs, on a smooth form of the objective that is
    sharpened on the way. Every point moves in its own frame, so steps mean the same at every radius. One start is Sarkar's
    construction at its best scale, the others are random clouds, which are relaxed in ten dimensions, where few points
    stand in each other's way, and pressed flat where fewer are asked for. All go to the end, and the best goes on until it
    improves no more.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the space, at least 2.
    scale : "auto" or float, default="auto"
        Hyperbolic distance per graph distance, in the space of the estimator's curvature; "auto" learns it.
    max_radius : "auto", float or None, default="auto"
        Distance from the origin, at curvature -1, beyond which no point lies. "auto" is 12 (6 in the Klein model), which a
        picture and float32 can show; None is as far as float64 coordinates of the model hold.
    model : str, default="poincare"
        Coordinates of the embedding.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    n_init : "auto" or int, default="auto"
        How many random clouds there are beside Sarkar's construction; "auto" is 2, or 4 for at most 500 nodes, and 1 in ten
        dimensions and more.
    max_iter : int, default=10000
        Steps of the best after the starts are compared.
    tol : float, default=0.02
        The search has converged when 500 further steps improve the distortion by less than this fraction.
    largest_component : bool, default=False
        Embed the largest component of a graph that is not connected, instead of refusing it.
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
    distortion_given_up_ : float
        How much smaller the distortion would be without `max_radius`, found by a shorter search: at least so much.
    n_iter_ : int
        Steps of the best after the starts were compared.
    converged_ : bool
    status_ : str
        How the search ended, in words.

    See Also
    --------
    SarkarEmbedding : a construction for trees, at once.
    PoincareEmbedding : a hierarchy from its relations, where distances do not matter.
    horopca.HoroPCA : from many dimensions to a picture.

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
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.largest_component = largest_component
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, graph: Any, coordinates: Coordinates) -> Ending:
        d = self._dimension()
        starts = None if self.n_init == "auto" else check_count("n_init", self.n_init, 0)
        check_climb(self)
        far, scale = self._far(coordinates), self._scale(coordinates)
        graph, rng = as_graph(graph, largest_component=self.largest_component), check_generator(self.random_state)
        targets = targets_of(graph, rng, least_sources=max(64, 4 * d))
        tree, unit = best_tree(graph, targets), float(targets.distances.mean())
        if scale is not None and not 1 / LARGEST_RATIO <= scale * unit <= LARGEST_RATIO:
            raise ValueError(
                f"scale must give the nodes a mean distance between {1 / LARGEST_RATIO:g} and {LARGEST_RATIO:g}, but is "
                f"{self.scale!r}, which gives {scale * unit:.3g}. Use scale='auto'."
            )
        # the mean distance is the unit of length, so that single precision holds every ratio
        targets = targets._replace(distances=targets.distances / unit)
        tree = tree._replace(length=tree.length / unit, depth=tree.depth / unit)
        if starts is None:
            starts = 1 if d >= OPEN_DIMENSIONS else 2 if len(graph.names) > FEW_NODES else 4
        with one_blas_thread():
            search = Search(targets, coordinates, far, None if scale is None else scale * unit, rng, self._say)
            runners = [*search.from_tree(tree, d), *(search.from_cloud(d) for _ in range(starts))]
            best = search.settled(min(runners, key=_distortion), self.max_iter, self.tol)
            given_up = max(0.0, best.fit.distortion - search.without_limit(best, tree).fit.distortion)
        self.names_ = graph.names
        self.distortion_given_up_ = given_up
        self.embedding_, _ = through(best.x[np.argsort(targets.order)], coordinates)
        self.distance_scale_ = (best.fit.scale / unit if scale is None else scale) / coordinates.scale
        self.distortion_ = best.fit.distortion
        return Ending.of(best, f"Raise max_iter (now {self.max_iter}) or tol (now {self.tol:g}).")

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
        start = to_ball(np.concatenate([known, known[nearest.ravel()]]))
        moving, far = slice(len(known), None), min(self._far(coordinates), BALL_HOLDS)
        with one_blas_thread():
            descent = Descent(Tiling.of(every.T, offset=len(known)), rng, lambda p: within(p, far), True, moving)
            x = from_ball(descent.run(descent.run(start, 1.0, DESCENT), 1.0, ENDING))[moving]
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


class Runner(NamedTuple):
    """Points (n, d+1) during the search, how well they fit, and how their last descent ended."""

    x: np.ndarray
    fit: Fit
    n_iter: int = 0
    converged: bool = False
    status: str = "not started"


class Search:
    """The target distances of one graph, and the stages of a search. Points are in the order of the targets."""

    def __init__(
        self,
        targets: Targets,
        coordinates: Coordinates,
        far: float,
        scale: float | None,
        rng: np.random.Generator,
        log: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.targets, self.coordinates, self.far, self.scale = targets, coordinates, min(far, BALL_HOLDS), scale
        self.rng, self.log = rng, log
        self.descent = Descent(targets.tiling(), rng, lambda points: within(points, self.far), scale is not None)

    def runner(self, x: np.ndarray) -> Runner:
        """Points, measured as rounded to the user's coordinates."""
        return Runner(x, measure(through(x, self.coordinates)[1], self.targets, self.scale))

    def from_tree(self, tree: Tree, d: int) -> list[Runner]:
        """Sarkar's construction at its best scale, before and after a descent."""
        tau = best_tau(tree, d, self.targets, self.coordinates, self.far) if self.scale is None else self.scale
        x = drawn_in(place(tree, d, min(tau, 2 * BALL_HOLDS / float(tree.depth.max()))), self.far)
        start = self.runner(x[self.targets.order])
        return [start, self._after(SETTLING, start)]

    def from_cloud(self, d: int) -> Runner:
        """A random start after its descent, which begins in more dimensions where d is small."""
        size, wide = min(CLOUD, self.far / 10), max(d, OPEN_DIMENSIONS)
        start = self.runner(lift(size * self.rng.standard_normal((len(self.targets.order), wide))))
        if wide > d:
            x = self._after(OPENING, start).x
            axes, _ = principal_axes(x)  # the first d of them stay
            start = self._after(FLATTENING, self.runner(lift(x[:, 1:] @ axes.T)), d)
        return self._after(DESCENT, start)

    def settled(self, runner: Runner, max_iter: int, tol: float) -> Runner:
        """The points after further descents, until one improves the distortion by less than a fraction tol."""
        best, steps, converged = runner, 0, False
        size = min(1.0, runner.fit.scale * float(self.targets.distances.mean()))  # small for a nearly flat embedding
        while steps < max_iter and not converged:
            plan = SETTLING._replace(
                steps=min(SETTLING.steps, max_iter - steps), rates=(SETTLING.rates[0] * size, SETTLING.rates[1] * size)
            )
            found = self._after(plan, best)
            steps += plan.steps
            converged = plan.steps == SETTLING.steps and found.fit.distortion >= (1 - tol) * best.fit.distortion
            best = min(best, found, key=_distortion)
        best = min(best, self._after(ENDING, best), key=_distortion)
        return best._replace(
            n_iter=steps, converged=converged, status="converged" if converged else f"stopped after {steps} steps"
        )

    def without_limit(self, best: Runner, tree: Tree) -> Runner:
        """The best points and Sarkar's construction after a descent that only the model's largest radius limits."""
        held = min(REACH[self.coordinates.model].held, BALL_HOLDS)
        if self.far >= held:
            return best
        free = Search(self.targets, self.coordinates, held, self.scale, self.rng, self.log)
        limited = [best] if np.arccosh(best.x[:, 0].max()) > AT_THE_LIMIT * self.far else []
        settled = [free._after(SETTLING, runner) for runner in limited]
        return min(best, *free.from_tree(tree, best.x.shape[1] - 1), *settled, key=_distortion)

    def _after(self, plan: Schedule, start: Runner, d: int | None = None) -> Runner:
        end = self.runner(from_ball(self.descent.run(to_ball(start.x), start.fit.scale, plan, d)))
        self.log(f"distortion {start.fit.distortion:.4f} to {end.fit.distortion:.4f} at scale {end.fit.scale:.4g}")
        return end


def _distortion(runner: Runner) -> float:
    return runner.fit.distortion
