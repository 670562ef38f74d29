"""Sarkar's construction: a tree is put into hyperbolic space node by node, as evenly as the dimension allows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize_scalar

from .._input.arguments import check_generator
from .._input.coordinates import LARGEST_RADIUS, Coordinates
from ..geometry import ModelName, distance, from_hyperboloid, origin, radius, to_hyperboloid, translate
from .ball import from_ball, gyrate, to_ball, within
from .base import REACH, GraphEmbedding, through
from .forms import as_graph
from .graphs import Graph, Tree, centre, node_of, rooted, shortest_paths, spanning_trees
from .spread import spread_directions
from .targets import Fit, Targets, best_scale, measure, targets_of

GRID = 16  # Number of scales that are compared before the best is refined.
SHORT_EDGE = 0.05  # Length of the median edge at the smallest of them.
REFINEMENTS = 10  # Number of evaluations that refine the best scale.
FARTHEST_LEAF = 100.0  # Of the largest scale looked at: points that part beyond radius 36 have one direction in float64.
TUNED_ON = 1 << 17  # Number of pairs on which scales are compared.


class SarkarEmbedding(GraphEmbedding):
    """Sarkar's combinatorial embedding of a tree, or of a graph through a spanning tree.

    The root goes to the origin, and the children of every node to distance `scale` times the length of their edge from
    it, in directions spread as evenly as the dimension allows: a regular polygon in the plane, a simplex, simplices in
    orthogonal subspaces or repelled directions above it, one of them being that of the parent. At a large scale the
    distances between points tend to `scale` times those in the tree. What limits the scale is `max_radius`, and float64: the
    ball holds points up to radius 34, and in every model two points that part at a larger radius cannot be told apart.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the space, at least 2.
    scale : "auto" or float, default="auto"
        Length of an edge of weight 1, in the space of the estimator's curvature. "auto" takes the one with the least
        distortion, measured on the coordinates that come out.
    max_radius : "auto", float or None, default="auto"
        Distance from the origin, at curvature -1, beyond which no point lies. "auto" is 12 (6 in the Klein model), which a
        picture and float32 can show; None is as far as float64 coordinates of the model hold.
    model : str, default="poincare"
        Coordinates of the embedding. With ``max_radius=None`` the leaves lie farther out in Lorentz coordinates than the
        ball holds them.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    root : node or None, default=None
        The node at the origin; None: the middle of a longest path.
    largest_component : bool, default=False
        Embed the largest component of a graph that is not connected, instead of refusing it.
    random_state : int, RandomState instance, Generator or None, default=None
        Seeds the sample of pairs on which distortion is measured, above 2048 nodes.
    verbose : int, default=0
        1: a line on stderr for each scale.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components) (one column more for a model with time)
    names_ : list of n_nodes names, in the order of the rows
    scale_ : float
        The length at which edges of weight 1 were placed.
    distance_scale_ : float
        The factor that makes graph distances most like those of the embedding; tends to ``scale_`` as that grows.
    distortion_ : float
        Mean over pairs of ``|d / (distance_scale_ * graph distance) - 1|``, measured on ``embedding_``.
    distortion_given_up_ : float
        How much smaller the distortion of Sarkar's construction would be without `max_radius`; 0 if it would not.
    parent_ : ndarray of shape (n_nodes,)
        The tree that was placed: the row of each node's parent, -1 for the root.

    See Also
    --------
    DistortionEmbedding : a search, with less distortion in more time.
    PoincareEmbedding : a hierarchy from its relations, where distances do not matter.

    Examples
    --------
    >>> from horopca.datasets import balanced_tree
    >>> tree = balanced_tree(branching=3, depth=3)
    >>> sarkar = SarkarEmbedding(n_components=2).fit(tree.parent)
    >>> sarkar.embedding_.shape, bool(sarkar.distortion_ < 0.03)
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
        root: Any = None,
        largest_component: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.max_radius = max_radius
        self.model = model
        self.curvature = curvature
        self.root = root
        self.largest_component = largest_component
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, graph: Any, coordinates: Coordinates) -> None:
        d = self._dimension()
        asked, far = self._scale(coordinates), self._far(coordinates)
        graph = as_graph(graph, largest_component=self.largest_component)
        targets = targets_of(graph, check_generator(self.random_state))
        tree = best_tree(graph, targets, None if self.root is None else node_of(graph, self.root))
        tau = (
            best_tau(tree, d, targets, coordinates, far, self._say)
            if asked is None
            else _check_tau(asked, tree, d, far, coordinates)
        )
        self.embedding_, x = through(drawn_in(place(tree, d, tau), far), coordinates)
        if asked is not None:
            _warn_of_rounding(x, tree, tau, coordinates)
        fit = measure(x[targets.order], targets)
        self.names_ = graph.names
        self.scale_, self.distance_scale_ = tau / coordinates.scale, fit.scale / coordinates.scale
        self.distortion_ = fit.distortion
        self.distortion_given_up_ = given_up(fit.distortion, tree, d, targets, coordinates, far)
        self.parent_ = tree.parent


