"""``horopca compare``: every reduction on the same points, in one table."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

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
from .console import print_json, progress_bar
from .drawing import PICTURES, figure_for, saved
from .files import Output, check_files, read, write_files
from .options import Reading, TextFiles, count, input_file, reading_options, reads, several, usual_options, writes
from .texts import Texts, texts_of


class Column(NamedTuple):
    """A column of the table: its heading, how a value is written, and how far a record is from the best there could be."""

    heading: str
    write: Callable[[float], str]
    loss: Callable[[dict[str, Any]], float]


COLUMNS = {
    "distortion": Column("distortion", "{:.4f}".format, lambda record: record["distortion"]),
    # a variance is best where it is that of the points: a map that lengthens distances may have more
    "frechet_variance": Column("Fréchet\nvariance", "{:.2f}".format, lambda record: abs(record["frechet_kept"] - 1)),
    "variance_kept": Column("variance\nkept", "{:.1%}".format, lambda record: abs(record["variance_kept"] - 1)),
    "neighbours_kept": Column("near\nkept", "{:.1%}".format, lambda record: -record["neighbours_kept"]),
    "trustworthiness": Column("trust", "{:.3f}".format, lambda record: -record["trustworthiness"]),
    "continuity": Column("contin-\nuity", "{:.3f}".format, lambda record: -record["continuity"]),
    "seconds": Column("seconds", "{:.2f}".format, lambda record: record["seconds"]),
}


OTHERS = [name for name in ALL_METHODS if name not in default_methods()]


@click.command()
@click.argument("input", type=input_file, required=False)
@click.option(
    "-k",
    "--components",
    "n_components",
    type=several(count),
    default="2",
    show_default=True,
    metavar="K,K",
    help="Dimensions to reduce to: -k 1,2,3.",
)
@click.option(
    "--methods",
    type=several(click.Choice(list(ALL_METHODS))),
    metavar="NAME,NAME",
    help=f"Methods to compare, of {', '.join(ALL_METHODS)}.  [default: all but {', '.join(OTHERS)}]",
)
@writes("--plot", help="Where to draw a disk for each method: .png, .pdf or .svg. Needs 2 among -k.")
@reads("--labels", help="Labels of the rows, one to a line, for the picture.")
@reading_options
@click.option("--csv", "as_csv", is_flag=True, help="Print a table with commas, and nothing else, on standard output.")
@usual_options
def compare(
    input: Path | None,
    n_components: list[int],
    methods: list[str] | None,
    plot: Path | None,
    labels: Path | None,
    reading: Reading,
    seed: int,
    as_json: bool,
    as_csv: bool,
    force: bool,
) -> None:
    """Reduce the points in INPUT by every method, and show what each keeps.

    INPUT is a file with one point per row, as for `horopca reduce`; without it, a random tree in 10 dimensions. Measured
    are the average distortion of distances, the Fréchet variance of the images, the share of the pair variance that is
    kept, and the seconds of the fit; the best of each is bold.

    \b
    Examples:
      horopca compare vectors.npy
      horopca compare vectors.npy -k 1,2,3 --methods horopca,tpca,hmds
      horopca compare vectors.npy --plot disks.png --labels classes.txt
      horopca compare vectors.npy --csv > table.csv
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other: choose one.")
    if plot is not None and 2 not in n_components:
        raise click.UsageError(f"--plot draws disks and needs 2 among -k, but -k is {', '.join(map(str, n_components))}.")
    check_files({"input": input, "labels": labels}, [Output("--plot", plot, PICTURES)], force=force)
    figure = figure_for(plot)
    points, texts = _points(input, labels, reading, seed)
    place = reading.place(points.model, points.curvature)
    found = watched_reductions(points.X, n_components, methods or default_methods(), random_state=seed, **place)
    if figure is not None:
        _draw(figure, [row for row in found if row.record["n_components"] == 2], texts, place)
        write_files([(plot, saved(figure))], force=force)
    records = [row.record for row in found]
    (n, columns), about = points.X.shape, {"input": input, **place, "seed": seed, "plot": plot}
    if as_json:
        print_json({"n_points": n, "n_columns": columns, **about, "results": records})
    elif as_csv:
        _print_csv(records)
    else:
        print_records(records, f"{n:,} points, {columns} columns, Fréchet variance {frechet_variance(points.X, **place):.2f}")


def _points(input: Path | None, labels: Path | None, reading: Reading, seed: int) -> tuple[Points, Texts]:
    if input is None:
        tree = make_hierarchy(random_state=seed)
        return Points(tree.points), Texts(tree.labels, edges=tree.edges)
    table = read(input, reading)
    return table, texts_of(table, TextFiles(labels))


def watched_reductions(X: Any, counts: list[int], methods: list[str], **settings: Any) -> list[Reduction]:
    """The reductions, with a bar on stderr while they are made that says which is next."""
    plan = [f"{ALL_METHODS[name].title}, k = {K}" for K in counts for name in methods]
    found = []
    rows = reductions(X, counts, methods, **settings)
    with progress_bar(plan[0]) as bar:
        bar.update(0, len(plan), plan[0])
        for row in rows:
            found.append(row)
            bar.update(len(found), len(plan), plan[min(len(found), len(plan) - 1)])
    return found


def _draw(figure: Any, rows: list[Reduction], texts: Texts, place: dict[str, Any]) -> None:
    coordinates = check_coordinates(**place)
    images = {row.record["title"]: from_hyperboloid(coordinates.to_hyperboloid(row.Y), "poincare") for row in rows}
    captions = [f"distortion {row.record['distortion']:.3f}" for row in rows]
    plots.plot_comparison(images, texts.labels, edges=texts.edges, captions=captions, figure=figure)


def print_records(records: list[dict[str, Any]], title: str) -> None:
    """A table of reductions, the best figures of each number of components in bold."""
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
