"""``horopca plot``: a picture of the points in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from .. import plots
from .common import common
from .console import print_rows
from .drawing import PICTURES, VIEWS, draw_plane, figure_for, save_figure
from .files import Output, check_files, write_files
from .options import (
    Reading,
    choice,
    command,
    edges_option,
    palette_option,
    picture_reading_options,
    points_argument,
    reads,
    writes,
)
from .points import NAMES, drawn_names, read_described, read_edges, row_of


@command
@points_argument("points")
@edges_option
@choice("names", ("auto", *NAMES), help="Which names to write; auto: all, except those of the cells of an .h5ad file.")
@choice(
    "view", (*VIEWS, "ball"), help="auto: the disk, or by distance if most points would lie on its rim; ball: three dimensions."
)
@reads("--companions", help="Points to draw on top, with their names: a root, anchors of classes.")
@click.option("--centre", metavar="NAME", help="Name or row number of the point to put at the centre.")
@click.option("--grid", type=click.Choice(("polar", "geodesic")), help="Draw a grid around the centre.")
@palette_option
@click.option("--title", help="Heading of the picture.")
@writes("-o", "--output", help="Picture to draw: .png, .pdf or .svg.  [default: the name of POINTS with .png, in this folder]")
@picture_reading_options
def plot(
    points: Path,
    edges: Path | None,
    names: str,
    view: str,
    companions: Path | None,
    centre: str | None,
    grid: str | None,
    palette: list[str] | None,
    title: str | None,
    output: Path | None,
    reading: Reading,
) -> None:
    """Draw the points of the plane in POINTS.

    POINTS is a file with one point per row, as `horopca reduce` writes it. A column of text in it holds names if all are
    different, and classes otherwise.

    \b
    Examples:
      horopca plot plane.npy -o plane.pdf
      horopca plot words.tsv --edges tree.tsv --centre cat --names leaves
      horopca plot plane.csv --metadata about.tsv --colour-by size --view klein --grid geodesic
    """
    if points.suffix.lower() in PICTURES:
        raise click.UsageError(f"POINTS must be a file with one point per row, but {points} is a picture.")
    output = Path(f"{points.stem}.png") if output is None else output
    inputs = {"points": points, "edges": edges, "companions": companions, "metadata": reading.metadata}
    check_files(inputs, [Output("-o", output, PICTURES)], force=common().force)
    if view == "ball" and (centre or grid or companions):
        raise click.UsageError("--companions, --centre and --grid are for the plane: --view ball has none of them.")
    figure = figure_for(output)
    table, about = read_described(points, reading)
    pairs = read_edges(edges, about.names)
    options: dict[str, Any] = {"palette": palette, "title": title, **reading.coordinates(table.model, table.curvature)}
    if view == "ball":
        plots.plot_ball(table.X, about.labels, edges=pairs, ax=figure.add_subplot(projection="3d"), **options)
    else:
        names = ("none" if points.suffix.lower() == ".h5ad" else "all") if names == "auto" else names
        options |= {"view": view, "grid": grid, "centre": row_of(centre, about.names, "--centre")}
        if companions is not None:
            beside, described = read_described(companions, Reading())
            options["companions"] = dict(zip(described.names, beside.X, strict=True)) if described.names else beside.X
        draw_plane(figure, table.X, about, pairs, names=drawn_names(about.names, names, pairs), **options)
    write_files([(output, save_figure(figure))], force=common().force)
    rows = {"points": f"{len(table.X):,}", **({"metadata": about.note} if about.note else {})}
    print_rows({**rows, "drawn in": str(output)})
