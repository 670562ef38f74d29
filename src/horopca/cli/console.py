"""Shared by all commands: the common options, errors and warnings, progress, and the printed results."""

from __future__ import annotations

import json
import math
import re
import signal
import sys
import threading
import time
import warnings
from _thread import interrupt_main
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr
from io import TextIOBase
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import rich_click as click
from click import Context, Parameter, get_current_context
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

# ---------------------------------------------------------------- the options of every command


class Common(NamedTuple):
    """The values of the options of every command, which come before or after its name."""

    seed: int = 0
    as_json: bool = False
    quiet: bool = False
    force: bool = False


class State:
    """What a click context stores about the running program."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.common = Common()
        self.options: dict[str | None, str] = {}  # options of the command by the names of the parameters that they set
        self.stdin: Path | None = None  # the file that standard input was copied to


def state() -> State:
    context = get_current_context(silent=True)
    return State() if context is None else context.ensure_object(State)


def common() -> Common:
    return state().common


def seconds() -> float:
    """The time since the command was called."""
    return time.perf_counter() - state().start


def _store(ctx: Context, param: Parameter, value: Any) -> None:
    if value is not None:
        found = ctx.ensure_object(State)
        found.common = found.common._replace(**{str(param.name): value})


def common_options(*, hidden: bool) -> list[click.RichOption]:
    """The options of `Common`. A command hides them: ``horopca --help`` describes them once for all commands."""
    flag: dict[str, Any] = {"is_flag": True, "default": None, "is_eager": True, "expose_value": False, "callback": _store}
    whole: dict[str, Any] = {**flag, "is_flag": False, "type": click.IntRange(min=0), "metavar": "N"}
    return [
        click.RichOption(["--seed"], **whole, hidden=hidden, help="Seed of the random numbers.  [default: 0]"),
        click.RichOption(["--json", "as_json"], **flag, hidden=hidden, help="Print the results as JSON, and nothing else."),
        click.RichOption(["-q", "--quiet"], **flag, hidden=hidden, help="Print no summary, progress or warnings."),
        click.RichOption(["--force"], **flag, hidden=hidden, help="Overwrite existing files."),
    ]


# ---------------------------------------------------------------- errors and warnings


@contextmanager
def report_errors() -> Iterator[None]:
    """Print errors that a user can correct on one line of stderr, without a traceback, and end the program with status 1.

    Ctrl-C ends it with status 130. If its output is closed, as by ``| head``, it ends silently.
    """
    with warnings.catch_warnings(record=True) as raised, _interruptible(), _terminable():
        warnings.filterwarnings("always", category=UserWarning)
        try:
            yield
        except KeyboardInterrupt as interrupt:
            click.echo(" ".join(["Interrupted.", *getattr(interrupt, "__notes__", ())]), err=True)
            raise SystemExit(130) from None
        except BrokenPipeError:
            raise  # click ends the program silently, with status 1
        except OSError as error:
            _exit(f"{error.filename}: {error.strerror}." if error.filename else error.strerror or str(error), error)
        except MemoryError as error:
            _exit(f"There is not enough memory. {error}".strip(), error)
        except (ValueError, ImportError) as error:
            _exit(str(error) or f"{type(error).__name__}.", error)
        if not common().quiet:
            for text in _summarise(raised):
                click.echo(f"Warning: {with_options(text)}", err=True)


@contextmanager
def _interruptible() -> Iterator[None]:
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
def _terminable() -> Iterator[None]:
    """End at SIGTERM as after an error, so that temporary files are removed. The exit status is 143, as a shell reports it."""
    if threading.current_thread() is not threading.main_thread():  # where Python has no signals
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _exit(text: str, error: BaseException) -> NoReturn:
    text, copy = with_options(" ".join([text, *getattr(error, "__notes__", ())])), state().stdin
    text = text if copy is None else text.replace(str(copy), "standard input")
    click.echo(f"Error: {text}", err=True)
    raise SystemExit(1)


PARAMETER = re.compile(r"(?<![\w-])(?P<name>[a-z]\w+)(?:(?P<equals>=)(?P<value>'[^']*'|[\w.+-]*\w)?)?(?P<must> must\b)?")


def with_options(text: str) -> str:
    """A message of the library with the options of the command: ``model='lorentz'`` becomes ``--model lorentz``.

    A parameter is a name with a value, with "must", or with an underscore.
    """
    options = state().options

    def replace(found: re.Match[str]) -> str:
        name, equals, value, must = found.group("name", "equals", "value", "must")
        if not (equals or must or "_" in name):
            return found[0]
        if name not in options:
            return f"--set {found[0]}".replace("'", "") if value and "settings" in options else found[0]
        value = "" if value in (None, "True") else value.strip("'")
        return " ".join(filter(None, [options[name], value, "must" if must else ""]))

    return PARAMETER.sub(replace, text)


def _summarise(raised: list[warnings.WarningMessage]) -> list[str]:
    """Each warning once, and a single one for all fits that did not converge."""
    unfinished = [str(w.message) for w in raised if w.category.__name__ == "ConvergenceWarning"]
    others = Counter(str(w.message) for w in raised if w.category.__name__ != "ConvergenceWarning")
    found = [text if n == 1 else f"{text} ({n} times)" for text, n in others.items()]
    more = f" ({len(unfinished)} fits did not converge.)" if len(unfinished) > 1 else ""
    return [*found, *(text + more for text in unfinished[:1])]


# ---------------------------------------------------------------- progress


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
        if not common().quiet:
            self.progress.console.print(Text(text), soft_wrap=True)


class _Lines(TextIOBase):
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
    watched = console.is_terminal and not common().quiet
    columns = (BarColumn(), _Count(), TimeElapsedColumn(), TimeRemainingColumn(compact=True), TextColumn("{task.description}"))
    with ExitStack() as stack:
        progress = stack.enter_context(Progress(*columns, console=console, transient=True, disable=not watched))
        task = progress.add_task(title, total=None)
        if watched and hasattr(estimator, "verbose"):
            stack.callback(setattr, estimator, "verbose", estimator.verbose)
            estimator.verbose = max(1, int(estimator.verbose))
            lines: Any = _Lines(lambda line: progress.update(task, description=f"{title}: {line.partition(': ')[2]}"))
            stack.enter_context(redirect_stderr(lines))
        yield Bar(progress, task)


# ---------------------------------------------------------------- results


def count(n: int, noun: str) -> str:
    """A number with its noun: "1 row", "2,000 rows"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def report(summary: Mapping[str, Any], show: Callable[[], object]) -> None:
    """Print the results: as JSON with ``--json``, not at all with ``--quiet``, and as text otherwise."""
    if common().as_json:
        click.echo(to_json(summary))
    elif not common().quiet:
        show()


def print_rows(rows: Mapping[str, Any], title: str | None = None, *, err: bool = False) -> None:
    """Print a name and its value on each line. Values that are None are left out."""
    table = Table(show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, str(value))
    console = Console(markup=False, highlight=False, stderr=err)
    if title is not None:
        console.print(title, style="bold", soft_wrap=True)
    console.print(table)


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str | Text]], below: str | None = None) -> None:
    """Print a table under its title, with a sentence below if one is given."""
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="right" if k else "left", style=None if k else "cyan", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False)
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)
    if below is not None:
        console.print(below, soft_wrap=True)


def to_json(values: Mapping[str, Any]) -> str:
    return json.dumps(_jsonable(values), indent=2, allow_nan=False)


def _jsonable(value: Any) -> Any:
    """The value with paths as text, NumPy's numbers as numbers, and NaN and infinity as null."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
