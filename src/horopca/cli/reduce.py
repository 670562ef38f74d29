"""``horopca reduce``: points to fewer dimensions, from a file in memory, from one larger than memory, or from a cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click

from ..estimators.fitting import fitted_coordinates
from ..io import save_fitted
from ..io.output import OutputSet
from ..metrics.comparison import NEAR_MEASURES
from .console import is_quiet, print_rows, to_json
from .dask import reduce_chunked
from .drawing import draw_plane, figure_for, saved
from .files import STDOUT, write_files
from .methods import HELP, method_options
from .options import MODELS, components, option_of, points_argument, reading_options, reads, text_options, usual_options, writes
from .reducing import Reduced, Request, kept_dimensions, reduce_in_memory
from .streaming import is_streamed, reduce_streamed

# Points are reduced where they are stored. Outputs that are written meanwhile are published with the others.
REDUCERS: dict[str, Callable[[Request, OutputSet], Reduced]] = {
    "memory": reduce_in_memory,
    "stream": reduce_streamed,
    "cluster": reduce_chunked,
}
SOMETIMES = ("n_neighbors", *(measure.__name__ for measure in NEAR_MEASURES), "resumed_at")  # Where not known, these are null.


@click.command()
@points_argument()
@click.option(
    "-k",
    "--components",
    "n_components",
    type=components,
    metavar="K",
    help="Dimensions to keep, or (0.9) the share of the variance, or all.  [default: 2]",
)
@writes("-o", "--output", help="Where to write the points: .npy, .npz, .csv or .tsv; - is standard output.")
@writes("--plot", help="Where to draw the disk: .png, .pdf or .svg. Needs -k 2.")
@text_options
@click.option("--title", help="Heading of the picture.")
@reading_options
@method_options
@writes("--save-fit", help="Where to keep the fit, for later points: .npz.")
@reads("--from-fit", help="A fit that was kept, to be applied instead of a new one.")
@click.option("--restart", is_flag=True, help="Begin a large file anew, where an interrupted run could be resumed.")
@click.option("--dask", "address", metavar="ADDRESS", help="Work on the Dask cluster there (or: local) on a chunked store.")
@usual_options
def reduce(as_json: bool, **options: Any) -> None:
    """Reduce the points in INPUT to fewer dimensions.

    INPUT is a file with one point per row: .npy, .npz, .csv, .tsv, word2vec's .txt and .bin, .pth, .mat, .h5ad or .parquet; or
    -, a table on standard input. The result is in the same model and of the same curvature.

    A .npy of more than 64 MiB is not read at once, and may be larger than memory: -o out.npy (.csv, .tsv) is
    written a block at a time, and the same command resumes what was interrupted.

    With --dask, INPUT is a Zarr store or a folder of files 0.npy, 1.npy, ... that the workers can reach, and so is the output
    (-o out.zarr, or -o FOLDER); --dask local starts workers on this machine.

    \b
    Examples:
      horopca reduce vectors.npy -o plane.npy
      horopca reduce words.tsv --plot words.png --spine free
      horopca reduce vectors.npy --stretch -o plane.npy
      horopca reduce words.tsv --method tpca --plot words.png --edges tree.tsv --title Words
      horopca reduce vectors.npy --method bsa --strategy last -o plane.npy
      horopca reduce net.npz --key weight --model lorentz --curvature -0.5
      horopca reduce vectors.npy --json | jq .distortion
      horopca reduce - -o - < vectors.csv > plane.csv
      horopca reduce vectors.npy -o plane.npy --save-fit fit.npz
      horopca reduce more.npy -o more-plane.npy --from-fit fit.npz
      horopca reduce --dask tcp://10.0.0.1:8786 store.zarr -o plane.zarr
    """
    request = Request(**options)
    _refuse(request, as_json)
    figure = figure_for(request.plot)
    where = "cluster" if request.address is not None else "stream" if is_streamed(request) else "memory"
    with OutputSet(force=request.force) as outputs:
        reduced = REDUCERS[where](request, outputs)
        if figure is not None:
            place = fitted_coordinates(reduced.estimator)._asdict()
            draw_plane(figure, reduced.images, reduced.texts, title=request.title, **place)
        summary = {"input": request.input, **_summary(reduced, request), **_files(request)}
        rows, text = _in_words(summary), to_json(summary)
        others = [(request.plot, saved(figure)), (request.save_fit, lambda path: save_fitted(reduced.estimator, path))]
        write_files([*reduced.writers, *others], force=request.force, outputs=outputs)
    if as_json:
        return click.echo(text)
    print_rows(rows, err=request.output == STDOUT)
    if not (request.output or request.plot or request.save_fit or is_quiet()):
        click.echo("Nothing was written: -o FILE keeps the points, --plot FILE draws them.", err=True)


def _refuse(request: Request, as_json: bool) -> None:
    """What can be told to be wrong before any work."""
    given = {**request.text_files._asdict(), "restart": request.restart}
    given |= {name: getattr(request.reading, name) for name in ("clip", "name_column", "label_column", "value_column")}
    for name, value in given.items():
        if request.address is not None and value:
            raise click.UsageError(f"{option_of(name)} cannot be given with --dask.")
    if request.output == STDOUT and as_json:
        raise click.UsageError("-o - and --json would both be on standard output: write one of them to a file.")
    request.check()
    if request.plot is not None and request.components != 2:
        raise click.UsageError(f"--plot draws the plane and needs -k 2, but -k is {request.components or 'all'}.")
    request.estimator(MODELS[0] if request.reading.model == "auto" else None)


def _summary(reduced: Reduced, request: Request) -> dict[str, Any]:
    """What to say about a reduction: its size, its settings, what it keeps."""
    estimator, coordinates = reduced.estimator, fitted_coordinates(reduced.estimator)
    kept = getattr(estimator, "explained_variance_ratio_", None)
    return {
        "n_points": reduced.n_points,
        "n_dimensions": coordinates.dimension(estimator.n_features_in_),
        "n_components": kept_dimensions(estimator),
        "estimator": type(estimator).__name__,
        **coordinates._asdict(),
        **{name: getattr(estimator, name) for name in HELP if hasattr(estimator, name)},
        "seed": request.seed,
        "distortion": reduced.distortion,
        "distortion_error": reduced.distortion_error,
        "variance": getattr(estimator, "total_variance_", None),
        "variance_kept": None if kept is None else kept.sum(),
        "seconds": reduced.seconds,
        **dict.fromkeys(SOMETIMES),
        **reduced.more,
    }


def _files(request: Request) -> dict[str, Path | None]:
    fits = {"fit": request.save_fit, "from_fit": request.from_fit}
    return {"output": request.output, "plot": request.plot} | {name: path for name, path in fits.items() if path is not None}


def _in_words(summary: dict[str, Any]) -> dict[str, str]:
    error = summary["distortion_error"]
    rows = {
        "points": f"{summary['n_points']:,}",
        "dimensions": f"{summary['n_dimensions']} → {summary['n_components']}",
        "distortion": f"{summary['distortion']:.4f}" + (f" ± {error:.1g}" if error else ""),
        **_of_neighbours(summary),
        "variance kept": _kept(summary),
        "time": f"{summary['seconds']:.2f} s",
    }
    files = {"written to": summary.get("output"), "drawn in": summary.get("plot"), "fit in": summary.get("fit")}
    return rows | {name: str(path) for name, path in files.items() if path is not None}


def _of_neighbours(summary: dict[str, Any]) -> dict[str, str]:
    """What is kept of the nearest neighbours of each point, where it was measured."""
    if not summary.get("n_neighbors"):
        return {}
    trust = f"trustworthiness {summary['trustworthiness']:.3f}, continuity {summary['continuity']:.3f}"
    return {"neighbours": f"{summary['neighbours_kept']:.1%} of {summary['n_neighbors']} kept; {trust}"}


def _kept(summary: dict[str, Any]) -> str:
    fraction, total = summary["variance_kept"], summary["variance"]
    if fraction is None:
        return "not measured by this method"
    text = f"{fraction:.1%}" if total is None else f"{fraction:.1%} of {total:.4g}"
    return text if "from_fit" not in summary else f"{text}, of the points of the fit"
