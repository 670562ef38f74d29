"""``horopca reduce``: points to fewer dimensions, from a file in memory, from a larger one, or from a Dask cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from click import get_current_context

from ..estimators.base import HyperbolicReduction
from ..estimators.fitting import fitted_coordinates
from ..io import FORMATS, Table, load_fitted, save_fitted
from ..io.arrays import Source
from ..io.files import named
from ..io.fits import provenance
from ..io.metadata import check_metadata, read_side_file
from ..io.output import OutputSet, check_output
from ..io.stores import check_store
from ..io.streaming import STREAMED, add_reduced_file, fit_to, is_large
from ..metrics import average_distortion
from ..metrics.comparison import METHODS, kept_neighbours, report_pairs
from ..metrics.neighbours import NEAR_MEASURES
from . import options as opt
from .compare import few_neighbours
from .console import log, print_rows, progress_bar, report, state, to_json
from .files import MODELS, STDOUT, Reading, Writer, figure_for, write_files
from .points import Annotations, point_writer, read_edges, read_points

MEASURED_ROWS = 1 << 14  # More rows are measured on a random sample of this size: some seconds, and errors below 1 %.
DRAWN_ROWS = 1 << 18  # The largest number of points in a plot of a large file: more do not change the picture.
PICTURE_METHOD = "horopca-stretch"  # The default with --plot: it has the least distortion.


def _check_output(path: Path, *, force: bool, formats: Sequence[str]) -> None:
    """Check the output, which is a store with ``--dask`` and a file otherwise."""
    if get_current_context().params["address"] is None:
        check_output(path, force=force, formats=formats)
    else:
        check_store(path, force=force)


@opt.command
@opt.points_argument()
@click.option(
    "-k",
    "--components",
    "n_components",
    type=opt.component_count,
    metavar="K",
    help="Dimensions to keep, a fraction of the variance such as 0.9 (which takes several fits), or all.  [default: 2]",
)
@opt.writes(
    "-o",
    "--output",
    formats=FORMATS,
    check=_check_output,
    help="Points to write: .npy, .npz, .csv, .tsv or .h5ad; - is standard output.",
)
@opt.writes("--plot", help="Picture to draw: .png, .pdf or .svg. Needs -k 2; its default method is horopca-stretch.")
@opt.method_options
@opt.writes("--save-fit", formats=(".npz",), help="Where to save the fit, for other points: .npz.")
@opt.reads("--from-fit", help="Apply a saved fit instead of fitting.")
@opt.edges_option
@opt.picture_reading_options
@click.option("--dask", "address", metavar="ADDRESS", help="Use the Dask cluster at this address, or a local one (local).")
def reduce(**options: Any) -> None:
    """Reduce the points in INPUT to fewer dimensions.

    INPUT is a file with one point per row: .npy, .npz, .csv, .tsv, word2vec's .txt and .bin, .pth, .safetensors, .mat, .h5ad or
    .parquet; or -, a table on standard input. In a table the coordinates are the columns x1, x2, ... (or another numbered
    series) or, without a series, all columns of numbers except those of --colour-by; --key chooses others. The result has the
    same model and curvature.

    A .npy file of more than 64 MiB is read in blocks and may be larger than memory. The output (.npy, .csv or .tsv) is
    written in blocks too, and after an interruption the same command resumes.

    With --dask, INPUT is a Zarr store or a .npy file, and the output is a Zarr store. The workers must be able to reach both.

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
    request = Request(**options)
    request.check()
    figure = figure_for(request.plot)
    with OutputSet(force=state().force) as outputs:
        if request.address is not None:
            from .dask import reduce_chunked

            reduced = reduce_chunked(request, outputs)
        else:
            reduced = reduce_streamed(request, outputs) if request.streamed() else reduce_in_memory(request)
        if figure is not None:
            reduced.about.draw(figure, reduced.images, reduced.edges, **fitted_coordinates(reduced.estimator)._asdict())
        summary = _summary(reduced, request)
        to_json(summary)  # an error here leaves no output
        others = [(request.plot, figure), (request.save_fit, lambda path: save_fitted(reduced.estimator, path))]
        write_files(*reduced.writers, *others, outputs=outputs)
    summary["seconds"] = state().seconds
    report(summary, lambda: _print(summary, reduced.about))


# ---------------------------------------------------------------- the options of the command


