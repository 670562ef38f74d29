"""``horopca reduce``: points to fewer dimensions, from a file in memory, from a larger one, or from a Dask cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
from click import get_current_context
from click.core import ParameterSource

from .._input.rows import check_rows
from ..estimators.base import HyperbolicReduction
from ..estimators.fitting import fitted_coordinates
from ..io import FORMATS, Table, load_fitted, save_fitted
from ..io.arrays import Source
from ..io.fits import provenance
from ..io.metadata import LABEL_COLUMN, WORDS, read_side_file, with_metadata
from ..io.output import OutputSet, check_output
from ..io.stores import open_store, read_store_metadata, write_store
from ..io.streaming import STREAMED, add_reduced_file, fit_to, is_large
from ..metrics import average_distortion
from ..metrics.comparison import kept_neighbours, report_pairs
from ..metrics.neighbours import NEAR_MEASURES
from . import options as opt
from .compare import few_neighbours
from .console import called, log, progress_bar, report, state
from .dask import cluster
from .files import MODELS, STDOUT, Reading, Writer, figure_for, write_files
from .points import Points, read_points

MEASURED_ROWS = 1 << 14  # More rows are measured on a random sample of this size: some seconds, and errors below 1 %.
MEASURES = ("distortion", "distortion_error", "n_measured", "n_neighbors", *NEAR_MEASURES)
DRAWN_ROWS = 1 << 18  # The largest number of points in a plot of a large file: more do not change the picture.
STORE = ".zarr"  # The ending of the output of --dask.
# Options that --dask and --from-fit exclude: chunks are not read into memory, and a saved fit has its own parameters.
CONFLICTS = {
    "address": ("edges", "clip", "metadata", "colour_by"),
    "from_fit": ("n_components", "method", "settings", "model", "curvature"),
}
PICTURE_METHOD = "horopca-stretch"  # The default with --plot: it has the least distortion.


def component_count(value: str) -> int | float | str:
    """A number of components, a fraction of the variance, or "all"."""
    if value == "all":
        return value
    with suppress(ValueError):
        number = float(value)
        if 0 < number < 1:
            return number
        if number >= 1 and number.is_integer():
            return int(number)
    raise click.BadParameter(f"{value!r} is not a positive integer, a fraction of the variance (0 to 1) or 'all'.")


@opt.command
@opt.points_argument()
@click.option(
    "-k",
    "--components",
    "n_components",
    type=component_count,
    metavar="K",
    help="Number of components; or a fraction of the variance to keep, such as 0.9, which takes several fits; or all.  "
    "[default: 2]",
)
@opt.writes(
    "-o",
    "--output",
    formats=(*FORMATS, STORE),
    help="Points to write: .npy, .npz, .csv, .tsv or .h5ad; - is standard output.",
)
@opt.writes("--plot", help="Picture to draw: .png, .pdf or .svg. Needs -k 2; its default method is horopca-stretch.")
@opt.method_options
@opt.writes("--save-fit", formats=(".npz",), help="Save the fitted estimator, to apply it to other points: .npz.")
@opt.reads("--from-fit", help="Apply an estimator that --save-fit wrote, instead of fitting.")
@opt.edges_option
@opt.picture_reading_options
@click.option("--dask", "address", metavar="ADDRESS", help="Use the Dask cluster at this address; local: start one here.")
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
    job = Reduction(**options)
    job.check()
    figure = figure_for(job.plot)
    with OutputSet(force=state().force) as outputs:
        if job.address is not None:
            job.in_chunks(outputs)
        elif job.is_streamed():
            job.streamed(outputs)
        else:
            job.in_memory()
        if figure is not None:
            job.images.draw(figure, job.pairs)
        others = [(job.plot, figure), (job.save_fit, lambda path: save_fitted(job.fitted, path))]
        write_files((job.writer and job.output, job.writer), *others, outputs=outputs)
    report(job.summary())


@dataclass
class Reduction:
    """A reduction: the options of the command by the names of its arguments, then the results."""

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
    fitted: Any = None  # the estimator; before the fit only if --from-fit gives it
    n_points: int = 0
    measures: Mapping[str, Any] = field(default_factory=dict)  # what is kept
    images: Points = field(default=Points(None))  # of all rows, or of those that are drawn
    pairs: np.ndarray | None = None  # the edges, as pairs of rows
    writer: Writer = None  # of the output, if it is not written yet
    resumed_at: int | None = None

    def check(self) -> None:
        """Read the saved fit, and raise errors that can be found before any work."""
        context, options = get_current_context(), state().options
        for name, others in CONFLICTS.items():
            given = [one for one in (name, *others) if context.get_parameter_source(one) is ParameterSource.COMMANDLINE]
            if len(given) > 1 and given[0] == name:
                raise click.UsageError(f"{options[given[1]]} cannot be given with {options[name]}.")
        if self.output is not None and (self.output != STDOUT or self.address):
            check_output(self.output, force=state().force, formats=(STORE,) if self.address else FORMATS)
        self.method = self.method or (opt.DEFAULT_METHOD if self.plot is None else PICTURE_METHOD)
        components = self.n_components = self.n_components or 2
        if self.from_fit is not None:
            self.fitted = load_fitted(self.from_fit)
            if not isinstance(self.fitted, HyperbolicReduction) or getattr(self.fitted, "metric", "hyperbolic") != "hyperbolic":
                kind = type(self.fitted).__name__
                raise ValueError(f"{self.from_fit} must hold a reduction of points, but holds a {kind}.")
            self.reading = self.reading._replace(**fitted_coordinates(self.fitted)._asdict())
            components = kept_dimensions(self.fitted)
        if self.plot is not None and components != 2:
            raise click.UsageError(f"--plot draws the plane and needs -k 2, but -k is {components}.")
        self.estimator(self.reading.coordinates(MODELS[0] if self.reading.model == "auto" else None))

    def estimator(self, coordinates: Mapping[str, Any]) -> Any:
        """The saved fit, or an estimator to fit to points in a model and curvature."""
        components = None if isinstance(self.n_components, str) else self.n_components
        return self.fitted or opt.make_estimator(str(self.method), components, self.settings, coordinates)

    def is_streamed(self) -> bool:
        """Whether the points are in a large file that the options allow to reduce in blocks."""
        reading = self.reading
        plain = reading == Reading(reading.model, reading.curvature) and self.edges is None
        plain = plain and not isinstance(reading.curvature, str)  # the name of a number in another format
        plain = plain and (self.output is None or self.output.suffix.lower() in STREAMED) and is_large(self.input)
        return plain and not {"names", "labels"} & read_side_file(self.input).keys()  # these are written with the images

    def in_memory(self) -> None:
        """Reduce points in a file that is read at once."""
        points = read_points(self.input, self.reading)
        X, estimator, self.pairs = points.X, self.estimator(points.coordinates), points.edges(self.edges)
        with progress_bar(f"Reducing {len(X):,} points from {self.input.name}", estimator) as update:
            Y = estimator.transform(X) if self.fitted else estimator.fit_transform(X)
            update(0, 1, "Measuring what is kept")
            self.finish(estimator, X.__getitem__, len(X), points._replace(X=Y))
        base = self.input if self.input.suffix.lower() == ".h5ad" else None
        source = {"input": called(self.input), **provenance(estimator, self.reading.key)}
        self.writer = self.images.writer(source, self.output, key=f"X_{self.method}", base=base)

    def streamed(self, outputs: OutputSet) -> None:
        """Reduce points in a file that is mapped for the fit, then read and transformed one block at a time."""
        source, estimator = Source.of(self.input), self.estimator(self.stated(read_side_file(self.input)))
        with progress_bar(f"Reducing {source.shape[0]:,} points from {self.input.name}") as update:
            if self.output is None:
                fit_to(estimator, source)
            else:
                done = add_reduced_file(outputs, self.input, self.output, estimator, update, log)
                estimator, self.resumed_at = done.estimator, done.resumed_at
            update(0, 1, "Measuring what is kept")
            self.finish(estimator, source.take, source.shape[0])

    def in_chunks(self, outputs: OutputSet) -> None:
        """Reduce points in a store that the workers of a cluster can read, and write the images to another store."""
        with cluster(str(self.address)):
            X, metadata = open_store(self.input, self.reading.key), read_store_metadata(self.input, self.reading.key)
            estimator = self.estimator(self.stated(metadata))
            with progress_bar(f"Reducing {X.shape[0]:,} points from {self.input.name}", estimator):
                if self.fitted is None:
                    estimator.fit(X)
                rows: Any = check_rows(X, fitted_coordinates(estimator), estimator=estimator)
                self.finish(estimator, rows.raw, X.shape[0])
                if self.output is not None:
                    about = {name: metadata[name] for name in (*WORDS, LABEL_COLUMN) if name in metadata}
                    about |= {"input": called(self.input), **provenance(estimator, self.reading.key)}
                    write_store(outputs.add(self.output.absolute()), estimator.transform(X), about)

    def stated(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Model and curvature of points that are not read into memory. Raises ValueError if an option contradicts the file."""
        known = {name: metadata[name] for name in ("model", "curvature") if name in metadata}
        found = with_metadata(Table(np.empty((0, 0))), known, self.input)
        return self.reading.coordinates(found.model, found.curvature)

    def finish(self, estimator: Any, take: Callable[[np.ndarray], Any], n: int, images: Points | None = None) -> None:
        """Measure the reduction of n rows, of which ``take(indices)`` returns some, and transform those to draw."""
        self.fitted, self.n_points = estimator, n
        self.measures = measure(take, n, estimator, None if images is None else images.X)
        if images is None:
            some = None if self.plot is None else estimator.transform(take(np.arange(0, n, -(-n // DRAWN_ROWS))))
            images = Points(some)
        self.images = images._replace(coordinates=fitted_coordinates(estimator)._asdict())

    def summary(self) -> dict[str, Any]:
        """The size of a reduction, its parameters, what it keeps, and the files."""
        estimator, coordinates = self.fitted, fitted_coordinates(self.fitted)
        kept, params = getattr(estimator, "explained_variance_ratio_", None), estimator.get_params()
        components, method = kept_dimensions(estimator), None if self.from_fit else self.method
        advice = [few_neighbours(self.measures["neighbours_kept"], method) if components <= 2 else None]
        if not (self.output or self.plot or self.save_fit):
            advice.append("Nothing was written: -o FILE writes the points, --plot FILE draws them.")
        return {
            "input": self.input,
            "n_points": self.n_points,
            "n_dimensions": coordinates.dimension(estimator.n_features_in_),
            "n_components": components,
            "method": method,
            "estimator": type(estimator).__name__,
            **coordinates._asdict(),
            "parameters": {k: v for k, v in params.items() if k not in opt.NOT_SETTABLE and np.ndim(v) == 0},
            "seed": state().seed,
            **self.measures,
            "variance": getattr(estimator, "total_variance_", None),
            "variance_kept": None if kept is None else kept.sum(),
            "metadata": self.images.note,
            "resumed_at": self.resumed_at,
            "seconds": state().seconds,
            **{name: getattr(self, name) for name in ("output", "plot", "save_fit", "from_fit")},
            "advice": " ".join(filter(None, advice)) or None,
        }


def kept_dimensions(estimator: Any) -> int:
    """The dimension of the images of a fitted reduction."""
    return fitted_coordinates(estimator).dimension(estimator._n_features_out)


def measure(take: Callable[[np.ndarray], Any], n: int, estimator: Any, Y: Any = None) -> dict[str, Any]:
    """What is kept of a random sample of n rows, whose images are Y; nothing for a single row, or with ``--quiet``."""
    if n < 2 or (state().quiet and not state().as_json):
        return dict.fromkeys(MEASURES)
    rows = np.sort(np.random.default_rng(state().seed).permutation(n)[:MEASURED_ROWS])
    X, m = take(rows), len(rows)
    images = estimator.transform(X) if Y is None else np.asarray(Y)[rows]
    settings: Any = {**fitted_coordinates(estimator)._asdict(), "random_state": state().seed}
    pairs = report_pairs(m)
    distortion, error = average_distortion(X, images, n_pairs=pairs, return_error=True, **settings)
    if m < n and pairs:
        error *= math.sqrt(pairs / (m // 2))  # the pairs of a sample share points: they count as its m / 2 disjoint pairs
    kept = kept_neighbours(X, images, **settings)
    return {"distortion": distortion, "distortion_error": error, "n_measured": m, **kept}
