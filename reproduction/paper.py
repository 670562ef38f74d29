"""What the paper prints: every figure of its tables, in one place.

Chami, Gu, Nguyen, Ré: HoroPCA, ICML 2021. A figure is a mean and a standard deviation over runs; 0 for methods without chance.
"""

from __future__ import annotations

from typing import NamedTuple


class Figure(NamedTuple):
    """A published number, and the standard deviation printed beside it."""

    mean: float
    std: float = 0.0


class Row(NamedTuple):
    """A published cell of the two tables of reductions."""

    distortion: Figure
    variance: Figure  # Fréchet variance of the images


GRAPHS = {"balanced tree": "smalltree", "phylo tree": "phylo-tree", "diseases": "bio-diseasome", "CS Ph.D.": "ca-CSphd"}
NODES = (40, 344, 516, 1025)
NETWORKS = ("polbooks", "football", "polblogs")
DIMENSIONS = (2, 10, 50)  # of the two tables of embeddings


def _rows(*cells: tuple[float, ...] | None) -> dict[str, Row]:
    """One row of a table: (distortion, variance) or (distortion, its std, variance, its std) for each of the four graphs."""
    pairs = [(graph, cell) for graph, cell in zip(GRAPHS, cells, strict=True) if cell is not None]
    full = {graph: cell if len(cell) == 4 else (cell[0], 0.0, cell[1], 0.0) for graph, cell in pairs}
    return {graph: Row(Figure(a, b), Figure(c, d)) for graph, (a, b, c, d) in full.items()}


# 10-dimensional embeddings reduced to two dimensions, by `published` of `reproduction.cells.systems.SYSTEMS`
REDUCTION = {
    "pca": _rows((0.84, 0.34), (0.94, 0.40), (0.90, 0.26), (0.84, 1.68)),
    "tpca": _rows((0.70, 1.16), (0.63, 14.34), (0.63, 3.92), (0.56, 11.09)),
    "pga": _rows((0.63, 0.07, 2.11, 0.47), (0.64, 0.01, 15.29, 0.51), (0.66, 0.02, 3.16, 0.39), (0.73, 0.02, 6.14, 0.60)),
    "pga-noise": _rows((0.87, 0.08, 0.29, 0.30), (0.64, 0.02, 15.08, 0.77), (0.88, 0.04, 0.53, 0.19), (0.79, 0.03, 4.58, 0.64)),
    "bsa": _rows((0.50, 0.00, 3.02, 0.01), (0.61, 0.03, 18.60, 1.16), (0.52, 0.02, 5.95, 0.25), (0.70, 0.01, 8.15, 0.96)),
    "bsa-noise": _rows((0.74, 0.12, 1.06, 0.67), (0.68, 0.02, 13.71, 0.72), (0.80, 0.11, 1.62, 1.30), (0.79, 0.02, 4.41, 0.59)),
    "hae": _rows((0.26, 0.00, 6.91, 0.00), (0.32, 0.04, 45.87, 3.52), (0.18, 0.00, 14.23, 0.06), (0.37, 0.02, 22.12, 2.47)),
    "hmds": _rows((0.22, 7.54), (0.74, 40.51), (0.21, 15.05), (0.83, 19.93)),
    "horopca": _rows((0.19, 0.00, 7.15, 0.00), (0.13, 0.01, 69.16, 1.96), (0.15, 0.01, 15.46, 0.19), (0.16, 0.02, 36.79, 0.70)),
}

