"""What ``horopca reduce`` is asked for and what it answers, wherever the points lie; and the answer for points in memory."""

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
from .console import status
from .drawing import PICTURES
from .files import Output, Writer, check_files, read
from .methods import USUAL, made
from .options import Reading, TextFiles, option_of
from .texts import Texts, point_writer, texts_of


def kept_dimensions(estimator: Any) -> int:
    """The dimension of the images of a fitted reduction."""
    return fitted_coordinates(estimator).dimension(estimator._n_features_out)


@dataclass(frozen=True)
class Request:
    """What is asked for: the options of the command, by the names of its arguments."""

    input: Path
    output: Path | None
    plot: Path | None
    title: str | None
    text_files: TextFiles
    reading: Reading
    method: str | None
    n_components: int | float | str | None
    asked: dict[str, Any]  # parameters of the method, those that are given
    seed: int
    save_fit: Path | None
    from_fit: Path | None
    restart: bool
    force: bool
    address: str | None  # of a Dask cluster

    def check(self, more: Sequence[Output] = ()) -> None:
        """Refuse outputs, those of the options and further ones, that could not be written or that are read."""
        inputs = {"input": self.input, **self.text_files._asdict(), "from_fit": self.from_fit}
        in_store = self.address is not None
        points = Output("-o", self.output, check=check_store) if in_store else Output("-o", self.output, FORMATS)
        others = [Output("--plot", self.plot, PICTURES), Output("--save-fit", self.save_fit, (".npz",))]
        check_files(inputs, [points, *others, *more], force=self.force)

    @cached_property
    def kept(self) -> Any:
        """The fit in a file, or None; no option may ask for another."""
        if self.from_fit is None:
            return None
        asked = {"n_components": self.n_components, "method": self.method, **self.asked}
        asked |= {"model": self.reading.model, "curvature": self.reading.curvature}
        for name, value in asked.items():
            if value is not None:
                fit = f"the fit in {self.from_fit} has it already"
                raise click.UsageError(f"{option_of(name)} cannot be given with --from-fit: {fit}.")
        with named(self.from_fit):
            fit = load_fitted(self.from_fit)
        if not isinstance(fit, HyperbolicReduction) or getattr(fit, "metric", "hyperbolic") != "hyperbolic":
            raise ValueError(f"{self.from_fit} must hold a reduction of points, but holds a {type(fit).__name__}.")
        return fit

    @property
    def components(self) -> int | float | None:
        """How many dimensions are kept, or which share of the variance; None is all."""
        if self.kept is not None:
            return kept_dimensions(self.kept)
        return None if isinstance(self.n_components, str) else self.n_components or 2

    def estimator(self, model: str | None = None, curvature: float | None = None) -> Any:
        """The kept fit, or an estimator to be fitted to points whose file may state their model and curvature."""
        if self.kept is not None:
            Reading(*fitted_coordinates(self.kept)).place(model, curvature)
            return self.kept
        place = self.reading.place(model, curvature)
        return made(self.method, self.components, self.asked, random_state=self.seed, **place)


class Reduced(NamedTuple):
    """What was found."""

    estimator: Any  # fitted
    n_points: int
    distortion: float
    distortion_error: float  # standard error; 0 where all pairs were counted
    seconds: float
    images: np.ndarray | None = None  # of all rows, or of as many as are drawn
    texts: Texts = Texts()
    writers: Sequence[tuple[Path | None, Writer]] = ()  # of what is not written yet
    more: dict[str, Any] = {}  # noqa: RUF012  # what else to report


def reduce_in_memory(request: Request, outputs: OutputSet) -> Reduced:
    """Points in a file that is read at once."""
    table = read(request.input, request.reading)
    texts, n = texts_of(table, request.text_files), len(table.X)
    estimator, start = request.estimator(table.model, table.curvature), time.perf_counter()
    with status(f"Reducing {n:,} points from {request.input.name}"):
        Y = estimator.transform(table.X) if request.kept is not None else estimator.fit_transform(table.X)
        seconds = time.perf_counter() - start
        place: Any = {**fitted_coordinates(estimator)._asdict(), "random_state": request.seed}
        distortion, error = _distortion(table.X, Y, **place)
        more = kept_neighbours(table.X, Y, **place)
    base = request.input if request.input.suffix.lower() == ".h5ad" else None
    h5ad = {"key": f"X_{request.method or USUAL}", "base": base}
    source = {"input": str(request.input), **how(estimator, request.reading.key)}
    writer = point_writer(Y, texts, source, request.output, **h5ad)
    return Reduced(estimator, n, distortion, error, seconds, Y, texts, [(request.output, writer)], more)


def _distortion(X: np.ndarray, Y: np.ndarray, **place: Any) -> tuple[float, float]:
    """Average distortion, and its standard error."""
    if len(X) < 2:
        return math.nan, 0.0
    found: tuple[float, float] = average_distortion(X, Y, n_pairs=report_pairs(len(X)), return_error=True, **place)
    return found