@dataclass(frozen=True)
class Request:
    """The options of the command, by the names of its arguments."""

    input: Path
    output: Path | None
    plot: Path | None
    edges: Path | None
    reading: Reading
    method: str | None
    n_components: int | float | str | None
    settings: tuple[str, ...]  # of --set
    save_fit: Path | None
    from_fit: Path | None
    address: str | None  # of a Dask cluster

    def check(self) -> None:
        """Raise errors that can be found before any work."""
        given = {"edges": self.edges, **{name: getattr(self.reading, name) for name in ("clip", "metadata", "colour_by")}}
        for name, value in given.items():
            if self.address is not None and value:
                raise click.UsageError(f"--{name.replace('_', '-')} cannot be given with --dask.")
        given = {"-k": self.n_components, "--method": self.method, "--set": self.settings or None}
        given |= {"--model": self.reading.model, "--curvature": self.reading.curvature}
        for name, value in given.items():
            if self.from_fit is not None and value is not None:
                raise click.UsageError(f"{name} cannot be given with --from-fit: it is part of the fit in {self.from_fit}.")
        if self.plot is not None and self.components != 2:
            raise click.UsageError(f"--plot draws the plane and needs -k 2, but -k is {self.components or 'all'}.")
        self.estimator(model=MODELS[0] if self.reading.model == "auto" else None)

    @cached_property
    def saved(self) -> Any:
        """The fit of ``--from-fit``, or None."""
        if self.from_fit is None:
            return None
        with named(self.from_fit):
            fit = load_fitted(self.from_fit)
        if not isinstance(fit, HyperbolicReduction) or getattr(fit, "metric", "hyperbolic") != "hyperbolic":
            raise ValueError(f"{self.from_fit} must hold a reduction of points, but holds a {type(fit).__name__}.")
        return fit

    @property
    def method_name(self) -> str:
        return self.method or (opt.DEFAULT_METHOD if self.plot is None else PICTURE_METHOD)

    @property
    def components(self) -> int | float | None:
        """The number of components, or the fraction of the variance; None is all."""
        if self.saved is not None:
            return kept_dimensions(self.saved)
        return None if isinstance(self.n_components, str) else self.n_components or 2

    @property
    def known(self) -> Reading:
        """How to read the points: those of a saved fit are in its model."""
        return self.reading if self.saved is None else self.reading._replace(**fitted_coordinates(self.saved)._asdict())

    def estimator(self, **stated: Any) -> Any:
        """The saved fit, or an estimator to fit to points whose file may state their model and curvature."""
        coordinates = self.known.coordinates(**stated)
        if self.saved is not None:
            return self.saved
        return opt.make_estimator(self.method_name, self.components, self.settings, random_state=state().seed, **coordinates)

    def streamed(self) -> bool:
        """Whether the points are in a large file that the options allow to reduce in blocks."""
        reading = self.reading
        plain = reading == Reading(reading.model, reading.curvature) and self.edges is None
        plain = plain and not isinstance(reading.curvature, str)  # the name of a number in another format
        plain = plain and (self.output is None or self.output.suffix.lower() in STREAMED) and is_large(self.input)
        return plain and not {"names", "labels"} & read_side_file(self.input).keys()  # these are written with the images


def kept_dimensions(estimator: Any) -> int:
    """The dimension of the images of a fitted reduction."""
    return fitted_coordinates(estimator).dimension(estimator._n_features_out)


# ---------------------------------------------------------------- reductions


class Reduced(NamedTuple):
    """The result of a reduction."""

    estimator: Any  # fitted
    n_points: int
    measures: dict[str, Any]  # what is kept
    images: Any = None  # of all rows, or of those that are drawn
    about: Annotations = Annotations()
    edges: np.ndarray | None = None
    writers: Sequence[tuple[Path | None, Writer]] = ()  # of outputs that are not written yet
    resumed_at: int | None = None


