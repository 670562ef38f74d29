"""Reducing a file that is larger than memory, a block of rows at a time, so that an interruption costs one block.

While the work goes on there are two files beside the output. ``out.npy.partial`` is what will be the output; whoever
writes it holds a lock on it, which the system takes back when the process ends, however it ends. ``out.npy.partial.npz``, the
journal, is the fitted estimator with a note of what was asked for, a digest of every block of the input, and a digest of every
block that is written: the rows are on the disk before the note says so. Whoever resumes checks the digests. At the end the
first file is renamed and the second removed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeAlias

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .arrays import map_npy, read_members
from .files import check_finite, existing
from .fits import as_member, from_member, pack, unpack, write_members
from .output import BLOCKS, check_output, is_same
from .partial import beside, claimed, folder_to_disk, to_disk

LARGE = 1 << 26  # A .npy file of more bytes than this is not read at once.
BLOCK_BYTES = 1 << 25  # One step takes at most so many bytes of the input.
STREAMED = tuple(BLOCKS)
TAKEN_ROWS = 1 << 10  # So many single rows are taken from one mapping: each brings in some 64 KB around it.
Progress: TypeAlias = Callable[[int, int], None]
Say: TypeAlias = Callable[[str], None]
CHANGES = {"version": "by another version of horopca", "input": "on another input", "options": "with other options"}


class Streamed(NamedTuple):
    """What `reduce_file` has done."""

    estimator: Any  #: fitted
    n_rows: int  #: rows read and written
    resumed_at: int  #: the row that this call began with


def reduce_file(
    input: str | Path,
    output: str | Path,
    estimator: Any,
    *,
    force: bool = False,
    restart: bool = False,
    progress: Progress = lambda done, total: None,
    say: Say = lambda sentence: None,
) -> Streamed:
    """Fit an estimator to the rows of a ``.npy`` file, of any size, and write their images to another file.

    The file is mapped for the fit, then read and transformed a block of rows at a time. If the call ends early, for
    whatever reason, the same call resumes at the block that it was at, with the fit that was made. The output is
    complete or absent.

    Parameters
    ----------
    input : str or Path
        A ``.npy`` file of float32 or float64 numbers, one point to a row.
    output : str or Path
        ``.npy`` (of the same dtype), ``.csv`` or ``.tsv``.
    estimator : a reduction
        Fitted to the input unless it is fitted already.
    force : bool, default=False
        Overwrite an existing output.
    restart : bool, default=False
        Begin anew even where an interrupted call could be resumed.
    progress : callable
        Called with the rows done and all rows, at the beginning and after every block.
    say : callable
        Called with a sentence where the call resumes, or begins anew what it cannot resume.

    Returns
    -------
    Streamed
        ``estimator``, ``n_rows`` and ``resumed_at``.

    Examples
    --------
    >>> import tempfile
    >>> from horopca import TangentPCA
    >>> from horopca.datasets import make_hierarchy
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "points.npy", make_hierarchy(random_state=0).points)
    >>> done = reduce_file(folder / "points.npy", folder / "plane.npy", TangentPCA(2))
    >>> np.load(folder / "plane.npy").shape
    (121, 2)
    """
    with unnamed_reduction(input, output, estimator, force=force, restart=restart, progress=progress, say=say) as done:
        return done


@contextmanager
def unnamed_reduction(
    input: str | Path, output: str | Path, estimator: Any, *, force: bool, restart: bool, progress: Progress, say: Say
) -> Iterator[Streamed]:
    """What `reduce_file` does, but the output gets its name when the block ends, and can be resumed if that fails."""
    source = Source.of(input)
    output = check_output(output, force=force, formats=STREAMED)
    if is_same(output, source.path):
        raise ValueError(f"output {output} is the input as well: the result needs a file of its own.")
    request = {"version": __version__, "input": source.fingerprint(), "options": _options(estimator, output)}
    with claimed(beside(output, ".partial")) as file:
        job = Job(source, output, request, file, say)
        begun = job.begun(restart)
        resumed_at = job.rows(begun) if begun else 0
        _refuse_full_disk(estimator, source, output, resumed_at)
        state = begun or job.begin(estimator)
        progress(resumed_at, source.shape[0])
        for done in job.blocks(state):
            progress(done, source.shape[0])
        yield Streamed(state.estimator, source.shape[0], resumed_at)
        job.finish(force)


class Source(NamedTuple):
    """A file of rows, mapped anew whenever some are wanted, so that no page of it stays in memory."""

    path: Path
    shape: tuple[int, int]
    dtype: np.dtype

    @classmethod
    def of(cls, path: str | Path) -> Source:
        path = existing(path)
        if path.suffix.lower() != ".npy":
            raise ValueError(f"{path} cannot be read a block at a time: only a .npy file can.")
        X = map_npy(path)
        if X.ndim != 2 or 0 in X.shape:
            raise ValueError(f"{path} must hold one point per row, but its array has shape {X.shape}.")
        if not _is_float(X.dtype):
            raise ValueError(f"{path} must hold float32 or float64 to be read a block at a time, but holds {X.dtype}.")
        return cls(path, X.shape, X.dtype)

    @property
    def block_rows(self) -> int:
        """Rows in a block: a power of two, so that the blocks of an estimator fit into it."""
        fitting = max(1, BLOCK_BYTES // (self.shape[1] * self.dtype.itemsize))
        return 1 << (fitting.bit_length() - 1)

    def rows(self, start: int, stop: int, step: int = 1) -> np.ndarray:
        X = map_npy(self.path)
        if X.shape != self.shape or X.dtype != self.dtype:
            raise ValueError(f"{self.path} has changed while it was read. Run it again.")
        return np.array(X[start:stop:step])

    def take(self, indices: np.ndarray) -> np.ndarray:
        parts = [indices[start : start + TAKEN_ROWS] for start in range(0, len(indices), TAKEN_ROWS)]
        return np.concatenate([np.array(map_npy(self.path)[part]) for part in parts])

    def fingerprint(self) -> dict[str, Any]:
        """What tells this input from another, or from itself after a change."""
        status = self.path.stat()
        return {
            "path": str(self.path.resolve()),
            "size": status.st_size,
            "mtime_ns": status.st_mtime_ns,
            "shape": list(self.shape),
            "dtype": self.dtype.str,
        }

    def digests(self, block_rows: int) -> list[str]:
        """A digest of the rows of every block."""
        return [digest(self.rows(start, start + block_rows)) for start in range(0, self.shape[0], block_rows)]


def digest(content: np.ndarray | bytes) -> str:
    """What tells these bytes from others."""
    return hashlib.sha256(content if isinstance(content, bytes) else np.ascontiguousarray(content).data).hexdigest()[:32]


class State(NamedTuple):
    """How far a job is."""

    estimator: Any
    block_rows: int
    read: list[str]  # digests of the rows of every block of the input
    written: list[tuple[int, str]]  # for every block that is done, the bytes it takes and their digest

    @property
    def bytes(self) -> int:
        return sum(size for size, _ in self.written)


class Job:
    """A reduction under way: its input, its output, and the partial file that this process holds."""

    def __init__(self, source: Source, output: Path, request: dict[str, Any], file: BinaryIO, say: Say) -> None:
        self.source, self.output, self.request, self.file, self.say = source, output, request, file, say
        self.partial, self.journal = beside(output, ".partial"), beside(output, ".partial.npz")

    def begun(self, restart: bool) -> State | None:
        """Where an interrupted job can be resumed, or None."""
        size = os.fstat(self.file.fileno()).st_size
        if restart or not (size or self.journal.exists()):
            self._discard()
            return None
        if not self.journal.exists():
            raise FileExistsError(
                f"{self.partial} exists without the journal {self.journal.name} that would tell what it is: remove it, or "
                "restart (on the command line, --restart)."
            )
        state, why_not = self._read_journal(size)
        if state is None:
            self.say(f"Starting anew: {self.partial} was begun {why_not}.")
            self._discard()
        else:
            self.say(f"Resuming at row {self.rows(state):,} of {self.source.shape[0]:,}; the fit is taken from {self.journal}.")
        return state

    def rows(self, state: State) -> int:
        """How many rows are done."""
        return min(len(state.written) * state.block_rows, self.source.shape[0])

    def _read_journal(self, size: int) -> tuple[State | None, str]:
        """The state in the journal of a partial file of this size; or None, and what is in the way of taking it up."""
        try:
            members = read_members(self.journal)
            note = from_member(members["journal"])
            changes = [words for key, words in CHANGES.items() if note["request"][key] != self.request[key]]
            if changes:
                return None, changes[0]
            written = [(int(length), str(mark)) for length, mark in note["written"]]
            state = State(unpack(members, self.journal), int(note["block_rows"]), list(note["read"]), written)
            blocks = -(-self.source.shape[0] // state.block_rows)
            sound = len(state.read) == blocks >= len(written) and min((length for length, _ in written), default=0) >= 0
        except (ValueError, KeyError, TypeError, ArithmeticError):
            sound = False
        if not sound or state.bytes > size:
            return None, "and its journal does not fit it"
        if self.source.digests(state.block_rows) != state.read:
            return None, CHANGES["input"]
        return self._undamaged(state), ""

    def _undamaged(self, state: State) -> State:
        """The state with the blocks up to the first whose bytes are not those that were written."""
        self.file.seek(0)
        for k, (length, mark) in enumerate(state.written):
            if digest(self.file.read(length)) != mark:
                self.say(f"Rows from {k * state.block_rows:,} are damaged in {self.partial}, and are made again.")
                return state._replace(written=state.written[:k])
        return state

    def _discard(self) -> None:
        self.journal.unlink(missing_ok=True)
        self.file.truncate(0)

    def begin(self, estimator: Any) -> State:
        """Fit, and keep the fit in the journal."""
        block_rows = self.source.block_rows
        read = self.source.digests(block_rows)
        fit_to(estimator, self.source)
        state = State(estimator, block_rows, read, [])
        self._note(state, 0)
        return state

    def _note(self, state: State, before: int) -> None:
        """Keep in the journal how far the job is, where it said `before`; the rows have to be on the disk."""
        note = {"request": self.request, "block_rows": state.block_rows, "read": state.read, "written": state.written}
        temporary = beside(self.journal, ".new")
        with self._told(before, temporary):
            temporary.unlink(missing_ok=True)
            write_members(temporary, {**pack(state.estimator), "journal": as_member(note)})
            temporary.replace(self.journal)

    def blocks(self, state: State) -> Iterator[int]:
        """Transform and write what is left, a block at a time; the number of rows done after each."""
        n, write = self.source.shape[0], BLOCKS[self.output.suffix.lower()]
        for start in range(self.rows(state), n, state.block_rows):
            X = self._block(state, start)
            content = write(self._images(state.estimator, X, start), start, n)
            with self._told(start, self.partial):
                self.file.seek(state.bytes)
                self.file.truncate()
                self.file.write(content)
                to_disk(self.file)
            state = state._replace(written=[*state.written, (len(content), digest(content))])
            self._note(state, start)
            yield self.rows(state)

    def _block(self, state: State, start: int) -> np.ndarray:
        """The rows of a block, the same as at the beginning of the job."""
        try:
            X = self.source.rows(start, start + state.block_rows)
        except ValueError:  # the file is cut short
            self._discard()
            raise
        if digest(X) != state.read[start // state.block_rows]:
            self._refuse_changed()
        return X

    def _images(self, estimator: Any, X: np.ndarray, start: int) -> np.ndarray:
        try:
            return np.asarray(estimator.transform(X))
        except ValueError as error:
            self._discard()  # it would end here again
            where = f"{self.source.path}, rows {start:,} to {start + len(X) - 1:,}"
            raise ValueError(f"{where} (below they are counted from 0): {error}" if start else f"{where}: {error}") from error

    def finish(self, force: bool) -> None:
        """Give the output its name."""
        if self.source.fingerprint() != self.request["input"]:
            self._refuse_changed()
        check_output(self.output, force=force)  # somebody may have written it meanwhile
        if os.name == "nt":  # where an open file cannot be renamed
            self.file.close()
        self.partial.replace(self.output)
        folder_to_disk(self.output.parent)
        self.journal.unlink(missing_ok=True)

    def _refuse_changed(self) -> NoReturn:
        self._discard()
        raise ValueError(f"{self.source.path} has changed while it was reduced: nothing was written. Run it again.")

    @contextmanager
    def _told(self, rows: int, path: Path) -> Iterator[None]:
        """A failure to write, such as a full disk, with the file's name and what is to be done."""
        try:
            yield
        except OSError as error:
            beside(self.journal, ".new").unlink(missing_ok=True)
            kept = f"; {rows:,} rows are kept in {self.partial}, and the same command resumes there" if rows else ""
            raise OSError(error.errno, f"{error.strerror}{kept}", str(path)) from error


