"""What ``horopca reduce`` was called with and what it found, wherever the points are; and the reduction of points in memory."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import rich_click as click

from ..estimators.base import HyperbolicReduction
from ..estimators.fitting import fitted_coordinates
from ..io import FORMATS, load_fitted
from ..io.anndata import how
from ..io.files import named
from ..io.output import OutputSet
from ..io.stores import check_store
from ..metrics import average_distortion
from ..metrics.comparison import kept_neighbours, report_pairs
from .console import progress_bar
from .drawing import PICTURES
from .files import Output, Writer, check_files
from .options import Reading
from .points import Description, point_writer, read_described, read_edges
from .settings import USUAL, make_estimator

MEASURED_ROWS = 1 << 14  # Figures of more rows are those of a random sample of this size: some seconds, and errors below 1 %.
PICTURED = "horopca-stretch"  # The default with --plot: it halves the distortion of a picture.


def kept_dimensions(estimator: Any) -> int:
    """The dimension of the images of a fitted reduction."""
    return fitted_coordinates(estimator).dimension(estimator._n_features_out)


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
    seed: int
    force: bool
    quiet: bool  # whether no figures are needed

    def check(self, more: Sequence[Output] = ()) -> None:
        """Check that the outputs, those of the options and further ones, can be written and are not read."""
        inputs = {"input": self.input, "metadata": self.reading.metadata, "edges": self.edges, "from_fit": self.from_fit}
        in_store = self.address is not None
        points = Output("-o", self.output, check=check_store) if in_store else Output("-o", self.output, FORMATS)
        others = [Output("--plot", self.plot, PICTURES), Output("--save-fit", self.save_fit, (".npz",))]
        check_files(inputs, [points, *others, *more], force=self.force)

    @cached_property
    def saved(self) -> Any:
        """The fit of ``--from-fit``, or None. Options that would need another fit are errors."""
        if self.from_fit is None:
            return None
        given = {"-k": self.n_components, "--method": self.method, "--set": self.settings or None}
        given |= {"--model": self.reading.model, "--curvature": self.reading.curvature}
        for option, value in given.items():
            if value is not None:
                raise click.UsageError(f"{option} cannot be given with --from-fit: it is part of the fit in {self.from_fit}.")
        with named(self.from_fit):
            fit = load_fitted(self.from_fit)
        if not isinstance(fit, HyperbolicReduction) or getattr(fit, "metric", "hyperbolic") != "hyperbolic":
            raise ValueError(f"{self.from_fit} must hold a reduction of points, but holds a {type(fit).__name__}.")
        return fit

    @property
    def method_name(self) -> str:
        return self.method or (USUAL if self.plot is None else PICTURED)

    @property
    def components(self) -> int | float | None:
        """The number of components, or the fraction of the variance; None is all."""
        if self.saved is not None:
            return kept_dimensions(self.saved)
        return None if isinstance(self.n_components, str) else self.n_components or 2

    def estimator(self, model: str | None = None, curvature: float | None = None) -> Any:
        """The saved fit, or an estimator to fit to points whose file may state their model and curvature."""
        if self.saved is not None:
            Reading(*fitted_coordinates(self.saved)).coordinates(model, curvature)
            return self.saved
        coordinates = self.reading.coordinates(model, curvature)
        return make_estimator(self.method_name, self.components, self.settings, random_state=self.seed, **coordinates)


class Reduced(NamedTuple):
    """What was found."""

    estimator: Any  # fitted
    n_points: int
    distortion: float
    distortion_error: float  # standard error; 0 if all pairs were counted
    seconds: float
    images: np.ndarray | None = None  # of all rows, or of those that are drawn
    about: Description = Description()
    edges: np.ndarray | None = None
    writers: Sequence[tuple[Path | None, Writer]] = ()  # of outputs that are not written yet
    more: dict[str, Any] = {}  # noqa: RUF012  # other figures


def reduce_in_memory(request: Request, outputs: OutputSet) -> Reduced:
    """Reduce points in a file that is read at once."""
    start = time.perf_counter()
    table, about = read_described(request.input, request.reading)
    edges, n = read_edges(request.edges, about.names), len(table.X)
    estimator = request.estimator(table.model, table.curvature)
    with progress_bar(f"Reducing {n:,} points from {request.input.name}", estimator) as bar:
        Y = estimator.transform(table.X) if request.saved is not None else estimator.fit_transform(table.X)
        coordinates: Any = {**fitted_coordinates(estimator)._asdict(), "random_state": request.seed}
        distortion, error, more = math.nan, 0.0, {}
        if n > 1 and not request.quiet:
            bar.update(0, 1, "Measuring what is kept")
            some = np.sort(np.random.default_rng(request.seed).permutation(n)[:MEASURED_ROWS])
            before, after, m = table.X[some], np.asarray(Y)[some], len(some)
            distortion, error = average_distortion(before, after, n_pairs=report_pairs(m), return_error=True, **coordinates)
            more = {"n_measured": m, **kept_neighbours(before, after, **coordinates)}
    base = request.input if request.input.suffix.lower() == ".h5ad" else None
    h5ad = {"key": f"X_{request.method_name}", "base": base}
    source = {"input": str(request.input), **how(estimator, request.reading.key)}
    writer = point_writer(Y, about, source, request.output, **h5ad)
    seconds = time.perf_counter() - start
    return Reduced(estimator, n, distortion, error, seconds, Y, about, edges, [(request.output, writer)], more)
