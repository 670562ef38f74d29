"""``python -m reproduction``: the paper's tables and figures, computed again."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click import get_current_context
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from horopca.cli.common import sentences

if TYPE_CHECKING:
    from . import Outcome


@click.command()
@click.argument("names", nargs=-1, metavar="[EXPERIMENT]...")
@click.option("--quick", is_flag=True, help="A small part of everything, in two minutes; says what it leaves out.")
@click.option(
    "--runs", type=click.IntRange(min=1), default=5, show_default=True, help="Runs of every method that depends on chance."
)
@click.option(
    "--out", type=click.Path(path_type=Path), default="results", show_default=True, help="Folder for all that is made."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes that compute.  [default: 2, or 1 on one core]")
@sentences()
def reproduce(names: tuple[str, ...], quick: bool, runs: int, out: Path, jobs: int | None) -> None:
    """Compute the paper's tables and figures again, ours beside its own.

    \b
    reduction      10-dimensional embeddings reduced to two, by every method
    whitening      classification of three networks
    embedding      how well embeddings keep the distances of their graphs
    sarkar         reductions of Sarkar's embeddings
    histogram      horospherical against geodesic projections on one direction
    dimensions     distortion and variance for 1 to 50 components
    wordnet        the mammals in the disk
    illustrations  the explanatory figures
    all            all of them, in less than half an hour on two cores

    Finished parts are files in the folder: the same command goes on where it was interrupted. The page to read is
    report/reproduction.md in it; every experiment has a folder with its table, its numbers as JSON and its pictures.
    Data is fetched from its public home, or taken from the folder that HOROPCA_DATA names.

    \b
    Examples:
      python -m reproduction all --out results
      python -m reproduction all --quick
      python -m reproduction reduction dimensions --runs 1
    """
    from . import reproduce as compute
    from .command import JOBS, check_names

    if not names:
        click.echo(get_current_context().get_help())
        return
    try:
        check_names(names)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with Bar() as bar:
        try:
            outcome = compute(
                names,
                out=out,
                quick=quick,
                runs=runs,
                jobs=jobs or JOBS,
                watch=bar,  # type: ignore[arg-type]
                command=_command(names, quick, runs, out),
            )
        except KeyboardInterrupt:
            bar.stop()
            click.echo(
                f"\nInterrupted. {bar.done} parts are finished and kept in {out}: the same command goes on from there.",
                err=True,
            )
            raise SystemExit(130) from None
        except OSError as error:
            bar.stop()
            raise OSError(
                f"Writing into {out} failed ({error.strerror or error}). What is finished is kept: "
                "make room, and give the same command again."
            ) from error
    _tell(outcome, out)
    raise SystemExit(1 if outcome.gaps else 0)


def _command(names: tuple[str, ...], quick: bool, runs: int, out: Path) -> str:
    words = ["horopca", "reproduce", *names, *(["--quick"] if quick else [])]
    words += ["--runs", str(runs)] if runs != 5 else []
    return shlex.join([*words, "--out", str(out)])


class Bar:  # a Watch of the reproduction, which is imported only when it runs
    """A bar on stderr with the time left, if somebody watches; otherwise a line for each experiment."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"), TimeElapsedColumn())
        self.progress = Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal)
        self.task = self.progress.add_task("reading", total=None, left="")
        self.done, self.cost, self.total, self.start = 0, 0.0, 0.0, time.monotonic()

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def stop(self) -> None:
        self.progress.stop()

    def begin(self, cells: list[Any], kept: list[Any]) -> None:
        self.done = len(kept)
        self.total = sum(cell.cost for cell in cells) - sum(cell.cost for cell in kept)
        self.progress.update(self.task, total=self.total, description=f"{len(cells)} parts")
        said = f", {len(kept)} of them finished before" if kept else ""
        self.console.print(f"{len(cells)} parts to compute{said}.", highlight=False)

    def finished(self, cell: Any, gap: Any) -> None:
        self.done += not gap
        self.cost += cell.cost
        left = (self.total - self.cost) * (time.monotonic() - self.start) / self.cost
        self.progress.update(self.task, completed=self.cost, description=cell.experiment, left=_minutes(left))

    def written(self, experiment: Any, folder: Path) -> None:
        self.console.print(f"{experiment.name}: written to {folder}", highlight=False, soft_wrap=True)


def _minutes(seconds: float) -> str:
    return f"about {seconds / 60:.0f} min left" if seconds > 90 else f"about {seconds:.0f} s left"


def _tell(outcome: Outcome, out: Path) -> None:
    from .report import gap_lines

    for claim in outcome.claims:
        click.echo(f"{'reached' if claim.holds else 'NOT REACHED'}: {claim.text}: {claim.measured}")
    if outcome.left_out:
        click.echo("\nLeft out by --quick:")
        for name, what in outcome.left_out.items():
            click.echo(f"  {name}: {what}")
    click.echo(f"\n{outcome.computed} parts computed, {outcome.kept} kept from before. The page is {outcome.page}.")
    if outcome.gaps:
        click.echo(f"{len(outcome.gaps)} parts are missing:", err=True)
        for line in gap_lines(outcome.gaps):
            click.echo(f"  {line}", err=True)
        click.echo("The same command computes them once what they need is there.", err=True)
    sys.stdout.flush()
