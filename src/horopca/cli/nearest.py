"""``horopca nearest``: the points nearest to one point."""

from __future__ import annotations

from pathlib import Path

import click

from ..neighbors import HyperbolicNeighbors
from .console import print_table, report
from .files import Reading, read
from .options import command, points_argument, reading_options
from .points import own_names, row_of


@command
@points_argument("points")
@click.argument("name")
@click.option("-n", "--neighbours", type=click.IntRange(min=1), default=10, show_default=True, help="How many to print.")
@reading_options
def nearest(points: Path, name: str, neighbours: int, reading: Reading) -> None:
    """Print the points of POINTS that are nearest to the one called NAME, with their distances.

    POINTS is a file with one point per row, such as `horopca embed` writes. NAME is a name, a code, the number of a row
    (from 0), or a part of a name that only one point has. Nodes without a name in their file are not printed.

    \b
    Examples:
      horopca nearest icd10.npz E11
      horopca nearest words.tsv cat -n 5
      horopca nearest vectors.npy 17 --json
    """
    table = read(points, reading)
    X, names = table.X, table.row_names or [str(i) for i in range(len(table.X))]
    row = row_of(name, table.row_names, len(X), "NAME")
    others = [i for i, own in enumerate(own_names(names)) if own and i != row]
    if not others:
        raise ValueError(f"{points} has no other point with a name.")
    k, coordinates = min(neighbours, len(others)), reading.coordinates(table.model, table.curvature)
    distances, found = HyperbolicNeighbors(k, **coordinates).fit(X[others]).kneighbors(X[[row]])
    nearest = [(others[i], float(d)) for i, d in zip(found[0], distances[0], strict=True)]
    summary = {"points": points, "row": row, "name": names[row]}
    summary["nearest"] = [{"row": i, "name": names[i], "distance": d} for i, d in nearest]
    cells = [[names[i], f"{d:.4g}"] for i, d in nearest]
    report(summary, lambda: print_table(f"Nearest to {names[row]}", ["name", "distance"], cells))
