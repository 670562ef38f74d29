"""Crossing-free embeddings of trees in the hyperbolic plane."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._input.arguments import check_count, check_generator
from .._input.coordinates import Coordinates
from .._input.threads import one_blas_thread
from ..geometry import ModelName
from .ball import Ball, from_ball
from .base import GraphEmbedding, Reach, through
from .forms import as_graph
from .graphs import Graph, centre, node_of, rooted
from .planar import OrderedTree, PlanarLayout
from .relaxation import SETTLING, Descent
from .sarkar import best_length
from .targets import measure, targets_of

FARTHEST = (
    17.0  # Up to this radius float64 coordinates of the disk resolve 1e-8, the margins between edges; Klein's half of it.
)
MOST_LEVELS = 20_000  # The layout is restored at most so often that this many levels of the tree are visited: some seconds.


class TreeEmbedding(GraphEmbedding):
    """Crossing-free layout of a tree in the hyperbolic plane, with distances as in the tree as far as that allows.

    The layout starts at the root. Every node divides the angle that is left to it among its children, in the order in which
    the tree has them, by their numbers of leaves, and puts them at distances in proportion to the lengths of their edges. The
    points then move to reduce the average distortion, as in `DistortionEmbedding`, and never leave the cones of their
    angles, which is why edges, drawn as geodesics, do not cross.

    Parameters
    ----------
    max_radius : "auto", float or None, default="auto"
        Largest distance of a point from the origin, at curvature -1. "auto" is 12 (6 in the Klein model), which a picture
        and float32 can show. None is 17 (8.5 in the Klein model), beyond which rounding could make edges cross.
    model : str, default="poincare"
        Coordinates of the embedding.
    curvature : float, default=-1.0
        Negative; the disk has radius 1/sqrt(-curvature).
    root : node or None, default=None
        The node from which the layout starts, near the origin. None is the middle of a longest path, from where the
        distortion is smallest.
    max_iter : int, default=500
        Number of steps that reduce the distortion. 0 keeps the first layout.
    random_state : int, RandomState instance, Generator or None, default=None
        Seeds the samples of pairs.
    verbose : int, default=0
        1 prints progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, 2) (one column more for a model with time)
    names_ : list of n_nodes names, in the order of the rows
    distance_scale_ : float
        Hyperbolic distance per distance in the tree.
    distortion_ : float
        Mean over pairs of ``|d / (distance_scale_ * tree distance) - 1|``, measured on ``embedding_`` (above 2048 nodes, on
        the pairs of a random sample of nodes with all).
    parent_ : ndarray of shape (n_nodes,)
        Row of each node's parent in the layout, -1 for its root.

    See Also
    --------
    DistortionEmbedding : any graph, any dimension; its edges cross.
    SarkarEmbedding : a construction in any dimension.

    Examples
    --------
    >>> from horopca.datasets import balanced_tree
    >>> layout = TreeEmbedding(random_state=0).fit(balanced_tree(branching=3, depth=3).parent)
    >>> layout.embedding_.shape, bool(layout.distortion_ < 0.03)
    ((40, 2), True)
    """

    def __init__(
        self,
        *,
        max_radius: float | Literal["auto"] | None = "auto",
        model: ModelName = "poincare",
        curvature: float = -1.0,
        root: Any = None,
        max_iter: int = 500,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_radius = max_radius
        self.model = model
        self.curvature = curvature
        self.root = root
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, graph: Any, coordinates: Coordinates) -> None:
        far, steps = self._far(coordinates), check_count("max_iter", self.max_iter, 0)
        graph, rng = as_graph(graph), check_generator(self.random_state)
        _check_tree(graph)
        targets = targets_of(graph, rng)
        root = centre(graph.adjacency) if self.root is None else node_of(graph, self.root)
        layout = PlanarLayout(OrderedTree.of(graph, root), far)
        node, order = np.argsort(targets.order), targets.order
        every = 1 + steps * len(layout.tree.levels) // MOST_LEVELS
        count = 0

        def constrain(points: Ball) -> Ball:
            nonlocal count
            count += 1
            return points if count % every else _disk(layout.restore(points.z[node] @ [1, 1j])[order])

        def construct(scale: float) -> np.ndarray:
            return from_ball(_disk(layout.construct(scale)))

        with one_blas_thread():
            length = best_length(construct, rooted(graph.adjacency, root), targets, coordinates, far, self._say)
            first = _disk(layout.construct(length)[order])
            fit = measure(from_ball(first), targets)
            end = Descent(targets.tiling(), rng, constrain).run(first, fit.scale, SETTLING._replace(steps=steps))
            end = _disk(layout.restore(end.z[node] @ [1, 1j])[order])
        candidates = [through(from_ball(points)[node], coordinates) for points in (first, end)]
        fits = [measure(x[order], targets) for _, x in candidates]
        best = min((0, 1), key=lambda k: fits[k].distortion)
        self.names_, self.parent_ = graph.names, layout.tree.parent
        self.embedding_ = candidates[best][0]
        self.distance_scale_, self.distortion_ = fits[best].scale / coordinates.scale, fits[best].distortion

    def _reach(self, coordinates: Coordinates) -> Reach:
        shown, _ = super()._reach(coordinates)
        return Reach(shown, FARTHEST if shown > 6 else FARTHEST / 2)


def _check_tree(graph: Graph) -> None:
    if not graph.is_tree or graph.distances is not None:
        raise ValueError(
            f"graph must be a tree, with one edge fewer than nodes, but has {graph.size} nodes and "
            f"{graph.adjacency.nnz // 2} edges. For other graphs use DistortionEmbedding."
        )


def _disk(z: np.ndarray) -> Ball:
    """Complex numbers of the disk as points of the ball."""
    return Ball(np.stack([z.real, z.imag], axis=1), 1 - np.abs(z) ** 2)
