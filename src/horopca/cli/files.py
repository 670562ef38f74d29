"""The files of a command: none of its results may replace what it reads, and they are written together or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import rich_click as click

from .._input.coordinates import check_coordinates
from .._input.recognition import choose_coordinates
from ..geometry import clip
from ..io import Table, check_output, load
from ..io.files import named
from ..io.metadata import read_side_file
from ..io.output import OutputSet, is_same
from .options import PLAIN, Reading, option_of

ARGUMENTS = ("input", "points", "graph")
STDOUT = Path("-")
STDOUT_FORMAT = ".csv"
Writer = Callable[[Path], object]  # writes a file at a path
FULL = "The disk is full, or the file may not grow so large"


class Output(NamedTuple):
    """A file to be written: the option that asks for it, its path if it was given, and what it may be."""

    option: str
    path: Path | None
    formats: Sequence[str] = ()
    check: Callable[..., Path] = check_output


def check_files(inputs: Mapping[str, Path | None], outputs: Iterable[Output], *, force: bool) -> None:
    """Refuse, before any work, outputs that could not be written, that are read by the command or that are one another.

    Inputs are called as the arguments of the command are. One file is another also through links, and where one is a store
    and the other a part of it.
    """
    known = [
        (name.upper() if name in ARGUMENTS else option_of(name), path) for name, path in inputs.items() if path is not None
    ]
    for option, path, formats, check in outputs:
        if path is None or (path == STDOUT and STDOUT_FORMAT in formats):
            continue
        for name, other in known:
            if is_same(path, other):
                raise click.UsageError(f"{option} {path} is {name} {other} as well: the result needs a file of its own.")
        check(path, force=force, **({"formats": formats} if formats else {}))
        known.append((option, path))


def write_files(writers: Iterable[tuple[Path | None, Writer]], *, force: bool, outputs: OutputSet | None = None) -> None:
    """Write several files, all of them or none. A path of None is skipped.

    `outputs` may hold outputs that are written already: they are published with the others.
    """
    outputs = OutputSet(force=force) if outputs is None else outputs
    with outputs:
        to_stdout = []
        for path, write in writers:
            if path == STDOUT:
                to_stdout.append(Path(outputs.enter_context(tempfile.TemporaryDirectory())) / f"stdout{STDOUT_FORMAT}")
                write(to_stdout[-1])
            elif path is not None:
                with _written(path):
                    write(outputs.add(path))
        for path in to_stdout:
            _warn_unstated(read_side_file(path))
            with open(path, "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        outputs.publish()


def _warn_unstated(metadata: Mapping[str, Any]) -> None:
    """Standard output has no place for metadata: name the options that the next command needs."""
    default = Reading().place()
    options = [f"--{name} {metadata[name]}" for name in default if metadata.get(name, default[name]) != default[name]]
    if options:
        warnings.warn(f"Standard output does not state the model: pass {' '.join(options)} to what reads it.", stacklevel=2)


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Failures to write with the name of the user's file, which is not that of the one beside it, and with their cause."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise OSError(error.errno, error.strerror or os.strerror(error.errno), str(path)) from error
        if type(error) is not OSError:
            raise  # a sentence of ours
        cause = FULL if str(error).endswith("written") else str(error)  # NumPy counts what it has written
        raise OSError(f"{path} could not be written: {cause.rstrip('.')}.") from error


# ---------------------------------------------------------------- reading


def read(path: Path, reading: Reading = PLAIN, *, allow_nonfinite: bool = False) -> Table:
    """The table in a file, its points clipped to the ball if that is asked for, which is told."""
    with named(path):
        table = load(
            path,
            key=reading.key,
            names=reading.name_column,
            labels=reading.label_column,
            values=reading.value_column or (),
            allow_nonfinite=allow_nonfinite,
        )
    if reading.model == "auto" and table.model is None:
        curvature = reading._replace(model=None).place(None, table.curvature)["curvature"]
        table = table._replace(model=choose_coordinates(table.X, "auto", curvature, str(path)).model)
    return table if reading.clip is None else _clipped(table, reading, reading.clip, path)


def _clipped(table: Table, reading: Reading, margin: float, path: Path) -> Table:
    coordinates = check_coordinates(**reading.place(table.model, table.curvature))
    if coordinates.model not in ("poincare", "klein"):
        raise click.UsageError(f"--clip is for points of a ball, but those of {path} are of the model {coordinates.model}.")
    sizes, radius = np.linalg.norm(table.X, axis=1), 1 / coordinates.scale
    X, over = clip(table.X, margin, radius=radius), sizes.max() - radius
    moved = int((X != table.X).any(axis=1).sum())
    if moved:
        where = f"beyond the rim by up to {over:.2g}" if over > 0 else "near the rim"
        warnings.warn(f"{moved} of {len(X)} rows of {path}, {where}, were moved inside by --clip.", stacklevel=2)
    return table._replace(X=X)