def _check_tau(tau: float, tree: Tree, d: int, far: float, coordinates: Coordinates) -> float:
    """The given scale. Raises ValueError if it puts points beyond the largest radius."""
    deepest = tau * float(tree.depth.max())
    if deepest <= LARGEST_RADIUS:
        deepest = float(radius(place(tree, d, tau)).max())
    if deepest <= far:
        return tau
    raise ValueError(
        f"scale {tau / coordinates.scale:g} puts nodes of this tree, of depth {tree.depth.max():g}, at radius {deepest:.4g}, "
        f"but max_radius is {far:.4g} in the model {coordinates.model!r}. Pass scale='auto', at most about "
        f"{tau / coordinates.scale * far / deepest:.3g}, or a larger max_radius (None: as far as the model holds)."
    )


def _warn_of_rounding(x: np.ndarray, tree: Tree, tau: float, coordinates: Coordinates) -> None:
    child = np.flatnonzero(tree.parent >= 0)
    asked = tau * tree.length[child]
    off = np.abs(distance(x[child], x[tree.parent[child]]) - asked) > 0.1 * asked
    if off.any():
        warnings.warn(
            f"{off.sum()} of {len(child)} edges are more than 10% longer or shorter than asked, because float64 coordinates "
            f"of the model {coordinates.model!r} cannot hold points so far out. Pass a smaller scale, or scale='auto'.",
            stacklevel=4,
        )


def best_tree(graph: Graph, targets: Targets, root: int | None = None) -> Tree:
    """The tree itself, or the spanning tree whose distances are nearest to those of the graph."""
    if graph.is_tree:
        return rooted(graph.adjacency, centre(graph.adjacency) if root is None else root)
    if root is not None:
        return rooted(graph.adjacency, root)
    some = targets.thinned(TUNED_ON)
    return min(spanning_trees(graph, targets.distances, targets.order), key=lambda tree: _tree_fit(tree, some).distortion)


def _tree_fit(tree: Tree, targets: Targets) -> Fit:
    """How near the distances of a tree are to those of the graph it spans."""
    apart = targets.distances > 0
    found = shortest_paths(tree.adjacency, targets.order[: len(apart)])[:, targets.order]
    return best_scale(found[apart] / targets.distances[apart])


def best_tau(
    tree: Tree, d: int, targets: Targets, coordinates: Coordinates, far: float, log: Callable[[str], None] = lambda _: None
) -> float:
    """The scale of Sarkar's construction with the least distortion in the user's coordinates, points within radius `far`."""
    return best_length(lambda tau: drawn_in(place(tree, d, tau), far), tree, targets, coordinates, far, log)


