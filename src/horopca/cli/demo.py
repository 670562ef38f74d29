"""``horopca demo``: the mammals of WordNet, reduced, compared and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import rich_click as click

from ..metrics.comparison import METHODS, default_methods, reductions
from .common import _draw, _figure, _plain, _working, force_option, json_option, seed_option, sentences
from .compare import _print_table


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for the picture.  [default: here]")
@seed_option
@json_option
@force_option
@sentences()
def demo(out: Path, seed: int, as_json: bool, force: bool) -> None:
    """Reduce WordNet's mammals from 10 dimensions to the disk, and draw them.

    The points are a Poincaré embedding of 1182 kinds of mammals, which comes with the package. The table shows what each
    method keeps of them, and the picture what HoroPCA makes of them.

    \b
    Examples:
      horopca demo
      horopca demo --out pictures --seed 7
    """
    from ..datasets import load_mammals

    picture = out / "horopca-demo.png"
    figure = _figure(picture, force)
    mammals = load_mammals()
    methods = [name for name in default_methods() if METHODS[name].needs is None]
    with _working(f"Reducing the mammals by {len(methods)} methods"):
        rows = list(reductions(mammals.points, 2, methods, random_state=seed))
        Y = next(row.Y for row in rows if row.record["method"] == "horopca")
        _draw(figure, picture, force, Y, mammals.labels, edges=mammals.edges, names=mammals.names)
    records = [row.record for row in rows]
    n, d = mammals.points.shape
    if as_json:
        about = {"n_points": n, "n_columns": d, "seed": seed, "plot": picture}
        click.echo(json.dumps({**_plain(about), "results": [_plain(record) for record in records]}, indent=2, allow_nan=False))
    else:
        _print_table(records, f"{n:,} kinds of mammals, from {d} dimensions to 2")
        click.echo(f"Drawn in {picture}.")
