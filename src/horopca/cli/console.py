"""What a command says: errors and warnings in report_errors, progress, tables and JSON."""

from __future__ import annotations

import json
import math
import signal
import sys
import threading
import warnings
from _thread import interrupt_main
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import rich_click as click
from click import get_current_context
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

STDIN = "horopca.stdin"  # Under this name a context keeps the path of the file that standard input was put into.
QUIET = "horopca.quiet"


# ---------------------------------------------------------------- errors and warnings


@contextmanager
def report_errors(meta: Mapping[str, Any] = MappingProxyType({})) -> Iterator[None]:
    """What a user can mend ends the program in one sentence on stderr, never in a traceback; Ctrl-C ends it with 130.

    Where nobody reads its output any more, as behind ``| head``, it ends in silence.

    `meta` is that of the context: the options of the command in it, under the names of the arguments that they set.
    """
    with warnings.catch_warnings(record=True) as raised, interruptible(), terminable():
        warnings.filterwarnings("always", category=UserWarning)
        try:
            yield
        except KeyboardInterrupt as stopped:
            click.echo(" ".join(["Interrupted.", *getattr(stopped, "__notes__", ())]), err=True)
            raise SystemExit(130) from None
        except BrokenPipeError:
            raise  # click ends the program at that, with 1
        except OSError as error:
            _end(f"{error.filename}: {error.strerror}." if error.filename else error.strerror or str(error), meta, error)
        except MemoryError as error:
            _end(f"There is not enough memory for this. {error}".strip(), meta, error)
        except (ValueError, ImportError) as error:
            _end(str(error) or f"{type(error).__name__}.", meta, error)
        if not meta.get(QUIET):
            for sentence in summarise_warnings(raised, meta.get("horopca.options", {})):
                click.echo(f"Warning: {sentence}", err=True)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise Ctrl-C again where it came in a callback of a compiled library, in which Python can only report it and go on."""
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


def _end(sentence: str, meta: Mapping[str, Any], error: BaseException) -> NoReturn:
    sentence = " ".join([sentence, *getattr(error, "__notes__", ())])
    sentence = as_options(sentence, meta.get("horopca.options", {})).replace(str(meta.get(STDIN, "\0")), "standard input")
    click.echo(f"Error: {sentence}", err=True)
    raise SystemExit(1)


def as_options(sentence: str, options: Mapping[str, str]) -> str:
    """A sentence of the library with its arguments as options of the command: model='lorentz' is --model lorentz."""
    words = sentence.split(" ")
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name not in options or not (equals or words[i + 1 : i + 2] == ["must"]):
            continue
        said = value.removeprefix("True").replace("'", "").replace('"', "")
        words[i] = f"{options[name]} {said}" if any(letter.isalnum() for letter in said) else options[name] + said
    return " ".join(words).replace("None for all", "all")


def summarise_warnings(raised: list[warnings.WarningMessage], options: Mapping[str, str]) -> list[str]:
    """Each warning once, and all searches that did not converge in one sentence, which names options that there are."""
    unfinished = [w for w in raised if w.category.__name__ == "ConvergenceWarning"]
    others = Counter(str(w.message) for w in raised if w not in unfinished)
    said = [as_options(text, options) + (f" (This was said {n} times.)" if n > 1 else "") for text, n in others.items()]
    if unfinished:
        first, count = str(unfinished[0].message).split(". ")[0].rstrip("."), len(unfinished)
        many = f"{count} fits ended before they converged, the first: " if count > 1 else ""
        remedy = " or another ".join(options[name] for name in ("max_iter", "seed") if name in options)
        said.append(f"{many}{first}. What was found is shown" + (f"; {remedy} may find better." if remedy else "."))
    return said


# ---------------------------------------------------------------- progress


def is_quiet() -> bool:
    context = get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def status(text: str) -> AbstractContextManager[Any]:
    """A line on stderr while the work goes on, if somebody watches."""
    console = Console(stderr=True)
    return console.status(Text(f"{text} …")) if console.is_terminal and not is_quiet() else nullcontext()


class Count(ProgressColumn):
    """How much is done, once it is known how much there is to do."""

    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{task.completed:,.0f} of {task.total:,.0f}")


class Bar(NamedTuple):
    """A bar on stderr, to be told how far the work is."""

    progress: Progress
    task: TaskID

    def update(self, done: int, total: int, doing: str | None = None) -> None:
        self.progress.update(self.task, completed=done, total=total, description=doing)

    def log(self, sentence: str) -> None:
        if not is_quiet():
            self.progress.console.print(Text(sentence), soft_wrap=True)


@contextmanager
def progress_bar(title: str) -> Iterator[Bar]:
    """A bar on stderr while the work goes on, if somebody watches."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), Count(), TimeElapsedColumn(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal or is_quiet()) as progress:
        yield Bar(progress, progress.add_task(title, total=None))


# ---------------------------------------------------------------- results


def print_rows(rows: Mapping[str, str], title: str | None = None, *, err: bool = False) -> None:
    """A name and what is to be said of it on each line; nothing where quiet was asked for."""
    if is_quiet():
        return
    table = Table(show_header=False, box=None, title=title, title_justify="left", title_style="bold")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, value)
    Console(markup=False, highlight=False, stderr=err).print(table)


def print_table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *, bold: int | None = None, below: str | None = None
) -> None:
    """A table with its title, one of its rows perhaps in bold, and perhaps a sentence below."""
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
    """The value as JSON has it: paths as text, NumPy's numbers as numbers, NaN as null."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [jsonable(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
