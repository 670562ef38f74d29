"""``horopca demo``: the mammals of WordNet, reduced, compared and drawn."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from ..datasets import load_mammals
from ..metrics.comparison import default_methods
from .common import common
from .compare import print_records, watched_reductions
from .console import print_json
from .drawing import PICTURES, draw_plane, figure_for, save_figure
from .files import Output, check_files, write_files
from .options import command, list_of, writes
from .points import Description
from .reducing import PICTURED


@command
@writes("-o", "--output", help="Picture to draw: .png, .pdf or .svg.  [default: horopca-demo.png, in this folder]")
@click.option(
    "--methods",
    type=list_of(click.Choice(default_methods())),
    metavar="NAME,NAME",
    help=f"Methods to compare; the picture shows the first.  [default: {PICTURED} and all others]",
)
def demo(output: Path | None, methods: list[str] | None) -> None:
    """Reduce WordNet's mammals from 10 dimensions to the disk, and draw them.

    The points are a Poincaré embedding of 1182 kinds of mammals, which comes with the package. The table shows what each
    method keeps, and the picture shows the stretched HoroPCA, which keeps distances best.

    \b
    Examples:
      horopca demo
      horopca demo -o mammals.pdf --methods horopca,tpca
    """
    output = Path("horopca-demo.png") if output is None else output
    seed, as_json, quiet, force = common()
    check_files({}, [Output("-o", output, PICTURES)], force=force)
    figure, mammals = figure_for(output), load_mammals()
    rows = watched_reductions(mammals.points, [2], methods or default_methods(), random_state=seed)
    drawn = methods[0] if methods else PICTURED
    Y = next(row.Y for row in rows if row.record["method"] == drawn)
    draw_plane(figure, Y, Description(mammals.names, {"class": mammals.labels}, "class"), mammals.edges)
    write_files([(output, save_figure(figure))], force=force)
    (n, d), records = mammals.points.shape, [row.record for row in rows]
    if as_json:
        print_json({"n_points": n, "n_columns": d, "seed": seed, "plot": output, "drawn": drawn, "results": records})
    elif not quiet:
        print_records(records, f"{n:,} kinds of mammals, from {d} dimensions to 2")
        click.echo(f"Drawn in {output}.")
