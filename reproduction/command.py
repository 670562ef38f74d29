"""From names of experiments to a folder with their tables and pictures."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from horopca._points.door import check_count
from horopca.plots import new_figure

from .experiment import Cell, Claim, Experiment, Page, Results, Size
from .experiments import EXPERIMENTS
from .report import write_experiment, write_page
from .run import Gap, run_cells
from .store import Store

JOBS = max(1, min(2, os.cpu_count() or 1))


class Outcome(NamedTuple):
    """What a reproduction has made."""

    page: Path  # the page of all experiments asked for
    computed: int  # cells computed now
    kept: int  # cells that were there before
    gaps: list[Gap]  # cells that could not be computed
    claims: list[Claim]
    left_out: dict[str, str]  # by quick, for each experiment


class Watch:
    """Somebody who is told how it goes. Override what you want to hear."""

    def begin(self, cells: list[Cell], kept: list[Cell]) -> None:
        """Before the first cell: all of them, and those that are there already."""

    def finished(self, cell: Cell, gap: Gap | None) -> None:
        """After each cell."""

    def written(self, experiment: Experiment, folder: Path) -> None:
        """After the tables and pictures of each experiment."""


def check_names(names: Sequence[str]) -> list[str]:
    """The experiments asked for, in the order of the page; or a sentence with a suggestion."""
    known = [*EXPERIMENTS, "all"]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.5)
            guess = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"There is no experiment {name!r}.{guess} There are {', '.join(EXPERIMENTS)}, and all.")
    return list(EXPERIMENTS) if not names or "all" in names else [name for name in EXPERIMENTS if name in names]


def reproduce(
    names: Sequence[str] = ("all",),
    *,
    out: str | Path = "reproduction",
    quick: bool = False,
    runs: int = 5,
    jobs: int = JOBS,
    watch: Watch | None = None,
    command: str | None = None,
) -> Outcome:
    """Compute the paper's experiments again, and write their tables and pictures beside the published figures.

    Parameters
    ----------
    names : sequence of str
        Names in `EXPERIMENTS`, or "all".
    out : path
        A folder. Finished cells in it are not computed again; a folder of another version is refused.
    quick : bool
        A small part of the cells, in about two minutes.
    runs : int
        Of every method that depends on chance.
    jobs : int
        Processes that compute. The results do not depend on it. (With more than one, a script needs the usual
        ``if __name__ == "__main__":``.)
    watch : Watch, optional
    command : str, optional
        What to give as the command that made the page.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> import tempfile
    >>> outcome = reproduce(["illustrations"], out=tempfile.mkdtemp(), jobs=1)
    >>> outcome.page.name, outcome.gaps
    ('reproduction.md', [])
    """
    chosen = [EXPERIMENTS[name] for name in check_names(names)]
    size = Size(quick, check_count("runs", runs, 1))
    jobs, watch = check_count("jobs", jobs, 1), watch or Watch()
    new_figure(interactive=False)  # without matplotlib there would be no pictures: say so before the work
    store = Store(Path(out))
    cells = {experiment.name: experiment.cells(size) for experiment in chosen}
    every = [cell for part in cells.values() for cell in part]
    kept = [cell for cell in every if store.load(cell) is not None]
    about = {
        "command": command or f"horopca reproduce {' '.join(names)}{' --quick' if quick else ''} --out {out}",
        "quick": quick,
        "runs": 1 if quick else runs,
        "left_out": "; ".join(f"{e.name}: {e.left_out}" for e in chosen if e.left_out) if quick else "",
    }
    watch.begin(every, kept)
    gaps, pages = _compute_and_write(chosen, cells, set(_keys(kept)), store, jobs, watch, about)
    claims = [claim for e in chosen for claim in e.claims(_results(store, cells[e.name]))]
    page = write_page(store, [(e, pages[e.name]) for e in chosen], claims, about, gaps)
    left_out = {e.name: e.left_out for e in chosen if e.left_out} if quick else {}
    return Outcome(page, len(every) - len(kept) - len(gaps), len(kept), gaps, claims, left_out)


def _keys(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    return [(cell.experiment, cell.name) for cell in cells]


def _results(store: Store, cells: list[Cell]) -> Results:
    return Results([(cell, record["result"]) for cell in cells if (record := store.load(cell)) is not None])


def _compute_and_write(
    chosen: list[Experiment],
    cells: dict[str, list[Cell]],
    kept: set[tuple[str, str]],
    store: Store,
    jobs: int,
    watch: Watch,
    about: dict[str, object],
) -> tuple[list[Gap], dict[str, Page]]:
    """Compute what is not kept, longest first within an experiment, and write each experiment once its last cell is there."""
    todo = [c for part in cells.values() for c in sorted(part, key=lambda c: -c.cost) if (c.experiment, c.name) not in kept]
    waiting = Counter(cell.experiment for cell in todo)
    gaps: list[Gap] = []
    pages: dict[str, Page] = {}

    def write(experiment: Experiment) -> None:
        pages[experiment.name] = write_experiment(store, experiment, cells[experiment.name], about, gaps)
        watch.written(experiment, experiment.folder(store.folder))

    for experiment in chosen:
        if not waiting[experiment.name]:
            write(experiment)
    with closing(run_cells(todo, store, jobs)) as finished:
        for cell, gap in finished:
            gaps += [gap] if gap else []
            watch.finished(cell, gap)
            waiting[cell.experiment] -= 1
            if not waiting[cell.experiment]:
                write(next(e for e in chosen if e.name == cell.experiment))
    return gaps, pages
