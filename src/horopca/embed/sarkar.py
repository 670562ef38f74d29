"""Sarkar's construction: the nodes of a tree are placed one by one, as evenly as the dimension allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from .._input.arguments import check_count, check_generator
from .._input.coordinates import LARGEST_RADIUS, Coordinates
from ..estimators.fitting import log
from ..geometry import origin, radius, to_hyperboloid, translate, translate_to_origin
from ..geometry._arrays import unit
from ..metrics.distances import best_scale
from .base import GraphEmbedding, check_scale, rounded
from .descent import Ball, Targets
from .graphs import Graph, Tree, as_graph, centre, rooted, shortest_paths

GRID = 16  # Number of scales that are compared first; then half as many around the best.
SHORT_EDGE = 0.05  # Length of the median edge at the smallest scale.
FARTHEST_LEAF = 100.0  # Radius of the deepest leaf at the largest scale. Paths that part beyond radius 36 coincide in float64.
TUNING_PAIRS = 1 << 17  # Number of pairs on which scales are compared.
MAX_OPTIMISED = 256  # Beyond this number, directions are random, which is nearly as good.
EQUAL_DIRECTIONS = 1e-20  # Below this squared difference, two unit vectors count as equal: the difference is rounding error.
SHARPNESS = (3.0, 30.0)  # First and last sharpness of the repulsion. The larger it is, the more the smallest distance counts.


@dataclass(eq=False, repr=False, kw_only=True)
class SarkarEmbedding(GraphEmbedding):
    """Sarkar's combinatorial embedding of a tree [1]_, or of a graph through a spanning tree [2]_.

    The root is at the origin. The distance between a child and its parent is `scale` times the length of their edge, and the
    edges of a node point in directions that are spread as evenly as the dimension allows. At a large scale the distances
    between points tend to `scale` times those in the tree. The scale is limited by `max_radius` and by float64: the ball
    has room up to radius 34, and no model can distinguish points whose paths from the origin separate beyond that. Other
    graphs are embedded through a spanning tree.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the space, at least 2.
    scale : "auto" or float, default="auto"
        Length of an edge of weight 1, in the space of the estimator's curvature. "auto" selects the scale with the least
        distortion, measured on the rounded coordinates.
    max_radius : "auto", float or None, default="auto"
        Largest distance of a point from the origin, at curvature -1. "auto" is 12 (6 in the Klein model), which a picture
        and float32 can show; None is the largest for float64 coordinates of the model.
    model : str, default="poincare"
        Coordinates of the embedding. With ``max_radius=None`` the leaves lie farther out in Lorentz coordinates than the
        ball allows.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    root : node or None, default=None
        The node at the origin; None: the middle of a longest path.
    largest_component : bool, default=False
        Embed the largest component of a graph that is not connected, instead of raising an error.
    random_state : int, RandomState instance, Generator or None, default=None
        Seeds the sample of pairs on which distortion is measured, above 2048 nodes.
    verbose : int, default=0
        1: a line on stderr for each scale.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components) (one column more for a model with time)
    names_ : list of n_nodes names, in the order of the rows
    scale_ : float
        The length of an edge of weight 1 in the construction.
    distance_scale_ : float
        The factor that makes graph distances most like those of the embedding; tends to ``scale_`` as that grows.
    distortion_ : float
        Mean over pairs of ``|d / (distance_scale_ * graph distance) - 1|``, measured on ``embedding_``.
    parent_ : ndarray of shape (n_nodes,)
        The tree of the construction: the row of each node's parent, -1 for the root.

    See Also
    --------
    DistortionEmbedding : a search, with less distortion in more time.
    PoincareEmbedding : a hierarchy from its relations, where distances do not matter.

    References
    ----------
    .. [1] Sarkar, R. (2011). Low distortion Delaunay embedding of trees in hyperbolic plane. International Symposium on Graph
       Drawing.
    .. [2] Sala, F., De Sa, C., Gu, A., and Ré, C. (2018). Representation tradeoffs for hyperbolic embeddings. Proceedings of
       the 35th International Conference on Machine Learning.

    Examples
    --------
    >>> from horopca.datasets import balanced_tree
    >>> tree = balanced_tree(branching=3, depth=3)
    >>> sarkar = SarkarEmbedding(n_components=2).fit(tree.parent)
    >>> sarkar.embedding_.shape, bool(sarkar.distortion_ < 0.03)
    ((40, 2), True)
    """

    n_components: int = field(default=2, kw_only=False)
    scale: float | Literal["auto"] = "auto"
    root: Any = None
    largest_component: bool = False

    def _learn(self, graph: Any, coordinates: Coordinates) -> tuple[list[Any], np.ndarray, None]:
        d = check_count("n_components", self.n_components, 2)
        scale, far = check_scale(self.scale, coordinates), self._largest_radius()
        graph = as_graph(graph, largest_component=self.largest_component)
        targets = Targets.of(graph, check_generator(self.random_state))
        tree = spanning_tree(graph, targets, None if self.root is None else graph.row(self.root))
        if scale is None:
            scale = search_scale(lambda s: construct(tree, d, s, far), tree, targets, coordinates, far, partial(log, self))
        elif (reached := farthest(tree, d, scale)) > far:
            raise ValueError(
                f"scale {self.scale:g} puts nodes of this tree, of depth {tree.depth.max():g}, at radius {reached:.4g}, "
                f"but max_radius is {far:.4g} in the model {coordinates.model!r}. Pass scale='auto', a scale of at most about "
                f"{scale / coordinates.scale * far / reached:.3g}, or a larger max_radius (None: the largest of the model)."
            )
        x = construct(tree, d, scale, far)
        best, self.distortion_ = targets.scale_and_distortion(rounded(x, coordinates)[targets.order])
        self.parent_, self.scale_, self.distance_scale_ = tree.parent, scale / coordinates.scale, best / coordinates.scale
        return graph.names, x, None


def farthest(tree: Tree, d: int, scale: float) -> float:
    """The largest radius of a point of the construction, or an upper bound if no model can represent that radius."""
    deepest = scale * float(tree.depth.max())
    return deepest if deepest > LARGEST_RADIUS else float(radius(construct(tree, d, scale)).max())


def spanning_tree(graph: Graph, targets: Targets, root: int | None = None) -> Tree:
    """A spanning tree whose distances are close to those of the graph; for a tree, the tree itself, rooted in its middle."""
    if graph.is_tree or root is not None:
        return rooted(graph.adjacency, centre(graph.adjacency) if root is None else root)
    some, light = targets.thinned(TUNING_PAIRS), minimum_spanning_tree(graph.adjacency)
    central = targets.order[np.argsort(targets.distances.mean(axis=1))[:8]]
    hubs = np.argsort(-np.diff(graph.adjacency.indptr), kind="stable")[:4]
    trees = [rooted(graph.adjacency, int(node)) for node in (*central, *hubs)]
    trees.append(rooted(csr_array(light + light.T), int(central[0])))

    def distortion(tree: Tree) -> float:
        counted = some.distances > 0
        paths = shortest_paths(tree.adjacency, some.order[: len(counted)])[:, some.order]
        ratios = paths[counted] / some.distances[counted]
        return float(np.mean(np.abs(ratios / best_scale(ratios) - 1)))

    return min(trees, key=distortion)


def search_scale(
    layout: Callable[[float], np.ndarray],
    tree: Tree,
    targets: Targets,
    coordinates: Coordinates,
    far: float,
    log: Callable[[str], None] = lambda _: None,
) -> float:
    """The scale (length of an edge of weight 1) at which a layout of the tree has the least distortion after rounding."""
    targets = targets.thinned(TUNING_PAIRS)

    def loss(scale: float) -> float:
        _, distortion = targets.scale_and_distortion(rounded(layout(scale), coordinates)[targets.order])
        log(f"scale {scale / coordinates.scale:.4g}: distortion {distortion:.4f}")
        return distortion

    longest = min(2 * far, FARTHEST_LEAF) / float(tree.depth.max())  # the deepest leaves may be moved inward
    shortest = min(SHORT_EDGE / float(np.median(tree.length[tree.parent >= 0])), longest / 4)
    grid = np.geomspace(shortest, longest, GRID)
    best, step = min(grid, key=loss), grid[1] / grid[0]
    return float(min(np.minimum(np.geomspace(best / step, best * step, GRID // 2 + 1), longest), key=loss))


def construct(tree: Tree, d: int, scale: float, far: float = np.inf) -> np.ndarray:
    """Points (n, d+1) of a tree: every child at `scale` times its edge's length from its parent, but no farther than `far`."""
    n, parents = len(tree.parent), tree.parent
    x, back = np.tile(origin(d), (n, 1)), np.zeros((n, d))  # back: the direction of the parent, in the frame of the node
    count = np.bincount(parents[parents >= 0], minlength=n) + (parents >= 0)  # directions taken around each node
    turns = np.random.default_rng(0)  # random rotations, so that a tree of few branches does not lie in a plane
    for hops, children in enumerate(tree.levels[1:]):
        turn = np.linalg.qr(turns.standard_normal((d, d)))[0] if d > 2 else np.eye(d)
        parent = parents[children]
        new = np.flatnonzero(np.diff(parent, prepend=-1))
        rank = np.arange(len(parent)) - np.repeat(new, np.diff(new, append=len(parent)))  # among the siblings
        around = [spread_directions(int(count[p]), d) for p in parent]
        v = np.stack([directions[k + (hops > 0)] for directions, k in zip(around, rank, strict=True)]) @ turn
        if hops:  # the first direction is that of the parent
            v = _reflected(v, np.stack([directions[0] for directions in around]) @ turn, back[parent])
        step = scale * tree.length[children, None] * v
        x[children] = translate(to_hyperboloid(step, "tangent"), x[parent])
        back[children] = unit(translate_to_origin(x[parent], x[children])[:, 1:])
    return x if far == np.inf else Ball.of(x).within(far).hyperboloid()


