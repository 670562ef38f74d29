"""The paper's embeddings, by the names of its graphs."""

from __future__ import annotations

import numpy as np

from horopca.datasets import fetch_embedding

NAMES = {"balanced tree": "smalltree", "phylo tree": "phylo-tree", "diseases": "bio-diseasome", "CS Ph.D.": "ca-CSphd"}


def embedding(name: str, dimension: int = 10) -> np.ndarray:
    """A Poincaré embedding of one of the paper's graphs."""
    return fetch_embedding(NAMES[name], dimension)
