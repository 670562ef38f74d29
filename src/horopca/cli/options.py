"""Options that several commands share, each declared once; ``--set NAME=VALUE`` for the parameters of estimators."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, get_type_hints

import click
from click import Context

from ..metrics.comparison import METHODS, make_reduction
from ..plots.views import VIEWS
from .console import common_options, print_rows, state
from .files import MODELS, PICTURES, InputFile, OutputFile, Reading, check_files
from .points import NAMES

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Command(click.Command):
    """A command with the common options. Its files are checked before it runs; the fields of `Reading` become one argument."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings["epilog"] = "Every command also takes --seed N, --json, --quiet and --force: see `horopca --help`."
        super().__init__(*arguments, **settings)
        self.params += common_options(hidden=True)

    def invoke(self, ctx: Context) -> Any:
        check_files(ctx)
        if reading := {name: ctx.params.pop(name) for name in Reading._fields if name in ctx.params}:
            ctx.params["reading"] = Reading(**reading)
        return super().invoke(ctx)


def command(function: Callable[..., Any]) -> Command:
    """Decorator of a function with the name and the help of the command."""
    return click.command(cls=Command)(function)


def list_of(convert: Callable[[str], Any]) -> Callable[[Any], list[Any]]:
    """A type for values that are separated by commas; repeated values count once."""
    return lambda value: list(dict.fromkeys(convert(part.strip()) for part in value.split(",")))


def number_or_key(value: str) -> float | str:
    """A number; or the text itself, the key of a number in a file."""
    try:
        return value if math.isnan(number := float(value)) else number
    except ValueError:
        return value


def points_argument(name: str = "input") -> Decorator:
    return click.argument(name, type=InputFile())


def view_option(*more: str) -> Decorator:
    ball = "  ball: points in three dimensions." if "ball" in more else ""
    text = f"How the plane is drawn; auto: disk, or equidistant if most points would lie on the rim of the disk.{ball}"
    return click.option("--view", type=click.Choice(("auto", *VIEWS, *more)), default="auto", show_default=True, help=text)


def count_option(*names: str, least: int = 1, **options: Any) -> Decorator:
    return click.option(*names, type=click.IntRange(min=least), show_default="default" in options, **options)


def methods_option(choices: Iterable[str], help: str) -> Decorator:
    kind = list_of(click.Choice(list(choices), case_sensitive=False))
    return click.option("--methods", type=kind, metavar="NAME,NAME", help=help)


def reads(*names: str, metavar: str = "FILE", help: str) -> Decorator:
    return click.option(*names, type=InputFile(), metavar=metavar, help=help)


def writes(*names: str, formats: Sequence[str] = PICTURES, after: str | None = None, **options: Any) -> Decorator:
    """An option for a file to write; `formats` and `after` are those of `OutputFile`."""
    return click.option(*names, type=OutputFile(formats, after), metavar="FILE", **options)


def output_option(what: str, after: str, formats: Sequence[str]) -> Decorator:
    """The option for a page or a picture. By default it is named after the input `after`, and is in the working directory."""
    default = f"[default: the name of {after.upper()} with {formats[0]}, in the working directory]"
    text = f"{what} to write: {', '.join(formats)}.  {default}"
    return writes("-o", "--output", formats=formats, after=after, help=text)


def combined(*options: Decorator) -> Decorator:
    """Several options as one decorator, in this order in the help."""
    return lambda function: reduce(lambda decorated, option: option(decorated), reversed(options), function)


