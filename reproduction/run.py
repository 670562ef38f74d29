"""Compute cells, in this process or in several, and store each result when it is finished."""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator, Iterator
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from itertools import starmap
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .cells.data import MissingData
from .definitions import Cell
from .store import Store


class Gap(NamedTuple):
    """A cell that could not be computed, and why: data or a library that is missing, or a computation that failed."""

    cell: Cell
    why: str


class Answer(NamedTuple):
    """The result of a cell, and the seconds of processor time that it took."""

    result: dict[str, Any]
    seconds: float


def compute(cell: Cell, given: dict[str, Any] | None = None) -> Answer | Gap:
    """The result of a cell: a pure function of its arguments, on one thread, so that sums are the same everywhere."""
    module, _, function = cell.function.rpartition(".")
    start = time.process_time()
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # results say whether a search converged
            arguments = cell.arguments if given is None else {"given": given, **cell.arguments}
            result = getattr(import_module(f"{__package__}.cells.{module}"), function)(**arguments)
    except (MissingData, ImportError) as error:
        return Gap(cell, str(error))
    except Exception as error:  # the other cells do not depend on it
        return Gap(cell, f"{cell.experiment}, {cell.name} failed: {type(error).__name__}: {error}")
    return Answer(result, time.process_time() - start)


def run_cells(cells: list[Cell], store: Store, jobs: int) -> Generator[tuple[Cell, Gap | None]]:
    """Compute cells and store them: each is yielded once its file is there, or with the gap it leaves.

    Cells that take the result of another come after all that take none.
    """
    for part in ([c for c in cells if not c.given], [c for c in cells if c.given]):
        tasks: list[tuple[Cell, dict[str, Any] | None]] = []
        for cell in part:
            before = store.load(cell.given) if cell.given else None
            if cell.given and before is None:
                yield cell, Gap(cell, f"{cell.given.name} is missing")
            else:
                tasks.append((cell, before.result if before else None))
        for cell, answer in _answers(tasks, jobs):
            if isinstance(answer, Gap):
                yield cell, answer
            else:
                store.save(cell, answer.result, answer.seconds)
                yield cell, None


def _answers(tasks: list[tuple[Cell, Any]], jobs: int) -> Iterator[tuple[Cell, Answer | Gap]]:
    """Cells and their answers, as they are finished."""
    try:
        yield from Parallel(max(1, min(jobs, len(tasks))), return_as="generator_unordered")(starmap(delayed(_answer), tasks))
    except BrokenProcessPool:
        raise MemoryError(
            "A process that computed was ended from outside, most likely for want of memory. What is finished is "
            "kept: the same command with --jobs 1 computes the rest."
        ) from None


def _answer(cell: Cell, given: Any) -> tuple[Cell, Answer | Gap]:
    return cell, compute(cell, given)
