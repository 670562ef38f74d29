"""``--set NAME=VALUE``: parameters of estimators on the command line, checked against their annotations."""

from __future__ import annotations

from collections.abc import Iterable
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import rich_click as click

from .. import estimators
from ..metrics.comparison import METHODS, make
from .console import print_rows
from .options import Decorator, combined

# Parameters with options of their own (-k, -d, --model, --curvature, --seed), or that have no meaning for a single command.
ELSEWHERE = {"n_components", "model", "curvature", "random_state", "metric", "warm_start", "verbose"}
CONSTANTS = {"none": None, "true": True, "false": False}
NUMBERS: dict[Any, str] = {int: "an integer", float: "a number"}


class Parameter(NamedTuple):
    """What a parameter of an estimator accepts."""

    words: tuple[Any, ...]  # strings, and None, True or False
    number: type | None  # int or float

    def parse(self, name: str, text: str) -> Any:
        """The value that a text stands for. Raises click.UsageError if the parameter does not accept it."""
        if text in self.words:
            return text
        if text.lower() in CONSTANTS and CONSTANTS[text.lower()] in self.words:
            return CONSTANTS[text.lower()]
        try:
            if self.number is not None:
                return self.number(text)
        except ValueError:
            pass
        raise click.UsageError(f"--set {name} must be {self}, but is {text!r}.")

    def __str__(self) -> str:
        words = [next((text for text, value in CONSTANTS.items() if value is word), str(word)) for word in self.words]
        choices = [*([NUMBERS[self.number]] if self.number else []), *words]
        return " or ".join(filter(None, [", ".join(choices[:-1]), choices[-1]]))


def parameters(kind: type, fixed: Iterable[str] = ()) -> dict[str, Parameter]:
    """The parameters of an estimator that ``--set`` takes, without those that the method fixes."""
    hints = get_type_hints(kind.__init__)  # type: ignore[misc]
    found = {name: _parameter(hint) for name, hint in hints.items() if name not in {*ELSEWHERE, *fixed, "return"}}
    return {name: parameter for name, parameter in found.items() if parameter.words or parameter.number}


def _parameter(hint: Any) -> Parameter:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words: list[Any] = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    words += [True, False] if bool in parts else []
    words += [None] if type(None) in parts else []
    words += ["mean", "origin"] if Any in parts else []  # a point, of which the command line knows these two
    return Parameter(tuple(dict.fromkeys(words)), next((part for part in parts if part in NUMBERS), None))


def parse_settings(kind: type, given: Iterable[str], method: str, fixed: Iterable[str] = ()) -> dict[str, Any]:
    """The values of ``--set NAME=VALUE …`` for an estimator. ``--set help`` prints the parameters and ends the program."""
    known, found = parameters(kind, fixed), {}
    for text in given:
        name, equals, value = text.partition("=")
        if text == "help":
            print_rows(
                {name: str(parameter) for name, parameter in known.items()}, title=f"--set NAME=VALUE, --method {method}"
            )
            raise SystemExit(0)
        if not equals:
            raise click.UsageError(f"--set must be NAME=VALUE, but is {text!r}.")
        if name not in known:
            names = f"it has {', '.join(known)}" if known else "it has none"
            raise click.UsageError(f"--set {name}: --method {method} has no such parameter; {names}.")
        found[name] = known[name].parse(name, value)
    return found


set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the method, such as --set max_iter=1000; --set help lists them.",
)
USUAL = "horopca"  # The method of the paper.
method_options = combined(
    [
        click.option(
            "--method", type=click.Choice(list(METHODS)), help=f"The reduction, as in `horopca compare`.  [default: {USUAL}]"
        ),
        set_option,
    ]
)
jobs_option: Decorator = click.option("--n-jobs", type=int, help="Fits at a time; -1: one per core.")


def make_estimator(method: str, n_components: int | float | None, given: Iterable[str], **settings: Any) -> Any:
    """The unfitted estimator of a method with the parameters of ``--set``."""
    chosen = METHODS[method]
    values = parse_settings(getattr(estimators, chosen.estimator), given, method, chosen.options)
    estimator: Any = make(method, n_components, **settings, **values)
    estimator._check_parameters()
    return estimator
