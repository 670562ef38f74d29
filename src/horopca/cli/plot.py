"""``horopca plot``: a picture of the points in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click
from click import get_current_context
from click.core import ParameterSource

from .common import PICTURES, _figure, choice, file, force_option, sentences
from .view import _row, _texts


@click.command()
@click.argument("points", type=click.Path(path_type=Path))
@file("--labels", help="Classes of the points, one to a line.")
@file("--names", help="Names of the points, one to a line: as many as fit are written.")
@file("--edges", help="Edges, two nodes to a line: row numbers from 0, or names.")
@file("--values", help="Numbers to colour by, the first column of a .npy, .npz, .csv or .tsv file.")
@choice(
    "view",
    ("auto", "disk", "klein", "equidistant", "halfplane", "ball"),
    help="What to draw them in: the disk, or by distance where most points would lie on its rim; a ball for three dimensions.",
)
@click.option("--centre", help="Name or row number of the point to put at the centre.")
@click.option("--grid", type=click.Choice(("polar", "geodesic")), help="Draw a grid around the centre.")
@click.option("--palette", help="Colours of the classes, such as '#0072B2,#E69F00'.")
@click.option("--title", help="Heading of the picture.")
@file("-o", "--output", help="Where to draw: .png, .pdf or .svg.  [default: the name of POINTS with .png, here]")
@choice("model", ("poincare", "lorentz", "klein", "halfspace", "tangent"), help="Coordinates of the rows.")
@click.option("--curvature", type=float, default=-1.0, show_default=True, help="Curvature of the space, below 0.")
@click.option("--key", help="Which array of an .npz file to read.")
@force_option
@sentences()
def plot(
    points: Path,
    labels: Path | None,
    names: Path | None,
    edges: Path | None,
    values: Path | None,
    view: str,
    centre: str | None,
    grid: str | None,
    palette: str | None,
    output: Path | None,
    key: str | None,
    force: bool,
    **settings: Any,
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
    from ..explorer.edges import load_row_edges
    from ..io import load, load_labels

    output = Path(f"{points.stem}.png") if output is None else output
    figure = _figure(output, force)
    table = load(points, key=key)
    if table.model is not None and get_current_context().get_parameter_source("model") is ParameterSource.DEFAULT:
        settings["model"] = table.model
    classes, called = _texts(table)
    classes = classes if labels is None else load_labels(labels)
    called = called if names is None else load_labels(names)
    pairs = None if edges is None else load_row_edges(edges, called)
    options = {"edges": pairs, "palette": None if palette is None else palette.split(","), **settings}
    if view != "ball":
        numbers = None if values is None else load(values, allow_nonfinite=True)
        options |= {"names": called, "centre": _row(centre, called, "--centre"), "grid": grid}
        options |= {"values": None if numbers is None else numbers.X[:, 0]}
        options |= {"value_name": numbers.names[0] if numbers is not None and numbers.names else None}
    elif values or centre or grid:
        raise ValueError("--values, --centre and --grid are of the plane, and --view ball has none of them.")
    _save(figure, view, output, force, table.X, classes if values is None else None, options)


def _save(figure: Any, view: str, output: Path, force: bool, X: Any, labels: Any, options: dict[str, Any]) -> None:
    from .. import plots
    from ..io import atomic_output

    ax = figure.add_subplot(projection="3d") if view == "ball" else figure.subplots()
    if view == "ball":
        plots.plot_ball(X, labels, ax=ax, **options)
    else:
        plots.plot_plane(X, labels, view=view, ax=ax, **options)
    with atomic_output(output, force=force, formats=PICTURES) as temporary:
        figure.savefig(temporary, dpi=160, bbox_inches="tight")
    click.echo(f"Drawn in {output}.")
