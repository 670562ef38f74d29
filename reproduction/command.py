"""Run experiments, write their pages and pictures into a folder, and publish that folder in the repository."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from horopca._input.arguments import check_count
from horopca.plots.figures import new_figure

from .definitions import Cell, Size
from .experiments import EXPERIMENTS
from .page import BLOCKS, draw, filled, write_pages
from .run import Gap, run_cells
from .store import Record, Store, as_json, from_json, results_of, write

ROOT = Path(__file__).resolve().parents[1]  # of the repository
COMMITTED = ROOT / "reproduction" / "results.json"


class Outcome(NamedTuple):
    """The result of a reproduction."""

    page: Path
    computed: int  # cells computed now
    kept: int  # cells that were there before
    gaps: list[Gap]  # cells that could not be computed


def check_names(names: Sequence[str]) -> list[str]:
    """The experiments asked for, in the order of the page. Raises ValueError, with a suggestion, for an unknown name."""
    known = [*EXPERIMENTS, "all"]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.5)
            guess = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"There is no experiment {name!r}.{guess} There are {', '.join(EXPERIMENTS)}, and all.")
    return list(EXPERIMENTS) if "all" in names else [name for name in EXPERIMENTS if name in names]


def _in_turn(cell: Cell) -> tuple[int, int, float]:
    """First runs first, so that an interrupted reproduction has complete tables; then by experiment, the longest first."""
    return cell.arguments.get("run", 0), list(EXPERIMENTS).index(cell.experiment), -cell.cost


def reproduce(
    names: Sequence[str] = ("all",),
    *,
    out: str | Path = "results",
    quick: bool = False,
    runs: int = 5,
    jobs: int = 1,
    keep_older: bool = False,
    progress: Callable[[int, list[Cell], Gap | None], None] = lambda done, cells, gap: None,
) -> Outcome:
    """Compute the paper's experiments again, and write a page of all that the folder holds.

    Parameters
    ----------
    names : sequence of str
        Names in `EXPERIMENTS`, or "all".
    out : path
        A folder. Finished cells in it are not computed again, unless other code has made them.
    quick : bool
        A small part of the cells.
    runs : int
        Of every method that depends on chance.
    jobs : int
        Processes that compute. The results do not depend on it. (With more than one, a script needs the usual
        ``if __name__ == "__main__":``.)
    keep_older : bool
        Also keep cells that were computed by other code. The page names them.
    progress : callable
        Called as ``progress(done, cells, gap)``: the number of computed cells, the cells to compute, and the gap that the last
        one left, or None.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> import tempfile
    >>> outcome = reproduce(["illustrations"], out=tempfile.mkdtemp())
    >>> outcome.page.name, outcome.gaps
    ('reproduction.md', [])
    """
    chosen, size = check_names(names), Size(quick, check_count("runs", runs, 1))
    check_count("jobs", jobs, 1)
    new_figure(interactive=False)  # raises ImportError before the work if matplotlib is missing
    store = Store(Path(out), keep_older=keep_older)
    cells = [cell for name in chosen for cell in EXPERIMENTS[name].cells(size)]
    todo = sorted((cell for cell in cells if store.load(cell) is None), key=_in_turn)
    gaps: list[Gap] = []
    progress(0, todo, None)
    with closing(run_cells(todo, store, jobs)) as finished:
        for done, (_, gap) in enumerate(finished, 1):
            gaps += [gap] if gap else []
            progress(done, todo, gap)
    records = stored(store, runs)
    write(store.folder / "results.json", as_json(records))
    page = write_pages(records, store.folder)
    draw(results_of(records), chosen, store.folder / "images" / "reproduction")
    return Outcome(page, len(todo) - len(gaps), len(cells) - len(todo), gaps)


def stored(store: Store, runs: int = 5) -> list[Record]:
    """All finished cells of a folder."""
    cells = (cell for experiment in EXPERIMENTS.values() for cell in experiment.cells(Size(False, max(5, runs))))
    return [record for cell in cells if (record := store.load(cell)) is not None]


def merged(older: Iterable[Record], newer: Iterable[Record]) -> list[Record]:
    """Both, in the order of the page; of a cell that is in both, the newer."""
    found = {(record.cell.experiment, record.cell.name): record for part in (older, newer) for record in part}
    order = list(EXPERIMENTS)
    return sorted(found.values(), key=lambda record: order.index(record.cell.experiment))


def publish(out: str | Path, root: Path = ROOT) -> list[Path]:
    """Merge a folder into what the repository holds: results.json, the page and its pictures, tables of other pages."""
    store, target = Store(Path(out), keep_older=True), root / "reproduction" / "results.json"
    known = {(cell.experiment, cell.name) for experiment in EXPERIMENTS.values() for cell in experiment.cells(Size())}
    older = from_json(target.read_text(encoding="utf-8")) if target.exists() else []
    older = [record for record in older if (record.cell.experiment, record.cell.name) in known]  # these still exist
    newer = stored(store)
    both = merged(older, newer)
    write(target, as_json(both))
    records = from_json(target.read_text(encoding="utf-8"))  # rounded, as readers of the file have them
    written = [target, write_pages(records, root / "docs")]
    for name in BLOCKS:
        path = root / name
        write(path, filled(name, path.read_text(encoding="utf-8"), results_of(records)))
        written.append(path)
    names = {record.cell.experiment for record in newer} | {"illustrations"}
    draw(results_of(both), [name for name in EXPERIMENTS if name in names], root / "docs" / "images" / "reproduction")
    return written
