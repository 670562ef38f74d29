"""``horopca plot``: a picture of the points in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .. import plots
from . import options as opt
from .console import report
from .files import PICTURES, Reading, figure_for, write_files
from .points import read_points


@opt.command
@opt.points_argument("points")
@opt.edges_option
@opt.names_option
@opt.view_option("ball")
@click.option("--centre", metavar="NAME", help="Name or row number of the point to put at the centre.")
@opt.palette_option
@click.option("--title", help="Heading of the picture.")
@opt.output_option("Picture", "points", PICTURES)
@opt.picture_reading_options
def plot(points: Path, edges: Path | None, output: Path, reading: Reading, **options: Any) -> None:
    """Draw the two-dimensional points in POINTS.

    POINTS is a file with one point per row, as `horopca reduce` writes it. A column of text in it holds names if all are
    different, and classes otherwise.

    \b
    Examples:
      horopca plot plane.npy -o plane.pdf
      horopca plot words.tsv --edges tree.tsv --centre cat --names leaves
      horopca plot plane.csv --metadata about.tsv --colour-by size --view klein
    """
    if options["view"] == "ball" and options["centre"]:
        raise click.UsageError("--centre is for the plane: --view ball has none.")
    figure, found = figure_for(output), read_points(points, reading)
    pairs, options["palette"] = found.edges(edges), options["palette"] or found.palette
    if options["view"] == "ball":
        ax, shown = figure.add_subplot(projection="3d"), {name: options[name] for name in ("palette", "title")}
        plots.plot_ball(found.X, found.labels, edges=pairs, ax=ax, **shown, **found.coordinates)
    else:
        options["centre"] = None if options["centre"] is None else found.row(options["centre"], "--centre")
        found.draw(figure, pairs, **options)
    write_files((output, figure))
    report({"points": points, "n_points": len(found.X), "metadata": found.note, "output": output})
