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

from .cli_dask import reduce_chunked
from .cli_streaming import reduce_large, some_images

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from . import HoroPCA
    from .inspection import Description

COMMANDLINE = ParameterSource.COMMANDLINE
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
    return re.sub(r"\b(model|curvature|spine|key|metric|scale)=(['\"]?)([\w.+-]*\w)\2", r"--\1 \3", sentence)


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
@file("--save-fit", help="Where to keep the fit, for later points: .npz.")
@file("--from-fit", help="A fit that was kept, to be applied instead of a new one.")
@click.option("--restart", is_flag=True, help="Begin a large file anew, where an interrupted run could be resumed.")
@click.option("--dask", "address", metavar="ADDRESS", help="Work on the Dask cluster there (or: local) on a chunked store.")
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
    save_fit: Path | None,
    from_fit: Path | None,
    restart: bool,
    address: str | None,
    as_json: bool,
    force: bool,
    **settings: Any,
) -> None:
    """Reduce the points in INPUT to fewer dimensions.

    INPUT is a file with one point per row: .npy, .npz, .csv, .tsv, word2vec's .txt and .bin, .pth, .mat, .h5ad or .parquet.
    The result is in the same model and of the same curvature.

    A .npy of more than 64 MiB is not read at once, and may be larger than memory: -o out.npy (.csv, .tsv) is
    written a block at a time, and the same command resumes what was interrupted.

    With --dask, INPUT is a Zarr store or a folder of files 0.npy, 1.npy, ... that the workers can reach, and so is the output
    (-o out.zarr, or -o FOLDER); --dask local starts workers on this machine.

    \b
    Examples:
      horopca reduce vectors.npy -o plane.npy
      horopca reduce words.tsv --plot words.png --spine free
      horopca reduce net.npz --key weight --model lorentz --curvature -0.5
      horopca reduce vectors.npy --json | jq .distortion
      horopca reduce vectors.npy -o plane.npy --save-fit fit.npz
      horopca reduce more.npy -o more-plane.npy --from-fit fit.npz
      horopca reduce --dask tcp://10.0.0.1:8786 store.zarr -o plane.zarr
    """
    from .io import FORMATS, check_output, is_large, load, save, save_fitted
    from .io.streaming import STREAMED

    fit = None if from_fit is None else _kept_fit(from_fit)
    components = components if fit is None else fit.n_components
    if plot is not None and components != 2:
        raise click.UsageError(f"--plot draws a disk and needs -k 2, but -k is {components}.")
    if address is not None and (labels is not None or restart):
        raise click.UsageError(f"{'--restart' if labels is None else '--labels'} cannot be given with --dask.")
    for path, formats in ((output if address is None else None, FORMATS), (save_fit, (".npz",))):
        if path is not None:
            if path.exists() and path.samefile(input):
                raise click.UsageError(f"{path} is the input: the result needs a file of its own.")
            check_output(path, force=force, formats=formats)
    figure = _figure(plot, force) if plot is not None else None
    if address is not None:
        estimator, seed = fit or _estimator(components, **settings), settings["seed"]
        options = {"fitted": fit is not None, "key": key, "seed": seed, "force": force, "drawn": plot is not None}
        estimator, found, Y = reduce_chunked(input, output, estimator, address, **options)
        classes = None
    elif labels is None and key is None and (output is None or output.suffix.lower() in STREAMED) and is_large(input):
        estimator = fit or _estimator(components, **settings)
        estimator, found = reduce_large(input, output, estimator, seed=settings["seed"], force=force, restart=restart)
        Y, classes = some_images(input, estimator) if plot is not None else None, None
    else:
        X, in_file, _, said = load(input, key=key)
        if said is not None and get_current_context().get_parameter_source("model") is ParameterSource.DEFAULT:
            settings["model"] = said
        classes = in_file if labels is None else _labels(labels, len(X))
        estimator = fit or _estimator(components, **settings)
        with _working(f"Reducing {len(X):,} points from {input.name}"):
            Y, found = _reduce(X, estimator, fitted=fit is not None, seed=settings["seed"])
        if output is not None:
            save(output, Y, classes, force=force)
    if plot is not None and figure is not None:
        _draw(figure, plot, force, _on_disk(Y, estimator.model, estimator.curvature), classes)
    if save_fit is not None:
        save_fitted(estimator, save_fit, force=force)
    fits = {"fit": save_fit, "from_fit": from_fit}
    written = {"output": output, "plot": plot, **{name: path for name, path in fits.items() if path is not None}}
    _tell({"input": input, **_summary(estimator, found, settings), **written}, as_json)
    if output is None and plot is None and save_fit is None and not as_json:
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


