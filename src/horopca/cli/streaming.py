"""``horopca reduce`` on a file too large to be read at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    import numpy as np

    from ..io.streaming import Source

MEASURED_PAIRS = 1 << 14  # random pairs, no two with a point in common, over which the distortion is measured
DRAWN_ROWS = 1 << 18  # at most so many points are drawn, evenly chosen


def reduce_large(
    input: Path, output: Path | None, estimator: Any, *, seed: int = 0, force: bool = False, restart: bool = False
) -> tuple[Any, dict[str, Any]]:
    """Fit to the file and write the images of its rows, if there is an output; the fitted estimator, and what to say of it."""
    from ..io import reduce_file
    from ..io.streaming import Source, fit_to

    start, source = time.perf_counter(), Source.of(input)
    with _watched(f"Reducing {source.shape[0]:,} points from {input.name}") as (progress, say):
        if output is None:
            fit_to(estimator, source)
            found = {}
        else:
            with _resumable(output):
                done = reduce_file(input, output, estimator, force=force, restart=restart, progress=progress, say=say)
            estimator, found = done.estimator, {"resumed_at": done.resumed_at}
        distortion, error = sampled_distortion(source, estimator, seed)
    measured = {"distortion": distortion, "distortion_error": error, "seconds": time.perf_counter() - start}
    return estimator, {"n_points": source.shape[0], **measured, **found}


def some_images(input: Path, estimator: Any) -> np.ndarray:
    """The images of at most DRAWN_ROWS rows of the file, evenly chosen."""
    from ..io.streaming import Source

    source = Source.of(input)
    return estimator.transform(source.rows(0, source.shape[0], -(-source.shape[0] // DRAWN_ROWS)))


def sampled_distortion(source: Source, estimator: Any, seed: int) -> tuple[float, float]:
    """Average distortion over independent pairs of rows, and its standard error."""
    import numpy as np

    from .._points.door import check_door
    from ..geometry import distance

    rng, n = np.random.default_rng(seed), source.shape[0]
    chosen = np.sort(rng.choice(n, size=2 * min(MEASURED_PAIRS, n // 2), replace=False))  # read in the order of the file
    X = source.take(chosen)
    door, (i, j) = check_door(estimator.model, estimator.curvature), rng.permutation(len(X)).reshape(2, -1)
    before, after = (distance(x[i], x[j]) for x in map(door.enter, (X, estimator.transform(X))))
    ratios = np.abs(after - before)[before > 0] / before[before > 0]
    if len(ratios) < 2:
        return float("nan"), 0.0
    return float(ratios.mean()), float(ratios.std(ddof=1) / np.sqrt(len(ratios)))


@contextmanager
def _resumable(output: Path) -> Iterator[None]:
    """Say after an interruption that the work is not lost."""
    from ..io.partial import beside

    try:
        yield
    except KeyboardInterrupt:
        if beside(output, ".partial.npz").exists():
            partial = beside(output, ".partial")
            click.echo(f"Interrupted: what is done is kept in {partial}, and the same command resumes there.", err=True)
        raise


class _Rows(ProgressColumn):
    """Rows done, and how many in a second."""

    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text("fitting")
        speed = f"  {task.speed:,.0f} rows/s" if task.speed else ""
        return Text(f"{task.completed:,.0f} of {task.total:,.0f}{speed}")


@contextmanager
def _watched(title: str) -> Iterator[tuple[Callable[[int, int], None], Callable[[str], None]]]:
    """Functions to tell of progress, which draws a bar on stderr if somebody watches, and to say a sentence there."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), _Rows(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield (
            lambda done, total: bar.update(task, completed=done, total=total),
            lambda sentence: bar.console.print(Text(sentence), soft_wrap=True),
        )
