"""Embeddings of graphs by least distortion of their distances."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._points.door import Door, check_count
from .._points.threads import one_blas_thread
from .._search.climb import Objective, climb
from ..geometry import lift
from ..statistics import principal_axes
from .base import REACH, GraphEmbedding, check_positive, through
from .frames import Ball, from_ball, moved, to_ball
from .graphs import Tree, as_graph
from .pairs import Block, Fit, GraphPairs, measure, pairs_of
from .sarkar import best_tau, best_tree, place
from .stress import cut_short, flattened, reined_in, soft_distortion

AUTO_STARTS = 3
RADII = (2.0, 1.0, 4.0)  # of the first starts: near the flat space, from where a search finds its scale
ROOM = 10  # dimensions in which a start is opened where fewer are asked for; the rest is taken back
OPENING = (0.3, 0.1)  # softness of the objective, in fractions of a distance, from stage to stage
PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # on the lent dimensions
MIDDLE = (0.1, 0.03)
ENDING = (0.01, 0.003, 0.001)
LEAST_DELTA = 4 * np.exp(-40.0)  # 1 - |z|^2 at radius 40, beyond which no two points of the ball have different directions
BALL = Door("poincare", -1.0)
STAGE = 60  # iterations of a stage before the last ones


class DistortionEmbedding(GraphEmbedding):
    """Points whose hyperbolic distances are those of the graph, up to a learnt scale, as nearly as can be.

    Minimises the average distortion, the mean over pairs of ``|d / (scale * graph distance) - 1|``, over the points and the
    scale (Gu, Sala, Gunel and Ré, 2019). Gradients are exact; every point moves in its own frame, so steps mean the same
    at every radius; L-BFGS, on a smooth form of the objective that is sharpened in stages. A few starts are
    opened in at least ten dimensions, where few points stand in each other's way, and pressed flat where fewer are asked
    for; another is Sarkar's construction at its best scale. The best goes on to the end.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the space, at least 2.
    model : {"poincare", "lorentz", "klein", "halfspace", "tangent"}, default="poincare"
        The coordinates of the embedding.
    curvature : float, default=-1.0
    n_init : "auto" or int, default="auto"
        How many starts are opened beside Sarkar's; "auto" is 3.
    max_iter : int, default=1000
        Iterations of each of the last stages.
    tol : float, default=1e-8
        A stage ends when a step improves the objective by less than this fraction.
    largest_component : bool, default=False
        Embed the largest component of a graph that is not connected, instead of refusing it.
    random_state : int, RandomState instance or None, default=None
        Seeds the order of siblings in the starts and, above 2048 nodes, the sample of pairs.
    verbose : int, default=0
        1: a line on stderr for each start and stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components) (one column more for ``model="lorentz"``)
    names_ : list of n_nodes names, in the order of the rows
    distance_scale_ : float
        Hyperbolic distance per graph distance.
    distortion_ : float
        Mean over pairs of ``|d / (distance_scale_ * graph distance) - 1|``, measured on ``embedding_`` (above 2048 nodes,
        on the pairs of a random sample of nodes with all).
    n_iter_ : int
        Iterations of the last stages.
    converged_ : bool
    status_ : str
        How the last stage ended, in words.

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
        model: str = "poincare",
        curvature: float = -1.0,
        n_init: int | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
        largest_component: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.curvature = curvature
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.largest_component = largest_component
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, graph: Any, y: Any = None) -> DistortionEmbedding:
        """Find the points of the nodes of `graph`.

        Parameters
        ----------
        graph : networkx graph, SciPy sparse adjacency, path of an edge list, parents of the nodes
            See `horopca.embed.graphs`.
        y : ignored

        Returns
        -------
        self
        """
        door, d = self._door(), self._dimension()
        starts = AUTO_STARTS if self.n_init == "auto" else check_count("n_init", self.n_init, 0)
        max_iter = check_count("max_iter", self.max_iter, 1)
        tol = check_positive("tol", self.tol)
        graph, rng = as_graph(graph, largest_component=self.largest_component), self._rng()
        pairs = pairs_of(graph, rng, least_sources=max(64, 4 * d))
        tree = best_tree(graph, pairs)
        with one_blas_thread():
            search = Search(pairs, door, tol, self._say)
            runners = [search.opened(tree, d, radius, rng) for radius in _radii(starts)]
            runners.append(search.sharpened(search.placed(tree, d), MIDDLE[-1:], STAGE))
            best = min(runners, key=lambda runner: runner.fit.distortion)
            last = search.sharpened(best, ENDING, max_iter)
        self._store(min(best, last, key=lambda runner: runner.fit.distortion), last, door)
        self.names_ = graph.names
        return self

    def _store(self, best: Runner, last: Runner, door: Door) -> None:
        self.embedding_, _ = through(best.x, door)
        self.distance_scale_, self.distortion_ = best.fit.scale / door.scale, best.fit.distortion
        self.n_iter_, self.converged_, self.status_ = last.n_iter, last.converged, last.status
        if not self.converged_:
            warnings.warn(
                f"The search {self.status_}: raise max_iter (now {self.max_iter}) or tol (now {self.tol:g}).",
                ConvergenceWarning,
                stacklevel=3,
            )


