"""``horopca demo``: the mammals of WordNet, reduced, compared and drawn."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from ..datasets import load_mammals
from ..metrics.comparison import default_methods
from .compare import print_records, watched_reductions
from .console import is_quiet, print_json
from .drawing import PICTURES, draw_plane, figure_for, saved
from .files import Output, check_files, write_files
from .options import usual_options, writes
from .texts import Texts


@click.command()
@writes("-o", "--output", help="Where to draw: .png, .pdf or .svg.  [default: horopca-demo.png, here]")
@usual_options
def demo(output: Path | None, seed: int, as_json: bool, force: bool) -> None:
    """Reduce WordNet's mammals from 10 dimensions to the disk, and draw them.

    The points are a Poincaré embedding of 1182 kinds of mammals, which comes with the package. The table shows what each
    method keeps of them, and the picture what HoroPCA makes of them.

    \b
    Examples:
      horopca demo
      horopca demo -o pictures/mammals.pdf --seed 7
    """
    output = Path("horopca-demo.png") if output is None else output
    check_files({}, [Output("-o", output, PICTURES)], force=force)
    figure = figure_for(output)
    mammals = load_mammals()
    methods = default_methods()
    rows = watched_reductions(mammals.points, [2], methods, random_state=seed)
    Y = next(row.Y for row in rows if row.record["method"] == "horopca")
    draw_plane(figure, Y, Texts(mammals.labels, mammals.names, mammals.edges))
    write_files([(output, saved(figure))], force=force)
    n, d = mammals.points.shape
    records = [row.record for row in rows]
    if as_json:
        print_json({"n_points": n, "n_columns": d, "seed": seed, "plot": output, "results": records})
    elif not is_quiet():
        print_records(records, f"{n:,} kinds of mammals, from {d} dimensions to 2")
        click.echo(f"Drawn in {output}.")
