"""The options of the reductions on the command line: the parameters of their estimators, each for the methods that have it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import rich_click as click

from .. import estimators
from ..metrics.comparison import METHODS, make
from .options import Option, count, grouped, option_of, refuse_others, together

# This is said of the options for parameters of estimators; a new one is a new row here.
HELP = {
    "spine": "The paper's projections, or all.",
    "strategy": "Components together, or in turn; of bsa a whole sequence, or its last.",
    "objective": "What to optimise.",
    "stretch": "Stretch the image to keep distances (implies --spine free --objective distortion).",
    "centre": "What is in the middle of the picture.",
    "n_init": "Starts to climb from.",
    "pairs": "Pairs of a point in the last climb.",
    "max_iter": "Most steps of a search.",
    "tol": "A search ends when a step gains a smaller share than this.",
    "n_jobs": "Threads; -1: one per core.",
    "n_draws": "Random maps to choose from.",
    "base_point": "What submanifolds pass through.",
    "base_noise": "Deviation of the noise on the base point, a length.",
}
USUAL = "horopca"  # This method is taken if no other is asked for.


class Kind(NamedTuple):
    """What a parameter takes: words, and numbers or whatever else a type makes of a text."""

    words: tuple[str, ...]
    other: Any  # a type, or None


@cache
def parameters(method: str) -> dict[str, Kind]:
    """The parameters of a method that have options: those of its estimator that it does not set itself."""
    hints = get_type_hints(getattr(estimators, METHODS[method].estimator).__init__)
    return {name: _kind(hints[name]) for name in HELP if name in hints and name not in METHODS[method].options}


def _kind(hint: Any) -> Kind:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words = tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))
    others = [part for part in parts if get_origin(part) is not Literal and part is not type(None)]
    return Kind(words, others[0] if others else None)


def _layers(text: str) -> tuple[int, ...]:
    """Whole numbers with commas between them; none: ()."""
    return tuple(count(part.strip()) for part in text.split(",") if part.strip())


def _number_or(words: tuple[str, ...], kind: type) -> Callable[[str], float | str]:
    what = "a whole number from 1" if kind is int else "a positive number"

    def convert(text: str) -> float | str:
        if text in words:
            return text
        try:
            number: float = kind(text)
        except ValueError:
            number = 0
        if not number > 0:
            raise click.BadParameter(f"{text!r} is neither {what} nor {' nor '.join(words)}.")
        return number

    return convert


def _option(name: str) -> Option:
    """The option for a parameter of some methods, which takes what any of them does."""
    kinds = {method: known[name] for method in METHODS if name in (known := parameters(method))}
    words = tuple(dict.fromkeys(word for kind in kinds.values() for word in kind.words))
    other = next(iter(kinds.values())).other
    named = {METHODS[method].estimator: method for method in reversed(kinds)}
    text = f"{HELP[name]}  [{', '.join(reversed(named.values()))}]"
    if other is bool:
        return click.option(option_of(name), is_flag=True, default=None, help=text)
    if other in (None, Any):  # a point can be said in words only
        return click.option(option_of(name), type=click.Choice(words or ("mean",)), help=text)
    if words:
        metavar = "|".join(["INTEGER" if other is int else "FLOAT", *words])
        return click.option(option_of(name), type=_number_or(words, other), metavar=metavar, help=text)
    if other in (int, float):
        return click.option(option_of(name), type=other, help=text)
    return click.option(option_of(name), type=_layers, metavar="N,N", help=text)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


_method = click.option(
    "--method", type=click.Choice(list(METHODS)), help=f"The reduction, as in `horopca compare`.  [default: {USUAL}]"
)
method_options = together([_method, grouped("asked", _given, tuple(HELP), [_option(name) for name in HELP])])
# Commands that fit many times have these, whatever the method: jobs are whole fits there.
OF_EACH_FIT = tuple(name for name in HELP if name != "n_jobs")
many_fits_options = together(
    [
        click.option("--n-jobs", type=int, help="Fits at a time; -1: one per core."),
        _method,
        grouped("asked", _given, OF_EACH_FIT, [_option(name) for name in OF_EACH_FIT]),
    ]
)


def made(method: str | None, n_components: int | float | None, asked: dict[str, Any], **settings: Any) -> Any:
    """The estimator of a method with the options that are asked for; one that it has not is refused, in a sentence."""
    method = method or USUAL
    known = parameters(method)
    refuse_others(asked, known, method)
    for name, value in asked.items():
        words, other = known[name]
        if words and other is None and value not in words:
            raise click.UsageError(f"{option_of(name)} of --method {method} must be one of {', '.join(words)}, but is {value}.")
    estimator: Any = make(method, n_components, **settings, **asked)
    estimator._check_parameters()
    return estimator
