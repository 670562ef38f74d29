"""``horopca view``: a page of the explorer, from files."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import click

from ..explorer import explore
from .console import count, progress_bar, report
from .files import PAGES, Reading, read, write_files
from .options import command, edges_option, output_option, palette_option, picture_reading_options, points_argument, reads
from .points import read_points


@command
@points_argument("points")
@edges_option
@reads("--original", help="The points before the reduction, to compare neighbours and distances with.")
@reads("--images", help="Pictures of the points: the path of one on each line, relative to this file.")
@palette_option
@click.option("--root", metavar="NAME", help="Name or row number of the point to start from.")
@click.option("--title", help="Heading of the page.  [default: the name of POINTS]")
@output_option("Page", "points", PAGES)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@picture_reading_options
def view(
    points: Path, original: Path | None, images: Path | None, output: Path, show: bool, reading: Reading, **options: Any
) -> None:
    """Write a page to explore the points of the plane in POINTS.

    POINTS is a file with one point per row, as `horopca reduce` writes it. A column of text in it holds names if all are
    different, and classes otherwise. The page is one file and needs no network. It offers all columns of --metadata to
    colour by, and shows texts and links of a point.

    \b
    Examples:
      horopca view plane.npy --open
      horopca view plane.csv --metadata words.tsv --colour-by topic --edges tree.tsv -o words.html
      horopca view plane.npy --original vectors.npy          colour by distortion
    """
    found, root = read_points(points, reading), options["root"]
    n = len(found.X)
    options["edges"] = found.edges(options["edges"])
    options["palette"] = options["palette"] or found.palette
    options["root"] = None if root is None else found.row(root, "--root")
    options["title"] = options["title"] or points.stem
    if original is not None:
        before = read(original)
        if any(getattr(before, name) not in (None, value) for name, value in found.coordinates.items()):
            raise ValueError(f"{original} must have the model and the curvature of {points}: {found.coordinates}.")
        options["original"] = before.X
    files = found.column(images, "picture")
    if images is not None and files is not None:
        options["images"] = [images.parent / file.strip() if file.strip() else None for file in files]
    with progress_bar(f"Making a page of {count(n, 'point')}"):
        page = explore(found.X, **options, **found.page_arguments())
    write_files((output, page.save))
    size = f"{len(page.html) / 1e6:.1f} MB"
    summary = {"points": points, "n_points": n, "distortion": page.distortion, "metadata": found.note, "output": output}
    report({**summary, "size": size})
    if show and not webbrowser.open(output.resolve().as_uri()):
        click.echo(f"No browser could be started: open {output} yourself.", err=True)
