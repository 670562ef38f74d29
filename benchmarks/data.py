"""Where the benchmarks find the paper's embeddings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

NAMES = {"balanced tree": "smalltree", "phylo tree": "phylo-tree", "diseases": "bio-diseasome", "CS Ph.D.": "ca-CSphd"}


def embedding(name: str, dimension: int = 10) -> np.ndarray:
    """A Poincaré embedding of the paper, from the folder that HOROPCA_DATA names."""
    path = Path(os.environ.get("HOROPCA_DATA", "data")) / "embeddings" / f"{NAMES[name]}_{dimension}_poincare.npy"
    if not path.exists():
        sys.exit(
            f"{path} is missing. Fetch the folder data/embeddings of the repository HazyResearch/HoroPCA on GitHub, put it "
            "in a folder, and set HOROPCA_DATA to that folder."
        )
    return np.load(path, allow_pickle=False)