def best_length(
    layout: Callable[[float], np.ndarray],
    tree: Tree,
    targets: Targets,
    coordinates: Coordinates,
    far: float,
    log: Callable[[str], None] = lambda _: None,
) -> float:
    """The length of an edge of weight 1 at which a layout of the tree has the least distortion in the user's coordinates."""
    targets = targets.thinned(TUNED_ON)
    longest = min(2 * far, FARTHEST_LEAF) / float(tree.depth.max())  # the deepest leaves may be drawn in

    def loss(log_length: float) -> float:
        x = through(layout(float(np.exp(log_length))), coordinates)[1]
        fit = measure(x[targets.order], targets)
        log(f"scale {np.exp(log_length) / coordinates.scale:.4g}: distortion {fit.distortion:.4f}")
        return fit.distortion

    shortest = min(SHORT_EDGE / float(np.median(tree.length[tree.parent >= 0])), longest / 4)
    grid = np.log(np.geomspace(shortest, longest, GRID))
    best = int(np.argmin([loss(point) for point in grid]))
    between = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    found = minimize_scalar(loss, bounds=between, method="bounded", options={"maxiter": REFINEMENTS})
    return float(np.exp(min(grid[best], found.x, key=loss)))


def drawn_in(x: np.ndarray, far: float) -> np.ndarray:
    """The points x (n, d+1), those beyond radius `far` brought back to it along their rays."""
    return from_ball(within(to_ball(x), far))


def given_up(distortion: float, tree: Tree, d: int, targets: Targets, coordinates: Coordinates, far: float) -> float:
    """How much less the distortion of Sarkar's construction would be without a limit of the radius but the model's; 0 if it
    would not."""
    held = REACH[coordinates.model].held
    if far >= held:
        return 0.0
    x = drawn_in(place(tree, d, best_tau(tree, d, targets, coordinates, held)), held)
    return max(0.0, distortion - measure(through(x, coordinates)[1][targets.order], targets).distortion)


def place(tree: Tree, d: int, tau: float) -> np.ndarray:
    """Points (n, d+1) of the nodes of a tree: every child at tau times its edge's length from its parent.

    Siblings take their directions in order; one direction around a node is that of its parent. Placement is on the hyperboloid,
    in radius and direction, where no radius saturates.
    """
    n = len(tree.parent)
    x, back = np.tile(origin(d), (n, 1)), np.zeros((n, d))  # back: the direction of the parent, in the frame of the node
    count = np.bincount(tree.parent[tree.parent >= 0], minlength=n) + (tree.parent >= 0)  # directions taken around each node
    turns = np.random.default_rng(0)  # so that a tree of few branches does not lie in a plane of the space
    for children in _generations(tree):
        turn = np.linalg.qr(turns.standard_normal((d, d)))[0] if d > 2 else np.eye(d)
        parent = tree.parent[children]
        from_root = tree.parent[parent] < 0
        rank = _ranks(parent) + ~from_root  # the first direction is the one back
        v = np.stack([spread_directions(int(count[p]), d)[k] for p, k in zip(parent, rank, strict=True)]) @ turn
        if not from_root.all():
            first = np.stack([spread_directions(int(count[p]), d)[0] for p in parent]) @ turn
            v = _reflected(v, first, back[parent])
        step = tau * tree.length[children, None] * v
        x[children] = translate(to_hyperboloid(step, "tangent"), x[parent])
        back[children] = -gyrate(from_hyperboloid(x[parent]), np.tanh(np.linalg.norm(step, axis=1) / 2)[:, None] * v, v)
    return x


def _generations(tree: Tree) -> list[np.ndarray]:
    """The nodes a number of edges below the root, children of one parent side by side: 1, 2, 3, ..."""
    order = np.argsort(tree.parent, kind="stable")[1:]
    start = np.searchsorted(tree.parent[order], np.arange(len(tree.parent) + 1))
    level = np.array([tree.root])
    levels: list[np.ndarray] = []
    while True:
        spans = [order[start[p] : start[p + 1]] for p in level]
        level = np.concatenate(spans) if spans else level[:0]
        if not len(level):
            return levels
        levels.append(level)


def _ranks(groups: np.ndarray) -> np.ndarray:
    """0, 1, 2, ... within each run of equal values."""
    new = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    return np.arange(len(groups)) - np.repeat(new, np.diff(np.append(new, len(groups))))


def _reflected(v: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """v under the reflections that exchange the unit vectors a and b, row by row."""
    h = a - b
    square = np.sum(h * h, axis=1)
    factor = 2 * np.sum(v * h, axis=1) / np.where(square > 0, square, 1.0)
    return np.asarray(v - np.where(square > 0, factor, 0.0)[:, None] * h)
