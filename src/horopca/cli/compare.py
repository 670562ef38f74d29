"""``horopca compare``: every reduction on the same points, in one table."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import rich_click as click
from rich.console import Console
from rich.table import Table

from .. import plots
from .._input.coordinates import check_coordinates
from ..datasets import make_hierarchy
from ..geometry import from_hyperboloid
from ..io import Table as Points
from ..metrics import frechet_variance
from ..metrics.comparison import ALL_METHODS, Reduction, default_methods, reductions
from .common import common
from .console import print_json, progress_bar
from .drawing import PICTURES, VIEWS, figure_for, save_figure
from .files import Output, check_files, write_files
from .options import Reading, choice, command, input_file, list_of, picture_reading_options, positive_integer, writes
from .points import Description, read_described


class Column(NamedTuple):
    """A column of the table: its heading, the format of a value, and what is smallest for the best record."""

    heading: str
    write: Callable[[float], str]
    loss: Callable[[dict[str, Any]], float]


COLUMNS = {
    "distortion": Column("distortion", "{:.4f}".format, lambda record: record["distortion"]),
    # the best variance is that of the points: a map that lengthens distances may have more
    "frechet_variance": Column("Fréchet\nvariance", "{:.2f}".format, lambda record: abs(record["frechet_kept"] - 1)),
    "variance_kept": Column("variance\nkept", "{:.1%}".format, lambda record: abs(record["variance_kept"] - 1)),
    "neighbours_kept": Column("near\nkept", "{:.1%}".format, lambda record: -record["neighbours_kept"]),
    "trustworthiness": Column("trust", "{:.3f}".format, lambda record: -record["trustworthiness"]),
    "continuity": Column("contin-\nuity", "{:.3f}".format, lambda record: -record["continuity"]),
    "seconds": Column("seconds", "{:.2f}".format, lambda record: record["seconds"]),
}
OTHERS = [name for name in ALL_METHODS if name not in default_methods()]
FEW_NEIGHBOURS = 0.1  # If every method keeps fewer of the nearest neighbours, no picture shows them.


@command
@click.argument("input", type=input_file, required=False)
@click.option(
    "-k",
    "--components",
    "n_components",
    type=list_of(positive_integer),
    default="2",
    show_default=True,
    metavar="K,K",
    help="Dimensions to reduce to: -k 1,2,3.",
)
@click.option(
    "--methods",
    type=list_of(click.Choice(list(ALL_METHODS))),
    metavar="NAME,NAME",
    help=f"Methods to compare, of {', '.join(ALL_METHODS)}.  [default: all but {', '.join(OTHERS)}]",
)
@writes("--plot", help="Picture with a disk for each method: .png, .pdf or .svg. Needs 2 in -k.")
@choice("view", VIEWS, help="How to draw the plane; auto: by distance if most points would lie on the rim of the disk.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV, and nothing else.")
@picture_reading_options
def compare(
    input: Path | None,
    n_components: list[int],
    methods: list[str] | None,
    plot: Path | None,
    view: str,
    as_csv: bool,
    reading: Reading,
) -> None:
    """Reduce the points in INPUT by every method, and show what each keeps.

    INPUT is a file with one point per row, as for `horopca reduce`; without it, a random tree in 10 dimensions is used. The
    table shows the average distortion of distances, the Fréchet variance of the images, the fraction of the pair variance
    and of the ten nearest neighbours that is kept, and the time of the fit. The best of each is bold.

    \b
    Examples:
      horopca compare vectors.npy
      horopca compare vectors.npy -k 1,2,3 --methods horopca,tpca,hmds
      horopca compare vectors.npy --plot disks.png --view equidistant --metadata classes.txt
      horopca compare vectors.npy --csv > table.csv
    """
    seed, as_json, quiet, force = common()
    if as_json and as_csv:
        raise click.UsageError("--json and --csv cannot be used together.")
    if plot is not None and 2 not in n_components:
        raise click.UsageError(f"--plot draws disks and needs 2 in -k, but -k is {', '.join(map(str, n_components))}.")
    check_files({"input": input, "metadata": reading.metadata}, [Output("--plot", plot, PICTURES)], force=force)
    figure = figure_for(plot)
    points, about, edges = _points(input, reading, seed)
    coordinates = reading.coordinates(points.model, points.curvature)
    found = watched_reductions(points.X, n_components, methods or default_methods(), random_state=seed, **coordinates)
    if figure is not None:
        _draw(figure, [row for row in found if row.record["n_components"] == 2], about, edges, coordinates, view)
        write_files([(plot, save_figure(figure))], force=force)
    records = [row.record for row in found]
    n, columns = points.X.shape
    if as_json:
        given = {"input": input, **coordinates, "seed": seed, "plot": plot}
        return print_json({"n_points": n, "n_columns": columns, **given, "results": records})
    if as_csv:
        return _print_csv(records)
    if not quiet:
        variance = frechet_variance(points.X, **coordinates)
        print_records(records, f"{n:,} points, {columns} columns, Fréchet variance {variance:.2f}")
        if max(record["neighbours_kept"] for record in records) < FEW_NEIGHBOURS:
            click.echo(NOTHING_KEPT, err=True)


NOTHING_KEPT = (
    "No method keeps a tenth of the nearest neighbours: do not read neighbourhoods off such pictures. `horopca components` "
    "says how many dimensions the data supports (-k 10 keeps more); UMAP on hyperbolic distances keeps neighbours better."
)


def _points(input: Path | None, reading: Reading, seed: int) -> tuple[Points, Description, np.ndarray | None]:
    if input is None:
        tree = make_hierarchy(random_state=seed)
        return Points(tree.points), Description(columns={"branch": tree.labels}, colour="branch"), tree.edges
    return *read_described(input, reading), None


def watched_reductions(X: Any, counts: list[int], methods: list[str], **settings: Any) -> list[Reduction]:
    """The reductions, with a progress bar that names the current one."""
    plan = [f"{ALL_METHODS[name].title}, k = {K}" for K in counts for name in methods]
    found = []
    rows = reductions(X, counts, methods, **settings)
    with progress_bar(plan[0]) as bar:
        bar.update(0, len(plan), plan[0])
        for row in rows:
            found.append(row)
            bar.update(len(found), len(plan), plan[min(len(found), len(plan) - 1)])
    return found


def _draw(
    figure: Any, rows: list[Reduction], about: Description, edges: np.ndarray | None, coordinates: dict[str, Any], view: str
) -> None:
    given = check_coordinates(**coordinates)
    images = {row.record["title"]: from_hyperboloid(given.to_hyperboloid(row.Y), "poincare") for row in rows}
    captions = [f"distortion {row.record['distortion']:.3f}" for row in rows]
    plots.plot_comparison(images, about.labels, edges=edges, captions=captions, view=view, figure=figure)


def print_records(records: list[dict[str, Any]], title: str) -> None:
    """Print a table of reductions, the best figures for each number of components in bold."""
    table = Table(title=title, title_justify="left", title_style="italic", box=None, pad_edge=False, collapse_padding=True)
    table.add_column("k", justify="right")
    table.add_column("method", style="cyan", no_wrap=True)
    for column in COLUMNS.values():
        table.add_column(column.heading, justify="right")
    for K in dict.fromkeys(record["n_components"] for record in records):
        group = [record for record in records if record["n_components"] == K]
        best = {name: min(group, key=column.loss)[name] for name, column in COLUMNS.items()}
        for record in group:
            table.add_row(str(K), record["title"], *(_cell(record, name, best[name]) for name in COLUMNS))
        table.add_section()
    Console(highlight=False).print(table)


def _cell(record: dict[str, Any], name: str, best: float) -> str:
    text = COLUMNS[name].write(record[name])
    if name == "distortion" and record["distortion_error"] > 0:
        text += f" ± {record['distortion_error']:.1g}"
    return f"[bold]{text}[/bold]" if text == COLUMNS[name].write(best) else text


def _print_csv(records: list[dict[str, Any]]) -> None:
    writer = csv.DictWriter(sys.stdout, fieldnames=list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
