"""``horopca view``: the explorer's page from files."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click

from ..explorer import explore
from .console import print_rows, status
from .files import Output, check_files, read, write_files
from .options import (
    Reading,
    TextFiles,
    force_option,
    palette_option,
    points_argument,
    quiet_option,
    reading_options,
    reads,
    text_options,
    writes,
)
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
    text_files: TextFiles,
    palette: list[str] | None,
    root: str | None,
    title: str | None,
    output: Path | None,
    show: bool,
    reading: Reading,
    force: bool,
    **files: Path | None,
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
    check_files({"points": points, **text_files._asdict(), **files}, [Output("-o", output, PAGES)], force=force)
    table = read(points, reading)
    texts, n = texts_of(table, text_files), len(table.X)
    options: dict[str, Any] = {"values": dict(table.values)} if table.values else {}
    options |= {name: READERS[name](path, n) for name, path in files.items() if path is not None}
    options |= {"palette": palette, "root": row_of(root, texts.names, "--root"), "title": title or points.stem}
    with status(f"Making a page of {n:,} points"):
        page = explore(table.X, **texts._asdict(), **options, **reading.place(table.model, table.curvature))
    write_files([(output, page.save)], force=force)
    print_rows({"points": f"{page.n_points:,}", "written to": str(output), "size": f"{len(page.html) / 1e6:.1f} MB"})
    if show and not webbrowser.open(output.resolve().as_uri()):
        click.echo(f"No browser could be started here: open {output} yourself.", err=True)


def _pictures(path: Path, n: int) -> list[Path | None]:
    """The files that a list names, from the folder that it is in; an empty line is none."""
    return [path.parent / line.strip() if line.strip() else None for line in read_words(path, n, "picture")]


def _numbers(path: Path, n: int) -> np.ndarray:
    X = read(path, allow_nonfinite=True).X
    if X.shape[1] != 1:
        raise ValueError(f"--sizes must hold one column of numbers, but {path} holds {X.shape[1]}.")
    return X[:, 0]


def _columns(path: Path, n: int) -> dict[str, Any]:
    table = read(path, allow_nonfinite=True)
    names = table.names or [f"Value {k + 1}" for k in range(table.X.shape[1])]
    return {name: table.X[:, k] for k, name in enumerate(names)}


# The file of an option, for n points, is read by this.
READERS: dict[str, Callable[[Path, int], Any]] = {
    "values": _columns,
    "original": lambda path, n: read(path).X,
    "details": lambda path, n: read_words(path, n, "text"),
    "images": _pictures,
    "sizes": _numbers,
}
