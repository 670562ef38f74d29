"""The files of a command: no output may replace an input, and all outputs are written or none."""

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
from .console import count
from .options import Reading

ARGUMENTS = ("input", "points", "graph")
STDOUT = Path("-")
STDOUT_FORMAT = ".csv"
Writer = Callable[[Path], object]  # writes a file at a path


class Output(NamedTuple):
    """A file to write: its option, its path or None, the endings it may have, and how it is checked."""

    option: str
    path: Path | None
    formats: Sequence[str] = ()
    check: Callable[..., Path] = check_output


def check_files(inputs: Mapping[str, Path | None], outputs: Iterable[Output], *, force: bool) -> None:
    """Check before any work that every output can be written, and that none is an input or another output.

    Inputs are named by the arguments of the command. Two paths are the same file also through links, and if one is part of a
    store at the other.
    """
    known = [
        (name.upper() if name in ARGUMENTS else f"--{name.replace('_', '-')}", path)
        for name, path in inputs.items()
        if path is not None
    ]
    for option, path, formats, check in outputs:
        if path is None or (path == STDOUT and STDOUT_FORMAT in formats):
            continue
        for name, other in known:
            if is_same(path, other):
                raise click.UsageError(f"{option} {path} is the same file as {name} {other}: choose another output.")
        check(path, force=force, **({"formats": formats} if formats else {}))
        known.append((option, path))


def write_files(writers: Iterable[tuple[Path | None, Writer]], *, force: bool, outputs: OutputSet | None = None) -> None:
    """Write several files, all of them or none. A path of None is skipped.

    `outputs` may hold outputs that are written already: they are published with the others.
    """
    with OutputSet(force=force) if outputs is None else outputs as outputs:
        printed = []
        for path, write in writers:
            if path == STDOUT:
                printed.append(Path(outputs.enter_context(tempfile.TemporaryDirectory())) / f"stdout{STDOUT_FORMAT}")
                write(printed[-1])
            elif path is not None:
                with _write_errors(path):
                    write(outputs.add(path))
        for path in printed:
            _warn_unstated(read_side_file(path))
            with open(path, "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        outputs.publish()


def _warn_unstated(metadata: Mapping[str, Any]) -> None:
    """A table on standard output cannot state its model: name the options that the next command needs."""
    default = Reading().coordinates()
    options = [f"--{name} {metadata[name]}" for name in default if metadata.get(name, default[name]) != default[name]]
    if options:
        warnings.warn(f"Standard output does not state the model: pass {' '.join(options)} to the next command.", stacklevel=2)


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Errors that name the user's file rather than the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise OSError(error.errno, error.strerror or os.strerror(error.errno), str(path)) from error
        if type(error) is not OSError:
            raise
        # NumPy's error for a short write has no number
        raise OSError(f"{path} could not be written, perhaps because the disk is full: {str(error).rstrip('.')}.") from error


# ---------------------------------------------------------------- reading


def read(path: Path, reading: Reading | None = None, *, allow_nonfinite: bool = False, **columns: Any) -> Table:
    """The table in a file, with its model if ``--model auto`` finds one, and its points clipped if ``--clip`` is given."""
    reading = reading or Reading()
    with named(path):
        table = load(path, key=reading.key, allow_nonfinite=allow_nonfinite, **columns)
    if reading.model == "auto" and table.model is None:
        curvature = reading._replace(model=None).coordinates(None, table.curvature)["curvature"]
        table = table._replace(model=choose_coordinates(table.X, "auto", curvature, str(path)).model)
    return table if reading.clip is None else _clip(table, reading, reading.clip, path)


def _clip(table: Table, reading: Reading, margin: float, path: Path) -> Table:
    coordinates = check_coordinates(**reading.coordinates(table.model, table.curvature))
    if coordinates.model not in ("poincare", "klein"):
        raise click.UsageError(f"--clip is for points of a ball, but those of {path} are in the model {coordinates.model}.")
    norms, radius = np.linalg.norm(table.X, axis=1), 1 / coordinates.scale
    X, over = clip(table.X, margin, radius=radius), norms.max() - radius
    moved = int((X != table.X).any(axis=1).sum())
    if moved:
        where = f"up to {over:.2g} outside the ball" if over > 0 else "near the rim"
        warnings.warn(f"--clip moved {count(moved, 'row')} of {len(X):,} in {path} inside: they were {where}.", stacklevel=2)
    return table._replace(X=X)