def _reflected(v: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """v under the reflections that exchange the unit vectors a and b, row by row."""
    h = a - b
    square = np.sum(h * h, axis=1)
    factor = np.divide(2 * np.sum(v * h, axis=1), square, out=np.zeros_like(square), where=square > EQUAL_DIRECTIONS)
    return np.asarray(v - factor[:, None] * h)


@lru_cache(maxsize=512)
def spread_directions(count: int, d: int) -> np.ndarray:
    """Unit vectors (count, d), d >= 2, far from each other: a regular polygon or simplex; more are found by repulsion."""
    if d == 2:
        angle = 2 * np.pi * np.arange(count) / count
        vectors = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    elif count <= d:
        vectors = np.eye(count, d) - (np.arange(d) < count) / max(count, 2)
    else:
        vectors = np.random.default_rng(0).standard_normal((count, d))
        for sharpness in SHARPNESS if count <= MAX_OPTIMISED else ():
            arguments = (count, d, sharpness)
            vectors = minimize(_repulsion, vectors.ravel(), arguments, jac=True, method="L-BFGS-B").x.reshape(count, d)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors.setflags(write=False)
    return vectors


def _repulsion(flat: np.ndarray, count: int, d: int, sharpness: float) -> tuple[float, np.ndarray]:
    """A smooth maximum of the cosines between the vectors, and its gradient."""
    v = flat.reshape(count, d)
    size = np.linalg.norm(v, axis=1, keepdims=True)
    u = v / size
    cosine = u @ u.T
    np.fill_diagonal(cosine, -np.inf)
    largest = cosine.max()
    share = np.exp(2 * sharpness * (cosine - largest))
    total = share.sum()
    pull = 2 * (share / total) @ u
    across = pull - np.sum(pull * u, axis=1, keepdims=True) * u
    return float(largest + np.log(total) / (2 * sharpness)), (across / size).ravel()
