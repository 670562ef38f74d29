"""``horopca stability``: how much a reduction changes in refits to resampled rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ..metrics.stability import bootstrap
from . import options as opt
from .console import print_rows, progress_bar, report, state, with_options
from .files import Reading, figure_for, write_files
from .points import read_points

MAX_LISTED = 10  # The number of points listed, those with the largest spread.
REPORTED = ("n_resamples", "level", "stability", "merged", "converged", "conclusion")


@opt.command
@opt.points_argument()
@opt.count_option("-k", "--components", "n_components", default=2, help="Number of components.")
@opt.count_option("--resamples", "n_resamples", least=10, default=100, help="Number of refits.")
@opt.groups_option
@opt.writes("--plot", help="Picture with the regions of the points: .png, .pdf or .svg. Needs -k 2.")
@opt.method_options
@opt.jobs_option
@opt.picture_reading_options
def stability(input: Path, groups: Path | None, plot: Path | None, reading: Reading, **options: Any) -> None:
    """Measure how stable a reduction of the points in INPUT is.

    The reduction is fitted again to resampled rows. The spread of the refits shows how certain the components are, and
    where in the picture each point may lie.

    \b
    Examples:
      horopca stability vectors.npy
      horopca stability vectors.npy --plot regions.png --n-jobs -1
      horopca stability leaves.tsv --groups clades.txt --set spine=free
      horopca stability vectors.npy -k 5 --resamples 200 --json | jq .angle_bounds
    """
    n_components, method, settings = (options.pop(name) for name in ("n_components", "method", "settings"))
    if plot is not None and n_components != 2:
        raise click.UsageError(f"--plot draws the plane and needs -k 2, but -k is {n_components}.")
    figure, points = figure_for(plot), read_points(input, reading, groups)
    X, names, n = points.X, points.names, len(points.X)
    options |= {"groups": points.column(groups, "group"), "random_state": state().seed}
    estimator = opt.make_estimator(method or opt.DEFAULT_METHOD, n_components, settings, points.coordinates)
    with progress_bar(f"Fitting {n:,} points {options['n_resamples']:,} times") as update:
        found = bootstrap(estimator.fit(X), X, progress=update, **options)
    if figure is not None:
        points._replace(X=found.images).draw(figure, regions=found)
        write_files((plot, figure))
    least = np.argsort(-found.spread, kind="stable")[:MAX_LISTED].tolist()
    summary = {"input": input, "n_points": n, **{name: getattr(found, name) for name in REPORTED}}
    summary |= {"angle_bounds": found.angle_bounds.tolist(), "spread": float(np.sqrt(np.mean(found.spread**2)))}
    summary["least_sure"] = [{"row": i, "name": names[i] if names else None, "spread": found.spread[i]} for i in least]
    called = ", ".join(names[i] if names else str(i) for i in least)
    report(
        summary, lambda: print_rows({"conclusion": with_options(found.conclusion), "largest spread": called, "drawn in": plot})
    )
