"""Poincaré embeddings: related nodes are near each other, and other nodes are not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._input.arguments import check_count, check_generator, check_number, seeded_generator
from .._input.coordinates import Coordinates, check_coordinates
from .._input.rows import check_rows
from .._input.threads import one_blas_thread
from ..estimators.fitting import log
from ..geometry import ModelName, lift
from ..geometry._arrays import to_numpy
from ..geometry.hyperboloid import distance_blocks
from .base import GraphEmbedding
from .descent import COINCIDENT, Ball, add_pair_gradients, factors, squared_differences_of_factors
from .graphs import as_relations, sorted_nodes

LONGEST_STEP = 1.0  # The largest step of a point in one batch: the gradient is valid only near the point.
BURN_IN, START = 0.1, 1e-3  # The factor of the learning rate in the first epochs, and the size of the random start, as in [1].
# Epochs of `transform`, at learning rates that fall from 1 to 0: such large steps are stable because the other nodes do not
# move. On held-out mammals, 500 epochs are no better.
NEW_EPOCHS = 200
MAX_RANKED = 1 << 14  # Of more nodes with relations, a sample of this size is ranked, which leaves an error below 1 %.


@dataclass(eq=False, repr=False, kw_only=True)
class PoincareEmbedding(GraphEmbedding):
    """Embedding of a hierarchy by its relations [1]_.

    For every relation (u, v), "u is a v", the points of u and v attract each other, and u repels nodes to which it is not
    related: stochastic gradient ascent of ``log(exp(-d(u, v)) / sum over w of exp(-d(u, w)))`` with w
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
        A smaller rate ranks relations better, but needs more epochs.
    negatives : int, default=50
        Unrelated nodes drawn for each batch.
    batch_size : int, default=50
        Relations in a batch.
    max_radius : "auto", float or None, default="auto"
        Largest distance of a point from the origin, at curvature -1. "auto" is 12 (6 in the Klein model), which a picture
        and float32 can show; None is the largest for float64 coordinates of the model.
    model : str, default="poincare"
        Coordinates of the embedding.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    random_state : int, RandomState instance, Generator or None, default=None
        Seeds the first points, the order of the relations and the negative samples.
    verbose : int, default=0
        1: about ten lines on stderr.

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
    reconstruction : how well distances separate related nodes from others.

    References
    ----------
    .. [1] Nickel, M., and Kiela, D. (2017). Poincaré embeddings for learning hierarchical representations. Advances in Neural
       Information Processing Systems 30.

    Examples
    --------
    >>> parents = {"cat": "feline", "lion": "feline", "feline": "carnivore", "dog": "canine", "canine": "carnivore"}
    >>> model = PoincareEmbedding(2, closure=True, epochs=100, learning_rate=0.1, random_state=0).fit(parents)
    >>> model.names_
    ['cat', 'feline', 'lion', 'carnivore', 'dog', 'canine']
    >>> bool(model.map_ > 0.9)
    True
    """

    n_components: int = field(default=10, kw_only=False)
    closure: bool = False
    epochs: int = 600
    burn_in: int = 20
    learning_rate: float = 0.03
    negatives: int = 50
    batch_size: int = 50

    def _learn(self, graph: Any, coordinates: Coordinates) -> tuple[list[Any], np.ndarray, None]:
        d = check_count("n_components", self.n_components, 2)
        for name, least in (("epochs", 1), ("burn_in", 0), ("negatives", 1), ("batch_size", 1)):
            check_count(name, getattr(self, name), least)
        check_number("learning_rate", self.learning_rate, "a positive number", above=0)
        names, edges, _, directed, *_ = as_relations(graph)
        if self.closure and not directed:
            raise ValueError("closure=True needs directed edges, child first, but graph is undirected.")
        if self.closure:
            edges = closure_of(edges, names)
        pairs = np.unique(edges if directed else np.concatenate([edges, edges[:, ::-1]]), axis=0)
        rng = check_generator(self.random_state)
        x = lift(rng.uniform(-START, START, size=(len(names), d)))
        with one_blas_thread():
            for epoch in range(self.epochs):
                rate = self.learning_rate * (BURN_IN if epoch < self.burn_in else 1.0)
                loss = self._epoch(x, pairs, pairs, rate, rng)
                if (epoch + 1) % max(1, self.epochs // 10) == 0:
                    log(self, f"epoch {epoch + 1}: mean loss {loss:.4f}")
        self.pairs_, self.loss_, (self.mean_rank_, self.map_) = pairs, loss, _ranked(x, pairs, rng)
        return names, x, None

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
            The new nodes, in the order of their first appearance in ``relations``.
        """
        check_is_fitted(self)
        coordinates, rng = self._coordinates, check_generator(self.random_state)
        found, n_known = as_relations(relations, reverse_trees=False), len(self.names_)
        row = {name: k for k, name in enumerate(dict.fromkeys([*self.names_, *found.names]))}
        edges = np.array([row[name] for name in found.names])[found.edges]
        edges = np.concatenate([self.pairs_, edges, *([] if found.directed else [edges[:, ::-1]])])
        related = np.unique(closure_of(edges, list(row)) if self.closure else edges, axis=0)
        new = related[(related >= n_known).any(axis=1)]
        x = coordinates.to_hyperboloid(self.embedding_)[_anchors(new, n_known, list(row))]
        with one_blas_thread():
            for epoch in range(NEW_EPOCHS):
                self._epoch(x, related, new, 1 - epoch / NEW_EPOCHS, rng, n_known)
        return np.asarray(coordinates.from_hyperboloid(x[n_known:], x.dtype))

    def _epoch(
        self, x: np.ndarray, related: np.ndarray, pairs: np.ndarray, rate: float, rng: np.random.Generator, fixed: int = 0
    ) -> float:
        """One pass over `pairs`, which moves the points x (n, d+1) except the first `fixed`. Returns the mean loss."""
        n, far, order, total = len(x), self._largest_radius(), rng.permutation(len(pairs)), 0.0
        keys = np.union1d(related @ [n, 1], np.arange(n) * (n + 1))  # nor is a node its own negative sample
        points = Ball.of(x)  # in each epoch again: over thousands of steps, rounding would separate δ from 1 - |z|^2
        for start in range(0, len(order), self.batch_size):
            u, v = pairs[order[start : start + self.batch_size]].T
            w = rng.integers(n, size=self.negatives)
            wanted = (u * n)[:, None] + w
            nearest = keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)]
            counted = np.hstack([np.eye(len(u), dtype=bool), nearest != wanted])
            nodes = np.concatenate([u, v, w])
            loss, gradient = batch_loss(Ball(points.z[nodes], points.delta[nodes]), counted)
            touched, position = np.unique(nodes, return_inverse=True)
            steps = np.zeros((len(touched), points.z.shape[1]))
            np.add.at(steps, position, -rate * gradient)
            size = np.linalg.norm(steps, axis=1, keepdims=True)
            steps *= LONGEST_STEP / np.maximum(size, LONGEST_STEP)
            steps[touched < fixed] = 0.0
            moved = Ball(points.z[touched], points.delta[touched]).moved(steps).within(far)
            points.z[touched], points.delta[touched] = moved
            total += loss
        x[fixed:] = points.hyperboloid()[fixed:]
        return total / len(pairs)