# ---------------------------------------------------------------- before the work


def is_large(path: str | Path) -> bool:
    """Whether a file is better reduced a block at a time: a ``.npy`` of more than 64 MiB, of float32 or float64."""
    path = Path(path)
    return path.is_file() and path.stat().st_size > LARGE and can_stream(path)


def can_stream(path: Path) -> bool:
    """Whether a file can be read a block at a time: a ``.npy`` with a matrix of float32 or float64."""
    if path.suffix.lower() != ".npy" or not path.is_file():
        return False
    X = map_npy(path)
    return X.ndim == 2 and X.size > 0 and _is_float(X.dtype)


def _is_float(dtype: np.dtype) -> bool:
    return dtype.isnative and dtype in (np.float32, np.float64)


def _options(estimator: Any, output: Path) -> dict[str, str]:
    """What is asked for: the format, and a digest of the estimator with its parameters and all it may have learnt."""
    digest = hashlib.sha256()
    for name, array in pack(estimator).items():
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode() + array.tobytes())
    return {"format": output.suffix.lower(), "estimator": digest.hexdigest()}


def _refuse_full_disk(estimator: Any, source: Source, output: Path, done: int) -> None:
    """Say before the work that the output has no room, as far as that can be told."""
    columns = getattr(estimator, "n_components_", estimator.n_components)  # before a fit it may be a share of the variance
    need = (source.shape[0] - done) * (columns if isinstance(columns, int) else 1) * source.dtype.itemsize
    free = shutil.disk_usage(output.parent).free
    if need > free:
        raise OSError(f"{output} needs {need / 1e9:.3g} GB more, but its disk has {free / 1e9:.3g} GB left.")


def fit_to(estimator: Any, source: Source) -> None:
    """Fit the estimator to the mapped file, unless it is fitted."""
    try:
        check_is_fitted(estimator)
        return
    except NotFittedError:
        pass
    try:
        estimator.fit(map_npy(source.path))
    except ValueError:
        steps = range(0, source.shape[0], source.block_rows)
        check_finite((source.rows(start, start + source.block_rows) for start in steps), source.path)  # by their numbers
        raise