def _estimator(k: int, *, seed: int, **settings: Any) -> HoroPCA:
    from . import HoroPCA

    return HoroPCA(k, random_state=seed, **settings)


def _kept_fit(path: Path) -> Any:
    """The reduction in a file, once it is known that no option asks for another."""
    from .estimators.base import HyperbolicReduction
    from .io import load_fitted

    names = {"components": "-k", **{name: f"--{name}" for name in ("model", "curvature", "spine", "strategy", "objective")}}
    asked = [option for name, option in names.items() if get_current_context().get_parameter_source(name) is COMMANDLINE]
    if asked:
        raise click.UsageError(f"{asked[0]} cannot be given with --from-fit: the fit in {path} has it already.")
    fit = load_fitted(path)
    if not isinstance(fit, HyperbolicReduction) or getattr(fit, "metric", "hyperbolic") != "hyperbolic":
        raise ValueError(f"{path} must hold a reduction of points, but holds a {type(fit).__name__}.")
    return fit


def _reduce(X: np.ndarray, estimator: Any, *, fitted: bool, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    """The reduced points, and what was found about them."""
    from .metrics import average_distortion

    start = time.perf_counter()
    Y = estimator.transform(X) if fitted else estimator.fit_transform(X)
    seconds = time.perf_counter() - start
    distortion: Any = (math.nan, 0.0)
    if len(X) > 1:
        distortion = average_distortion(
            X,
            Y,
            model=estimator.model,
            curvature=estimator.curvature,
            n_pairs=PAIRS if len(X) ** 2 > PAIRS else None,
            return_error=True,
            random_state=seed,
        )
    return Y, {"n_points": len(X), "distortion": distortion[0], "distortion_error": distortion[1], "seconds": seconds}


def _summary(estimator: Any, found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """What to say about a reduction: its size, its settings, what it keeps."""
    from ._validation import check_door

    kept = getattr(estimator, "explained_variance_ratio_", None)
    return {
        "n_points": found["n_points"],
        "n_dimensions": check_door(estimator.model, estimator.curvature).dimension(estimator.n_features_in_),
        "n_components": estimator.n_components,
        **{name: getattr(estimator, name, None) for name in settings if name != "seed"},
        "seed": settings["seed"],
        "distortion": found["distortion"],
        "distortion_error": found["distortion_error"],
        "variance": getattr(estimator, "total_variance_", None),
        "variance_kept": None if kept is None else kept[-1],
        "seconds": found["seconds"],
        **{name: found[name] for name in found.keys() & {"resumed_at"}},
    }


def _labels(path: Path, n: int) -> list[str]:
    from .io import load_labels

    labels = load_labels(path)
    if len(labels) != n:
        raise ValueError(f"{path} must hold one label for each of the {n} rows, but holds {len(labels)}.")
    return labels


def _on_disk(Y: Any, model: str, curvature: float) -> np.ndarray:
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
        "variance kept": _kept(summary),
        "time": f"{summary['seconds']:.2f} s",
    }
    files = {"written to": summary.get("output"), "drawn in": summary.get("plot"), "fit in": summary.get("fit")}
    _print_table(rows | {name: str(path) for name, path in files.items() if path is not None})


def _kept(summary: dict[str, Any]) -> str:
    fraction, total = summary["variance_kept"], summary["variance"]
    if fraction is None:
        return "not measured by this method"
    text = f"{fraction:.1%}" if total is None else f"{fraction:.1%} of {total:.4g}"
    return text if "from_fit" not in summary else f"{text}, of the points of the fit"


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


from . import cli_classify, cli_compare, cli_demo, cli_embed, cli_plot, cli_reproduce, cli_view  # noqa: E402, F401 (add their commands to main)

if __name__ == "__main__":
    from horopca.cli import main  # the one that the commands were added to: this module is then loaded twice

    main()