# The same by the published code run today: github.com/HazyResearch/HoroPCA at c9a9996, its fixed seed, changed only where
# torch has
# removed a call.  For each data set and model:  python main.py --dataset smalltree --model pca --dim 10 --n-components 2
TODAY = {
    "pca": _rows((0.85, 0.27), (0.94, 0.46), (0.82, 0.97), (0.87, 1.26)),
    "tpca": _rows((0.62, 1.91), (0.63, 14.01), (0.63, 3.92), (0.66, 9.10)),
    "pga": _rows((0.57, 2.51), (0.61, 16.22), (0.62, 4.59), (0.71, 6.63)),
    "bsa": _rows((0.51, 2.99), (0.62, 18.15), (0.52, 5.50), (0.66, 8.43)),
    "hmds": _rows((0.22, 7.54), (0.16, 69.36), (0.21, 15.05), (0.27, 33.15)),
    "horopca": _rows((0.20, 7.15), (0.15, 66.4), None, None),
}

# the same on Sarkar's embeddings
SARKAR = {
    "pca": _rows((0.91, 1.09), (0.99, 0.28), (0.95, 0.75), (0.96, 1.25)),
    "tpca": _rows((0.83, 4.01), (0.27, 62.54), (0.64, 35.45), (0.55, 86.10)),
    "pga": _rows(
        (0.67, 0.013, 11.15, 0.941), (0.08, 0.001, 1110.30, 0.577), (0.55, 0.006, 56.82, 0.493), (0.25, 0.002, 270.28, 0.487)
    ),
    "bsa": _rows(
        (0.58, 0.018, 16.74, 1.278), (0.08, 0.000, 1110.05, 0.130), (0.54, 0.008, 57.73, 0.486), (0.25, 0.001, 270.98, 0.363)
    ),
    "hmds": _rows((0.12, 58.62), (0.08, 498.05), (0.32, 568.22), (0.18, 1241.34)),
    "horopca": _rows(
        (0.06, 0.010, 62.72, 0.924), (0.01, 0.000, 1190.27, 2.974), (0.09, 0.010, 161.32, 1.185), (0.05, 0.004, 994.69, 321.359)
    ),
}

# `HoroPCA()` on the embeddings that the published code makes (python main.py --use-sarkar; its seed 1234, its root)
SARKAR_TODAY = {"balanced tree": (0.047, 63.57), "diseases": (0.055, 163.45)}
SARKAR_NODES_OUTSIDE = (256, 344)  # of the phylo tree, placed by the published code at norm >= 1: outside the ball

# average distortion of the embeddings themselves, in 2, 10 and 50 dimensions
EMBEDDING = {
    "optimised": {
        "balanced tree": (0.097, 0.022, 0.022),
        "phylo tree": (0.292, 0.286, 0.284),
        "diseases": (0.126, 0.054, 0.055),
        "CS Ph.D.": (0.189, 0.140, 0.139),
    },
    "Sarkar": {
        "balanced tree": (0.088, 0.136, 0.152),
        "phylo tree": (0.639, 0.639, 0.638),
        "diseases": (0.247, 0.212, 0.210),
        "CS Ph.D.": (0.388, 0.384, 0.380),
    },
}

# classification, in percent
WHITENING = {
    "eSVM": (Figure(69.9, 1.2), Figure(20.7, 3.0), Figure(92.3, 1.5)),
    "hSVM": (Figure(68.3, 0.6), Figure(20.9, 2.5), Figure(92.2, 1.6)),
    "tangent PCA + eSVM": (Figure(68.5, 0.9), Figure(21.2, 2.2), Figure(92.4, 1.5)),
    "PGA + eSVM": (Figure(64.4, 4.1), Figure(21.7, 2.2), Figure(82.3, 1.2)),
    "HoroPCA + eSVM": (Figure(72.2, 2.8), Figure(25.0, 1.0), Figure(92.8, 0.9)),
}

# average distortion of WordNet's mammals, 10-dimensional Poincaré embedding reduced to two dimensions
WORDNET = {"pca": 0.942, "pga": 0.534, "bsa": 0.532, "horopca": 0.078}

SARKAR_SCALE = 3.5
HISTOGRAM_POINTS, HISTOGRAM_DIRECTIONS = 1000, 100
COMPONENTS = (1, 2, 3, 5, 10, 20, 50)
