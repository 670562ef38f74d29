"""Hyperbolic skip-gram: nodes that random walks visit together lie in like directions."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import expit

from .._points.arguments import check_count, check_generator, check_number
from .._points.door import Door
from ..geometry import ModelName, to_hyperboloid
from .base import GraphEmbedding
from .forms import as_graph
from .graphs import Graph

START = 0.1  # The first points are at this radius.
LONGEST_TURN = 1.0  # A direction turns by no more radians in one batch.
LONGEST_STEP = 1.0  # A radius changes by no more in one batch.
DAMPING = 0.75  # The frequency of negatives is this power of the visits, as in word2vec.


class HyperbolicSkipGram(GraphEmbedding):
    """Embedding of a graph by random walks, after Chamberlain, Clough and Deisenroth (2017).

    Skip-gram with negative sampling in polar coordinates: a node has a radius r and a direction, and the likeness of two
    nodes is ``r r' cos(angle)``. Nodes that walks visit within `window` steps of each other are made alike, others unlike;
    radii and directions take their steps apart. Well-connected nodes keep a small radius. The points are those of the
    first of the two tables of skip-gram. Weights of edges are lengths, which walks do not heed.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the space, at least 2.
    n_walks : int, default=10
        Walks from each node.
    walk_length : int, default=40
        Nodes in a walk.
    window : int, default=5
        Steps within which two nodes are visited together.
    negatives : int, default=5
        Nodes drawn against each such pair.
    epochs : int, default=5
        Passes over the pairs.
    learning_rate : float, default=0.1
        Falls to zero along the way.
    batch_size : int, default=1000
        Pairs in a batch.
    scale : "auto" or float, default="auto"
        The length in which the likeness counts radii, in the space of the estimator's curvature: a larger one spreads the
        points wider. "auto" is 1 at curvature -1.
    max_radius : "auto", float or None, default="auto"
        Distance from the origin, at curvature -1, beyond which no point lies. "auto" is 12 (6 in the Klein model), which a
        picture and float32 can show; None is as far as float64 coordinates of the model hold.
    model : {"poincare", "lorentz", "lorentz-space", "lorentz-time-last", "klein", "halfspace", "tangent"}, default="poincare"
        The coordinates of the embedding.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    largest_component : bool, default=False
        Embed the largest component of a graph that is not connected, instead of refusing it.
    random_state : int, RandomState instance, Generator or None, default=None
        Seeds the walks, the first points and the negatives.
    verbose : int, default=0
        1: a line on stderr after each epoch.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components) (one column more for a model with time)
    names_ : list of n_nodes names, in the order of the rows
    radius_ : ndarray of shape (n_nodes,)
        Distances from the origin at curvature -1.
    loss_ : float
        Mean loss of a pair in the last epoch.

    See Also
    --------
    PoincareEmbedding : for hierarchies.
    DistortionEmbedding : keeps the distances along the edges.

    Examples
    --------
    >>> from horopca.datasets import balanced_tree
    >>> tree = balanced_tree(branching=2, depth=4)
    >>> HyperbolicSkipGram(2, n_walks=2, walk_length=10, epochs=1, random_state=0).fit_transform(tree.parent).shape
    (31, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_walks: int = 10,
        walk_length: int = 40,
        window: int = 5,
        negatives: int = 5,
        epochs: int = 5,
        learning_rate: float = 0.1,
        batch_size: int = 1000,
        scale: float | Literal["auto"] = "auto",
        max_radius: float | Literal["auto"] | None = "auto",
        model: ModelName = "poincare",
        curvature: float = -1.0,
        largest_component: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_walks = n_walks
        self.walk_length = walk_length
        self.window = window
        self.negatives = negatives
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.scale = scale
        self.max_radius = max_radius
        self.model = model
        self.curvature = curvature
        self.largest_component = largest_component
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, graph: Any, door: Door, d: int) -> None:
        self._check_options()
        unit, far = self._scale(door) or 1.0, self._far(door)
        graph, rng = as_graph(graph, largest_component=self.largest_component), check_generator(self.random_state)
        walks = random_walks(graph, self.n_walks, self.walk_length, rng)
        pairs = pairs_within(walks, self.window)
        visits = np.bincount(walks.ravel(), minlength=graph.size) ** DAMPING
        nodes, contexts = (_first_polar(graph.size, d, rng) for _ in range(2))
        batches = -(-len(pairs) // self.batch_size)
        for epoch in range(self.epochs):
            order, total = rng.permutation(len(pairs)), 0.0
            for k in range(batches):
                rate = self.learning_rate * (1 - (epoch + k / batches) / self.epochs)
                u, v = pairs[order[k * self.batch_size : (k + 1) * self.batch_size]].T
                w = _drawn(visits, (len(u), self.negatives), rng)
                total += _step(nodes, contexts, u, np.column_stack([v, w]), rate, far / unit)
            self._say(f"epoch {epoch + 1}: mean loss {total / len(pairs):.4f}")
        self.embedding_ = door.leave(to_hyperboloid(unit * nodes.radius[:, None] * nodes.direction, "tangent"), np.float64)
        self.names_, self.radius_, self.loss_ = graph.names, unit * nodes.radius, total / len(pairs)

    def _check_options(self) -> None:
        for name in ("n_walks", "window", "negatives", "epochs", "batch_size"):
            check_count(name, getattr(self, name), 1)
        check_count("walk_length", self.walk_length, 2)
        check_number("learning_rate", self.learning_rate, "a positive number", above=0)


def random_walks(graph: Graph, n_walks: int, length: int, rng: np.random.Generator) -> np.ndarray:
    """Walks (n_walks * n, length): from each node, to a neighbour drawn at random, and so on."""
    start, neighbours = graph.adjacency.indptr, graph.adjacency.indices
    degree = np.diff(start)
    walks = np.empty((n_walks * graph.size, length), dtype=np.int64)
    walks[:, 0] = np.tile(np.arange(graph.size), n_walks)
    for step in range(1, length):
        here = walks[:, step - 1]
        walks[:, step] = neighbours[start[here] + rng.integers(degree[here])]
    return walks


def pairs_within(walks: np.ndarray, window: int) -> np.ndarray:
    """Pairs (m, 2) of different nodes up to `window` steps from each other in a walk, both ways."""
    pairs = [
        np.stack([walks[:, :-o].ravel(), walks[:, o:].ravel()], axis=1) for o in range(1, min(window, walks.shape[1] - 1) + 1)
    ]
    ahead = np.concatenate(pairs)
    ahead = ahead[ahead[:, 0] != ahead[:, 1]]
    return np.concatenate([ahead, ahead[:, ::-1]])


class Polar(NamedTuple):
    """Points as radii (n,) and unit vectors (n, d); both change in place."""

    radius: np.ndarray
    direction: np.ndarray


def _first_polar(n: int, d: int, rng: np.random.Generator) -> Polar:
    direction = rng.standard_normal((n, d))
    return Polar(np.full(n, START), direction / np.linalg.norm(direction, axis=1, keepdims=True))


def _drawn(weights: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Nodes drawn in proportion to their weights."""
    ladder = np.cumsum(weights)
    return np.asarray(np.searchsorted(ladder, rng.random(shape) * ladder[-1], side="right"))


def _step(nodes: Polar, contexts: Polar, u: np.ndarray, targets: np.ndarray, rate: float, reach: float) -> float:
    """One batch: nodes u (m,) against targets (m, 1 + negatives), the first of which is the true one. Returns the loss."""
    r, a = nodes.radius[u], nodes.direction[u]
    s, b = contexts.radius[targets], contexts.direction[targets]
    cosine = np.einsum("md,mkd->mk", a, b)
    likeness = r[:, None] * s * cosine
    wanted = np.zeros_like(likeness)
    wanted[:, 0] = 1.0
    pull = wanted - expit(likeness)  # minus the gradient of the loss in the likeness
    arm = pull * r[:, None] * s
    turn_u = np.einsum("mk,mkd->md", arm, b) - np.sum(arm * cosine, axis=1)[:, None] * a
    turn_v = arm[..., None] * (a[:, None, :] - cosine[..., None] * b)
    _apply(nodes, u, rate * np.sum(pull * s * cosine, axis=1), rate * turn_u, reach)
    flat = targets.ravel()
    _apply(contexts, flat, (rate * pull * r[:, None] * cosine).ravel(), (rate * turn_v).reshape(len(flat), -1), reach)
    # the loss: log(1 + e^-likeness) of the true one and log(1 + e^likeness) of the others
    return float(np.sum(np.logaddexp(0, np.where(wanted > 0, -likeness, likeness))))


def _apply(points: Polar, rows: np.ndarray, outward: np.ndarray, turn: np.ndarray, reach: float) -> None:
    """Add steps to the radii and the directions of some rows, which may come repeatedly; then back on the sphere."""
    n, d = points.direction.shape
    touched = np.unique(rows)
    step = np.bincount(rows, weights=outward, minlength=n)[touched]
    spin = np.stack([np.bincount(rows, weights=turn[:, j], minlength=n)[touched] for j in range(d)], axis=1)
    size = np.linalg.norm(spin, axis=1, keepdims=True)
    direction = points.direction[touched] + spin * (LONGEST_TURN / np.maximum(size, LONGEST_TURN))
    radius = points.radius[touched] + step.clip(-LONGEST_STEP, LONGEST_STEP)
    through = np.where(radius < 0, -1.0, 1.0)  # past the origin lies the opposite direction
    points.direction[touched] = through[:, None] * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    points.radius[touched] = np.minimum(np.abs(radius), reach)
