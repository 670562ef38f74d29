"""The nouns of a reproduction: a cell is one computation, an experiment a list of cells and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Size(NamedTuple):
    """How much is computed: a few cells only, and how many runs of what depends on chance."""

    quick: bool = False
    runs: int = 5


class Cell(NamedTuple):
    """One computation: a function of `horopca.reproduction.cells` and its arguments. A file of the store holds its result."""

    experiment: str
    name: str  # different within the experiment, and good as a file name
    function: str  # "module.function"
    arguments: dict[str, Any]
    cost: float = 1.0  # seconds on one core, roughly: what the bar goes by


class Results:
    """The results of the cells of an experiment that were computed, by their arguments."""

    def __init__(self, found: Mapping[Cell, Mapping[str, Any]] | list[tuple[Cell, Mapping[str, Any]]]) -> None:
        self.found = list(found.items()) if isinstance(found, Mapping) else found

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
        """Arguments and results, in the order of the cells."""
        return ((cell.arguments, result) for cell, result in self.found)

    def where(self, function: str, **arguments: Any) -> list[Mapping[str, Any]]:
        """The results of a function whose arguments have these values."""
        return [
            result
            for cell, result in self.found
            if cell.function.endswith(function) and arguments.items() <= cell.arguments.items()
        ]

    def first(self, function: str, **arguments: Any) -> Mapping[str, Any] | None:
        return next(iter(self.where(function, **arguments)), None)

    def values(self, quantity: str, function: str, **arguments: Any) -> np.ndarray:
        """One number of each of these results."""
        return np.array([result[quantity] for result in self.where(function, **arguments)])


class Picture(NamedTuple):
    """A figure of the page: the name of its files, a line for those who do not see it, and how it is drawn."""

    name: str
    caption: str
    draw: Callable[[Any], None]  # on an empty matplotlib figure
    crowded: bool = False  # so many points and lines that an SVG has them as pixels
    dots: int = 130  # to an inch


class Page(NamedTuple):
    """What an experiment has to say: Markdown, with {picture} where a picture belongs, and the pictures."""

    text: str
    pictures: tuple[Picture, ...] = ()


class Claim(NamedTuple):
    """Something that the reproduction set out to show, and whether the numbers show it."""

    text: str
    measured: str
    holds: bool


class Experiment(NamedTuple):
    """A name of the command line."""

    name: str
    title: str
    cells: Callable[[Size], list[Cell]]
    page: Callable[[Results], Page]
    claims: Callable[[Results], list[Claim]]
    left_out: str  # by --quick

    def folder(self, out: Path) -> Path:
        return out / self.name
