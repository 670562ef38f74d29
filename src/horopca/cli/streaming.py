"""``horopca reduce`` on a file that is too large to be read at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.fitting import fitted_coordinates
from ..geometry import distance
from ..io import Table, is_large
from ..io.metadata import check_metadata, read_side_file
from ..io.output import OutputSet
from ..io.partial import beside
from ..io.streaming import PARTIAL, STREAMED, Source, add_reduced_file, fit_to
from ..statistics import relative_change
from .console import progress_bar
from .files import Output
from .options import Reading
from .reducing import Reduced, Request

INDEPENDENT_PAIRS = 1 << 14  # Random pairs without a common point: the standard error of the distortion is then below 0.01.
DRAWN_ROWS = 1 << 18  # The largest number of points in a plot, evenly spaced in the file: more do not change the picture.


def is_streamed(request: Request) -> bool:
    """Whether the file is large, and the options allow it to be reduced one block at a time."""
    plain = request.reading == Reading(request.reading.model, request.reading.curvature) and request.edges is None
    if not plain or not (request.output is None or request.output.suffix.lower() in STREAMED) or not is_large(request.input):
        return False
    return not {"names", "labels"} & read_side_file(request.input).keys()  # these are written with the images


def unfinished(output: Path | None) -> list[Output]:
    """The files beside an output until it is complete. No other output may have their names."""
    if output is None:
        return []
    return [Output("the unfinished -o,", beside(output, end), check=lambda path, force: path) for end in PARTIAL]


def reduce_streamed(request: Request, outputs: OutputSet) -> Reduced:
    """Reduce points in a file that is mapped for the fit, then read and transformed one block at a time."""
    request.check(unfinished(request.output))
    start, source = time.perf_counter(), Source.of(request.input)
    estimator, more = request.estimator(*_stated_coordinates(request.input)), {}
    with progress_bar(f"Reducing {source.shape[0]:,} points from {request.input.name}") as bar:
        if request.output is None:
            fit_to(estimator, source)
        else:
            done = add_reduced_file(outputs, request.input, request.output, estimator, bar.update, bar.log)
            estimator, more = done.estimator, {"resumed_at": done.resumed_at}
        distortion, error = sampled_distortion(source.take, source.shape[0], estimator, request.seed)
    step = -(-source.shape[0] // DRAWN_ROWS)
    images = estimator.transform(source.rows(0, source.shape[0], step)) if request.plot is not None else None
    return Reduced(estimator, source.shape[0], distortion, error, time.perf_counter() - start, images, more=more)


def _stated_coordinates(path: Path) -> tuple[str | None, float | None]:
    """The model and the curvature that the side file of a file of points states."""
    found = read_side_file(path)
    table = Table(np.empty((0, 0)), model=found.get("model"), curvature=found.get("curvature"))
    table = check_metadata(table, path)
    return table.model, table.curvature


def sampled_distortion(take: Callable[[np.ndarray], np.ndarray], n: int, estimator: Any, seed: int) -> tuple[float, float]:
    """Average distortion over random pairs of n rows, and its standard error. ``take(indices)`` returns rows."""
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(n, size=2 * min(INDEPENDENT_PAIRS, n // 2), replace=False))  # in the order of the file
    X = take(chosen)
    coordinates, (i, j) = fitted_coordinates(estimator), rng.permutation(len(X)).reshape(2, -1)
    before, after = (distance(x[i], x[j]) for x in map(coordinates.to_hyperboloid, (X, estimator.transform(X))))
    ratios = relative_change(before, after)
    if len(ratios) < 2:
        return float("nan"), 0.0
    return float(ratios.mean()), float(ratios.std(ddof=1) / np.sqrt(len(ratios)))
