"""Generated data: trees without points, trees drawn in the ball, and mixtures of wrapped normal distributions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._input.arguments import check_choice, check_count, check_number, seeded_generator
from ..geometry import from_hyperboloid, origin, to_hyperboloid, translate, translate_to_origin

MAX_NODES = 10_000_000  # The parents of this many nodes are an array of 80 MB.
MAX_RADIUS = 30.0  # The largest radius of points: there, coordinates of the ball still have a few digits.


class RootedTree(NamedTuple):
    """A tree with its root in row 0 and every parent before its children; returned by `random_tree` and `balanced_tree`."""

    parent: np.ndarray  #: (n,) row of each node's parent, -1 for the root

    @property
    def edges(self) -> np.ndarray:
        """Pairs (parent, child) of rows, shape (n-1, 2)."""
        return np.stack([self.parent[1:], np.arange(1, len(self.parent))], axis=1)


def balanced_tree(branching: int = 3, depth: int = 3) -> RootedTree:
    """The tree in which every node has `branching` children, down to `depth`.

    Parameters
    ----------
    branching, depth : int
        The tree has 1 + branching + ... + branching**depth nodes.

    See Also
    --------
    random_tree : random shapes

    Examples
    --------
    >>> balanced_tree(branching=2, depth=2).parent
    array([-1,  0,  0,  1,  1,  2,  2])
    """
    branching, depth = check_count("branching", branching, 1), check_count("depth", depth, 0, MAX_NODES)
    n = sum(branching**level for level in range(depth + 1))
    if n > MAX_NODES:
        raise ValueError(f"branching={branching} and depth={depth} make {n:,} nodes, but the limit is {MAX_NODES:,}.")
    return RootedTree((np.arange(n) - 1) // branching)


def random_tree(n_nodes: int, *, kind: str = "uniform", random_state: Any = None) -> RootedTree:
    """A random tree.

    Parameters
    ----------
    n_nodes : int
        The number of nodes.
    kind : {"uniform", "recursive", "preferential"}
        "uniform": every tree on n labelled nodes with equal probability (depth of the order of sqrt n). "recursive":
        each node joins a node drawn from those before it (depth of the order of log n). "preferential": drawn in
        proportion to one more than their numbers of children, which makes a few large hubs.
    random_state : int, RandomState, Generator or None
        Seeds the random choices.

    See Also
    --------
    balanced_tree : every inner node has the same number of children

    Examples
    --------
    >>> random_tree(6, random_state=0).parent.tolist()
    [-1, 0, 1, 2, 1, 1]
    """
    check_choice("kind", kind, ("uniform", "recursive", "preferential"))
    n, rng = check_count("n_nodes", n_nodes, 1, MAX_NODES), seeded_generator(random_state)
    parent = np.full(n, -1)
    if kind == "uniform":  # Aldous (1990): node i joins the smaller of a random node and the node before it
        parent[1:] = np.minimum(rng.integers(n, size=n - 1), np.arange(n - 1))
    elif kind == "recursive":
        parent[1:] = rng.random(n - 1) * np.arange(1, n)
    else:
        tickets = np.zeros(2 * n, dtype=np.int64)  # one for each node and one for each child of it
        for child in range(1, n):
            parent[child] = tickets[rng.integers(2 * child - 1)]
            tickets[2 * child - 1 : 2 * child + 1] = parent[child], child
    return RootedTree(parent)


class Hierarchy(NamedTuple):
    """A tree drawn in the Poincaré ball; returned by `make_hierarchy`."""

    points: np.ndarray  #: (n, d), the root first and at the centre
    parent: np.ndarray  #: (n,) row of each point's parent, -1 for the root
    labels: list[str]  #: n, the branch of the root that each point belongs to

    @property
    def edges(self) -> np.ndarray:
        """Pairs (parent, child) of rows, shape (n-1, 2)."""
        return RootedTree(self.parent).edges


def make_hierarchy(
    branching: int = 3,
    depth: int = 4,
    n_features: int = 10,
    *,
    step: float = 1.0,
    spread: float = 1.5,
    random_state: Any = None,
) -> Hierarchy:
    """A random tree in hyperbolic space: every point has `branching` children at distance `step`, `depth` times.

    Parameters
    ----------
    branching, depth : int
        The tree has 1 + branching + ... + branching**depth points.
    n_features : int
        Dimension of the ball, at least 2.
    step : float
        Distance of a child from its parent.
    spread : float
        A child leaves its parent in the direction away from its grandparent, plus `spread` times a random unit
        vector: 0 draws a star of straight rays, a large value a cloud.
    random_state : int, RandomState, Generator or None
        Seed of the directions.

    Returns
    -------
    Hierarchy
        ``points`` (n, n_features), ``parent`` (n,), ``labels`` (n), and ``edges`` (n-1, 2).

    See Also
    --------
    make_hierarchical_normals : clusters around the nodes of a tree

    Examples
    --------
    >>> tree = make_hierarchy(branching=2, depth=3, n_features=5, random_state=0)
    >>> tree.points.shape, tree.parent[:7].tolist()
    ((15, 5), [-1, 0, 0, 1, 1, 2, 2])
    >>> sorted(set(tree.labels))
    ['branch 1', 'branch 2', 'root']
    """
    check_count("depth", depth, 1)
    check_count("n_features", n_features, 2)
    check_number("step", step, "a positive distance", above=0)
    check_number("spread", spread, "0 or more", least=0)
    if (far := step * depth) > MAX_RADIUS:
        raise ValueError(f"step * depth must be at most {MAX_RADIUS:g}, because of rounding near the boundary, but is {far:g}.")
    rng, parent = seeded_generator(random_state), balanced_tree(branching, depth).parent
    x = np.tile(origin(n_features), (len(parent), 1))
    labels = ["root", *(f"branch {b}" for b in range(1, branching + 1))]
    for p in range(parent[-1] + 1):
        # relative to the parent: away from the grandparent, and for the children of the root in any direction
        v = _unit(rng.standard_normal((branching, n_features)))
        if p:
            v = _unit(spread * v - _unit(translate_to_origin(x[parent[p]], x[p])[1:]))
            labels += [labels[p]] * branching
        x[p * branching + 1 : (p + 1) * branching + 1] = translate(to_hyperboloid(step * v, "tangent"), x[p])
    return Hierarchy(from_hyperboloid(x, "poincare"), parent, labels)


def _unit(v: np.ndarray) -> np.ndarray:
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))


class Clusters(NamedTuple):
    """Points of the Poincaré ball around some centres; returned by `make_hierarchical_normals`."""

    points: np.ndarray  #: (n, d)
    labels: np.ndarray  #: (n,) row of each point's centre
    centres: np.ndarray  #: (m, d)


def make_hierarchical_normals(
    n_samples: int = 500,
    n_features: int = 10,
    *,
    branching: int = 3,
    depth: int = 2,
    step: float = 2.0,
    scale: float = 0.3,
    random_state: Any = None,
) -> Clusters:
    """A mixture of wrapped normal distributions whose centres are the nodes of a random tree, with equal weights.

    Parameters
    ----------
    n_samples, n_features : int
        Number of points and dimension of the ball, at least 2.
    branching, depth, step : int, int, float
        Of the tree: see `make_hierarchy`. Row i of ``centres`` is the parent of rows i * branching + 1 ...
    scale : float
        Standard deviation of the normal distributions along every axis.
    random_state : int, RandomState, Generator or None
        Seeds the random choices.

    Returns
    -------
    Clusters
        ``points`` (n, n_features), ``labels`` (n,), ``centres`` (m, n_features).

    See Also
    --------
    make_hierarchy : the nodes of a tree only

    Examples
    --------
    >>> make_hierarchical_normals(40, 4, random_state=0).centres.shape
    (13, 4)
    """
    n, d = check_count("n_samples", n_samples, 1), check_count("n_features", n_features, 2)
    check_number("scale", scale, "a positive number", above=0)
    if step * depth + scale * (np.sqrt(d) + 6) > MAX_RADIUS:
        raise ValueError(
            f"Centres at distance {step * depth:g} with scale {scale:g} in {d} dimensions put points beyond radius "
            f"{MAX_RADIUS:g}, where they round to the boundary of the ball. Use a smaller step, depth or scale."
        )
    rng = seeded_generator(random_state)
    tree = make_hierarchy(branching, depth, d, step=step, random_state=rng)
    labels = np.arange(n) % len(tree.points)
    v = scale * rng.standard_normal((n, d))  # normal tangent vectors at the origin, carried to the centres
    x = translate(to_hyperboloid(v, "tangent"), to_hyperboloid(tree.points)[labels])
    return Clusters(from_hyperboloid(x, "poincare"), labels, tree.points)
