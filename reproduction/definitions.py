"""A cell is one computation; an experiment is a table or a figure of the paper, computed by cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np


class Size(NamedTuple):
    """How much is computed: whether only a few cells, and the number of runs of random methods."""

    quick: bool = False
    runs: int = 5


class Cell(NamedTuple):
    """One computation: a function of `reproduction.cells` and its arguments. A file of the store holds its result."""

    experiment: str
    name: str  # unique within the experiment, and a valid file name
    function: str  # "module.function"
    arguments: dict[str, Any]
    cost: float = 1.0  # approximate seconds on one core, for the progress bar
    given: Cell | None = None  # the cell whose result is passed to the function as `given`, if any


class Results:
    """The results of cells, found by their experiment, function and arguments."""

    def __init__(self, found: Iterable[tuple[Cell, dict[str, Any]]]) -> None:
        self.found = list(found)

    @cached_property
    def by_function(self) -> dict[str, list[tuple[Cell, dict[str, Any]]]]:
        groups: dict[str, list[tuple[Cell, dict[str, Any]]]] = {}
        for cell, result in self.found:
            groups.setdefault(cell.function, []).append((cell, result))
        return groups

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
            for name, found in self.by_function.items()
            if name.endswith(function)
            for cell, result in found
            if arguments.items() <= cell.arguments.items()
        ]

    def first(self, function: str, **arguments: Any) -> dict[str, Any] | None:
        return next(iter(self.where(function, **arguments)), None)

    def values(self, quantity: str, function: str, **arguments: Any) -> np.ndarray:
        """One quantity of each of these results."""
        return np.array([result[quantity] for result in self.where(function, **arguments)], dtype=np.float64)


class Picture(NamedTuple):
    """A figure of the page: the name of its file, its alternative text, and the function that draws it."""

    name: str
    caption: str
    draw: Callable[[Any], None] | None  # on an empty matplotlib figure; None if its points are not among the results
    crowded: bool = False  # with many points and lines: saved with 256 colours
    dots: int = 130  # per inch


class Section(NamedTuple):
    """The text of an experiment: Markdown with {picture} where a picture belongs, and the pictures."""

    text: str
    pictures: tuple[Picture, ...] = ()


class Experiment(NamedTuple):
    """A table or figure of the paper, by its name on the command line."""

    name: str
    title: str
    place: str  # in the paper
    cells: Callable[[Size], list[Cell]]
    section: Callable[[Results], Section]
