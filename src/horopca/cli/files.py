"""The files of a command: how they are read, checked before any work, and written, all of them or none."""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from click import Context, Parameter, get_current_context

from .. import geometry, plots
from .._input.coordinates import check_coordinates
from .._input.rows import choose_coordinates
from ..io import Table, describe
from ..io.files import check_finite, listed, named, with_columns
from ..io.metadata import read_side_file, with_metadata
from ..io.output import OutputSet, check_output, is_same, sibling
from ..io.reading import COMPRESSIBLE, chosen_columns, read_table
from ..io.streaming import PARTIAL
from ..io.text import ending, is_word2vec
from ..plots.figures import new_figure
from .console import count, state

STDOUT = Path("-")
STDOUT_FORMAT = ".csv"
WORD_VECTORS = (".kv", ".model", ".bin")  # Files of gensim and word2vec. gensim's Poincaré models state their model.
PICTURES = (".png", ".pdf", ".svg")
PAGES = (".html", ".htm")
MODELS = tuple(geometry.MODELS)
DEFAULT_COORDINATES: dict[str, Any] = {"model": MODELS[0], "curvature": -1.0}
PEEKED_BYTES = 1 << 16  # A header line of standard input is shorter than this: it is searched for a tab.
Writer = Callable[[Path], object] | Any  # writes a file at a path; or a figure, which is saved there


class InputFile(click.ParamType):  # type: ignore[type-arg]  # generic only in new versions of click
    """A file to read; ``-`` is standard input, which is copied, because readers look at a file more than once."""

    name = "file"

    def convert(self, value: Any, param: Parameter | None, ctx: Context | None) -> Path:
        if value != "-":
            return Path(value)
        if state().stdin is not None:
            raise click.UsageError("Standard input (-) can be read only once: pass the other input as a file.")
        folder = Path(get_current_context().find_root().with_resource(tempfile.TemporaryDirectory(prefix="horopca-")))
        with open(folder / "stdin", "wb") as file:
            tabs = b"\t" in (line := sys.stdin.buffer.readline(PEEKED_BYTES))
            file.write(line)
            shutil.copyfileobj(sys.stdin.buffer, file)
        state().stdin = copy = (folder / "stdin").rename(folder / f"stdin{'.tsv' if tabs else '.csv'}")
        return copy


class OutputFile(click.Path):
    """A file to write; `after` is the parameter whose file, with the first of the endings, is the default."""

    def __init__(self, formats: Sequence[str], after: str | None) -> None:
        super().__init__(path_type=Path)
        self.formats, self.after = formats, after


def check_files(context: Context) -> None:
    """Check before any work that every output can be written, and that none is an input or another output, also by links."""
    values, params = context.params, context.command.params
    inputs = {param.name: param for param in params if isinstance(param.type, InputFile) and values[param.name] is not None}
    known = [(_name_of(param), values[name]) for name, param in inputs.items()]
    for param, kind in ((param, param.type) for param in params if isinstance(param.type, OutputFile)):
        path, option = values[param.name], _name_of(param)
        if path is None and kind.after is not None:
            source = values[kind.after]
            path = Path(source.name) if kind.after in inputs else source
            values[param.name] = path = path.with_suffix(kind.formats[0])
        if path == STDOUT and STDOUT_FORMAT in kind.formats:
            if state().as_json:
                raise click.UsageError("-o - and --json both write to standard output. Write one of them to a file.")
        elif path is not None:
            written = [(option, path), *((f"the unfinished {option},", sibling(path, end)) for end in PARTIAL)]
            for (title, output), (name, other) in product(written, known):
                if is_same(output, other):
                    relation = "contains" if output.resolve() in other.resolve().parents else "is the same file as"
                    raise click.UsageError(f"{title} {output} {relation} {name} {other}: choose another output.")
            check_output(path, force=state().force, formats=kind.formats)
            known += written


