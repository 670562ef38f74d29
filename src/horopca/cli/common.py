"""What the commands share: options, sentences for errors, tables and JSON, pictures."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import rich_click as click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._points.door import check_door
from ..geometry import from_hyperboloid
from ..io import atomic_output, check_output, load_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".pdf", ".svg")


@contextmanager
def sentences() -> Iterator[None]:
    """What a user can mend ends the program in one sentence on stderr, never in a traceback."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: click.echo(f"Warning: {message}", err=True)
        try:
            yield
        except OSError as error:
            _end(f"{error.filename}: {error.strerror}." if error.strerror else str(error))
        except (ValueError, ImportError, MemoryError) as error:
            _end(str(error))


def _end(sentence: str) -> NoReturn:
    click.echo(f"Error: {in_options(sentence)}", err=True)
    raise SystemExit(1)


def in_options(sentence: str) -> str:
    """A sentence of the library with its arguments as options: model='lorentz' becomes --model lorentz."""
    return re.sub(r"\b(model|curvature|spine|key|metric|scale)=(['\"]?)([\w.+-]*\w)\2", r"--\1 \3", sentence)


def choice(name: str, values: Sequence[str], help: str) -> Callable:
    """An option with a few values, the first of them the default."""
    return click.option(f"--{name}", type=click.Choice(values), default=values[0], show_default=True, help=help)


def file(*names: str, help: str) -> Callable:
    return click.option(*names, type=click.Path(path_type=Path), help=help)


components_option = click.option(
    "-k", "--components", type=click.IntRange(min=1), default=2, show_default=True, help="Dimensions to keep."
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random numbers."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on standard output.")
force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")


def _labels(path: Path, n: int) -> list[str]:
    labels = load_labels(path)
    if len(labels) != n:
        raise ValueError(f"{path} must hold one label for each of the {n} rows, but holds {len(labels)}.")
    return labels


def _on_disk(Y: Any, model: str, curvature: float) -> np.ndarray:
    return from_hyperboloid(check_door(model, curvature).enter(Y), "poincare")


def _figure(path: Path, force: bool) -> Figure:
    """A figure to draw on, once it is known that the picture can be written."""
    from ..plots import new_figure  # with matplotlib, which is optional

    check_output(path, force=force, formats=PICTURES)
    return new_figure(interactive=False)


def _draw(figure: Figure, path: Path, force: bool, Y: np.ndarray, labels: Any = None, **options: Any) -> None:
    from ..plots import plot_plane

    plot_plane(Y, labels, ax=figure.subplots(), **options)
    with atomic_output(path, force=force) as temporary:
        figure.savefig(temporary, dpi=160, bbox_inches="tight")


def _working(text: str) -> AbstractContextManager:
    """A line on stderr while the work goes on, if somebody watches."""
    console = Console(stderr=True)
    return console.status(Text(f"{text} …")) if console.is_terminal else nullcontext()


def _print_table(rows: dict[str, str], title: str | None = None) -> None:
    table = Table(show_header=False, box=None, title=title, title_justify="left", title_style="bold")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, value)
    Console(markup=False, highlight=False).print(table)


def _print_json(values: dict[str, Any]) -> None:
    click.echo(json.dumps({key: _plain(value) for key, value in values.items()}, indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    """The value as JSON has it: paths as text, NumPy's numbers as numbers, NaN as null."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