def measure(take: Callable[[np.ndarray], Any], n: int, estimator: Any, Y: Any = None) -> dict[str, Any]:
    """Distortion and neighbours kept, of at most `MEASURED_ROWS` random rows of n, which ``take(indices)`` returns.

    Y are the images of all rows, if they are known. Nothing is measured for a single row, or with ``--quiet``.
    """
    names = ("n_neighbors", *NEAR_MEASURES)
    found: dict[str, Any] = {"distortion": math.nan, "distortion_error": 0.0, "n_measured": 0, **dict.fromkeys(names)}
    if n < 2 or (state().quiet and not state().as_json):
        return found
    rows = np.sort(np.random.default_rng(state().seed).permutation(n)[:MEASURED_ROWS])
    X, m = take(rows), len(rows)
    images = estimator.transform(X) if Y is None else np.asarray(Y)[rows]
    settings: Any = {**fitted_coordinates(estimator)._asdict(), "random_state": state().seed}
    pairs = report_pairs(m)
    distortion, error = average_distortion(X, images, n_pairs=pairs, return_error=True, **settings)
    if m < n and pairs:
        error *= math.sqrt(pairs / (m // 2))  # the pairs of a sample share points: they count as its m / 2 disjoint pairs
    found |= {"distortion": distortion, "distortion_error": error, "n_measured": m}
    return found | kept_neighbours(X, images, **settings)


def reduce_in_memory(request: Request) -> Reduced:
    """Reduce points in a file that is read at once."""
    X, about, coordinates = read_points(request.input, request.known)
    edges, n, estimator = read_edges(request.edges, about.names), len(X), request.estimator(**coordinates)
    with progress_bar(f"Reducing {n:,} points from {request.input.name}", estimator) as update:
        Y = estimator.transform(X) if request.saved is not None else estimator.fit_transform(X)
        update(0, 1, "Measuring what is kept")
        measures = measure(lambda rows: X[rows], n, estimator, Y)
    base = request.input if request.input.suffix.lower() == ".h5ad" else None
    source = {"input": str(request.input), **provenance(estimator, request.reading.key)}
    writer = point_writer(Y, about, source, request.output, key=f"X_{request.method_name}", base=base)
    return Reduced(estimator, n, measures, Y, about, edges, [(request.output, writer)])


def reduce_streamed(request: Request, outputs: OutputSet) -> Reduced:
    """Reduce points in a file that is mapped for the fit, then read and transformed one block at a time."""
    source, side = Source.of(request.input), read_side_file(request.input)
    stated = check_metadata(Table(np.empty((0, 0)), model=side.get("model"), curvature=side.get("curvature")), request.input)
    estimator, n, resumed_at = request.estimator(model=stated.model, curvature=stated.curvature), source.shape[0], None
    with progress_bar(f"Reducing {n:,} points from {request.input.name}") as update:
        if request.output is None:
            fit_to(estimator, source)
        else:
            done = add_reduced_file(outputs, request.input, request.output, estimator, update, log)
            estimator, resumed_at = done.estimator, done.resumed_at
        update(0, 1, "Measuring what is kept")
        measures = measure(source.take, n, estimator)
        images = estimator.transform(source.rows(0, n, -(-n // DRAWN_ROWS))) if request.plot is not None else None
    return Reduced(estimator, n, measures, images, resumed_at=resumed_at)


def _summary(reduced: Reduced, request: Request) -> dict[str, Any]:
    """The summary of a reduction: its size, its parameters, what it keeps, and the files."""
    estimator, coordinates = reduced.estimator, fitted_coordinates(reduced.estimator)
    kept = getattr(estimator, "explained_variance_ratio_", None)
    return {
        "input": request.input,
        "n_points": reduced.n_points,
        "n_dimensions": coordinates.dimension(estimator.n_features_in_),
        "n_components": kept_dimensions(estimator),
        "method": None if request.from_fit else request.method_name,
        "estimator": type(estimator).__name__,
        **coordinates._asdict(),
        **{
            name: value
            for name, value in estimator.get_params().items()
            if name not in opt.NOT_SETTABLE and np.ndim(value) == 0
        },
        "seed": state().seed,
        **reduced.measures,
        "variance": getattr(estimator, "total_variance_", None),
        "variance_kept": None if kept is None else kept.sum(),
        "resumed_at": reduced.resumed_at,
        "seconds": state().seconds,
        **{name: getattr(request, name) for name in ("output", "plot", "save_fit", "from_fit")},
    }


def _print(summary: dict[str, Any], about: Annotations) -> None:
    error, fraction, total = summary["distortion_error"], summary["variance_kept"], summary["variance"]
    rows: dict[str, Any] = {
        "points": f"{summary['n_points']:,}",
        "dimensions": f"{summary['n_dimensions']} → {summary['n_components']}",
        "method": METHODS[summary["method"]].title if summary["method"] else f"{summary['estimator']}, from a saved fit",
        "distortion": f"{summary['distortion']:.4f}" + (f" ± {error:.1g}" if error else ""),
    }
    if (summary["model"], summary["curvature"]) != ("poincare", -1):
        rows["model"] = f"{summary['model']}, curvature {summary['curvature']:.6g}"
    if summary["n_neighbors"]:
        trust = f"trustworthiness {summary['trustworthiness']:.3f}, continuity {summary['continuity']:.3f}"
        among = f", in a sample of {summary['n_measured']:,} points" if summary["n_measured"] < summary["n_points"] else ""
        rows["neighbours"] = f"{summary['neighbours_kept']:.1%} of {summary['n_neighbors']} kept; {trust}{among}"
    kept = "not measured by this method" if fraction is None else f"{fraction:.1%}"
    kept += f" of {total:.4g}" if fraction is not None and total is not None else ""
    rows["variance kept"] = kept + (", of the points of the fit" if fraction is not None and summary["from_fit"] else "")
    files = {"written to": summary["output"], "drawn in": summary["plot"], "fit in": summary["save_fit"]}
    print_rows(
        {**rows, "metadata": about.note, "time": f"{summary['seconds']:.2f} s", **files}, err=summary["output"] == STDOUT
    )
    if summary["n_components"] <= 2 and (advice := few_neighbours(summary["neighbours_kept"], summary["method"])):
        click.echo(advice, err=True)
    if not any(files.values()):
        click.echo("Nothing was written: -o FILE writes the points, --plot FILE draws them.", err=True)
