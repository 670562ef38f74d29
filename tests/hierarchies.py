"""Hierarchies to test with: a small one, and one whose branches are classes."""

import numpy as np

from horopca.datasets import make_hierarchy

TREE = make_hierarchy(branching=3, depth=3, n_features=5, random_state=0)  # 40 points


def classes() -> tuple[np.ndarray, list[str]]:
    """24 points of the disk with their classes, the three branches of the root. Every node occurs twice, a little apart."""
    tree = make_hierarchy(branching=3, depth=2, n_features=2, random_state=0)
    X = np.repeat(tree.points[1:], 2, axis=0)
    return X * np.random.default_rng(0).uniform(0.9, 1.0, size=(len(X), 1)), np.repeat(tree.labels[1:], 2).tolist()
