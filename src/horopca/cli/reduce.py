"""``horopca reduce``: points to fewer dimensions, from a file in memory, from one larger than memory, or from a cluster."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click
from click import get_current_context
from click.core import ParameterSource

from .. import HoroPCA
from .._points.door import check_door
from ..estimators.base import HyperbolicReduction
from ..io import FORMATS, check_output, is_large, load, load_fitted, save, save_fitted
from ..io.streaming import STREAMED
from ..metrics import average_distortion
from .common import (
    _draw,
    _figure,
    _labels,
    _on_disk,
    _print_json,
    _print_table,
    _working,
    choice,
    components_option,
    file,
    force_option,
    json_option,
    seed_option,
    sentences,
)
from .dask import reduce_chunked
from .streaming import reduce_large, some_images

COMMANDLINE = ParameterSource.COMMANDLINE
PAIRS = 4_000_000  # the distortion of up to so many pairs is exact, of more it is measured on a sample of so many


@click.command()
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


def _estimator(k: int, *, seed: int, **settings: Any) -> HoroPCA:
    return HoroPCA(k, random_state=seed, **settings)


def _kept_fit(path: Path) -> Any:
    """The reduction in a file, once it is known that no option asks for another."""
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
        "variance_kept": None if kept is None else kept.sum(),
        "seconds": found["seconds"],
        **{name: found[name] for name in found.keys() & {"resumed_at"}},
    }


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
