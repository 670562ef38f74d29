"""``horopca compare``: every reduction on the same points, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from .. import plots
from .._input.coordinates import check_coordinates
from ..geometry import from_hyperboloid
from ..metrics import frechet_variance
from ..metrics.comparison import ALL_METHODS, Reduction, default_methods, reductions
from .console import count, print_table, progress_bar, report, state
from .files import Reading, figure_for, write_files
from .options import command, list_of, methods_option, picture_reading_options, points_argument, view_option, writes
from .points import read_points

# Columns of the table: the heading, the format of a value, and a loss that is smallest for the best method. The best variance
# is the one closest to that of the points, because a map that lengthens distances may exceed it.
COLUMNS = {
    "distortion": ("distortion", "{:.4f}", lambda record: record["distortion"]),
    "frechet_variance": ("Fréchet\nvariance", "{:.2f}", lambda record: abs(record["frechet_kept"] - 1)),
    "variance_kept": ("pair\nvariance\nkept", "{:.1%}", lambda record: abs(record["variance_kept"] - 1)),
    "neighbours_kept": ("near\nkept", "{:.1%}", lambda record: -record["neighbours_kept"]),
    "trustworthiness": ("trust", "{:.3f}", lambda record: -record["trustworthiness"]),
    "continuity": ("contin-\nuity", "{:.3f}", lambda record: -record["continuity"]),
    "seconds": ("seconds", "{:.2f}", lambda record: record["seconds"]),
}
OTHERS = [name for name in ALL_METHODS if name not in default_methods()]
FEW_NEIGHBOURS = 0.1  # Below this fraction of nearest neighbours kept, a note says not to read neighbourhoods off the picture.


@command
@points_argument()
@click.option(
    "-k",
    "--components",
    "n_components",
    type=list_of(click.IntRange(min=1)),
    default="2",
    show_default=True,
    metavar="K,K",
    help="Dimensions to reduce to, such as -k 1,2,3.",
)
@methods_option(ALL_METHODS, f"Methods to compare, of {', '.join(ALL_METHODS)}.  [default: all but {', '.join(OTHERS)}]")
@writes("--plot", help="Picture with a panel for each method: .png, .pdf or .svg. -k must contain 2.")
@view_option()
@picture_reading_options
def compare(
    input: Path, n_components: list[int], methods: list[str] | None, plot: Path | None, view: str, reading: Reading
) -> None:
    """Reduce the points in INPUT by every method, and show what each preserves.

    INPUT is a file with one point per row, as for `horopca reduce`. The table shows the average distortion of distances, the
    Fréchet variance of the images, the fractions of the pair variance and of the ten nearest neighbours that are kept, and
    the time of the fit. The best value of each column is bold.

    \b
    Examples:
      horopca compare vectors.npy
      horopca compare vectors.npy -k 1,2,3 --methods horopca,tpca,hmds
      horopca compare vectors.npy --plot panels.png --view equidistant --metadata classes.txt
      horopca compare vectors.npy --json | jq '.results[].distortion'
    """
    seed, figure = state().seed, figure_for(plot)
    if plot is not None and 2 not in n_components:
        raise click.UsageError(f"--plot draws the plane and needs 2 in -k, but -k is {', '.join(map(str, n_components))}.")
    points = read_points(input, reading)
    X, coordinates = points.X, points.coordinates
    found = watched_reductions(X, n_components, methods or default_methods(), random_state=seed, **coordinates)
    if figure is not None:
        disks, space = [(row, Y) for row, Y, _ in found if row["n_components"] == 2], check_coordinates(**coordinates)
        images = {row["title"]: from_hyperboloid(space.to_hyperboloid(Y), "poincare") for row, Y in disks}
        captions = [f"distortion {row['distortion']:.3f}" for row, _ in disks]
        colours: dict[str, Any] = {"labels": points.labels, "palette": points.palette}
        plots.plot_comparison(images, **colours, captions=captions, view=view, figure=figure)
        write_files((plot, figure))
    records, (n, columns) = [record for record, _, _ in found], X.shape
    title = f"{n:,} points, {count(columns, 'column')}, Fréchet variance {frechet_variance(X, **coordinates):.2f}"
    summary = {"n_points": n, "n_columns": columns, "input": input, **coordinates, "seed": seed, "plot": plot}
    report({**summary, "results": records}, lambda: print_records(records, title))


def watched_reductions(X: Any, counts: list[int], methods: list[str], **settings: Any) -> list[Reduction]:
    """The reductions, with a progress bar that names the current one."""
    titles = [f"{ALL_METHODS[name].title}, k = {K}" for K in counts for name in methods]
    found: list[Reduction] = []
    with progress_bar(titles[0]) as update:
        for row in reductions(X, counts, methods, **settings):
            found.append(row)
            update(len(found), len(titles), titles[min(len(found), len(titles) - 1)])
    return found


def print_records(records: list[dict[str, Any]], title: str, note: str | None = None) -> None:
    """Print a table of reductions, the best values for each number of components in bold, and a note below."""
    rows = []
    for record in records:
        group = [other for other in records if other["n_components"] == record["n_components"]]
        rows.append([Text(record["title"]), Text(str(record["n_components"]))])
        for name, (_, form, loss) in COLUMNS.items():
            text, best = form.format(record[name]), form.format(min(group, key=loss)[name])
            error = f" ± {record['distortion_error']:.1g}" if name == "distortion" and record["distortion_error"] > 0 else ""
            rows[-1].append(Text(text + error, style="bold" if text == best else ""))
    kept = max(record["neighbours_kept"] for record in records)
    below = " ".join(filter(None, [few_neighbours(kept), note])) or None
    print_table(title, ["method", "k", *(heading for heading, *_ in COLUMNS.values())], rows, below=below)


def few_neighbours(kept: float | None, method: str | None = None) -> str | None:
    """A note for pictures, made by a method, that keep hardly any nearest neighbours; None otherwise."""
    flat = "" if method == "tpca" else "For points near the origin, tangent PCA (--method tpca) keeps as much. "
    if kept is None or not kept < FEW_NEIGHBOURS:
        return None
    return (
        f"Only {kept:.1%} of the nearest neighbours are kept: do not read neighbourhoods off such a picture. More components "
        f"keep more (-k 10); `horopca components` says how many the data supports. {flat}UMAP on hyperbolic distances keeps "
        "more neighbours in the plane."
    )
