"""The original of a picture (points, a graph or a distance matrix): its neighbours, and what the picture changed."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import dijkstra

from .._input.arguments import METRICS, MetricName, check_choice, check_count, check_distances
from .._input.coordinates import Coordinates
from .._input.rows import check_rows
from ..geometry import distance, pairwise_distance
from ..geometry._arrays import row_slices
from ..geometry.hyperboloid import BLOCK_ELEMENTS
from ..metrics.distances import best_scale
from ..metrics.neighbours import EXACT_POINTS, TIE, DistancesFrom, mean_changes, trust_by_rank
from ..neighbors import HyperbolicNeighbors
from ..statistics.pairs import standard_error
from .columns import Arrays, Header, is_several

STORED_NEIGHBOURS = 300_000  # neighbours in one page, so that 100,000 points stay below 6 MB
STORED_NUMBERS = 150_000  # coordinates of the original in one page, needed to refit: 1.5 MB
EXACT_NODES = 1 << 11  # up to this many nodes of a graph, ranks are counted for all: all shortest paths take two seconds
SAMPLED = 512  # points whose ranks are counted if there are more than EXACT_NODES in a graph, or than EXACT_POINTS
PAIRS = 1 << 22  # pairs on which the average distortion is measured: a second for points, two for a graph of 20,000 nodes

# For each measure: its name, whether high values are good, and its definition.
MEASURES = {
    "false": (
        "Neighbours added",
        False,
        "False neighbours: the fraction of the {k} nearest in this picture that are not among the {k} nearest in the {before}.",
    ),
    "lost": (
        "Neighbours lost",
        False,
        "The fraction of the {k} nearest in the {before} that are not among the {k} nearest in this picture.",
    ),
    "trust": (
        "Trustworthiness",
        True,
        "Neighbours added, each counted by its rank in the {before} (Venna, Kaski; k = {k}).",
    ),
    "continuity": ("Continuity", True, "Neighbours lost, each counted by its rank in this picture (Venna, Kaski; k = {k})."),
    "distortion": ("Local distortion", False, "The mean relative change of the distances to the {k} nearest in the {before}."),
}


# An original: a function from rows (m,) to the distances (m, n) from these to all rows; and its points (n, d+1) or its graph
# (n, n), None if it has none.
Original: TypeAlias = tuple[DistancesFrom, np.ndarray | None, csr_array | None]


def add_original(
    header: Header, arrays: Arrays, original: Any, metric: MetricName, y: np.ndarray, n_neighbors: int, coordinates: Coordinates
) -> float | None:
    """Add neighbours in the original and what the picture y (n, 3) changed; return the average distortion of the picture."""
    n, k = len(y), check_count("n_neighbors", n_neighbors, 1)
    before = check_original(original, metric, n, coordinates)
    distances, points, graph = before
    header["before"] = "original" if graph is None else "graph"  # as the page calls it
    if n < 3:
        return None
    k = min(k, (n - 1) // 2)
    d_here, here = HyperbolicNeighbors(k, model="lorentz").fit(y).kneighbors()
    there, d_there, before_here = neighbours_before(before, k, here, y)
    after_there = np.stack([distance(y, y[column]) for column in there.T], axis=1)
    added, lost = before_here > TIE * d_there[:, -1:], after_there > TIE * d_here[:, -1:]
    header["k"] = kept = min(max(3, min(10, STORED_NEIGHBOURS // n)), k)
    bits = 1 << np.arange(kept)
    arrays["there"] = there[:, :kept].ravel().astype(np.uint32)
    if kept == k or kept == 10:  # of more points the page computes them, to stay small
        arrays["here"] = here[:, :kept].ravel().astype(np.uint32)
    arrays |= {"added": (added[:, :kept] @ bits).astype(np.uint16), "missing": (lost[:, :kept] @ bits).astype(np.uint16)}
    arrays["spans"] = rounded(d_there[:, :kept].ravel() / (coordinates.scale if graph is None else 1))
    total, error, scale = average_change(distances, y, graph is not None)
    if graph is not None:
        header["graph_scale"] = scale / coordinates.scale
        _add_lengths(arrays, graph)
    found = {"false": added.mean(axis=1), "lost": lost.mean(axis=1), "distortion": mean_changes(scale * d_there, after_there)}
    exact = n <= (EXACT_POINTS if graph is None else EXACT_NODES)
    some = np.arange(n) if exact else np.random.default_rng(0).choice(n, SAMPLED, replace=False)
    found["trust"] = trust_by_rank(distances, some, here[some], n)
    found["continuity"] = trust_by_rank(lambda rows: pairwise_distance(y[rows], y), some, there[some], n)
    _add_measures(header, arrays, found, k, n)
    if points is not None and points[:, 1:].size > STORED_NUMBERS:
        header["omitted"] = f"no refit: the original has more than {STORED_NUMBERS:,} coordinates"
    elif points is not None:
        header["dimension"], arrays["original"] = points.shape[1] - 1, points[:, 1:].ravel()
    if total is not None:
        header["total"] = f"Average distortion, {header['before']} → picture: {_percent(total, error)}"
    return total


def _add_measures(header: Header, arrays: Arrays, found: dict[str, np.ndarray], k: int, n: int) -> None:
    header["measures"] = []
    for key, (name, good, note) in MEASURES.items():
        values = found[key]
        text = f"{note.format(k=k, before=header['before'])} On average {_mean(values, n)}."
        header["measures"].append({"key": key, "name": name, "note": text, "good": good})
        if len(values) == n:
            arrays[key] = rounded(values)


def _add_lengths(arrays: Arrays, graph: csr_array) -> None:
    """Add the lengths of the edges, if they are those of the graph: the ruler measures paths with them."""
    if "edges" not in arrays:
        return
    i, j = arrays["edges"].reshape(2, -1).astype(np.int64)
    n = graph.shape[0]
    a, b = graph.nonzero()
    if set((np.minimum(i, j) * n + np.maximum(i, j)).tolist()) == set((np.minimum(a, b) * n + np.maximum(a, b)).tolist()):
        there, back = (np.where(lengths > 0, lengths, np.inf) for lengths in (graph[i, j], graph[j, i]))
        arrays["lengths"] = np.minimum(there, back).astype(np.float32)


def check_original(original: Any, metric: MetricName, n: int, coordinates: Coordinates) -> Original:
    """Validate the original of n points. Raises ValueError if it does not have n rows."""
    check_choice("metric", metric, METRICS)
    if is_several(original):
        raise ValueError(
            f"original must be one array, the points of the last picture before the reduction, but holds {len(original)}."
        )
    if not issparse(original) and metric != "precomputed":
        before = check_rows(original, coordinates, name="original")
        if before.shape[0] != n:
            raise ValueError(f"original must have one row for each of the {n} points of Y, but has {before.shape[0]}.")
        x = np.asarray(before.take(np.arange(n)), dtype=np.float64)
        return lambda some: pairwise_distance(x[some], x), x, None
    shape = np.shape(original)
    if shape != (n, n):
        raise ValueError(f"original must have one row and one column for each of the {n} points of Y, but has shape {shape}.")
    if not issparse(original):
        distances = check_distances(np.asarray(original, dtype=np.float64), name="original")
        return lambda some: coordinates.scale * distances[some], None, None
    graph = csr_array(original, dtype=np.float64)
    if not (np.isfinite(graph.data).all() and (graph.data > 0).all()):
        raise ValueError("original, as a graph, must have finite positive lengths of edges, but some are not.")
    return lambda some: dijkstra(graph, directed=False, indices=some), None, graph


def neighbours_before(before: Original, k: int, here: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k nearest neighbours of each point in the original, their distances, and those of the points `here`; each (n, k).

    In a graph many nodes are at the same distance: of these, those nearest in the picture y (n, 3) are chosen.
    """
    distances, x, graph = before
    if x is not None:
        d_there, there = HyperbolicNeighbors(k, model="lorentz").fit(x).kneighbors()
        return there, d_there, np.stack([distance(x, x[column]) for column in here.T], axis=1)
    n, limit = len(y), 0.0 if graph is None else float(np.median(graph.data))
    there, d_there, d_here = np.empty((n, k), dtype=np.int64), np.empty((n, k)), np.empty((n, k))
    for part in row_slices(n, max(1, BLOCK_ELEMENTS // n)):
        rows = np.arange(n)[part]
        d = distances(rows) if graph is None else _paths(graph, rows, k, limit)
        d[np.arange(len(rows)), rows] = np.inf
        reach = np.partition(d, k - 1, axis=1)[:, k - 1 : k]
        tied = np.isfinite(d) & (np.abs(d - reach) <= (TIE - 1) * reach)
        # equal distances are ordered by those in the picture
        order = np.where(tied, reach * (1 - 1e-9 / (1 + pairwise_distance(y[rows], y))), d)
        near = np.argpartition(order, k - 1, axis=1)[:, :k]
        length = np.take_along_axis(d, near, axis=1)
        order = np.lexsort((near, length), axis=1)
        there[rows], d_there[rows] = (np.take_along_axis(part, order, axis=1) for part in (near, length))
        d_here[rows] = np.take_along_axis(d, here[rows], axis=1)
        limit = max(limit, float(np.max(d_there[rows], initial=0.0, where=np.isfinite(d_there[rows]))))
    return there, d_there, d_here


def _paths(graph: csr_array, rows: np.ndarray, k: int, limit: float) -> np.ndarray:
    """Shortest paths (m, n) from some nodes, infinite beyond a length that reaches at least k others where there are any."""
    d = np.asarray(dijkstra(graph, directed=False, indices=rows, limit=limit))
    few, end = np.flatnonzero(np.isfinite(d).sum(axis=1) <= k), float(graph.data.sum())
    while few.size and limit < end:
        limit = min(2 * limit, end)
        d[few] = dijkstra(graph, directed=False, indices=rows[few], limit=limit)
        few = few[np.isfinite(d[few]).sum(axis=1) <= k]
    return d


def average_change(before: DistancesFrom, y: np.ndarray, free_scale: bool) -> tuple[float | None, float, float]:
    """Mean over pairs of |d' / (s d) - 1| (None without pairs), its standard error (0 for all pairs), and s.

    s is the best scale if `free_scale`, as the unit of a graph is arbitrary, and 1 otherwise. In a sample, pairs with a common
    point are not independent, so the error is that of the means of points.
    """
    n, rng = len(y), np.random.default_rng(0)
    some = np.arange(n) if n * n <= PAIRS else rng.permutation(n)[:SAMPLED]
    others = np.arange(n) if n * n <= PAIRS else rng.permutation(n)[: PAIRS // SAMPLED]
    blocks = []
    for part in row_slices(len(some), max(1, BLOCK_ELEMENTS // n)):
        d, e = before(some[part])[:, others], pairwise_distance(y[some[part]], y[others])
        counted = np.isfinite(d) & (d > 0)
        blocks.append(np.where(counted, e / np.where(counted, d, 1.0), np.nan))
    ratios = np.concatenate(blocks)
    measured = ratios[np.isfinite(ratios)]
    if not measured.size:
        return None, 0.0, 1.0
    scale = best_scale(measured) if free_scale else 1.0
    change = np.ma.masked_invalid(np.abs(ratios / scale - 1))
    error = 0.0 if len(some) == n else standard_error(change.mean(axis=1).compressed().tolist())
    return float(change.mean()), error, scale


def _mean(values: np.ndarray, n: int) -> str:
    """The mean as text, with its standard error if the values are those of a sample of the n points."""
    known = values[np.isfinite(values)]
    if not known.size:
        return "unknown"
    sampled = len(values) < n
    error = standard_error(known.tolist()) if sampled else 0.0
    return _percent(float(known.mean()), error) + (f" (of {len(known)} points)" if sampled else "")


def _percent(value: float, error: float) -> str:
    return f"{value:.1%} ± {error:.1%}" if error else f"{value:.1%}"


def rounded(values: np.ndarray) -> np.ndarray:
    """Values as float32 rounded to nine binary digits, for display only: they compress to half the size."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x2000) & np.uint32(0xFFFFC000)).view(np.float32)
