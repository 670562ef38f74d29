"""``horopca view``: the explorer's page from files."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click

from ..explorer import explore
from ..io import Table
from .files import Output, check_files, read, write_files
from .options import (
    Reading,
    force_option,
    palette_option,
    points_argument,
    quiet_option,
    reading_options,
    reads,
    text_options,
    writes,
)
from .saying import print_rows, working
from .texts import read_words, row_of, texts_of

PAGES = (".html", ".htm")


@click.command()
@points_argument("points")
@text_options
@reads("--values", help="Numbers to colour by, a column each: .npy, .npz, .csv or .tsv.")
@reads("--original", help="The points before the reduction: neighbours and distortions are then those of the original space.")
@reads("--details", help="Texts about the points, one to a line; addresses of the web become links.")
@reads("--images", help="Pictures to put into the page: their files, one to a line, as seen from this file.")
@reads("--sizes", help="Numbers that the areas of the marks are in proportion to, one to a row.")
@palette_option
@click.option("--root", help="Name or row number of the point to start from.")
@click.option("--title", help="Heading of the page.  [default: the name of POINTS]")
@writes("-o", "--output", help="Where to write the page.  [default: the name of POINTS with .html, here]")
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@reading_options
@quiet_option
@force_option
def view(
    points: Path,
    labels: Path | None,
    names: Path | None,
    edges: Path | None,
    values: Path | None,
    original: Path | None,
    details: Path | None,
    images: Path | None,
    sizes: Path | None,
    palette: str | None,
    root: str | None,
    title: str | None,
    output: Path | None,
    show: bool,
    reading: Reading,
    force: bool,
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
    output = Path(f"{points.stem}.html") if output is None else output
    inputs = {"POINTS": points, "--labels": labels, "--names": names, "--edges": edges, "--values": values}
    inputs |= {"--original": original, "--details": details, "--images": images, "--sizes": sizes}
    check_files(inputs, [Output("-o", output, PAGES)], force=force)
    table = read(points, reading)
    texts = texts_of(table, labels, names, edges)
    with working(f"Making a page of {len(table.X):,} points"):
        page = explore(
            table.X,
            texts.labels,
            names=texts.names,
            edges=texts.edges,
            values=dict(table.values) or None if values is None else _columns(read(values, allow_nonfinite=True)),
            original=None if original is None else read(original).X,
            details=None if details is None else read_words(details, len(table.X), "text"),
            images=None if images is None else _pictures(images, len(table.X)),
            sizes=None if sizes is None else _numbers(sizes),
            palette=None if palette is None else palette.split(","),
            root=row_of(root, texts.names, "--root"),
            title=title or points.stem,
            **reading.place(table.model),
        )
    write_files([(output, page.save)], force=force)
    print_rows({"points": f"{page.n_points:,}", "written to": str(output), "size": f"{len(page.html) / 1e6:.1f} MB"})
    if show and not webbrowser.open(output.resolve().as_uri()):
        click.echo(f"No browser could be started here: open {output} yourself.", err=True)


def _pictures(path: Path, n: int) -> list[Path | None]:
    """The files that a list names, from the folder that it is in; an empty line is none."""
    return [path.parent / line.strip() if line.strip() else None for line in read_words(path, n, "picture")]


def _numbers(path: Path) -> np.ndarray:
    X = read(path, allow_nonfinite=True).X
    if X.shape[1] != 1:
        raise ValueError(f"--sizes must hold one column of numbers, but {path} holds {X.shape[1]}.")
    return X[:, 0]


def _columns(table: Table) -> dict[str, Any]:
    names = table.names or [f"Value {k + 1}" for k in range(table.X.shape[1])]
    return {name: table.X[:, k] for k, name in enumerate(names)}
