"""What a command prints: errors and warnings, progress, tables and JSON."""

from __future__ import annotations

import json
import math
import re
import signal
import sys
import threading
import warnings
from _thread import interrupt_main
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr
from io import TextIOBase
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import rich_click as click
from click import get_current_context
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

# A click context keeps these under these names.
STDIN = "horopca.stdin"  # path of the file that standard input was copied to
QUIET = "horopca.quiet"
OPTIONS = "horopca.options"  # options of the command by the names of the parameters that they set


# ---------------------------------------------------------------- errors and warnings


@contextmanager
def report_errors(meta: Mapping[str, Any] = MappingProxyType({})) -> Iterator[None]:
    """Print errors that a user can correct on one line of stderr, without a traceback, and end the program with status 1.

    Ctrl-C ends it with status 130. When nobody reads its output any more, as after ``| head``, it ends silently. `meta` is that
    of the click context.
    """
    with warnings.catch_warnings(record=True) as raised, interruptible(), terminable():
        warnings.filterwarnings("always", category=UserWarning)
        try:
            yield
        except KeyboardInterrupt as interrupt:
            click.echo(" ".join(["Interrupted.", *getattr(interrupt, "__notes__", ())]), err=True)
            raise SystemExit(130) from None
        except BrokenPipeError:
            raise  # click ends the program silently, with status 1
        except OSError as error:
            _exit(f"{error.filename}: {error.strerror}." if error.filename else error.strerror or str(error), meta, error)
        except MemoryError as error:
            _exit(f"There is not enough memory. {error}".strip(), meta, error)
        except (ValueError, ImportError) as error:
            _exit(str(error) or f"{type(error).__name__}.", meta, error)
        if not meta.get(QUIET):
            for text in summarise_warnings(raised):
                click.echo(f"Warning: {with_options(text, meta.get(OPTIONS, {}))}", err=True)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise Ctrl-C again if it arrives in a callback of compiled code, where Python only reports it."""
    before = sys.unraisablehook

    def again(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            interrupt_main()
        else:
            before(unraisable)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def terminable() -> Iterator[None]:
    """End at SIGTERM as after an error, so that temporary files are removed. The exit status is 143, as a shell reports it."""
    if threading.current_thread() is not threading.main_thread():  # where Python has no signals
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _exit(text: str, meta: Mapping[str, Any], error: BaseException) -> NoReturn:
    text = with_options(" ".join([text, *getattr(error, "__notes__", ())]), meta.get(OPTIONS, {}))
    if STDIN in meta:
        text = text.replace(str(meta[STDIN]), "standard input")
    click.echo(f"Error: {text}", err=True)
    raise SystemExit(1)


PARAMETER = re.compile(r"(?<![\w-])(?P<name>[a-z]\w+)(?:(?P<equals>=)(?P<value>'[^']*'|[\w.+-]*\w)?)?(?P<must> must\b)?")


def with_options(text: str, options: Mapping[str, str]) -> str:
    """A message of the library that speaks of the command's options: ``model='lorentz'`` becomes ``--model lorentz``.

    A parameter is a name with a value, with "must", or with an underscore.
    """

    def replace(found: re.Match[str]) -> str:
        name, equals, value, must = found.group("name", "equals", "value", "must")
        if not (equals or must or "_" in name):
            return found[0]
        if name not in options:
            return f"--set {found[0]}".replace("'", "") if value and "settings" in options else found[0]
        value = "" if value in (None, "True") else value.strip("'")
        return " ".join(filter(None, [options[name], value, "must" if must else ""]))

    return PARAMETER.sub(replace, text)


def summarise_warnings(raised: list[warnings.WarningMessage]) -> list[str]:
    """Each warning once; one for all fits that did not converge."""
    unfinished = [str(w.message) for w in raised if w.category.__name__ == "ConvergenceWarning"]
    others = Counter(str(w.message) for w in raised if w.category.__name__ != "ConvergenceWarning")
    found = [text if n == 1 else f"{text} ({n} times)" for text, n in others.items()]
    if unfinished:
        more = f" ({len(unfinished)} fits did not converge.)" if len(unfinished) > 1 else ""
        found.append(f"{unfinished[0]}{more}")
    return found


# ---------------------------------------------------------------- progress


def is_quiet() -> bool:
    context = get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


class _Count(ProgressColumn):
    """How much is done, when the total is known."""

    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{task.completed:,.0f} of {task.total:,.0f}")


class Bar(NamedTuple):
    """A progress bar on stderr."""

    progress: Progress
    task: TaskID

    def update(self, done: int, total: int, doing: str | None = None) -> None:
        self.progress.update(self.task, completed=done, total=total, description=doing)

    def log(self, text: str) -> None:
        if not is_quiet():
            self.progress.console.print(Text(text), soft_wrap=True)


class _LastLine(TextIOBase):
    """A stream that passes on every line written to it."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show

    def write(self, text: str) -> int:
        if text.strip():
            self._show(text.strip())
        return len(text)


@contextmanager
def progress_bar(title: str, estimator: Any = None) -> Iterator[Bar]:
    """A progress bar on stderr if that is a terminal; with an estimator that has `verbose`, it shows what that prints."""
    console = Console(file=sys.stderr)
    watched = console.is_terminal and not is_quiet()
    columns = (TextColumn("{task.description}"), BarColumn(), _Count(), TimeElapsedColumn(), TimeRemainingColumn(compact=True))
    with ExitStack() as stack:
        progress = stack.enter_context(Progress(*columns, console=console, transient=True, disable=not watched))
        task = progress.add_task(title, total=None)
        if watched and hasattr(estimator, "verbose"):
            stack.callback(setattr, estimator, "verbose", estimator.verbose)
            estimator.verbose = max(1, int(estimator.verbose))
            lines: Any = _LastLine(lambda line: progress.update(task, description=f"{title}: {line.partition(': ')[2]}"))
            stack.enter_context(redirect_stderr(lines))
        yield Bar(progress, task)


# ---------------------------------------------------------------- results


def count(n: int, noun: str) -> str:
    """A number with its noun: "1 row", "2,000 rows"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def print_rows(rows: Mapping[str, str], title: str | None = None, *, err: bool = False) -> None:
    """Print a name and its value on each line, unless ``--quiet`` is set."""
    if is_quiet():
        return
    table = Table(show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, value)
    console = Console(markup=False, highlight=False, stderr=err)
    if title is not None:
        console.print(title, style="bold", soft_wrap=True)
    console.print(table)


def print_table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *, bold: int | None = None, below: str | None = None
) -> None:
    """Print a table under its title, with one row in bold and a sentence below if these are given."""
    table = Table(box=None)
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="right" if k else "left", style=None if k else "cyan", no_wrap=True)
    for k, row in enumerate(rows):
        table.add_row(*row, style="bold" if k == bold else None)
    console = Console(markup=False, highlight=False)
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)
    if below is not None:
        console.print(below, soft_wrap=True)


def print_json(values: Mapping[str, Any]) -> None:
    click.echo(to_json(values))


def to_json(values: Mapping[str, Any]) -> str:
    return json.dumps(jsonable(values), indent=2, allow_nan=False)


def jsonable(value: Any) -> Any:
    """The value with paths as text, NumPy's numbers as numbers, and NaN and infinity as null."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
