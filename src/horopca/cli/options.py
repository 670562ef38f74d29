"""The options that commands share, and the one rule for the model and the curvature of points."""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
from collections.abc import Callable, Container, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import rich_click as click
from click import Context, Parameter, get_current_context

from .. import geometry
from .console import QUIET, STDIN

LONGEST_LINE = 1 << 16  # So many bytes of standard input are looked at for a tab.
MODELS = tuple(geometry.MODELS)
Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def input_file(value: str) -> Path:
    """A file to be read; ``-`` is standard input, a table or a list of edges with commas or tabs."""
    return _standard_input() if value == "-" else Path(value)


def _standard_input() -> Path:
    """Standard input as a file, which goes when the command ends: readers look twice, and tell formats by names."""
    context = get_current_context()
    if STDIN in context.meta:
        raise click.UsageError("Standard input (-) can be read only once: name a file for the other one.")
    folder = Path(tempfile.mkdtemp(prefix="horopca-"))
    context.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    path = folder / "stdin"
    with open(path, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with open(path, "rb") as file:
        tabs = b"\t" in file.readline(LONGEST_LINE)
    context.meta[STDIN] = path.rename(path.with_suffix(".tsv" if tabs else ".csv"))
    return Path(context.meta[STDIN])


class Reading(NamedTuple):
    """How the points of a file are meant: which of its arrays and columns, in which model."""

    model: str | None = None
    curvature: float | None = None
    clip: float | None = None
    key: str | None = None
    name_column: str | None = None
    label_column: str | None = None
    value_column: str | None = None

    def place(self, model: str | None = None, curvature: float | None = None) -> dict[str, Any]:
        """The model and the curvature of points whose file may state them; by default the Poincaré ball of curvature -1.

        Raises ValueError if an option contradicts the file.
        """
        if self.model == "auto" and model is None:
            raise click.UsageError(
                "--model auto is for points that are read at once. Name the model; horopca info says which fit."
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


PLAIN = Reading()


class TextFiles(NamedTuple):
    """The files with what is written on points, each of them or None."""

    labels: Path | None = None
    names: Path | None = None
    edges: Path | None = None


NO_FILES = TextFiles()


def several(one: Callable[[str], Any]) -> Callable[[Any], list[Any]]:
    """Values with commas between them, each of one type."""

    def convert(value: Any) -> list[Any]:
        parts = value.split(",") if isinstance(value, str) else value
        return list(dict.fromkeys(one(part.strip()) for part in parts))

    return convert


def count(value: str) -> int:
    """A whole number from 1."""
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(f"{value!r} is not a whole number from 1.")
    return int(value)


def components(value: str) -> int | float | str:
    """How many dimensions to keep; or below 1 the share of the variance; or all."""
    if value == "all":
        return value
    try:
        number = int(value) if value.strip().isdecimal() else float(value)
    except ValueError:
        number = math.nan
    if not (0 < number < 1 or (1 <= number < math.inf and number == int(number))):
        raise click.BadParameter(
            f"{value!r} is neither a whole number from 1, nor a share of the variance between 0 and 1, nor the word all."
        )
    return number if number < 1 else int(number)


def points_argument(name: str = "input") -> Option:
    return click.argument(name, type=input_file)


def choice(name: str, values: Sequence[str], help: str) -> Option:
    """An option with a few values, the first of them the default."""
    return click.option(f"--{name}", type=click.Choice(values), default=values[0], show_default=True, help=help)


def option_of(name: str) -> str:
    """The option for a parameter of an estimator."""
    return "-k" if name == "n_components" else f"--{name.replace('_', '-')}"


def refuse_others(asked: Iterable[str], known: Container[str], method: str) -> None:
    """Refuse options for parameters that a method has not."""
    for name in asked:
        if name not in known:
            raise click.UsageError(f"{option_of(name)} is not an option of --method {method}.")


def reads(*names: str, help: str) -> Option:
    return click.option(*names, type=input_file, metavar="FILE", help=help)


def writes(*names: str, help: str) -> Option:
    return click.option(*names, type=click.Path(path_type=Path), metavar="FILE", help=help)


def together(options: Iterable[Option]) -> Option:
    """Several options as one decorator, in this order in the help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(list(options)):
            function = option(function)
        return function

    return decorate


def grouped(name: str, kind: Callable[..., Any], fields: Sequence[str], options: Iterable[Option]) -> Option:
    """Options that set some fields, given to a command as one argument, which `kind` makes of them."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_one(**given: Any) -> Any:
            return command(**{name: kind(**{field: given.pop(field) for field in fields})}, **given)

        return together(options)(with_one)

    return decorate


def _be_quiet(ctx: Context, param: Parameter, value: bool) -> None:
    ctx.meta[QUIET] = value


seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random numbers."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on standard output.")
force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")
quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_be_quiet,
    help="Say nothing but results that were asked for, and errors.",
)
# Commands that compute something have these, and write it to files.
usual_options = together([seed_option, json_option, quiet_option, force_option])
model_options = together(
    [
        click.option(
            "--model",
            type=click.Choice((*MODELS, "auto")),
            help="Coordinates of the rows; auto: those that they alone fit.  [default: as the file says, or poincare]",
        ),
        click.option("--curvature", type=float, help="Curvature of the space, below 0.  [default: -1]"),
    ]
)
reading_options = grouped(
    "reading",
    Reading,
    Reading._fields,
    [
        model_options,
        click.option(
            "--clip", type=click.FloatRange(0, 0.1, min_open=True), metavar="SHARE", help="Move rows on the rim inside: 1e-5."
        ),
        click.option("--key", help="Which array to read of a file that holds several: obsm/X_poincare."),
        click.option("--name-column", metavar="NAME", help="Column of the names.  [default: by its header, or all different]"),
        click.option(
            "--label-column", metavar="NAME", help="Column of the classes.  [default: by its header, or not all different]"
        ),
        click.option("--value-column", metavar="NAME", help="Column of numbers that are no coordinates, to colour by."),
    ],
)
palette_option = click.option(
    "--palette", type=lambda text: text.split(","), metavar="TEXT", help="Colours of the classes, such as '#0072B2,#E69F00'."
)
text_options = grouped(
    "text_files",
    TextFiles,
    TextFiles._fields,
    [
        reads("--labels", help="Classes of the points, one to a line.  [default: a column of words in the file]"),
        reads("--names", help="Names of the points, one to a line.  [default: a column of words, if all are different]"),
        reads("--edges", help="Edges, two nodes to a line: row numbers from 0, or names."),
    ],
)
