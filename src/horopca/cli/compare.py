"""``horopca compare``: every reduction on the same points, in one table."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import rich_click as click
from click import get_current_context
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..metrics.comparison import METHODS, Reduction, default_methods, reductions
from .common import (
    PICTURES,
    _figure,
    _labels,
    _on_disk,
    _plain,
    choice,
    file,
    force_option,
    json_option,
    seed_option,
    sentences,
)

if TYPE_CHECKING:
    import numpy as np


class Column(NamedTuple):
    """A column of the table: its heading, how a value is written, and how far a record is from the best there could be."""

    heading: str
    write: Callable[[float], str]
    loss: Callable[[dict[str, Any]], float]


COLUMNS = {
    "distortion": Column("distortion", "{:.4f}".format, lambda record: record["distortion"]),
    # a variance is best where it is that of the points: a map that lengthens distances may have more
    "frechet_variance": Column("Fréchet variance", "{:.2f}".format, lambda record: abs(record["frechet_kept"] - 1)),
    "variance_kept": Column("variance kept", "{:.1%}".format, lambda record: abs(record["variance_kept"] - 1)),
    "seconds": Column("seconds", "{:.2f}".format, lambda record: record["seconds"]),
}


class SeveralValues(click.RichCommand):
    """A command whose options -k and --methods take as many values as follow them: ``-k 1 2 3``."""

    fits: dict[str, Callable[[str], bool]] = {  # noqa: RUF012
        "-k": str.isdecimal,
        "--components": str.isdecimal,
        "--methods": METHODS.__contains__,
    }

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        option, taken = "", 0
        for arg in args:
            option, taken = (arg, 0) if arg.startswith("-") else (option, taken + 1)
            again = taken > 1 and option in self.fits and self.fits[option](arg)
            spread += [option, arg] if again else [arg]
        return super().parse_args(ctx, spread)


@click.command(cls=SeveralValues)
@click.argument("input", type=click.Path(path_type=Path), required=False)
@click.option(
    "-k",
    "--components",
    type=click.IntRange(min=1),
    multiple=True,
    default=(2,),
    show_default=True,
    help="Dimensions to reduce to: -k 1 2 3.",
)
@click.option(
    "--methods", type=click.Choice(list(METHODS)), multiple=True, help="Methods to compare.  [default: all that is installed]"
)
@file("--plot", help="Where to draw a disk for each method: .png, .pdf or .svg. Needs 2 among -k.")
@file("--labels", help="Labels of the rows, one to a line, for the picture.")
@choice("model", ("poincare", "lorentz", "klein", "halfspace", "tangent"), help="Coordinates of the rows.")
@click.option("--curvature", type=float, default=-1.0, show_default=True, help="Curvature of the space, below 0.")
@seed_option
@click.option("--key", help="Which array of an .npz file to read.")
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a table with commas, and nothing else, on standard output.")
@force_option
@sentences()
def compare(
    input: Path | None,
    components: tuple[int, ...],
    methods: tuple[str, ...],
    plot: Path | None,
    labels: Path | None,
    key: str | None,
    as_json: bool,
    as_csv: bool,
    force: bool,
    seed: int,
    **settings: Any,
) -> None:
    """Reduce the points in INPUT by every method, and show what each keeps.

    INPUT is a file with one point per row, as for `horopca reduce`; without it, a random tree in 10 dimensions. Measured
    are the average distortion of distances, the Fréchet variance of the images, the share of the pair variance that is
    kept, and the seconds of the fit; the best of each is bold.

    \b
    Examples:
      horopca compare vectors.npy
      horopca compare vectors.npy -k 1 2 3 --methods horopca tpca hmds
      horopca compare vectors.npy --plot disks.png --labels classes.txt
      horopca compare vectors.npy --csv > table.csv
    """
    from ..metrics import frechet_variance

    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other: choose one.")
    if plot is not None and 2 not in components:
        raise click.UsageError(f"--plot draws disks and needs 2 among -k, but -k is {', '.join(map(str, components))}.")
    figure = _figure(plot, force) if plot is not None else None
    points = _load(input, labels, key, seed)
    if points.model is not None and get_current_context().get_parameter_source("model") is ParameterSource.DEFAULT:
        settings["model"] = points.model
    names = list(dict.fromkeys(methods)) or default_methods()
    counts = list(dict.fromkeys(components))
    found = _watched(reductions(points.X, counts, names, random_state=seed, **settings), counts, names)
    if plot is not None and figure is not None:
        _draw(figure, plot, force, [row for row in found if row.record["n_components"] == 2], points, settings)
    records = [row.record for row in found]
    about = {"input": input, "n_points": len(points.X), "n_columns": points.X.shape[1], **settings, "seed": seed, "plot": plot}
    if as_json:
        click.echo(json.dumps({**_plain(about), "results": [_plain(record) for record in records]}, indent=2, allow_nan=False))
    elif as_csv:
        _print_csv(records)
    else:
        variance = frechet_variance(points.X, **settings)
        _print_table(records, f"{len(points.X):,} points, {points.X.shape[1]} columns, Fréchet variance {variance:.2f}")


class Points(NamedTuple):
    """What is compared, and how to draw it."""

    X: np.ndarray
    labels: list[str] | None
    edges: Any
    model: str | None


def _load(input: Path | None, labels: Path | None, key: str | None, seed: int) -> Points:
    from ..datasets import make_hierarchy
    from ..io import load

    if input is None:
        tree = make_hierarchy(random_state=seed)
        return Points(tree.points, tree.labels, tree.edges, None)
    X, in_file, _, said = load(input, key=key)
    return Points(X, in_file if labels is None else _labels(labels, len(X)), None, said)


def _watched(rows: Any, counts: list[int], names: list[str]) -> list[Reduction]:
    """The rows, with a bar on stderr while they are made, if somebody watches."""
    console = Console(stderr=True)
    bar = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} of {task.total}"), TimeElapsedColumn())
    plan = [f"{METHODS[name].title}, k = {K}" for K in counts for name in names]
    found = []
    with Progress(*bar, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(plan[0], total=len(plan))
        for done, row in enumerate(rows, start=1):
            found.append(row)
            progress.update(task, completed=done, description=plan[min(done, len(plan) - 1)])
    return found


def _draw(figure: Any, path: Path, force: bool, rows: list[Reduction], points: Points, settings: dict[str, Any]) -> None:
    from ..io import atomic_output
    from ..plots import plot_comparison

    images = {row.record["title"]: _on_disk(row.Y, **settings) for row in rows}
    captions = [f"distortion {row.record['distortion']:.3f}" for row in rows]
    plot_comparison(images, points.labels, edges=points.edges, captions=captions, figure=figure)
    with atomic_output(path, force=force, formats=PICTURES) as temporary:
        figure.savefig(temporary, dpi=160, bbox_inches="tight")


def _print_table(records: list[dict[str, Any]], title: str) -> None:
    table = Table(title=title, title_justify="left", title_style="italic", box=None, pad_edge=False)
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