# Fields of `Reading`, which the command gets as one argument.
model_options = combined(
    click.option(
        "--model",
        type=click.Choice((*MODELS, "auto")),
        help="Model of hyperbolic space; auto: the only one that fits.  [default: as the file states, or poincare]",
    ),
    click.option(
        "--curvature",
        type=number_or_key,
        metavar="NUMBER",
        help="Curvature, below 0; or the KEY of a number in the file, log:KEY if it is a logarithm.  "
        "[default: as the file states, or -1]",
    ),
)
metadata_options = combined(
    reads("--metadata", help="Table (.tsv, .csv) about the points, joined by name; without names, one line per point."),
    click.option(
        "--colour-by",
        type=list_of(str),
        metavar="COLUMN",
        help="Column of the input or of --metadata to colour by. Further columns (a,b) are copied to the output.",
    ),
)
key_option = click.option("--key", help="Array to read, such as obsm/X_poincare, or columns of a table, such as 'x*'.")
clip_option = click.option(
    "--clip",
    type=click.FloatRange(0, 0.1, min_open=True),
    metavar="MARGIN",
    help="Move points beyond the norm 1 - MARGIN (in the unit ball) to this norm, such as 1e-5.",
)
reading_options = combined(key_option, clip_option, model_options)
picture_reading_options = combined(metadata_options, reading_options)

palette_option = click.option(
    "--palette", type=list_of(str), metavar="COLOURS", help="Colours of the classes, such as '#0072B2,#E69F00'."
)
names_option = click.option(
    "--names",
    type=click.Choice(NAMES),
    default="auto",
    show_default=True,
    help="Which names to draw; auto: all, except barcodes of cells.",
)
edges_option = reads("--edges", help="Edges to draw, two nodes on each line: names, or row numbers from 0.")
groups_option = reads(
    "--groups",
    metavar="FILE|COLUMN",
    help="Groups of rows that depend on each other: a column of INPUT (class: the clades that `embed` writes), or a file with "
    "one group per line.",
)
jobs_option = click.option("--n-jobs", type=int, help="Number of parallel fits; -1: one per core.")
folds_option = count_option("--folds", "cv", least=2, default=5, help="Number of folds of the cross-validation.")
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the method, such as --set max_iter=1000; --set help lists them.",
)
DEFAULT_METHOD = "horopca"  # The method of the paper.
method_options = combined(
    click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        help=f"Method of the reduction; `horopca compare` shows what each preserves.  [default: {DEFAULT_METHOD}]",
    ),
    set_option,
)

# Parameters that have options of their own (-k, -d, --model, --curvature, --seed), or no use in a command that fits once.
NOT_SETTABLE = {"n_components", "model", "curvature", "random_state", "metric", "warm_start", "verbose"}


def parse_settings(kind: Any, given: Iterable[str], method: str, fixed: Iterable[str] = ()) -> dict[str, Any]:
    """The values of ``--set NAME=VALUE …`` for an estimator. ``--set help`` prints the parameters and ends the program."""
    hints, found = get_type_hints(kind.__init__), {}
    known = [name for name in kind._get_param_names() if name not in {*NOT_SETTABLE, *fixed}]
    for text in given:
        name, equals, value = text.partition("=")
        if text == "help":
            words = {name: hints[name].__name__ if isinstance(hints[name], type) else str(hints[name]) for name in known}
            plain = {name: re.sub(r"typing\.|Literal\[(.*?)\]", r"\1", hint) for name, hint in words.items()}  # int | 'auto'
            print_rows(plain, title=f"--set NAME=VALUE, --method {method}")
            raise SystemExit(0)
        if not equals:
            raise click.UsageError(f"--set must be NAME=VALUE, but is {text!r}.")
        if name not in known:
            names = f"it has {', '.join(known)}" if known else "it has none"
            raise click.UsageError(f"--set {name}: --method {method} has no such parameter; {names}.")
        found[name] = _value(value)
        if hints[name] is bool and not isinstance(found[name], bool):
            raise click.UsageError(f"--set {name} must be true or false, but is {value!r}.")
    return found


def _value(text: str) -> Any:
    """None, True, False, a number, or the text itself."""
    try:
        return ast.literal_eval(text.title() if text.lower() in ("none", "true", "false") else text)
    except (ValueError, SyntaxError):
        return text


def make_estimator(method: str, n_components: int | float | None, given: Iterable[str], coordinates: Mapping[str, Any]) -> Any:
    """The unfitted estimator of a method with the parameters of ``--set``."""
    values = parse_settings(METHODS[method].estimator, given, method, METHODS[method].options)
    estimator: Any = make_reduction(method, n_components, random_state=state().seed, **coordinates, **values)
    estimator._check_parameters()
    return estimator
