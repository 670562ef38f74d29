"""The nouns of a reproduction: a cell is one computation, an experiment a table or figure of the paper made of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Size(NamedTuple):
    """How much is computed: a few cells only, and how many runs of what depends on chance."""

    quick: bool = False
    runs: int = 5


class Cell(NamedTuple):
    """One computation: a function of `reproduction.cells` and its arguments. A file of the store holds its result."""

    experiment: str
    name: str  # different within the experiment, and good as a file name
    function: str  # "module.function"
    arguments: dict[str, Any]
    cost: float = 1.0  # seconds on one core, roughly: what the bar goes by
    given: Cell | None = None  # the cell whose result the function takes as `given`, if it takes one


class Results:
    """The results of cells, found by their experiment, function and arguments."""

    def __init__(self, found: Iterable[tuple[Cell, dict[str, Any]]]) -> None:
        self.found = list(found)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Arguments and results, in the order of the cells."""
        return ((cell.arguments, result) for cell, result in self.found)

    def of(self, experiment: str) -> Results:
        return Results((cell, result) for cell, result in self.found if cell.experiment == experiment)

    def of_function(self, function: str) -> Results:
        return Results((cell, result) for cell, result in self.found if cell.function.endswith(function))

    def where(self, function: str, **arguments: Any) -> list[dict[str, Any]]:
        """The results of a function whose arguments have these values."""
        return [
            result
            for cell, result in self.found
            if cell.function.endswith(function) and arguments.items() <= cell.arguments.items()
        ]

    def first(self, function: str, **arguments: Any) -> dict[str, Any] | None:
        return next(iter(self.where(function, **arguments)), None)

    def values(self, quantity: str, function: str, **arguments: Any) -> np.ndarray:
        """One number of each of these results."""
        return np.array([result[quantity] for result in self.where(function, **arguments)], dtype=np.float64)


class Picture(NamedTuple):
    """A figure of the page: the name of its file, a line for those who do not see it, and how it is drawn."""

    name: str
    caption: str
    draw: Callable[[Any], None] | None  # on an empty matplotlib figure; None if its points are not among the results
    crowded: bool = False  # so many points and lines that 256 colours are enough
    dots: int = 130  # to an inch


class Section(NamedTuple):
    """What an experiment has to say: Markdown, with {picture} where a picture belongs, and the pictures."""

    text: str
    pictures: tuple[Picture, ...] = ()


class Experiment(NamedTuple):
    """A table or figure of the paper, by its name on the command line."""

    name: str
    title: str
    place: str  # in the paper
    cells: Callable[[Size], list[Cell]]
    section: Callable[[Results], Section]
