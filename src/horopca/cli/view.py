"""``horopca view``: the explorer's page from files."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click import get_current_context
from click.core import ParameterSource

from .common import _print_table, _working, choice, file, force_option, sentences

if TYPE_CHECKING:
    from ..io import Table


@click.command()
@click.argument("points", type=click.Path(path_type=Path))
@file("--labels", help="Classes of the points, one to a line.")
@file("--names", help="Names of the points, one to a line.")
@file("--edges", help="Edges, two nodes to a line: row numbers from 0, or names.")
@file("--values", help="Numbers to colour by, a column each: .npy, .npz, .csv or .tsv.")
@file("--original", help="The points before the reduction: neighbours and distortions are then those of the original space.")
@click.option("--root", help="Name or row number of the point to start from.")
@click.option("--title", help="Heading of the page.  [default: the name of POINTS]")
@file("-o", "--output", help="Where to write the page.  [default: the name of POINTS with .html, here]")
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@choice("model", ("poincare", "lorentz", "klein", "halfspace", "tangent"), help="Coordinates of the rows.")
@click.option("--curvature", type=float, default=-1.0, show_default=True, help="Curvature of the space, below 0.")
@click.option("--key", help="Which array of an .npz file to read.")
@force_option
@sentences()
def view(
    points: Path,
    output: Path | None,
    title: str | None,
    show: bool,
    key: str | None,
    force: bool,
    labels: Path | None,
    names: Path | None,
    root: str | None,
    edges: Path | None,
    values: Path | None,
    original: Path | None,
    **settings: Any,
) -> None:
    """Make a page in which to move around the points of the plane in POINTS.

    POINTS is a .npy, .npz, .csv or .tsv file with one point per row, as `horopca reduce` writes it. A column of text in it
    holds names if all are different, and labels otherwise. The page is one file and works without a network.

    \b
    Examples:
      horopca view plane.npy --open
      horopca view plane.npy --names words.txt --labels classes.txt --edges tree.tsv -o words.html
      horopca view plane.npy --original vectors.npy          colour by what the reduction distorted
    """
    from ..explorer import explore
    from ..explorer.edges import load_row_edges
    from ..io import check_output, load, load_labels

    output = Path(f"{points.stem}.html") if output is None else output
    check_output(output, force=force, formats=(".html", ".htm"))
    table = load(points, key=key)
    if table.model is not None and get_current_context().get_parameter_source("model") is ParameterSource.DEFAULT:
        settings["model"] = table.model
    classes, called = _texts(table)
    classes = classes if labels is None else load_labels(labels)
    called = called if names is None else load_labels(names)
    pairs = None if edges is None else load_row_edges(edges, called)
    before = None if original is None else load(original).X
    with _working(f"Making a page of {len(table.X):,} points"):
        page = explore(
            table.X,
            classes,
            names=called,
            edges=pairs,
            values=None if values is None else _columns(load(values, allow_nonfinite=True)),
            original=before,
            root=_row(root, called, "--root"),
            title=title or points.stem,
            **settings,
        )
        page.save(output, force=force)
    _print_table({"points": f"{page.n_points:,}", "written to": str(output), "size": f"{len(page.html) / 1e6:.1f} MB"})
    if show and not webbrowser.open(output.resolve().as_uri()):
        click.echo(f"No browser could be started here: open {output} yourself.", err=True)


def _texts(table: Table) -> tuple[list[str] | None, list[str] | None]:
    """The text in a file of points as labels and names: names where they are all different."""
    if table.labels is None:
        return None, None
    return (None, table.labels) if len(set(table.labels)) == len(table.labels) else (table.labels, None)


def _columns(table: Table) -> dict[str, Any]:
    names = table.names or [f"Value {k + 1}" for k in range(table.X.shape[1])]
    return {name: table.X[:, k] for k, name in enumerate(names)}


def _row(called: str | None, names: list[str] | None, option: str) -> int | None:
    """The row that a user calls by its name or its number."""
    if called is None:
        return None
    if names is not None and called in names:
        return names.index(called)
    if not called.isdecimal():
        raise ValueError(f"{option} must be the name or the row number of a point, but is {called!r}.")
    return int(called)
