"""Poincaré embeddings: related nodes near each other, others apart."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from .._input.arguments import check_count, check_generator, check_number
from .._input.coordinates import Coordinates, check_coordinates
from .._input.threads import one_blas_thread
from ..geometry import ModelName, lift
from .ball import from_ball, moved, to_ball, within
from .base import GraphEmbedding
from .forms import as_relations
from .relations import Pairs, closure_of, ranked, unique_pairs
from .stress import COINCIDENT

LONGEST_STEP = 1.0  # A point moves no farther in one batch.
BURN_IN = 0.1  # The learning rate is multiplied by this in the first epochs.
START = 1e-3  # The first cloud is of this size.


class PoincareEmbedding(GraphEmbedding):
    """Embedding of a hierarchy by its relations, after Nickel and Kiela (2017).

    For every relation (u, v), "u is a v", the point of v is drawn to that of u, and points of nodes that u has no
    relation with are pushed away: stochastic gradient ascent of ``log(exp(-d(u, v)) / sum over w of exp(-d(u, w)))`` with w
    in v and a sample of the unrelated nodes. Steps are exponential maps in each point's own frame, so the
    same algorithm serves the ball and the hyperboloid, and nothing is clipped at the boundary. The relations of a batch
    share their negative samples. An undirected edge relates both ways.

    Parameters
    ----------
    n_components : int, default=10
        Dimension of the space, at least 2.
    closure : bool, default=False
        Also relate every node to the nodes above those it is related to (the closure of the hierarchy).
    epochs : int, default=600
        Passes over the relations.
    burn_in : int, default=20
        The first epochs run at a tenth of the learning rate, while the points find their directions.
    learning_rate : float, default=0.03
        A smaller one finds a better order, in more epochs.
    negatives : int, default=50
        Unrelated nodes drawn for each batch.
    batch_size : int, default=50
        Relations in a batch.
    scale : "auto" or float, default="auto"
        The length in which the loss counts distances, in the space of the estimator's curvature: a larger one spreads the
        points wider. "auto" is 1 at curvature -1, the loss of the paper.
    max_radius : "auto", float or None, default="auto"
        Distance from the origin, at curvature -1, beyond which no point lies. "auto" is 12 (6 in the Klein model), which a
        picture and float32 can show; None is as far as float64 coordinates of the model hold.
    model : str, default="poincare"
        Coordinates of the embedding.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    random_state : int, RandomState instance, Generator or None, default=None
        Seeds the first points, the order of the relations and the negative samples.
    verbose : int, default=0
        1: about ten lines on stderr on the way.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components) (one column more for a model with time)
    names_ : list of n_nodes names, in the order of the rows
    pairs_ : ndarray of shape (n_pairs, 2)
        The relations that were learnt, as rows.
    loss_ : float
        Mean loss of a relation in the last epoch.
    mean_rank_, map_ : float
        Mean rank and mean average precision of the relations: see `horopca.embed.reconstruction`.

    See Also
    --------
    DistortionEmbedding : keeps the distances along the edges.
    reconstruction : how well the points tell who is related to whom.

    Examples
    --------
    >>> parents = {"cat": "feline", "lion": "feline", "feline": "carnivore", "dog": "canine", "canine": "carnivore"}
    >>> model = PoincareEmbedding(2, closure=True, epochs=100, learning_rate=0.1, random_state=0).fit(parents)
    >>> model.names_
    ['cat', 'feline', 'lion', 'carnivore', 'dog', 'canine']
    >>> bool(model.map_ > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        closure: bool = False,
        epochs: int = 600,
        burn_in: int = 20,
        learning_rate: float = 0.03,
        negatives: int = 50,
        batch_size: int = 50,
        scale: float | Literal["auto"] = "auto",
        max_radius: float | Literal["auto"] | None = "auto",
        model: ModelName = "poincare",
        curvature: float = -1.0,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.closure = closure
        self.epochs = epochs
        self.burn_in = burn_in
        self.learning_rate = learning_rate
        self.negatives = negatives
        self.batch_size = batch_size
        self.scale = scale
        self.max_radius = max_radius
        self.model = model
        self.curvature = curvature
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, graph: Any, coordinates: Coordinates) -> None:
        d = self._dimension()
        plan = self._plan(coordinates)
        names, edges, _, directed, _ = as_relations(graph)
        if self.closure and not directed:
            raise ValueError("closure=True needs directed edges, child first, but graph is undirected.")
        if self.closure:
            edges = closure_of(edges, names)
        related = unique_pairs(edges if directed else np.concatenate([edges, edges[:, ::-1]]), len(names))
        rng = check_generator(self.random_state)
        x = lift(rng.uniform(-START, START, size=(len(names), d)))
        with one_blas_thread():
            for epoch in range(plan.epochs):
                rate = plan.learning_rate * (BURN_IN if epoch < plan.burn_in else 1.0)
                loss = _epoch(x, related, related.pairs, rate, plan, rng)
                if (epoch + 1) % max(1, plan.epochs // 10) == 0:
                    self._say(f"epoch {epoch + 1}: mean loss {loss:.4f}")
        found = ranked(x, related, rng)
        self.embedding_ = coordinates.from_hyperboloid(x, x.dtype)
        self.names_, self.pairs_, self.loss_ = names, related.pairs, loss
        self.mean_rank_, self.map_ = found

    def transform(self, relations: Any) -> np.ndarray:
        """Embed new nodes by their relations to the nodes of the fit, which do not move.

        The loss is that of `fit`, over the relations of the new nodes. Each starts at a node that it is related to.

        Parameters
        ----------
        relations : pairs or any other form of a graph
            Relations (u, v), "u is a v", of new nodes with nodes in `names_` or with each other. Those between two nodes of
            the fit are ignored. With ``closure=True`` a new node is also related to the nodes above.

        Returns
        -------
        ndarray of shape (n_new, n_components) (one column more for a model with time)
            The new nodes, in the order of their first appearance in `relations`.
        """
        check_is_fitted(self)
        coordinates, rng = check_coordinates(self.model, self.curvature), check_generator(self.random_state)
        plan = self._plan(coordinates)
        found, known = as_relations(relations), {name: row for row, name in enumerate(self.names_)}
        names = [*self.names_, *(name for name in found.names if name not in known)]
        row = {name: k for k, name in enumerate(names)}
        n, n_known = len(names), len(self.names_)
        edges = np.array([row[name] for name in found.names])[found.edges]
        edges = np.concatenate([self.pairs_, edges, *([] if found.directed else [edges[:, ::-1]])])
        every = unique_pairs(closure_of(edges, names) if self.closure else edges, n)
        fresh = every.pairs[(every.pairs >= n_known).any(axis=1)]
        x = np.concatenate([coordinates.to_hyperboloid(self.embedding_), np.empty((n - n_known, self._dimension() + 1))])
        x[n_known:] = x[_anchors(fresh, n_known, names)]
        with one_blas_thread():
            for _ in range(plan.epochs):
                _epoch(x, every, fresh, plan.learning_rate, plan, rng, n_known)
        return np.asarray(coordinates.from_hyperboloid(x[n_known:], x.dtype))

    def _plan(self, coordinates: Coordinates) -> Course:
        return Course(
            check_count("epochs", self.epochs, 1),
            check_count("burn_in", self.burn_in, 0),
            check_number("learning_rate", self.learning_rate, "a positive number", above=0),
            check_count("negatives", self.negatives, 1),
            check_count("batch_size", self.batch_size, 1),
            self._scale(coordinates) or 1.0,
            self._far(coordinates),
        )


class Course(NamedTuple):
    """How long and how fast to learn."""

    epochs: int
    burn_in: int
    learning_rate: float
    negatives: int
    batch_size: int
    unit: float
    far: float


def _anchors(fresh: np.ndarray, n_known: int, names: list[Any]) -> np.ndarray:
    """A node of the fit near each new node, by relations: its own, or its neighbours'. Raises ValueError if there is none."""
    anchor = np.append(np.arange(n_known), np.full(len(names) - n_known, -1))
    while (anchor < 0).any():
        u, v = np.concatenate([fresh, fresh[:, ::-1]]).T
        found = (anchor[u] < 0) & (anchor[v] >= 0)
        if not found.any():
            name = names[int(np.argmin(anchor))]
            raise ValueError(f"relations must join every new node to a node of the fit, but {name!r} is joined to none.")
        anchor[u[found]] = anchor[v[found]]
    return anchor[n_known:]


def _epoch(
    x: np.ndarray, related: Pairs, pairs: np.ndarray, rate: float, plan: Course, rng: np.random.Generator, fixed: int = 0
) -> float:
    """One pass over some of the related pairs in random order; moves the points x (n, d+1) but for the first `fixed`.

    Returns the mean loss."""
    n = related.n
    keys, order, total = related.keys, rng.permutation(len(pairs)), 0.0
    for start in range(0, len(order), plan.batch_size):
        u, v = pairs[order[start : start + plan.batch_size]].T
        w = rng.integers(n, size=plan.negatives)
        wanted = (u * n)[:, None] + w
        known = keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted
        touched, place = np.unique(np.concatenate([u, v, w]), return_inverse=True)
        points = to_ball(x[touched])
        loss, gradient = _batch(points.z[place], points.delta[place], len(u), known | (u[:, None] == w), plan.unit)
        steps = np.zeros_like(points.z)
        np.add.at(steps, place, -rate * plan.unit**2 * gradient)  # steps, too, are in that unit
        size = np.linalg.norm(steps, axis=1, keepdims=True)
        steps *= LONGEST_STEP / np.maximum(size, LONGEST_STEP)
        steps[touched < fixed] = 0.0
        x[touched] = from_ball(within(moved(points, steps), plan.far))
        total += loss
    return total / len(pairs)


def _batch(z: np.ndarray, delta: np.ndarray, m: int, known: np.ndarray, unit: float = 1.0) -> tuple[float, np.ndarray]:
    """Sum of the losses of m relations, and its gradient in the frames of the points z: u (m), v (m) and negatives w.

    `known` (m, k) marks those w that are related to u, or are u, and do not count; distances count in units of `unit`.
    """
    zu, zv, zw = z[:m], z[m : 2 * m], z[2 * m :]
    du, dv, dw = delta[:m], delta[m : 2 * m], delta[2 * m :]
    turn = zv - zu
    near, apart = np.sum(turn * turn, axis=1), cdist(zu, zw, "sqeuclidean")
    d_near, slope_near = _distance(near, du * dv)
    d_apart, slope_apart = _distance(apart, np.multiply.outer(du, dw))
    rival = np.exp(-d_apart / unit)
    rival[known] = 0.0
    own = np.exp(-d_near / unit)
    total = own + rival.sum(axis=1)
    # gradients of the loss d_near + log(total) in the distances, times those of the distances (see `horopca.embed.stress`)
    draw = (1 - own / total) / unit * slope_near
    push = -rival / total[:, None] / unit * slope_apart
    gradient = np.empty_like(z)
    toward, away = push * apart, push.T
    gradient[:m] = -du[:, None] * (push @ zw - push.sum(axis=1)[:, None] * zu) + toward.sum(axis=1)[:, None] * zu
    gradient[:m] -= draw[:, None] * (du[:, None] * turn - near[:, None] * zu)
    gradient[m : 2 * m] = draw[:, None] * (dv[:, None] * turn + near[:, None] * zv)
    gradient[2 * m :] = -dw[:, None] * (away @ zu - away.sum(axis=1)[:, None] * zw) + toward.sum(axis=0)[:, None] * zw
    return float(np.sum(d_near / unit + np.log(total))), gradient


def _distance(square: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distance from |z - z'|^2 and δ δ', and the factor of its gradient."""
    q = square / unit + COINCIDENT
    root, cosh = np.sqrt(q), np.sqrt(1 + q)
    return 2 * np.log(root + cosh), 1 / (root * cosh * unit)