def _anchors(new: np.ndarray, n_known: int, names: list[Any]) -> np.ndarray:
    """For every node, a node of the fit to start at: itself, one that it is related to, or the anchor of a related new node."""
    anchor = np.append(np.arange(n_known), np.full(len(names) - n_known, -1))
    u, v = np.concatenate([new, new[:, ::-1]]).T
    while (anchor < 0).any():
        found = (anchor[u] < 0) & (anchor[v] >= 0)
        if not found.any():
            name = names[int(np.argmin(anchor))]
            raise ValueError(f"relations must join every new node to a node of the fit, but {name!r} is joined to none.")
        anchor[u[found]] = anchor[v[found]]
    return anchor


def batch_loss(points: Ball, counted: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum of the losses of m relations, and its gradient in the frames of the points u (m), v (m) and negatives w (k).

    `counted` (m, m + k) marks in each row the v and those w that are not related to u.
    """
    m = len(counted)
    rows, columns, own = slice(m), slice(m, None), np.arange(m)
    left, right = factors(points.z)
    square = squared_differences_of_factors(left[rows], right[columns])
    deltas = np.multiply.outer(points.delta[rows], points.delta[columns])
    q = square / deltas + COINCIDENT
    root, cosh = np.sqrt(q), np.sqrt(1 + q)
    growth = root + cosh  # exp(d / 2)
    share = counted / growth**2
    total = share.sum(axis=1)
    pull = share / -total[:, None]
    pull[own, own] += 1
    gradient = np.zeros_like(points.z)
    add_pair_gradients(gradient, points, right, rows, columns, pull / (root * cosh * deltas), square)
    return float(np.sum(np.log(total * growth[own, own] ** 2))), gradient


def closure_of(pairs: np.ndarray, names: list[Any]) -> np.ndarray:
    """All (u, v) such that a path of pairs leads from u to v. Raises ValueError if there is a cycle."""
    above: list[set[int]] = [set() for _ in names]
    for u, v in pairs.tolist():
        above[u].add(v)
    for node in sorted_nodes(pairs, names):  # whose parents have all their ancestors already
        above[node] = above[node].union(*(above[v] for v in above[node]))
    return np.array([(u, v) for u, ancestors in enumerate(above) for v in sorted(ancestors)], dtype=np.int64)


class Reconstruction(NamedTuple):
    """How well distances separate related nodes from others; returned by `reconstruction`."""

    mean_rank: float  #: of a related node among the unrelated ones and itself, 1 at best
    mean_average_precision: float  #: 1 at best


def reconstruction(
    X: Any, pairs: Any, *, model: ModelName = "poincare", curvature: float = -1.0, random_state: Any = None
) -> Reconstruction:
    """Rank the nodes related to each node among all others by their distance from it (Nickel and Kiela, 2017).

    Parameters
    ----------
    X : array of shape (n_nodes, .)
        Points in a model and a curvature.
    pairs : array of int, shape (m, 2)
        Rows (u, v) of X that are related.
    model, curvature : str and float
        The coordinates of X.
    random_state : int, RandomState, Generator or None
        Seeds the sample of 16384 nodes that is ranked if more nodes have relations.

    Returns
    -------
    Reconstruction
        ``mean_rank``: the mean over pairs (u, v) of one more than the number of nodes unrelated to u that are nearer to
        u than v; ``mean_average_precision``: the mean over nodes u of the average precision of their relations.

    See Also
    --------
    PoincareEmbedding : learns such points

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [0.6, 0.0]])
    >>> reconstruction(X, [[0, 1], [2, 1]])
    Reconstruction(mean_rank=1.0, mean_average_precision=1.0)
    """
    rows = check_rows(X, check_coordinates(model, curvature))
    x, n = to_numpy(rows.all()), rows.shape[0]
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(f"pairs must be whole numbers of shape (m, 2), but have shape {pairs.shape} and dtype {pairs.dtype}.")
    if pairs.min() < 0 or pairs.max() >= n:
        raise ValueError(f"pairs must be rows of X, from 0 to {n - 1}, but run from {pairs.min()} to {pairs.max()}.")
    return _ranked(x, np.unique(pairs, axis=0), seeded_generator(random_state))


def _ranked(x: np.ndarray, pairs: np.ndarray, rng: np.random.Generator) -> Reconstruction:
    """`reconstruction` of points x (n, d+1) of the hyperboloid, for sorted pairs."""
    nodes, start = np.unique(pairs[:, 0], return_index=True)
    stop = np.append(start[1:], len(pairs))
    chosen = np.sort(rng.choice(len(nodes), MAX_RANKED, replace=False)) if len(nodes) > MAX_RANKED else np.arange(len(nodes))
    ranks, total, precision = 0.0, 0, 0.0
    for rows, block in distance_blocks(x[nodes[chosen]], x):
        for k, d in zip(chosen[rows], block, strict=True):
            others = np.ones(len(x), dtype=bool)
            positive = pairs[start[k] : stop[k], 1]
            others[positive] = others[nodes[k]] = False
            nearer = np.searchsorted(np.sort(d[others]), np.sort(d[positive]))
            rank = np.arange(1, len(nearer) + 1)
            ranks += float(np.sum(nearer + 1))
            total += len(nearer)
            precision += float(np.mean(rank / (rank + nearer)))
    return Reconstruction(ranks / total, precision / len(chosen))
