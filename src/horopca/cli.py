"""The command line: ``horopca reduce`` and ``horopca info``; the other commands are in modules of their own, `cli_embed`,
`cli_compare`, `cli_view` and so on.

Each command checks what it was given, calls the library, and writes. NumPy and scikit-learn are imported inside the
commands, so that ``horopca --help`` answers at once.
"""

from __future__ import annotations

import json
import math
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import rich_click as click
from click import get_current_context
from click.core import ParameterSource
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from .inspection import Description

PICTURES = (".png", ".pdf", ".svg")
PAIRS = 4_000_000  # the distortion of up to so many pairs is exact, of more it is measured on a sample of so many


@contextmanager
def sentences() -> Iterator[None]:
    """What a user can mend ends the program in one sentence on stderr, never in a traceback."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: click.echo(f"Warning: {message}", err=True)
        try:
            yield
        except OSError as error:
            _end(f"{error.filename}: {error.strerror}." if error.strerror else str(error))
        except (ValueError, ImportError, MemoryError) as error:
            _end(str(error))


def _end(sentence: str) -> NoReturn:
    click.echo(f"Error: {in_options(sentence)}", err=True)
    raise SystemExit(1)


def in_options(sentence: str) -> str:
    """A sentence of the library with its arguments as options: model='lorentz' becomes --model lorentz."""
    return re.sub(r"\b(model|curvature|spine|key|metric)=(['\"]?)([\w.+-]*\w)\2", r"--\1 \3", sentence)


def choice(name: str, values: Sequence[str], help: str) -> Callable:
    """An option with a few values, the first of them the default."""
    return click.option(f"--{name}", type=click.Choice(values), default=values[0], show_default=True, help=help)


def file(*names: str, help: str) -> Callable:
    return click.option(*names, type=click.Path(path_type=Path), help=help)


components_option = click.option(
    "-k", "--components", type=click.IntRange(min=1), default=2, show_default=True, help="Dimensions to keep."
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random numbers."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on standard output.")
force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="horopca")
@click.rich_config(help_config={"text_paragraph_linebreaks": "\n\n"})
def main() -> None:
    """Principal component analysis in hyperbolic space.

    \b
    horopca demo                                   see it work
    horopca embed tree.edges -o vectors.npz        from a graph to points
    horopca info vectors.npy                       what a file holds
    horopca reduce vectors.npy -o plane.npy        reduce to 2 dimensions
    horopca reduce vectors.npy --plot disk.png     ... and draw them
    horopca view plane.npy --open                  move around in them
    horopca compare vectors.npy                    which reduction keeps most
    horopca classify vectors.npy --labels y.txt    which classifier tells classes apart
    """


@main.command()
@click.argument("input", type=click.Path(path_type=Path))
@components_option
@file("-o", "--output", help="Where to write the points: .npy, .npz, .csv or .tsv.")
@file("--plot", help="Where to draw the disk: .png, .pdf or .svg. Needs -k 2.")
@file("--labels", help="Labels of the rows, one to a line, for the picture and the output.")
@choice("model", ("poincare", "lorentz", "klein", "halfspace", "tangent"), help="Coordinates of the rows.")
@click.option("--curvature", type=float, default=-1.0, show_default=True, help="Curvature of the space, below 0.")
@choice("spine", ("ideal", "free"), help="The paper's family of projections, or all of them.")
@choice("strategy", ("joint", "greedy"), help="All components together, or one after the other.")
@choice("objective", ("variance", "distortion"), help="What to optimise.")
@seed_option
@click.option("--key", help="Which array to read of a file that holds several.")
@json_option
@force_option
@sentences()
def reduce(
    input: Path,
    components: int,
    output: Path | None,
    plot: Path | None,
    labels: Path | None,
    key: str | None,
    as_json: bool,
    force: bool,
    **settings: Any,
) -> None:
    """Reduce the points in INPUT to fewer dimensions.

    INPUT is a file with one point per row: .npy, .npz, .csv, .tsv, word2vec's .txt and .bin, .pth, .mat, .h5ad or .parquet.
    The result is in the same model and of the same curvature.

    \b
    Examples:
      horopca reduce vectors.npy -o plane.npy
      horopca reduce words.tsv --plot words.png --spine free
      horopca reduce net.npz --key weight --model lorentz --curvature -0.5
      horopca reduce vectors.npy --json | jq .distortion
    """
    from .io import FORMATS, check_output, load, save

    if plot is not None and components != 2:
        raise click.UsageError(f"--plot draws a disk and needs -k 2, but -k is {components}.")
    if output is not None:
        check_output(output, force=force, formats=FORMATS)
    figure = _figure(plot, force) if plot is not None else None
    X, in_file, _, said = load(input, key=key)
    if said is not None and get_current_context().get_parameter_source("model") is ParameterSource.DEFAULT:
        settings["model"] = said
    classes = in_file if labels is None else _labels(labels, len(X))
    with _working(f"Reducing {len(X):,} points from {input.name}"):
        Y, summary = _reduce(X, components, **settings)
    if output is not None:
        save(output, Y, classes, force=force)
    if plot is not None and figure is not None:
        _draw(figure, plot, force, _on_disk(Y, settings["model"], settings["curvature"]), classes)
    _tell({"input": input, **summary, "output": output, "plot": plot}, as_json)
    if output is None and plot is None and not as_json:
        click.echo("Nothing was written: -o FILE keeps the points, --plot FILE draws them.", err=True)


@main.command()
@click.argument("input", type=click.Path(path_type=Path))
@click.option("--key", help="Which array to read of a file that holds several.")
@json_option
@sentences()
def info(input: Path, key: str | None, as_json: bool) -> None:
    """Say what INPUT holds: its size, the models its rows fit, how far out they lie.

    \b
    Examples:
      horopca info vectors.npy
      horopca info words.tsv --json
    """
    from .inspection import describe
    from .io import load

    table = load(input, key=key, allow_nonfinite=True)
    found = describe(table.X)
    if as_json:
        _print_json({"input": input, **found._asdict(), "n_labels": len(set(table.labels or ()))})
    else:
        _print_table(_in_words(found, table.labels), title=str(input))


# ---------------------------------------------------------------- the work


def _reduce(X: np.ndarray, k: int, *, seed: int, **settings: Any) -> tuple[np.ndarray, dict[str, Any]]:
    """The reduced points, and what to say about them."""
    from . import HoroPCA
    from .metrics import average_distortion

    start = time.perf_counter()
    estimator = HoroPCA(k, random_state=seed, **settings)
    Y = estimator.fit_transform(X)
    seconds = time.perf_counter() - start
    distortion: Any = average_distortion(
        X,
        Y,
        model=estimator.model,
        curvature=estimator.curvature,
        n_pairs=PAIRS if len(X) ** 2 > PAIRS else None,
        return_error=True,
        random_state=seed,
    )
    summary = {
        "n_points": len(X),
        "n_dimensions": estimator.spine_.n.size,
        "n_components": k,
        **settings,
        "seed": seed,
        "distortion": distortion[0],
        "distortion_error": distortion[1],
        "variance": estimator.total_variance_,
        "variance_kept": estimator.explained_variance_ratio_[-1],
        "seconds": seconds,
    }
    return Y, summary


def _labels(path: Path, n: int) -> list[str]:
    from .io import load_labels

    labels = load_labels(path)
    if len(labels) != n:
        raise ValueError(f"{path} must hold one label for each of the {n} rows, but holds {len(labels)}.")
    return labels


def _on_disk(Y: np.ndarray, model: str, curvature: float) -> np.ndarray:
    from ._validation import check_door
    from .geometry import from_hyperboloid

    return from_hyperboloid(check_door(model, curvature).enter(Y), "poincare")


def _figure(path: Path, force: bool) -> Figure:
    """A figure to draw on, once it is known that the picture can be written."""
    from .io import check_output
    from .plots import new_figure

    check_output(path, force=force, formats=PICTURES)
    return new_figure(interactive=False)


def _draw(figure: Figure, path: Path, force: bool, Y: np.ndarray, labels: Any = None, **options: Any) -> None:
    from .io import atomic_output
    from .plots import plot_disk

    plot_disk(Y, labels, ax=figure.subplots(), **options)
    with atomic_output(path, force=force) as temporary:
        figure.savefig(temporary, dpi=160, bbox_inches="tight")


# ---------------------------------------------------------------- what is printed


def _working(text: str) -> AbstractContextManager:
    """A line on stderr while the work goes on, if somebody watches."""
    console = Console(stderr=True)
    return console.status(Text(f"{text} …")) if console.is_terminal else nullcontext()


def _tell(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        return _print_json(summary)
    error = summary["distortion_error"]
    rows = {
        "points": f"{summary['n_points']:,}",
        "dimensions": f"{summary['n_dimensions']} → {summary['n_components']}",
        "distortion": f"{summary['distortion']:.4f}" + (f" ± {error:.1g}" if error else ""),
        "variance kept": f"{summary['variance_kept']:.1%} of {summary['variance']:.4g}",
        "time": f"{summary['seconds']:.2f} s",
    }
    files = {"written to": summary.get("output"), "drawn in": summary.get("plot")}
    _print_table(rows | {name: str(path) for name, path in files.items() if path is not None})


def _in_words(found: Description, labels: list[str] | None) -> dict[str, str]:
    """The lines of `horopca info`."""
    curvature = "" if found.curvature == -1 else f" --curvature {found.curvature:.6g}"
    rows = {
        "rows": f"{found.n_rows:,}",
        "columns": f"{found.n_columns}, {found.dtype}",
        "labels": f"{len(set(labels))} different" if labels else "none",
        "could be": ", ".join(name for name, fit in found.fits.items() if fit),
        "best guess": f"--model {found.model}{curvature}",
        "radius": "  ".join(f"{value:.3g}" for value in found.radius.values()) + "   (minimum, quartiles, maximum)",
        "largest norm": f"{found.largest_norm:.10g}",
        "on a clip": f"{found.n_clipped} rows share the largest norm" if found.n_clipped else "no",
        "duplicates": f"{found.n_duplicates} rows",
        "NaN or infinite": f"{found.n_nonfinite} rows",
    }
    if not found.fits["poincare"] and found.model == "tangent":
        bound = -1 / found.largest_norm**2
        rows["as a ball"] = f"holds the rows only at a curvature between {bound:.4g} and 0"
    return rows


def _print_table(rows: dict[str, str], title: str | None = None) -> None:
    table = Table(show_header=False, box=None, title=title, title_justify="left", title_style="bold")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, value)
    Console(markup=False, highlight=False).print(table)


def _print_json(values: dict[str, Any]) -> None:
    click.echo(json.dumps({key: _plain(value) for key, value in values.items()}, indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    """The value as JSON has it: paths as text, NumPy's numbers as numbers, NaN as null."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


from . import cli_classify, cli_compare, cli_demo, cli_embed, cli_plot, cli_view  # noqa: E402, F401 (add their commands to main)

if __name__ == "__main__":
    from horopca.cli import main  # the one that the commands were added to: this module is then loaded twice

    main()
