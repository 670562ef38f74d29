"""Neighbours by comparison with all points, a chunk of them at a time: in memory, in a mapped file or on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import device, is_numpy_array, is_torch_array

from ..geometry._arrays import array_namespace, from_numpy
from ..geometry._points import Chunk, row_slices
from ..geometry.hyperboloid import polar_gap, squared_differences
from .selection import Polar, Selection

HOST_ELEMENTS, DEVICE_ELEMENTS = 1 << 18, 1 << 26  # Pairs at a time: in a core's cache, and enough to keep a device busy.
CHUNK_ROWS = 1 << 13  # Points of a chunk at a time on the host.
PRECISE = 1e-3  # An error of cosh d above this leaves too many candidates: directions are then compared instead.
CROWDED = 8  # If more than this many candidates for each neighbour are left, the limit is lowered first.


def search_all(
    x: Any, chunks: Iterable[Chunk], selections: list[Selection], run: Callable[[Callable[[int], None], int], None]
) -> None:
    """Find the neighbours of queries x (m, d+1) among all points.

    `selections` are those of consecutive blocks of queries; ``run(function, count)`` calls function(0), ..., in any order.
    """
    edges = np.cumsum([0, *(len(selection.limits) for selection in selections)])
    queries = [(x[a:b, :], Polar.of(x[a:b, :])) for a, b in pairwise(edges)]
    for chunk in _small(chunks):
        y = chunk.points()
        data, longest = Polar.of(y), float(array_namespace(y).max(y[:, 0]))

        def compare(i: int, y: Any = y, data: Polar = data, longest: float = longest, start: int = chunk.start) -> None:
            points, polar = queries[i]
            gaps, slack = _gaps(points, polar, y, data, longest)
            _propose(selections[i], gaps, slack, polar, data, start)

        run(compare, len(selections))


def _small(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks in parts that suit the host; a device takes them whole."""
    for chunk in chunks:
        if str(device(chunk.t)) != "cpu":
            yield chunk
            continue
        for rows in row_slices(chunk.t.shape[0], CHUNK_ROWS):
            explicit = None if chunk.explicit is None else chunk.explicit[rows, :]
            yield Chunk(chunk.X[rows, :], chunk.stretch[rows], chunk.t[rows], chunk.start + rows.start, explicit)


def queries_at_a_time(x: Any, n: int) -> int:
    """How many queries, like the rows of x, are compared with n points at a time."""
    host = str(device(x)) == "cpu"
    return max(1, HOST_ELEMENTS // min(n, CHUNK_ROWS) if host else DEVICE_ELEMENTS // n)


def _gaps(x: Any, polar: Polar, y: Any, data: Polar, longest: float) -> tuple[Any, Any]:
    """4 sinh^2(d/2) of all pairs (m, n), and a bound (m, 1) of its rounding error."""
    # The product 2 (cosh d - 1) = 2 (t t' - s.s' - 1) is fastest; its error is that of a sum of d+2 terms of size t t'.
    error = 4 * (x.shape[1] + 2) * float(np.finfo(float).eps) * longest * polar.t[:, None]
    if bool(array_namespace(x).max(error) <= PRECISE):
        xp: Any = array_namespace(x)
        signs = xp.ones_like(x[0, :])
        signs[0] = -1.0
        return (-2 * signs * x) @ y.T - 2, error
    turn = squared_differences(polar.u, data.u)  # of far points, whose time hides small distances
    return polar_gap(polar.t[:, None], polar.r[:, None], data.t[None, :], data.r[None, :], turn), 0 * error


def _propose(selection: Selection, gaps: Any, slack: Any, queries: Polar, data: Polar, start: int) -> None:
    """Add the pairs whose gap may be within the limits."""
    xp: Any = array_namespace(gaps)
    limits = from_numpy(selection.limits[:, None], gaps) + slack
    near, k = gaps <= limits, selection.k
    most = gaps.shape[1] if k is None else k * CROWDED
    if k is not None and k < gaps.shape[1] and int(xp.count_nonzero(near)) > most * gaps.shape[0]:
        near = gaps <= xp.minimum(limits, _kth_smallest(gaps, k) * (1 + 1e-12) + 2 * slack)
    (found,) = xp.nonzero(xp.reshape(near, (-1,)))  # four times as fast as in two dimensions
    if found.shape[0]:
        selection.add(queries, data, found // gaps.shape[1], found % gaps.shape[1], start)


def _kth_smallest(a: Any, k: int) -> Any:
    """The k-th smallest number of each row, (m, 1)."""
    if is_numpy_array(a):
        return np.partition(a, k - 1, axis=1)[:, k - 1 : k]
    if is_torch_array(a):
        return a.kthvalue(k, dim=1, keepdim=True).values
    return array_namespace(a).sort(a, axis=1)[:, k - 1 : k]
