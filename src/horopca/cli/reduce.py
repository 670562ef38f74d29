"""``horopca reduce``: points to fewer dimensions, from a file in memory, from a larger one, or from a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click

from ..estimators.fitting import fitted_coordinates
from ..io import save_fitted
from ..io.output import OutputSet
from ..metrics.comparison import METHODS, NEAR_MEASURES
from .common import common
from .console import print_rows, to_json
from .dask import reduce_chunked
from .drawing import draw_plane, figure_for, save_figure
from .files import STDOUT, write_files
from .options import MODELS, command, components, edges_option, picture_reading_options, points_argument, reads, writes
from .reducing import Reduced, Request, kept_dimensions, reduce_in_memory
from .settings import method_options, parameters
from .streaming import is_streamed, reduce_streamed

REDUCERS: dict[str, Callable[[Request, OutputSet], Reduced]] = {
    "memory": reduce_in_memory,
    "stream": reduce_streamed,
    "cluster": reduce_chunked,
}
UNMEASURED = (
    "n_measured",
    "n_neighbors",
    *(measure.__name__ for measure in NEAR_MEASURES),
    "resumed_at",
)  # null where unknown
FEW_NEIGHBOURS = 0.1  # A picture that keeps fewer of the nearest neighbours than this does not show them.


@command
@points_argument()
@click.option(
    "-k",
    "--components",
    "n_components",
    type=components,
    metavar="K",
    help="Dimensions to keep, a fraction of the variance such as 0.9, or all.  [default: 2]",
)
@writes("-o", "--output", help="Points to write: .npy, .npz, .csv, .tsv or .h5ad; - is standard output.")
@writes("--plot", help="Picture to draw: .png, .pdf or .svg. Needs -k 2; its default method is horopca-stretch.")
@method_options
@writes("--save-fit", help="Where to save the fit, for other points: .npz.")
@reads("--from-fit", help="Apply a saved fit instead of fitting.")
@edges_option
@picture_reading_options
@click.option("--dask", "address", metavar="ADDRESS", help="Use the Dask cluster at this address, or a local one (local).")
def reduce(**options: Any) -> None:
    """Reduce the points in INPUT to fewer dimensions.

    INPUT is a file with one point per row: .npy, .npz, .csv, .tsv, word2vec's .txt and .bin, .pth, .safetensors, .mat, .h5ad or
    .parquet; or -, a table on standard input. The result has the same model and curvature.

    A .npy file of more than 64 MiB is read in blocks and may be larger than memory. The output (.npy, .csv or .tsv) is
    written in blocks too, and after an interruption the same command resumes.

    With --dask, INPUT is a Zarr store or a folder of files 0.npy, 1.npy, ..., and the output is one too. The workers
    must be able to reach both.

    \b
    Examples:
      horopca reduce vectors.npy -o plane.npy
      horopca reduce words.tsv --plot words.png
      horopca reduce words.tsv --plot words.png --metadata words-about.tsv --colour-by topic
      horopca reduce vectors.npy --set spine=free --set objective=distortion -o plane.npy
      horopca reduce vectors.npy --method bsa --set help
      horopca reduce net.npz --key weight --model lorentz --curvature -0.5 -o plane.npz
      horopca reduce vectors.npy --json | jq .distortion
      horopca reduce - -o - < vectors.csv > plane.csv
      horopca reduce vectors.npy -o plane.npy --save-fit fit.npz
      horopca reduce more.npy -o more-plane.npy --from-fit fit.npz
      horopca reduce --dask tcp://10.0.0.1:8786 store.zarr -o plane.zarr
    """
    seed, as_json, quiet, force = common()
    request = Request(**options, seed=seed, force=force, quiet=quiet and not as_json)
    _check(request, as_json)
    figure = figure_for(request.plot)
    where = "cluster" if request.address is not None else "stream" if is_streamed(request) else "memory"
    with OutputSet(force=force) as outputs:
        reduced = REDUCERS[where](request, outputs)
        if figure is not None:
            coordinates = fitted_coordinates(reduced.estimator)._asdict()
            draw_plane(figure, reduced.images, reduced.about, reduced.edges, **coordinates)
        summary = {"input": request.input, **_summary(reduced, request), **_files(request)}
        rows, text = _in_words(summary, reduced), to_json(summary)
        others = [(request.plot, save_figure(figure)), (request.save_fit, lambda path: save_fitted(reduced.estimator, path))]
        write_files([*reduced.writers, *others], force=force, outputs=outputs)
    if as_json:
        return click.echo(text)
    print_rows(rows, err=request.output == STDOUT)
    if quiet:
        return
    advice = _advice(summary)
    if advice:
        click.echo(advice, err=True)
    if not (request.output or request.plot or request.save_fit):
        click.echo("Nothing was written: -o FILE writes the points, --plot FILE draws them.", err=True)


def _check(request: Request, as_json: bool) -> None:
    """Find errors that need no work to be found."""
    given = {"edges": request.edges, **{name: getattr(request.reading, name) for name in ("clip", "metadata", "colour_by")}}
    for name, value in given.items():
        if request.address is not None and value:
            raise click.UsageError(f"--{name.replace('_', '-')} cannot be given with --dask.")
    if request.output == STDOUT and as_json:
        raise click.UsageError("-o - and --json both write to standard output: write one of them to a file.")
    request.check()
    if request.plot is not None and request.components != 2:
        raise click.UsageError(f"--plot draws the plane and needs -k 2, but -k is {request.components or 'all'}.")
    request.estimator(MODELS[0] if request.reading.model == "auto" else None)


def _summary(reduced: Reduced, request: Request) -> dict[str, Any]:
    """What to report about a reduction: its size, its parameters, what it keeps."""
    estimator, coordinates = reduced.estimator, fitted_coordinates(reduced.estimator)
    kept = getattr(estimator, "explained_variance_ratio_", None)
    return {
        "n_points": reduced.n_points,
        "n_dimensions": coordinates.dimension(estimator.n_features_in_),
        "n_components": kept_dimensions(estimator),
        "method": None if request.from_fit else request.method_name,
        "estimator": type(estimator).__name__,
        **coordinates._asdict(),
        **{name: getattr(estimator, name) for name in parameters(type(estimator)) if hasattr(estimator, name)},
        "seed": request.seed,
        "distortion": reduced.distortion,
        "distortion_error": reduced.distortion_error,
        "variance": getattr(estimator, "total_variance_", None),
        "variance_kept": None if kept is None else kept.sum(),
        "seconds": reduced.seconds,
        **dict.fromkeys(UNMEASURED),
        **reduced.more,
    }


def _files(request: Request) -> dict[str, Path | None]:
    fits = {"fit": request.save_fit, "from_fit": request.from_fit}
    return {"output": request.output, "plot": request.plot} | {name: path for name, path in fits.items() if path is not None}


def _in_words(summary: dict[str, Any], reduced: Reduced) -> dict[str, str]:
    error = summary["distortion_error"]
    rows = {
        "points": f"{summary['n_points']:,}",
        "dimensions": f"{summary['n_dimensions']} → {summary['n_components']}",
        "method": METHODS[summary["method"]].title if summary["method"] else f"{summary['estimator']}, from a saved fit",
        "distortion": f"{summary['distortion']:.4f}" + (f" ± {error:.1g}" if error else ""),
    }
    if summary["n_neighbors"]:
        trust = f"trustworthiness {summary['trustworthiness']:.3f}, continuity {summary['continuity']:.3f}"
        among = f", in a sample of {summary['n_measured']:,} points" if summary["n_measured"] < summary["n_points"] else ""
        rows["neighbours"] = f"{summary['neighbours_kept']:.1%} of {summary['n_neighbors']} kept; {trust}{among}"
    rows["variance kept"] = _kept(summary)
    if reduced.about.note:
        rows["metadata"] = reduced.about.note
    rows["time"] = f"{summary['seconds']:.2f} s"
    files = {"written to": summary.get("output"), "drawn in": summary.get("plot"), "fit in": summary.get("fit")}
    return rows | {name: str(path) for name, path in files.items() if path is not None}


def _kept(summary: dict[str, Any]) -> str:
    fraction, total = summary["variance_kept"], summary["variance"]
    if fraction is None:
        return "not measured by this method"
    text = f"{fraction:.1%}" if total is None else f"{fraction:.1%} of {total:.4g}"
    return text if "from_fit" not in summary else f"{text}, of the points of the fit"


def _advice(summary: dict[str, Any]) -> str | None:
    """What to do when a plane, or a line, keeps next to nothing of which points are near which."""
    kept = summary["neighbours_kept"]
    if kept is None or not kept < FEW_NEIGHBOURS or summary["n_components"] > 2:
        return None
    return (
        f"Only {kept:.1%} of the nearest neighbours are kept: do not read neighbourhoods off this picture. "
        "`horopca components` says how many dimensions the data supports (-k 10 keeps more). Where points lie near the "
        "origin, tangent PCA (--method tpca) shows as much, and UMAP on hyperbolic distances keeps neighbours better."
    )
