"""Shared by all commands: the common options, errors and warnings, progress, and the printed results."""

from __future__ import annotations

import json
import re
import signal
import sys
import time
import warnings
from _thread import interrupt_main
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from threading import Timer
from types import SimpleNamespace
from typing import Any, cast

import click
from click import Context, Parameter, get_current_context
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text


@dataclass
class State:
    """What a click context stores about the running program: the options of every command, and what errors need to know."""

    seed: int = 0
    as_json: bool = False
    quiet: bool = False
    force: bool = False
    start: float = field(default_factory=time.perf_counter)
    options: dict[str | None, str] = field(default_factory=dict)  # options of the command by the parameters that they set
    stdin: Path | None = None  # the file that standard input was copied to

    @property
    def seconds(self) -> float:
        """The time since the program was called."""
        return time.perf_counter() - self.start


def state() -> State:
    return get_current_context().ensure_object(State)


def _store(ctx: Context, param: Parameter, value: Any) -> None:
    if value is not None:
        setattr(ctx.ensure_object(State), str(param.name), value)


def common_options(*, hidden: bool) -> list[click.Option]:
    """The options of every command. A command hides them: ``horopca --help`` describes them once for all commands."""

    def option(*names: str, **settings: Any) -> click.Option:
        return click.Option(names, default=None, is_eager=True, expose_value=False, callback=_store, hidden=hidden, **settings)

    return [
        option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed of the random numbers.  [default: 0]"),
        option("--json", "as_json", is_flag=True, help="Print the results as JSON, and nothing else."),
        option("-q", "--quiet", is_flag=True, help="Print no summary, progress or warnings."),
        option("--force", is_flag=True, help="Overwrite existing files."),
    ]


@contextmanager
def report_errors() -> Iterator[None]:
    """Print errors that a user can correct without a traceback, and warnings at the end. Ctrl-C ends with status 130."""
    with warnings.catch_warnings(record=True) as raised, _stoppable():
        warnings.filterwarnings("always", category=UserWarning)
        try:
            yield
        except KeyboardInterrupt as interrupt:
            click.echo(" ".join(["Interrupted.", *getattr(interrupt, "__notes__", ())]), err=True)
            raise SystemExit(130) from None
        except BrokenPipeError:
            raise  # click ends the program silently, with status 1
        except (OSError, MemoryError, ValueError, ImportError) as error:
            click.echo(f"Error: {with_options(_message(error))}", err=True)
            raise SystemExit(1) from None
        if not state().quiet:
            for text in _summarise(raised):
                click.echo(f"Warning: {with_options(text)}", err=True)


@contextmanager
def _stoppable() -> Iterator[None]:
    """End at SIGTERM as after an error. Ctrl-C also works in a callback of compiled code, where Python would only report it."""
    hook = sys.unraisablehook

    def again(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            timer = Timer(0.1, interrupt_main)  # not at once: Python would ignore an exception in this function, too
            timer.daemon = True
            timer.start()
        else:
            hook(unraisable)

    sys.unraisablehook = again
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGTERM, before)


def _message(error: Exception) -> str:
    text = str(error) or f"{type(error).__name__}."
    if isinstance(error, MemoryError):
        text = f"There is not enough memory. {error}".strip()
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}." if error.filename else error.strerror
    return " ".join([text, *getattr(error, "__notes__", ())])


PARAMETER = re.compile(r"(?<![\w-])(?P<name>[a-z]\w+)(?:(?P<equals>=)(?P<value>'[^']*'|[\w.+-]*\w)?)?(?P<must> must\b)?")


def with_options(text: str) -> str:
    """A message of the library with the options of the command: ``model='lorentz'`` becomes ``--model lorentz``."""
    options, copy = state().options, state().stdin

    def replace(found: re.Match[str]) -> str:
        name, equals, value, must = found.group("name", "equals", "value", "must")
        if not (equals or must or "_" in name):
            return found[0]
        if name not in options:
            return f"--set {found[0]}".replace("'", "") if value and "settings" in options else found[0]
        value = "" if value in (None, "True") else value.strip("'")
        return " ".join(filter(None, [options[name], value, "must" if must else ""]))

    text = PARAMETER.sub(replace, text).replace("None for all", "all")
    return text if copy is None else text.replace(str(copy), "standard input")


