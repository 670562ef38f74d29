"""``python -m reproduction``: the paper's tables and figures, computed again, printed and published."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from horopca.cli.console import report_errors

from .command import COMMITTED, check_names, publish, reproduce
from .experiments import EXPERIMENTS
from .page import linked
from .store import from_json, results_of

folder = click.option(
    "--out", type=click.Path(path_type=Path), default="results", show_default=True, help="Folder of the results."
)


@click.group()
def main() -> None:
    """Compute the paper's tables and figures again, ours beside its own."""


@main.command(epilog=f"Experiments: {', '.join(EXPERIMENTS)}, or all.")
@click.argument("names", nargs=-1, required=True, metavar="EXPERIMENT...")
@click.option("--quick", is_flag=True, help="Compute a small part of everything, in a few minutes.")
@click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True, help="Runs of every random method.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that compute.")
@click.option("--keep-older", is_flag=True, help="Keep parts that were computed by other code; the page names them.")
@folder
@report_errors()
def run(names: tuple[str, ...], quick: bool, runs: int, jobs: int, keep_older: bool, out: Path) -> None:
    """Compute experiments, and write the page of all that the folder holds.

    Finished parts are files in the folder: the same command resumes where it was interrupted. Data is downloaded, or
    read from the folder in the environment variable HOROPCA_DATA.

    \b
    Examples:
      python -m reproduction run all
      python -m reproduction run all --quick
      python -m reproduction run reduction dimensions --runs 1
    """
    try:
        check_names(names)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with Bar() as bar:
        try:
            outcome = reproduce(names, out=out, quick=quick, runs=runs, jobs=jobs, keep_older=keep_older, progress=bar.update)
        except KeyboardInterrupt:
            bar.stop()
            click.echo(f"\nInterrupted. Finished parts are kept in {out}; the same command resumes there.", err=True)
            raise SystemExit(130) from None
        except OSError as error:
            bar.stop()
            raise OSError(
                f"Writing into {out} failed ({error.strerror or error}). Finished parts are kept: "
                "free some space, and run the same command again."
            ) from error
    click.echo(f"{outcome.computed} parts computed, {outcome.kept} kept from before. The page is {outcome.page}.")
    if outcome.gaps:
        click.echo(f"{len(outcome.gaps)} parts are missing:", err=True)
        for why in dict.fromkeys(gap.why for gap in outcome.gaps):
            click.echo(f"  {why}", err=True)
        click.echo("The same command computes them once what they need is there.", err=True)
        raise SystemExit(1)


@main.command()
@click.argument("name", type=click.Choice(list(EXPERIMENTS)))
@click.option(
    "--results", type=click.Path(path_type=Path), default=COMMITTED, help="A results.json; by default the committed one."
)
@report_errors()
def table(name: str, results: Path) -> None:
    """Print the section of one table or figure, from a results.json."""
    found = results_of(from_json(results.read_text(encoding="utf-8"))).of(name)
    click.echo(f"# {EXPERIMENTS[name].title}\n\n{linked(EXPERIMENTS[name].section(found))}")


@main.command("publish")
@folder
@report_errors()
def publish_command(out: Path) -> None:
    """Merge a folder into the committed results.json, and write the pages and pictures made from it."""
    for path in publish(out):
        click.echo(path)


class Bar:
    """A progress bar with the remaining time, on stderr if that is a terminal."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"), TimeElapsedColumn())
        self.progress = Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal)
        self.task = self.progress.add_task("reading", total=None, left="")
        self.start = time.monotonic()

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def stop(self) -> None:
        self.progress.stop()

    def update(self, done: int, cells: list[Any], gap: Any) -> None:
        if not done:
            self.console.print(f"{len(cells)} parts to compute.", highlight=False)
            return
        spent, total = sum(cell.cost for cell in cells[:done]), sum(cell.cost for cell in cells)
        left = (total - spent) * (time.monotonic() - self.start) / max(spent, 1e-9)
        words = f"about {left / 60:.0f} min left" if left > 90 else f"about {left:.0f} s left"
        self.progress.update(self.task, completed=spent, total=total, description=f"{done} of {len(cells)}", left=words)


if __name__ == "__main__":
    main()
