"""``horopca plot``: a picture of the points in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .. import plots
from . import options as opt
from .console import print_rows, report
from .files import Reading, figure_for, write_files
from .points import read_edges, read_points, row_of


@opt.command
@opt.points_argument("points")
@opt.edges_option
@opt.names_option
@opt.view_option("ball")
@click.option("--centre", metavar="NAME", help="Name or row number of the point to put at the centre.")
@opt.palette_option
@click.option("--title", help="Heading of the picture.")
@opt.writes(
    "-o",
    "--output",
    after=("points", ".png"),
    help="Picture to draw: .png, .pdf or .svg.  [default: the name of POINTS with .png, in this folder]",
)
@opt.picture_reading_options
def plot(
    points: Path,
    edges: Path | None,
    names: str,
    view: str,
    centre: str | None,
    palette: list[str] | None,
    title: str | None,
    output: Path,
    reading: Reading,
) -> None:
    """Draw the points of the plane in POINTS.

    POINTS is a file with one point per row, as `horopca reduce` writes it. A column of text in it holds names if all are
    different, and classes otherwise.

    \b
    Examples:
      horopca plot plane.npy -o plane.pdf
      horopca plot words.tsv --edges tree.tsv --centre cat --names leaves
      horopca plot plane.csv --metadata about.tsv --colour-by size --view klein
    """
    if view == "ball" and centre:
        raise click.UsageError("--centre is for the plane: --view ball has none.")
    figure = figure_for(output)
    X, about, coordinates = read_points(points, reading)
    pairs = read_edges(edges, about.names)
    options: dict[str, Any] = {"palette": palette or about.palette, "title": title, **coordinates}
    if view == "ball":
        plots.plot_ball(X, about.labels, edges=pairs, ax=figure.add_subplot(projection="3d"), **options)
    else:
        options["centre"] = None if centre is None else row_of(centre, about.names, len(X), "--centre")
        about.draw(figure, X, pairs, view=view, names=names, **options)
    write_files((output, figure))
    rows = {"points": f"{len(X):,}", "metadata": about.note, "drawn in": output}
    report({"points": points, "n_points": len(X), "output": output}, lambda: print_rows(rows))
