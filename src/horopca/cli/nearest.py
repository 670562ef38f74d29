"""``horopca nearest``: the nearest neighbours of a point."""

from __future__ import annotations

from pathlib import Path

import click

from ..neighbors import HyperbolicNeighbors
from .console import print_table, report
from .files import Reading
from .options import command, count_option, points_argument, reading_options
from .points import own_names, read_points


@command
@points_argument("points")
@click.argument("name")
@count_option("-n", "--neighbours", default=10, help="Number of neighbours to print.")
@reading_options
def nearest(points: Path, name: str, neighbours: int, reading: Reading) -> None:
    """Print the points in POINTS that are nearest to the point NAME, with their distances.

    POINTS is a file with one point per row, such as `horopca embed` writes. NAME is a name, a code, a row number (from 0), or
    part of a name if it occurs in only one. Nodes without a name are not printed.

    \b
    Examples:
      horopca nearest icd10.npz E11
      horopca nearest words.tsv cat -n 5
      horopca nearest vectors.npy 17 --json
    """
    found = read_points(points, reading)
    X, names, row = found.X, found.names or [str(i) for i in range(len(found.X))], found.row(name, "NAME")
    others = [i for i, own in enumerate(own_names(names)) if own and i != row]
    if not others:
        raise ValueError(f"{points} has no other point with a name.")
    index = HyperbolicNeighbors(min(neighbours, len(others)), **found.coordinates).fit(X[others])
    distances, nearest = (columns[0].tolist() for columns in index.kneighbors(X[[row]]))
    listed = [{"row": others[i], "name": names[others[i]], "distance": d} for i, d in zip(nearest, distances, strict=True)]
    cells = [[one["name"], f"{one['distance']:.4g}"] for one in listed]
    summary = {"points": points, "row": row, "name": names[row], "nearest": listed}
    report(summary, lambda: print_table(f"Nearest to {names[row]}", ["name", "distance"], cells))
