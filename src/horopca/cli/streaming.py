"""``horopca reduce`` on a file too large to be read at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.fitting import fitted_coordinates
from ..geometry import distance
from ..io import is_large
from ..io.partial import beside
from ..io.streaming import STREAMED, Source, fit_to, unnamed_reduction
from ..statistics import relative_change
from .console import progress_bar
from .files import Output
from .options import NO_FILES, Reading
from .reducing import Reduced, Request

INDEPENDENT_PAIRS = 1 << 14  # The distortion is measured over so many random pairs, no two with a point in common.
DRAWN_ROWS = 1 << 18  # At most so many points are drawn, evenly chosen.


def is_streamed(request: Request) -> bool:
    """Whether the file is large, and all that is asked for can be had a block at a time."""
    only_place = request.reading == Reading(request.reading.model, request.reading.curvature)
    whole = only_place and request.text_files == NO_FILES
    streams = request.output is None or request.output.suffix.lower() in STREAMED
    return streams and whole and is_large(request.input)


def unfinished(output: Path | None) -> list[Output]:
    """The files beside an output while it is written, which must be no other output."""
    ends = (".partial", ".partial.npz")
    return [] if output is None else [Output("the unfinished -o,", beside(output, end), check=_anything) for end in ends]


def _anything(path: Path, *, force: bool) -> Path:
    return path


def reduce_streamed(request: Request, unnamed: ExitStack) -> Reduced:
    """Points in a file that is mapped for the fit, then read and reduced a block at a time."""
    request.check(unfinished(request.output))
    start, source = time.perf_counter(), Source.of(request.input)
    estimator, more = request.estimator(None), {}
    with progress_bar(f"Reducing {source.shape[0]:,} points from {request.input.name}") as bar:
        if request.output is None:
            fit_to(estimator, source)
        else:
            options: dict[str, Any] = {
                "force": request.force,
                "restart": request.restart,
                "progress": bar.update,
                "say": bar.log,
            }
            unnamed.enter_context(_resumable(request.output))
            done = unnamed.enter_context(unnamed_reduction(request.input, request.output, estimator, **options))
            estimator, more = done.estimator, {"resumed_at": done.resumed_at}
        distortion, error = sampled_distortion(source.take, source.shape[0], estimator, request.seed)
    step = -(-source.shape[0] // DRAWN_ROWS)
    images = estimator.transform(source.rows(0, source.shape[0], step)) if request.plot is not None else None
    return Reduced(estimator, source.shape[0], distortion, error, time.perf_counter() - start, images, more=more)


def sampled_distortion(take: Callable[[np.ndarray], np.ndarray], n: int, estimator: Any, seed: int) -> tuple[float, float]:
    """Average distortion over independent pairs of n rows, of which `take` brings some, and its standard error."""
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(n, size=2 * min(INDEPENDENT_PAIRS, n // 2), replace=False))  # read in the order of the file
    X = take(chosen)
    coordinates, (i, j) = fitted_coordinates(estimator), rng.permutation(len(X)).reshape(2, -1)
    before, after = (distance(x[i], x[j]) for x in map(coordinates.to_hyperboloid, (X, estimator.transform(X))))
    ratios = relative_change(before, after)
    if len(ratios) < 2:
        return float("nan"), 0.0
    return float(ratios.mean()), float(ratios.std(ddof=1) / np.sqrt(len(ratios)))


@contextmanager
def _resumable(output: Path) -> Iterator[None]:
    """Say after a failure that the work is not lost."""
    try:
        yield
    except BaseException as error:
        if not beside(output, ".partial.npz").exists() or "resumes there" in str(error):
            raise
        kept = f"what is done is kept in {beside(output, '.partial')}, and the same command resumes there."
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(kept) from None
        error.add_note(f"{kept[0].upper()}{kept[1:]}")
        raise
