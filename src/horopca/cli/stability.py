"""``horopca stability``: how far to believe a reduction, by refits to resampled rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click

from ..metrics.resampling import RESAMPLES
from ..metrics.stability import Stability, bootstrap
from .console import print_json, print_rows, status
from .drawing import PICTURES, draw_plane, figure_for, saved
from .files import Output, check_files, read, write_files
from .methods import made, many_fits_options
from .options import Reading, TextFiles, choice, points_argument, reading_options, reads, text_options, usual_options, writes
from .texts import Texts, read_words, texts_of

NAMED = 10  # So many of the points that are least sure are named.


@click.command()
@points_argument()
@click.option(
    "-k", "--components", "n_components", type=click.IntRange(min=1), default=2, show_default=True, help="Dimensions."
)
@click.option("--resamples", "n_resamples", type=click.IntRange(min=10), default=100, show_default=True, help="Refits.")
@choice("resample", RESAMPLES, help="As many rows with replacement, or half of them without.")
@reads("--groups", help="A group for each row, one to a line: the rows of a group are drawn together, as leaves of a subtree.")
@click.option("--level", type=float, default=0.9, show_default=True, help="Confidence of bounds and regions.")
@writes("--plot", help="Where to draw the picture with the regions of its points: .png, .pdf or .svg. Needs -k 2.")
@text_options
@click.option("--title", help="Heading of the picture.")
@reading_options
@many_fits_options
@usual_options
def stability(
    input: Path,
    n_components: int,
    groups: Path | None,
    plot: Path | None,
    text_files: TextFiles,
    title: str | None,
    reading: Reading,
    method: str | None,
    asked: dict[str, Any],
    seed: int,
    as_json: bool,
    force: bool,
    **how: Any,
) -> None:
    """Say how stable a reduction of the points in INPUT is.

    It is fitted again to resampled rows. How far the refits lie apart says how far to believe the components, and where in the
    picture each point may lie.

    \b
    Examples:
      horopca stability vectors.npy
      horopca stability vectors.npy --plot regions.png --n-jobs -1
      horopca stability leaves.tsv --groups clades.txt --spine free
      horopca stability vectors.npy -k 5 --resamples 200 --json | jq .angle_bounds
    """
    if plot is not None and n_components != 2:
        raise click.UsageError(f"--plot draws the plane and needs -k 2, but -k is {n_components}.")
    inputs = {"input": input, "groups": groups, **text_files._asdict()}
    check_files(inputs, [Output("--plot", plot, PICTURES)], force=force)
    figure, table = figure_for(plot), read(input, reading)
    texts, place = texts_of(table, text_files), reading.place(table.model, table.curvature)
    how["groups"] = None if groups is None else read_words(groups, len(table.X), "group")
    model = made(method, n_components, asked, random_state=seed, **place)
    with status(f"Fitting {len(table.X):,} points {how['n_resamples']:,} times"):
        found = bootstrap(model.fit(table.X), table.X, random_state=seed, **how)
    if figure is not None:
        draw_plane(figure, found.images, texts, title=title, regions=found, **place)
        write_files([(plot, saved(figure))], force=force)
    summary = {"input": input, "n_points": len(table.X), **_summary(found, texts)}
    if as_json:
        return print_json(summary)
    print_rows(_in_words(found, summary) | ({} if plot is None else {"drawn in": str(plot)}))


def _summary(found: Stability, texts: Texts) -> dict[str, Any]:
    """What to say of the refits, for a program."""
    least = np.argsort(-found.spread, kind="stable")[:NAMED]
    kept = ("n_resamples", "level", "stability", "merged", "converged", "conclusion")
    return {
        **{name: getattr(found, name) for name in kept},
        "angle_bounds": found.angle_bounds.tolist(),
        "spread": float(np.sqrt(np.mean(found.spread**2))),
        "least_sure": [
            {"row": int(i), "name": texts.names[i] if texts.names else None, "spread": found.spread[i]} for i in least
        ],
    }


def _in_words(found: Stability, summary: dict[str, Any]) -> dict[str, str]:
    called = [str(one["row"] if one["name"] is None else one["name"]) for one in summary["least_sure"]]
    return {"conclusion": found.conclusion, "least sure": ", ".join(called)}