def _name_of(param: Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else str(param.name).upper()


class Reading(NamedTuple):
    """How to read the points in a file, and what to colour them by."""

    model: str | None = None
    curvature: float | str | None = None  # a string is the name of a number in the file, which is looked up when it is read
    key: str | None = None
    clip: float | None = None
    metadata: Path | None = None
    colour_by: list[str] | None = None  # the column to colour by, and others that are not coordinates

    def coordinates(self, model: str | None = None, curvature: float | None = None) -> dict[str, Any]:
        """Model and curvature, of the options or as the file states. Raises ValueError if an option contradicts the file."""
        if self.model == "auto" and model is None:
            raise click.UsageError(
                "--model auto needs the points in memory. Pass one of the models that `horopca info` lists as fitting."
            )
        found = dict(DEFAULT_COORDINATES)
        for name, stated in (("model", model), ("curvature", curvature)):
            option = getattr(self, name)
            if isinstance(option, str) and option not in MODELS:  # "auto", or the name of a number: `read` finds the value
                option = None
            if None not in (option, stated) and option != stated:
                fit = get_current_context().params.get("from_fit")
                given, remedy = (f"--{name}", f" Leave out --{name}.") if fit is None else (f"the {name} of {fit},", "")
                raise ValueError(f"{given} {option} contradicts the file, which states {name} {stated}.{remedy}")
            found[name] = next(value for value in (option, stated, found[name]) if value is not None)
        return found


def read(path: Path, reading: Reading | None = None, *, allow_nonfinite: bool = False, values: Collection[str] = ()) -> Table:
    """The table in a file, with the model that ``--model auto`` finds, and clipped; `values` are no coordinates."""
    reading = reading or Reading()
    table = read_table(path, reading.key)
    numeric = [name for name in table.names or () if name in values]
    table = with_columns(table, path, columns=chosen_columns(path, reading.key), values=numeric)
    if not allow_nonfinite:
        check_finite([table.X], path)
    if reading.model is None and reading.curvature is None and table.model is None:
        _warn_euclidean(table, path)
    if isinstance(reading.curvature, str):
        table = with_metadata(table, {"curvature": _curvature_in(table, reading.curvature, path)}, path)
    if reading.model == "auto" and table.model is None:
        curvature = reading._replace(model=None).coordinates(None, table.curvature)["curvature"]
        table = table._replace(model=choose_coordinates(table.X, "auto", curvature, str(path)).model)
    return table if reading.clip is None else _clip(table, reading, reading.clip, path)


def _warn_euclidean(table: Table, path: Path) -> None:
    """Warn if vectors of gensim or word2vec lie in the unit ball without evidence that they are hyperbolic."""
    if ending(path) in WORD_VECTORS or (ending(path) in COMPRESSIBLE and is_word2vec(path)):
        found = describe(table.X)
        if found.fits["poincare"] and found.model is None:
            warnings.warn(
                f"{path} looks like Euclidean word vectors of gensim or word2vec, for which sklearn.decomposition.PCA is the "
                "tool. If they are points of the Poincaré ball, pass --model poincare.",
                stacklevel=3,
            )


def _curvature_in(table: Table, key: str, path: Path) -> float:
    """The curvature that a file stores as the number `key`, with either sign; or, for "log:KEY", as a logarithm."""
    name = key.removeprefix("log:")
    found = {name: value for name, value in table.contents.items() if isinstance(value, int | float)}
    if name not in found:
        named = f", or the name of one in {path}: {listed(found)};" if found else ","
        raise ValueError(f"--curvature must be a number{named} but is {key!r}.")
    with np.errstate(over="ignore"):
        return -float(np.exp(found[name])) if key.startswith("log:") else -float(abs(found[name]))


def _clip(table: Table, reading: Reading, margin: float, path: Path) -> Table:
    coordinates = check_coordinates(**reading.coordinates(table.model, table.curvature))
    if coordinates.row.domain != "ball":
        raise click.UsageError(f"--clip is for points of a ball, but those of {path} are in the model {coordinates.model}.")
    norms, radius = np.linalg.norm(table.X, axis=1), 1 / coordinates.scale
    X, over = geometry.clip(table.X, margin, radius=radius), norms.max() - radius
    moved = int((X != table.X).any(axis=1).sum())
    if moved:
        where = f"up to {over:.2g} outside the ball" if over > 0 else "near the boundary"
        warnings.warn(f"--clip moved {count(moved, 'row')} of {len(X):,} in {path} inside: they were {where}.", stacklevel=2)
    return table._replace(X=X)


def figure_for(path: Path | None) -> Any:
    """A figure of matplotlib if there is a picture to draw. Raises ImportError before the work if matplotlib is missing."""
    return None if path is None else new_figure(interactive=False)


def write_files(*writers: tuple[Path | None, Writer], outputs: OutputSet | None = None) -> None:
    """Write several files, all of them or none, together with the files already in `outputs`. A path of None is skipped."""
    with OutputSet(force=state().force) if outputs is None else outputs as outputs:
        printed = None
        for path, writer in writers:
            write = writer if callable(writer) else partial(plots.save_figure, writer)
            if path == STDOUT:
                printed = Path(outputs.enter_context(tempfile.TemporaryDirectory())) / f"stdout{STDOUT_FORMAT}"
                write(printed)
            elif path is not None:
                with named(path, replace=True):
                    write(outputs.add(path))
        if printed is not None:
            _print_file(printed)
        outputs.publish()


def _print_file(path: Path) -> None:
    """Print a table. It cannot state its model: a warning names the options that the next command needs."""
    stated = read_side_file(path)
    options = [f"--{name} {stated[name]}" for name, value in DEFAULT_COORDINATES.items() if stated.get(name, value) != value]
    if options:
        warnings.warn(f"Standard output does not state the model: pass {' '.join(options)} to the next command.", stacklevel=2)
    sys.stdout.buffer.write(path.read_bytes())
    sys.stdout.buffer.flush()
