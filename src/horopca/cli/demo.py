"""``horopca demo``: the mammals of WordNet, reduced, compared and drawn."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from ..datasets import load_mammals
from ..metrics.comparison import default_methods
from ..metrics.stability import stability_note
from .compare import print_records, watched_reductions
from .console import common, report
from .files import figure_for, save_figure, write_files
from .options import command, list_of, writes
from .points import Description
from .reduce import PICTURE_METHOD


@command
@writes("-o", "--output", initial="horopca-demo.png", help="Picture to draw: .png, .pdf or .svg.")
@click.option(
    "--methods",
    type=list_of(click.Choice(default_methods())),
    metavar="NAME,NAME",
    help=f"Methods to compare; the picture shows the first.  [default: {PICTURE_METHOD} and all others]",
)
def demo(output: Path, methods: list[str] | None) -> None:
    """Reduce WordNet's mammals from 10 dimensions to the disk, and draw them.

    The points are a Poincaré embedding of 1182 kinds of mammals, which comes with the package. The table shows what each
    method keeps, and the picture shows the stretched HoroPCA, which keeps distances best. The line below both states what is
    stable in the picture: what hardly changes if it is fitted to half of the classes.

    \b
    Examples:
      horopca demo
      horopca demo -o mammals.pdf --methods horopca,tpca
    """
    seed, figure, mammals = common().seed, figure_for(output), load_mammals()
    rows = watched_reductions(mammals.points, [2], methods or default_methods(), random_state=seed)
    drawn = methods[0] if methods else PICTURE_METHOD
    shown, classes = next(row for row in rows if row.record["method"] == drawn), mammals.labels
    note = shown.estimator and stability_note(shown.estimator, mammals.points, classes, groups=classes, random_state=seed)
    Description(mammals.names, {"class": classes}, "class").draw(figure, shown.Y, mammals.edges, caption=note)
    write_files((output, save_figure(figure)))
    (n, d), records = mammals.points.shape, [row.record for row in rows]
    title = f"{n:,} kinds of mammals, from {d} dimensions to 2; drawn in {output}"
    summary = {
        "n_points": n,
        "n_columns": d,
        "seed": seed,
        "plot": output,
        "drawn": drawn,
        "stability": note,
        "results": records,
    }
    report(summary, lambda: print_records(records, title, note))
