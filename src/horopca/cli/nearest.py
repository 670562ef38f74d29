"""``horopca nearest``: the points nearest to one point."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from ..neighbors import HyperbolicNeighbors
from .console import print_table, report
from .files import Reading, read
from .options import command, points_argument, reading_options


@command
@points_argument("points")
@click.argument("name")
@click.option("-n", "--neighbours", type=click.IntRange(min=1), default=10, show_default=True, help="How many to print.")
@reading_options
def nearest(points: Path, name: str, neighbours: int, reading: Reading) -> None:
    """Print the points of POINTS that are nearest to the one called NAME, with their distances.

    POINTS is a file with one point per row, such as `horopca embed` writes. NAME is a name, a code, a part of a name that
    only one point has, or the number of a row, from 0.

    \b
    Examples:
      horopca nearest icd10.npz E11
      horopca nearest words.tsv cat -n 5
      horopca nearest vectors.npy 17 --json
    """
    table = read(points, reading)
    n, row = len(table.X), _find(name, table.row_names, len(table.X), points)
    search = HyperbolicNeighbors(min(neighbours + 1, n), **reading.coordinates(table.model, table.curvature)).fit(table.X)
    distances, rows = (array[0] for array in search.kneighbors(table.X[row : row + 1]))  # the point itself among them
    names = table.row_names or [str(i) for i in range(n)]
    others = [(int(i), float(d)) for i, d in zip(rows, distances, strict=True) if i != row][:neighbours]
    found = [{"row": i, "name": names[i], "distance": d} for i, d in others]
    cells = [[names[i], f"{d:.4g}"] for i, d in others]
    summary = {"points": points, "row": row, "name": names[row], "nearest": found}
    report(summary, lambda: print_table(f"Nearest to {names[row]}", ["name", "distance"], cells))


def _find(name: str, names: list[str] | None, n: int, path: Path) -> int:
    if names is not None and name in names:
        return names.index(name)
    near = [i for i, other in enumerate(names or ()) if name.lower() in other.lower()]
    if len(near) == 1:
        return near[0]
    if name.isdecimal() and int(name) < n and not near:
        return int(name)
    if near:
        some = ", ".join((names or [])[i] for i in near[:10])
        raise ValueError(f"{len(near)} names of {path} contain {name!r}: {some}{', ...' if len(near) > 10 else ''}. Pass one.")
    raise ValueError(f"{path} has no point called {name!r}" + ("." if names else ", because its points have no names."))
