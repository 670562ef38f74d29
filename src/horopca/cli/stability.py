"""``horopca stability``: how far to believe a reduction, by refits to resampled rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click

from ..metrics.resampling import RESAMPLES
from ..metrics.stability import Stability, bootstrap
from .common import common
from .console import print_json, print_rows, progress_bar
from .drawing import PICTURES, draw_plane, figure_for, save_figure
from .files import Output, check_files, write_files
from .options import Reading, choice, command, picture_reading_options, points_argument, reads, writes
from .points import read_described, read_lines
from .settings import USUAL, jobs_option, make_estimator, method_options

LISTED = 10  # The points with the largest spread that are listed.


@command
@points_argument()
@click.option(
    "-k", "--components", "n_components", type=click.IntRange(min=1), default=2, show_default=True, help="Dimensions."
)
@click.option("--resamples", "n_resamples", type=click.IntRange(min=10), default=100, show_default=True, help="Refits.")
@choice("resample", RESAMPLES, help="bootstrap: as many rows, with replacement; subsample: half of them, without.")
@reads("--groups", help="Groups of the rows, one on each line, such as clades; the rows of a group are drawn together.")
@click.option("--level", type=float, default=0.9, show_default=True, help="Confidence of bounds and regions.")
@writes("--plot", help="Picture with the regions of the points: .png, .pdf or .svg. Needs -k 2.")
@method_options
@jobs_option
@picture_reading_options
def stability(
    input: Path,
    n_components: int,
    groups: Path | None,
    plot: Path | None,
    method: str | None,
    settings: tuple[str, ...],
    reading: Reading,
    **options: Any,
) -> None:
    """Say how stable a reduction of the points in INPUT is.

    The reduction is fitted again to resampled rows. The spread of the refits shows how certain the components are, and
    where in the picture each point may lie.

    \b
    Examples:
      horopca stability vectors.npy
      horopca stability vectors.npy --plot regions.png --n-jobs -1
      horopca stability leaves.tsv --groups clades.txt --set spine=free
      horopca stability vectors.npy -k 5 --resamples 200 --json | jq .angle_bounds
    """
    seed, as_json, _, force = common()
    if plot is not None and n_components != 2:
        raise click.UsageError(f"--plot draws the plane and needs -k 2, but -k is {n_components}.")
    inputs = {"input": input, "groups": groups, "metadata": reading.metadata}
    check_files(inputs, [Output("--plot", plot, PICTURES)], force=force)
    figure, (table, about) = figure_for(plot), read_described(input, reading)
    n, coordinates = len(table.X), reading.coordinates(table.model, table.curvature)
    options["groups"] = None if groups is None else read_lines(groups, n, "group")
    estimator = make_estimator(method or USUAL, n_components, settings, random_state=seed, **coordinates)
    with progress_bar(f"Fitting {n:,} points {options['n_resamples']:,} times"):
        found = bootstrap(estimator.fit(table.X), table.X, random_state=seed, **options)
    if figure is not None:
        draw_plane(figure, found.images, about, regions=found, **coordinates)
        write_files([(plot, save_figure(figure))], force=force)
    summary = {"input": input, "n_points": n, **_summary(found, about.names)}
    if as_json:
        return print_json(summary)
    print_rows(_in_words(found, summary) | ({} if plot is None else {"drawn in": str(plot)}))


def _summary(found: Stability, names: list[str] | None) -> dict[str, Any]:
    """What to report about the refits."""
    least = np.argsort(-found.spread, kind="stable")[:LISTED]
    kept = ("n_resamples", "level", "stability", "merged", "converged", "conclusion")
    return {
        **{name: getattr(found, name) for name in kept},
        "angle_bounds": found.angle_bounds.tolist(),
        "spread": float(np.sqrt(np.mean(found.spread**2))),
        "least_sure": [{"row": int(i), "name": names[i] if names else None, "spread": found.spread[i]} for i in least],
    }


def _in_words(found: Stability, summary: dict[str, Any]) -> dict[str, str]:
    called = [str(one["row"] if one["name"] is None else one["name"]) for one in summary["least_sure"]]
    return {"conclusion": found.conclusion, "least sure": ", ".join(called)}
