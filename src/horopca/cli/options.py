"""Options that several commands share, each declared once."""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import rich_click as click
from click import get_current_context

from .. import geometry
from .common import Command
from .console import STDIN

PEEKED_BYTES = 1 << 16  # A header line of standard input is shorter than this: it is searched for a tab.
MODELS = tuple(geometry.MODELS)
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
command = click.command(cls=Command)


# ---------------------------------------------------------------- types


def input_file(value: str) -> Path:
    """A file to read; ``-`` is standard input."""
    return _standard_input() if value == "-" else Path(value)


def _standard_input() -> Path:
    """Copy standard input to a temporary file, because readers look at a file more than once."""
    context = get_current_context()
    if STDIN in context.meta:
        raise click.UsageError("Standard input (-) can be read only once: pass the other input as a file.")
    folder = Path(tempfile.mkdtemp(prefix="horopca-"))
    context.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    path = folder / "stdin"
    with open(path, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with open(path, "rb") as file:
        tabs = b"\t" in file.readline(PEEKED_BYTES)
    context.meta[STDIN] = path.rename(path.with_suffix(".tsv" if tabs else ".csv"))
    return Path(context.meta[STDIN])


def list_of(convert: Callable[[str], Any]) -> Callable[[Any], list[Any]]:
    """A type for values that are separated by commas; repeated values count once."""

    def convert_all(value: Any) -> list[Any]:
        parts = value.split(",") if isinstance(value, str) else value
        return list(dict.fromkeys(convert(part.strip()) for part in parts))

    return convert_all


def positive_integer(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(f"{value!r} is not a positive integer.")
    return int(value)


def components(value: str) -> int | float | str:
    """A number of components, a fraction of the variance, or "all"."""
    if value == "all":
        return value
    try:
        number = int(value) if value.strip().isdecimal() else float(value)
    except ValueError:
        number = math.nan
    if not (0 < number < 1 or (1 <= number < math.inf and number == int(number))):
        raise click.BadParameter(f"{value!r} is not a positive integer, a fraction of the variance (0 to 1) or 'all'.")
    return number if number < 1 else int(number)


# ---------------------------------------------------------------- decorators


def points_argument(name: str = "input") -> Decorator:
    return click.argument(name, type=input_file)


def choice(name: str, values: Sequence[str], help: str) -> Decorator:
    """An option with a few values, the first of them the default."""
    return click.option(f"--{name}", type=click.Choice(values), default=values[0], show_default=True, help=help)


def reads(*names: str, help: str) -> Decorator:
    return click.option(*names, type=input_file, metavar="FILE", help=help)


def writes(*names: str, help: str) -> Decorator:
    return click.option(*names, type=click.Path(path_type=Path), metavar="FILE", help=help)


def combined(options: Iterable[Decorator]) -> Decorator:
    """Several options as one decorator, in this order in the help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(list(options)):
            function = option(function)
        return function

    return decorate


class Reading(NamedTuple):
    """How to read the points in a file, and what to colour them by."""

    model: str | None = None
    curvature: float | None = None
    key: str | None = None
    clip: float | None = None
    metadata: Path | None = None
    colour_by: list[str] | None = None

    def coordinates(self, model: str | None = None, curvature: float | None = None) -> dict[str, Any]:
        """Model and curvature of points whose file states `model` and `curvature`; by default the unit Poincaré ball.

        Raises ValueError if an option contradicts the file.
        """
        if self.model == "auto" and model is None:
            raise click.UsageError(
                "--model auto needs the points in memory. Pass the model; horopca info shows which ones fit."
            )
        options = {"model": None if self.model == "auto" else self.model, "curvature": self.curvature}
        stated = {"model": model, "curvature": curvature}
        for name, option in options.items():
            if None not in (option, stated[name]) and option != stated[name]:
                raise ValueError(
                    f"--{name} {option} contradicts the file, which states {name} {stated[name]}. Leave out --{name}."
                )
        defaults = {"model": MODELS[0], "curvature": -1.0}
        found = {name: stated[name] if options[name] is None else options[name] for name in defaults}
        return {name: defaults[name] if value is None else value for name, value in found.items()}


model_options = combined(
    [
        click.option(
            "--model",
            type=click.Choice((*MODELS, "auto")),
            help="Model of hyperbolic space; auto: the only one that fits.  [default: as the file states, or poincare]",
        ),
        click.option("--curvature", type=float, help="Curvature of the space, below 0.  [default: as the file states, or -1]"),
    ]
)
key_option = click.option("--key", help="Which array of a file that holds several, such as obsm/X_poincare.")
clip_option = click.option(
    "--clip", type=click.FloatRange(0, 0.1, min_open=True), metavar="MARGIN", help="Move rows on the rim inside by this: 1e-5."
)
metadata_options = combined(
    [
        reads("--metadata", help="Table (.tsv, .csv) about the points, joined by name; without names, one line for each row."),
        click.option(
            "--colour-by",
            type=list_of(str),
            metavar="COLUMN",
            help="Column with classes or numbers, of the points' file or of --metadata.",
        ),
    ]
)


def reading(*options: Decorator) -> Decorator:
    """Options that are fields of `Reading`, passed to the command as one argument."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_reading(**given: Any) -> Any:
            fields = {name: given.pop(name) for name in Reading._fields if name in given}
            return function(reading=Reading(**fields), **given)

        return combined(options)(with_reading)

    return decorate


reading_options = reading(key_option, clip_option, model_options)
picture_reading_options = reading(metadata_options, key_option, clip_option, model_options)
palette_option = click.option(
    "--palette", type=list_of(str), metavar="COLOURS", help="Colours of the classes, such as '#0072B2,#E69F00'."
)
edges_option = reads("--edges", help="Edges to draw, two nodes on each line: names, or row numbers from 0.")