def _summarise(raised: list[warnings.WarningMessage]) -> Iterator[str]:
    """Each warning once, and a single one for all fits that did not converge."""
    groups: dict[str, list[str]] = {}
    for warning in raised:
        text, kind = str(warning.message), warning.category.__name__
        groups.setdefault(kind if kind == "ConvergenceWarning" else text, []).append(text)
    for first, *others in groups.values():
        yield f"{first} ({len(others) + 1} times)" if others else first


@contextmanager
def progress_bar(title: str, estimator: Any = None) -> Iterator[Callable[..., None]]:
    """A progress bar on a terminal, updated by ``update(done, total, title)``, with what a verbose estimator prints."""
    console = Console(file=sys.stderr)
    if state().quiet or not console.is_terminal:
        yield lambda done, total, doing=None: None
        return
    doing = TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1))  # the rest of the line
    columns = (BarColumn(bar_width=12), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn(), doing)
    with Progress(*columns, console=console, transient=True, expand=True) as progress, ExitStack() as stack:
        task = progress.add_task(title, total=None)
        if hasattr(estimator, "verbose"):
            stack.callback(setattr, estimator, "verbose", estimator.verbose)
            estimator.verbose = 1

            def show(line: str) -> None:
                if text := line.partition(": ")[2].strip():
                    progress.update(task, description=text)

            stack.enter_context(redirect_stderr(cast("Any", SimpleNamespace(write=show, flush=lambda: None))))
        yield lambda done, total, doing=None: progress.update(task, completed=done, total=total, description=doing)


def log(text: str) -> None:
    """Print a line on stderr, above a progress bar."""
    if not state().quiet:
        click.echo(text, err=True)


def called(path: Path) -> str:
    """What to call an input: its path, which for the copy of standard input would mean nothing later."""
    return "standard input" if path == state().stdin else str(path)


def count(n: int, noun: str) -> str:
    """A number with its noun: "1 row", "2,000 rows"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def report(summary: Mapping[str, Any], show: Callable[[], object] | None = None) -> None:
    """Print the results: as JSON with ``--json``, not at all with ``--quiet``, and otherwise by `show` or as rows."""
    copy = state().stdin
    summary = {name: called(copy) if copy is not None and value is copy else value for name, value in summary.items()}
    if state().as_json:
        text = json.dumps(summary, default=lambda value: value.item() if hasattr(value, "item") else str(value))
        click.echo(json.dumps(json.loads(text, parse_constant=lambda name: None), indent=2))  # NaN and infinity become null
    elif not state().quiet:
        show() if show else print_rows({name.removeprefix("n_").replace("_", " "): value for name, value in summary.items()})


def print_rows(rows: Mapping[str, Any], title: str | None = None) -> None:
    """Print names and values, without None, NaN, lists and mappings; on stderr if points are written to standard output."""
    cells = []
    for name, value in rows.items():
        if isinstance(value, str | Path | Real) and value == value:
            number = isinstance(value, Real) and not isinstance(value, bool)
            cells.append((name, format(value, "," if isinstance(value, Integral) else ",.4g") if number else str(value)))
    print_table(title, (), cells, err=Path("-") in rows.values())


def print_table(
    title: str | None,
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    below: str | None = None,
    *,
    err: bool = False,
) -> None:
    """Print a table under its title, with a sentence below if one is given. Without headings, the last column may wrap."""
    console = Console(markup=False, highlight=False, stderr=err)
    table = Table(box=None, pad_edge=False, collapse_padding=True, show_header=bool(headings))
    for k, heading in enumerate(headings or ("", "")):
        side: Any = "right" if k and headings else "left"
        table.add_column(heading, justify=side, style="" if k else "cyan", no_wrap=bool(headings) or not k, overflow="fold")
    for row in rows:
        table.add_row(*row)
    if title is not None:
        console.print(title, style="bold", soft_wrap=True)
    console.print(table)
    if below is not None:
        console.print(below, soft_wrap=True)
