"""A random tree drawn in the ball."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._input.arguments import check_count, check_number, seeded_generator
from ..geometry import from_hyperboloid, origin, to_hyperboloid, translate, translate_to_origin
from .trees import RootedTree, balanced_tree


class Hierarchy(NamedTuple):
    """A tree drawn in the Poincaré ball."""

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
    if step * depth > 30:
        raise ValueError(f"step * depth must be at most 30, beyond which points round to the boundary, but is {step * depth}.")
    rng, parent = seeded_generator(random_state), balanced_tree(branching, depth).parent
    n = len(parent)
    branch = np.arange(n)  # of the root: 1, 2, ... at depth 1, inherited below
    x = np.tile(origin(n_features), (n, 1))
    for p in range(parent[-1] + 1):
        children = slice(p * branching + 1, (p + 1) * branching + 1)
        # seen from the parent: away from the grandparent, and from the root anywhere
        ahead = -_unit(translate_to_origin(x[parent[p]], x[p])[1:]) if p else np.zeros(n_features)
        noise = _unit(rng.standard_normal((branching, n_features)))
        v = step * _unit(ahead + spread * noise if p else noise)
        x[children] = translate(to_hyperboloid(v, "tangent"), x[p])
        branch[children] = branch[p] if p else branch[children]
    labels = [f"branch {b}" if b else "root" for b in branch]
    return Hierarchy(from_hyperboloid(x, "poincare"), parent, labels)


def _unit(v: np.ndarray) -> np.ndarray:
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))
