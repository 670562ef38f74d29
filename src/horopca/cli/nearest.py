"""``horopca nearest``: the points nearest to one point."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from ..io.files import listed
from ..neighbors import HyperbolicNeighbors
from .console import print_table, report
from .files import Reading, read
from .options import command, points_argument, reading_options
from .points import own_names


@command
@points_argument("points")
@click.argument("name")
@click.option("-n", "--neighbours", type=click.IntRange(min=1), default=10, show_default=True, help="How many to print.")
@reading_options
def nearest(points: Path, name: str, neighbours: int, reading: Reading) -> None:
    """Print the points of POINTS that are nearest to the one called NAME, with their distances.

    POINTS is a file with one point per row, such as `horopca embed` writes. NAME is a name, a code, a part of a name that
    only one point has, or the number of a row, from 0. Nodes without a name in their file are not printed.

    \b
    Examples:
      horopca nearest icd10.npz E11
      horopca nearest words.tsv cat -n 5
      horopca nearest vectors.npy 17 --json
    """
    table = read(points, reading)
    X, names = table.X, table.row_names or [str(i) for i in range(len(table.X))]
    row = _find(name, names, points)
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


def _find(name: str, names: list[str], path: Path) -> int:
    """The row of a point by its name, by its code in brackets, by a part of its name, or by its number."""
    part = name.lower()
    for fits in (lambda other: other == name, lambda other: other.endswith(f"({name})"), lambda other: part in other.lower()):
        found = [i for i, other in enumerate(names) if fits(other)]
        if len(found) == 1:
            return found[0]
        if found:
            some = listed(names[i] for i in found)
            raise ValueError(f"{len(found):,} points of {path} match {name!r}: {some}. Pass the name of one.")
    if name.isdecimal() and int(name) < len(names):
        return int(name)
    raise ValueError(f"{path} has no point called {name!r}; it has {listed(names[:3])}, ...")
