"""Crossing-free embeddings of trees in the hyperbolic plane.

Points are complex numbers in the Poincaré disk. Every node has an arc of the ideal circle, which the arcs of its children
divide in order. Seen from its parent, the arc of a node is a cone of less than half a turn, hence convex. If every node
lies inside its cone, then the cones of its children, whose apex it is, lie inside that cone and share only the apex.
Therefore no two edges cross, whatever their lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._input.arguments import check_count, check_generator
from .._input.coordinates import Coordinates
from .._input.threads import one_blas_thread
from ..estimators.fitting import log
from .base import RADII, GraphEmbedding
from .descent import FINE_TUNING, Ball, Targets
from .distortion import Search, best_of
from .graphs import Tree, as_graph, centre, rooted
from .sarkar import search_scale

MAX_RADIUS = 17.0  # Up to this radius, float64 coordinates of the disk resolve the margins between edges; Klein's up to 8.5.
MAX_LEVELS = 20_000  # The number of levels of the tree that all calls of `restore` may visit, which takes some seconds.
WIDEST_CONE = 0.98 * np.pi  # A cone of half a turn is not convex.
MARGIN = 0.05  # The direction of a node is at least this fraction of its cone away from either side.
MIN_SHARE = 0.2  # A child keeps at least this fraction of its share of the angle, wherever its siblings move.
# The share of the angle of a child is proportional to its number of leaves to this power. On 12 random trees of four kinds the
# distortion was .066, .058, .053, .052 and .054 (geometric means) for the powers 0, 0.3, 0.5, 0.7 and 1.
LEAF_POWER = 0.7
SHORTEST_EDGE = 1e-6  # The shortest edge that float64 coordinates of the disk resolve at MAX_RADIUS.
SPACING = 0.05  # The largest radius of a node is smaller than that of its children by this, so that edges have positive length.


@dataclass(eq=False, repr=False, kw_only=True)
class TreeEmbedding(GraphEmbedding):
    """Crossing-free layout of a tree in the hyperbolic plane, with distances as in the tree as far as that allows.

    The layout starts at the root. Every node divides its angle among its children, in their order in the tree and by their
    numbers of leaves [1]_, and puts them at distances in proportion to the lengths of their edges. The points then move to
    reduce the average distortion, as in `DistortionEmbedding`. They never leave the cones of their angles, so edges, drawn as
    geodesics, do not cross.

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
    largest_component : bool, default=False
        Lay out the largest component of a graph that is not connected, instead of raising an error.
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
        the pairs between a random sample of nodes and all nodes).
    parent_ : ndarray of shape (n_nodes,)
        Row of each node's parent in the layout, -1 for its root.

    See Also
    --------
    DistortionEmbedding : any graph, any dimension; its edges cross.
    SarkarEmbedding : a construction in any dimension.

    References
    ----------
    .. [1] Lamping, J., Rao, R., and Pirolli, P. (1995). A focus+context technique based on hyperbolic geometry for
       visualizing large hierarchies. Proceedings of the SIGCHI Conference on Human Factors in Computing Systems.

    Examples
    --------
    >>> from horopca.datasets import balanced_tree
    >>> layout = TreeEmbedding(random_state=0).fit(balanced_tree(branching=3, depth=2).parent)
    >>> layout.embedding_.shape, bool(layout.distortion_ < 0.02)
    ((13, 2), True)
    """

    # a point of the Klein model at radius r has the norm of a point of the Poincaré ball at radius 2r
    _radii: ClassVar[dict[str, tuple[float, float]]] = {
        model: (shown, MAX_RADIUS * shown / RADII["poincare"][0]) for model, (shown, _) in RADII.items()
    }

    root: Any = None
    max_iter: int = 500
    largest_component: bool = False

    def _learn(self, graph: Any, coordinates: Coordinates) -> tuple[list[Any], np.ndarray, None]:
        far, steps = self._largest_radius(), check_count("max_iter", self.max_iter, 0)
        graph, rng = as_graph(graph, largest_component=self.largest_component), check_generator(self.random_state)
        if not graph.is_tree:
            raise ValueError(
                f"graph must be a tree, with one edge fewer than nodes, but has {graph.size} nodes and "
                f"{graph.adjacency.nnz // 2} edges. For other graphs use DistortionEmbedding (on the command line, "
                "--method distortion)."
            )
        targets = Targets.of(graph, rng)
        tree = rooted(graph.adjacency, centre(graph.adjacency) if self.root is None else graph.row(self.root))
        layout, order, node, step = PlanarLayout(tree, far), targets.order, np.argsort(targets.order), count(1)
        every = 1 + steps * len(tree.levels) // MAX_LEVELS

        def constrain(points: Ball) -> Ball:
            k = next(step)
            return points if k % every and k < steps else _disk(layout.restore(points.z[node] @ [1, 1j])[order])

        search = Search(targets, coordinates, constrain, None, rng, steps, partial(log, self))

        def construct(scale: float) -> np.ndarray:
            return _disk(layout.construct(scale)).hyperboloid()

        with one_blas_thread():
            start = search.candidate(construct(search_scale(construct, tree, targets, coordinates, far, search.log))[order])
            best = best_of(start, search.after(FINE_TUNING._replace(steps=steps), start))
        self.parent_, self.distance_scale_, self.distortion_ = tree.parent, best.scale / coordinates.scale, best.distortion
        return graph.names, best.x[node], None


def _disk(z: np.ndarray) -> Ball:
    """Complex numbers of the disk as points of the ball."""
    return Ball(np.stack([z.real, z.imag], axis=1), 1 - np.abs(z) ** 2)


class PlanarLayout:
    """Crossing-free layouts of a tree within radius `far`: `construct` makes one, `restore` finds one near given points."""

    def __init__(self, tree: Tree, far: float) -> None:
        n, parent = len(tree.parent), tree.parent
        self.tree, self.root = tree, int(tree.levels[0][0])
        leaves, height, self.first_leaf, self.last_leaf = np.zeros(n), np.zeros(n, dtype=np.int64), np.arange(n), np.arange(n)
        self.first, self.last, self.cumulative = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), np.ones(n)
        for node in reversed(tree.levels[1:]):
            above = parent[node]
            leaves[node] += leaves[node] == 0
            np.add.at(leaves, above, leaves[node])
            np.maximum.at(height, above, height[node] + 1)  # edges to the farthest leaf below
            self.first_leaf[above[::-1]], self.last_leaf[above] = self.first_leaf[node[::-1]], self.last_leaf[node]
            first, last = np.diff(above, prepend=-1) != 0, np.diff(above, append=-1) != 0
            self.first[node], self.last[node] = first, last  # whether a node is the first or the last child
            weight = leaves[node] ** LEAF_POWER
            total, family = np.cumsum(weight), np.cumsum(first) - 1
            before = (total - weight)[first][family]
            # the share of the parent's angle up to and including a child, 1 for a last child
            self.cumulative[node] = np.where(last, 1.0, (total - before) / (total[last][family] - before))
        self.largest = np.tanh((far - min(SPACING, far / 2 / height.max()) * height) / 2)  # |z| of each node
        self.side = np.ones(n, dtype=complex)  # the ideal point between a node and its next sibling

    def construct(self, scale: float) -> np.ndarray:
        """The layout (n,) with edges in the middle of their cones, `scale` times as long as in the tree within the radius."""
        places = np.ones((3, len(self.side)), dtype=complex)
        places[0, self.root] = 0.0
        size = np.tanh(np.maximum(scale * self.tree.length, SHORTEST_EDGE) / 2)
        for node in self.tree.levels[1:]:
            cone = self._cone(node, places)
            self._put(node, places, cone, self.cumulative[node] * cone.width, size[node])
        return places[0]

    def restore(self, z: np.ndarray) -> np.ndarray:
        """A layout (n,) near points z (n,): from the root on, each node is rotated around its parent into its cone."""
        places = np.stack([z, np.ones_like(z), np.ones_like(z)])
        z = places[0]  # a view: points below a level are those that were given
        z[self.root] *= min(1.0, self.largest[self.root] / max(abs(z[self.root]), SHORTEST_EDGE))
        places[1:, self.root] = self._cut(z)
        for node in self.tree.levels[1:]:
            cone = self._cone(node, places)
            first, last = (cone.direction(z[leaf[node]]) for leaf in (self.first_leaf, self.last_leaf))
            # the side between two siblings stays unless the leaves next to it, of either sibling, both lie beyond it
            side = np.median([last, np.roll(first, -1), cone.direction(self.side[node])], axis=0)
            least = MIN_SHARE * self.cumulative[node]
            family = 2.0 * np.cumsum(self.first[node])  # keeps the running maximum within siblings
            width = np.maximum(cone.width, 1e-300)  # cones of many levels may be so narrow that rounding leaves nothing
            beyond = np.maximum.accumulate((side / width - least).clip(0, 1 - MIN_SHARE) + family) - family
            stop = np.where(self.last[node], 1.0, beyond + least) * cone.width
            size = np.maximum(np.abs(to_origin(z[node], cone.apex)), np.tanh(SHORTEST_EDGE / 2))
            self._put(node, places, cone, stop, size, (first + last) / 2, cone.direction(z[node]))
        return z

    def _cut(self, z: np.ndarray) -> np.ndarray:
        """The ideal point between the last child of the root and the first, where the angles around the root begin."""
        p, old = z[self.root], to_origin(self.side[self.tree.levels[1][-1]], z[self.root])
        last, first = (np.angle(to_origin(z[leaf[self.root]], p) / old) for leaf in (self.last_leaf, self.first_leaf))
        cut = from_origin(old * np.exp(1j * np.median([last, first, 0.0])), p)
        return np.asarray(cut / np.abs(cut))

    def _cone(self, node: np.ndarray, places: np.ndarray) -> Cone:
        """The cones at the parents of some nodes. The rows of `places` (3, n) are points, and beginnings and ends of arcs."""
        parent = self.tree.parent[node]
        z, begin, end = places[:, parent]
        begin, end = to_origin(begin, z), to_origin(end, z)
        turn = 2 * np.pi
        return Cone(z, begin / np.abs(begin), np.where(parent == self.root, turn, np.angle(end / begin) % turn))

    def _put(
        self,
        node: np.ndarray,
        places: np.ndarray,
        cone: Cone,
        stop: np.ndarray,
        size: np.ndarray,
        middle: Any = None,
        angle: Any = None,
    ) -> None:
        """Set the places of a level. Cones end at `stop`, and are narrowed around `middle` if they are too wide. Nodes are at
        `angle` and tanh(distance/2) = `size` from their parents, or as close to that as cone and radius allow."""
        self.side[node] = cone.ideal(stop)
        start = np.where(self.first[node], 0.0, np.roll(stop, 1))
        middle, angle = ((start + stop) / 2 if turn is None else turn for turn in (middle, angle))
        middle = np.clip(middle, start + WIDEST_CONE / 2, np.maximum(stop, start + WIDEST_CONE) - WIDEST_CONE / 2)
        start, stop = np.maximum(start, middle - WIDEST_CONE / 2), np.minimum(stop, middle + WIDEST_CONE / 2)
        margin = MARGIN * (stop - start)
        u, p = cone.unit(np.clip(angle, start + margin, stop - margin)), cone.apex
        # |z| at t u from p is the largest where t solves a quadratic equation
        R, inner = self.largest[node] ** 2, np.abs(p) ** 2
        b = (p.conj() * u).real * (1 - R)
        most = (np.sqrt(b * b + (1 - R * inner) * (R - inner)) - b) / (1 - R * inner)
        places[:, node] = from_origin(np.minimum(size, most) * u, p), cone.ideal(start), cone.ideal(stop)


class Cone(NamedTuple):
    """Arcs of the ideal circle as cones at nodes; angles are measured from the beginning of the arc."""

    apex: np.ndarray
    zero: np.ndarray  # the direction in which the arc begins, a unit number
    width: np.ndarray

    def direction(self, z: np.ndarray) -> np.ndarray:
        """The angle of points, from -π + width/2 to π + width/2."""
        angle = np.angle(to_origin(z, self.apex) / self.zero) % (2 * np.pi)
        return np.asarray(np.where(angle > np.pi + self.width / 2, angle - 2 * np.pi, angle))

    def unit(self, angle: np.ndarray) -> np.ndarray:
        """The unit number in the direction of an angle."""
        return np.asarray(self.zero * np.exp(1j * angle))

    def ideal(self, angle: np.ndarray) -> np.ndarray:
        """The ideal point in the direction of an angle."""
        point = from_origin(self.unit(angle), self.apex)
        return np.asarray(point / np.abs(point))


def to_origin(z: np.ndarray, p: np.ndarray) -> np.ndarray:
    """z after the translation of the disk that takes p to 0."""
    return np.asarray((z - p) / (1 - p.conj() * z))


def from_origin(z: np.ndarray, p: np.ndarray) -> np.ndarray:
    """z after the translation of the disk that takes 0 to p."""
    return np.asarray((z + p) / (1 + p.conj() * z))