def _radii(count: int) -> list[float]:
    return [RADII[k % len(RADII)] for k in range(count)]


class Runner(NamedTuple):
    """Points (n, d+1) on the way, how well they fit, and how their last climb ended."""

    x: np.ndarray
    fit: Fit
    n_iter: int = 0
    converged: bool = False
    status: str = "not started"


class Search:
    """The pairs of one graph, and the stages a start goes through."""

    def __init__(self, pairs: GraphPairs, door: Door, tol: float, say: Callable[[str], None]) -> None:
        self.pairs, self.door, self.tol, self.say = pairs, door, tol, say
        self.blocks: list[Block] = pairs.blocks()
        self.unit = float(pairs.distances.mean())

    def runner(self, x: np.ndarray, *end: Any) -> Runner:
        """Points, measured as they would come out of the door."""
        return Runner(x, measure(through(x, self.door)[1], self.pairs), *end)

    def placed(self, tree: Tree, d: int) -> Runner:
        """Sarkar's construction at its best scale, within what the ball, in which the search goes on, can hold."""
        door = self.door if REACH[self.door.model] < REACH[BALL.model] else BALL
        return self.runner(place(tree, d, best_tau(tree, d, self.pairs, door)))

    def opened(self, tree: Tree, d: int, far: float, rng: np.random.Generator) -> Runner:
        """A start: the tree placed out to radius `far` in a roomy space, relaxed there, pressed flat, relaxed again."""
        x = place(tree, max(d, ROOM), far / float(tree.depth.max()), rng)
        relaxed = self.sharpened(self.runner(x), OPENING, STAGE)
        return self.sharpened(relaxed if d >= ROOM else self.pressed(relaxed, d), MIDDLE, STAGE)

    def sharpened(self, runner: Runner, softnesses: tuple[float, ...], max_iter: int) -> Runner:
        """The points after a climb at each softness of the objective."""
        points, scale, steps = to_ball(runner.x), runner.fit.scale, 0
        for softness in softnesses:
            objective = soft_distortion(points, self.blocks, self.pairs.total, softness)
            points, scale, ascent = self._climbed(points, scale, objective, max_iter)
            steps += ascent.n_iter
            self.say(f"softness {softness:g}: {-ascent.value:.4f} at scale {scale:.4g}, {ascent.status} ({ascent.n_iter})")
        return self.runner(from_ball(points), steps, ascent.converged, ascent.status)

    def pressed(self, runner: Runner, d: int) -> Runner:
        """The points moved towards their first d principal directions by a rising penalty, and projected on them."""
        axes, _ = principal_axes(runner.x)
        points, scale = to_ball(lift(runner.x[:, 1:] @ axes.T)), runner.fit.scale
        for penalty in PENALTIES:
            weight = penalty / self.unit**2
            objective = flattened(points, self.blocks, self.pairs.total, OPENING[-1], d, weight)
            points, scale, _ = self._climbed(points, scale, objective, STAGE)
        s = from_ball(points)[:, 1:]
        return self.runner(lift(s[:, :d] / np.sqrt(1 + np.sum(s[:, d:] ** 2, axis=1))[:, None]))

    def _climbed(self, points: Ball, scale: float, objective: Objective, max_iter: int) -> tuple[Ball, float, Any]:
        start = np.append(np.zeros(points.z.size), np.log(scale))
        d = points.z.shape[1]
        ascent = climb(reined_in(objective, start, d), start, max_iter=max_iter, tol=self.tol)
        end, _ = cut_short(ascent.point, start, d)
        after, _ = moved(points, end[:-1].reshape(points.z.shape))
        if after.delta.min() < LEAST_DELTA:  # left the ball
            return points, scale, ascent
        return after, float(np.exp(end[-1])), ascent
