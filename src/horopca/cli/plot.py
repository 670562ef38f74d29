"""``horopca plot``: a picture of the points in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from .. import plots
from ..io import Table
from .console import print_rows
from .drawing import PICTURES, figure_for, saved
from .files import Output, check_files, read, write_files
from .options import (
    Reading,
    TextFiles,
    choice,
    force_option,
    palette_option,
    points_argument,
    quiet_option,
    reading_options,
    reads,
    text_options,
    writes,
)
from .texts import row_of, texts_of


@click.command()
@points_argument("points")
@text_options
@reads("--values", help="Numbers to colour by, the first column of a .npy, .npz, .csv or .tsv file.")
@choice(
    "view",
    ("auto", "disk", "klein", "equidistant", "halfplane", "ball"),
    help="What to draw them in: the disk, or by distance where most points would lie on its rim; a ball for three dimensions.",
)
@reads("--companions", help="Points to draw on top, with their names: a root, anchors of classes.")
@click.option("--centre", help="Name or row number of the point to put at the centre.")
@click.option("--grid", type=click.Choice(("polar", "geodesic")), help="Draw a grid around the centre.")
@palette_option
@click.option("--title", help="Heading of the picture.")
@writes("-o", "--output", help="Where to draw: .png, .pdf or .svg.  [default: the name of POINTS with .png, here]")
@reading_options
@quiet_option
@force_option
def plot(
    points: Path,
    text_files: TextFiles,
    values: Path | None,
    companions: Path | None,
    view: str,
    centre: str | None,
    grid: str | None,
    palette: list[str] | None,
    title: str | None,
    output: Path | None,
    reading: Reading,
    force: bool,
) -> None:
    """Draw the points of the plane in POINTS.

    POINTS is a .npy, .npz, .csv or .tsv file with one point per row, as `horopca reduce` writes it. A column of text in it
    holds names if all are different, and labels otherwise.

    \b
    Examples:
      horopca plot plane.npy -o plane.pdf
      horopca plot words.tsv --edges tree.tsv --centre cat
      horopca plot plane.npy --view klein --values sizes.csv --grid geodesic
    """
    if points.suffix.lower() in PICTURES:
        raise click.UsageError(f"POINTS must be a file with one point per row, but {points} is a picture.")
    output = Path(f"{points.stem}.png") if output is None else output
    inputs = {"points": points, **text_files._asdict(), "values": values, "companions": companions}
    check_files(inputs, [Output("-o", output, PICTURES)], force=force)
    if view == "ball" and (values or reading.value_column or centre or grid or companions):
        raise click.UsageError(
            "--values, --value-column, --companions, --centre and --grid are of the plane, and --view ball has none of them."
        )
    figure = figure_for(output)
    table = read(points, reading)
    texts = texts_of(table, text_files)
    options: dict[str, Any] = {"edges": texts.edges, "palette": palette, "title": title}
    numbers = _numbers(table, values, reading)
    options |= {"labels": texts.labels if not numbers else None, **reading.place(table.model, table.curvature)}
    if view == "ball":
        plots.plot_ball(table.X, ax=figure.add_subplot(projection="3d"), **options)
    else:
        options |= {"names": texts.names, "centre": row_of(centre, texts.names, "--centre"), **numbers}
        if companions is not None:
            beside = read(companions)
            named = texts_of(beside).names
            options["companions"] = beside.X if named is None else dict(zip(named, beside.X, strict=True))
        plots.plot_plane(table.X, view=view, grid=grid, ax=figure.subplots(), **options)
    write_files([(output, saved(figure))], force=force)
    print_rows({"points": f"{len(table.X):,}", "drawn in": str(output)})


def _numbers(table: Table, file: Path | None, reading: Reading) -> dict[str, Any]:
    """What to colour by: the first column of a file, or a column of the table that was asked for."""
    if file is None:
        column = reading.value_column
        return {} if column is None else {"values": table.values[column], "value_name": column}
    found = read(file, allow_nonfinite=True)
    return {"values": found.X[:, 0], "value_name": found.names[0] if found.names else None}
