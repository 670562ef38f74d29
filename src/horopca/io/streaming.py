"""Reduce a ``.npy`` file that may be larger than memory, one block of rows at a time. An interruption loses at most one block.

Until the output is complete there are three files beside it. ``out.npy.partial`` holds the finished rows; the process that
writes it holds a lock. ``out.npy.partial.npz`` is the fitted estimator. ``out.npy.partial.jsonl`` is the journal: a line that
describes the call, and a line for each finished block with the size of the partial file and the CRC of the block. A block is on
the disk before the journal mentions it.
"""

from __future__ import annotations

import json
import operator
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import joblib
import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._input.progress import Progress, logged
from .arrays import Source, map_npy
from .files import check_finite, named
from .fits import load_fitted, provenance, to_members, write_members
from .metadata import side_file, write_side_file
from .output import BLOCKS, OutputSet, check_output, fsync_file, fsync_folder, is_same, lock, sibling

LARGE = 1 << 26  # A larger .npy file is not read into memory at once.
STREAMED = tuple(BLOCKS)  # The formats that can be written in blocks.
PARTIAL = (".partial", ".partial.npz", ".partial.jsonl")  # The suffixes of the files beside an output until it is complete.
# The first line of a journal describes the call. For each of its entries, why the call cannot be resumed if the entry differs.
REASONS = {
    "version": "it was written by another version of horopca",
    "input": "the input has changed",
    "options": "the options have changed",
}


class Streamed(NamedTuple):
    """The result of `reduce_file`."""

    estimator: Any  #: fitted
    n_rows: int  #: number of rows read and written
    resumed_at: int  #: the row at which this call started


def reduce_file(
    input: str | Path,
    output: str | Path,
    estimator: Any,
    *,
    force: bool = False,
    progress: Progress = lambda done, total: None,
    log: Callable[[str], None] = lambda message: None,
) -> Streamed:
    """Fit an estimator to the rows of a ``.npy`` file of any size, and write their images to another file.

    The file is mapped for the fit, then read and transformed one block of rows at a time. If the call is interrupted, the same
    call resumes at the block where it stopped, with the same fit. The output is complete or absent.

    Parameters
    ----------
    input : str or Path
        A ``.npy`` file of float32 or float64 numbers, one point per row.
    output : str or Path
        ``.npy`` (of the same dtype), ``.csv`` or ``.tsv``. A side file, such as ``plane.npy.json``, states its model.
    estimator : a reduction
        Fitted to the input unless it is fitted already.
    force : bool, default=False
        Overwrite an existing output.
    progress : callable
        Called as ``progress(rows_done, rows)`` at the start and after every block.
    log : callable
        Called with a message if the call resumes an interrupted one, or cannot.

    Returns
    -------
    Streamed
        ``estimator``, ``n_rows`` and ``resumed_at``.

    See Also
    --------
    load, save : for files that fit in memory

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
    with OutputSet(force=force) as outputs:
        done = add_reduced_file(outputs, input, output, estimator, logged("reduce_file", progress), log)
        outputs.publish()
    return done


def add_reduced_file(
    outputs: OutputSet,
    input: str | Path,
    output: str | Path,
    estimator: Any,
    progress: Progress,
    log: Callable[[str], None],
) -> Streamed:
    """`reduce_file` for one of several outputs. Until they are published, the call can be resumed."""
    source, output = Source.of(input), Path(output)
    partial, *others = (sibling(output, end) for end in PARTIAL)
    if partial.exists() and output.exists() and partial.samefile(output):  # complete when its process was killed
        for path in (*others, partial):
            path.unlink(missing_ok=True)
    check_output(output, force=outputs.force, formats=STREAMED)
    if is_same(output, source.path):
        raise ValueError(f"output {output} is also the input. Choose another file for the result.")
    job = outputs.enter_context(Job(source, output, estimator, log))
    job.resume()
    resumed_at = job.rows
    if not job.fitted:
        job.fit()
    progress(resumed_at, job.n)
    for done in job.run():
        progress(done, job.n)
    with named(side_file(job.partial)):
        write_side_file(job.partial, {"input": str(source.path), **provenance(job.estimator)})
    outputs.outputs.append((job.partial, output, job.check))
    return Streamed(job.estimator, job.n, resumed_at)


class Job:
    """A reduction in progress and its files: a context that locks them. After an error it keeps what is finished."""

    file: BinaryIO  # the partial file, while the context is open

    def __init__(self, source: Source, output: Path, estimator: Any, log: Callable[[str], None]) -> None:
        self.source, self.output, self.estimator, self.log = source, output, estimator, log
        self.partial, self.saved_fit, self.journal = (sibling(output, end) for end in PARTIAL)
        self.n = source.shape[0]
        self.call = {
            "version": __version__,
            "input": source.fingerprint(),
            "options": [output.suffix.lower(), source.block_rows, joblib.hash(to_members(estimator))],
        }
        self.size, self.rows, self.fitted = 0, 0, False  # bytes of the partial file, and rows, that are finished

    def __enter__(self) -> Job:
        begun = self.partial.exists()
        self.file = open_locked(self.partial)
        if not begun:
            self.discard()
        if not self.journal.exists() and os.fstat(self.file.fileno()).st_size:
            self.file.close()
            raise FileExistsError(
                f"{self.partial} exists without its journal {self.journal.name}: if it is not needed, remove it."
            )
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: object) -> None:
        if error is not None and self.journal.exists() and self.partial.exists():
            kept = f"The fit and {self.rows:,} of {self.n:,} rows are kept in {self.partial} and {self.saved_fit.name}"
            error.add_note(f"{kept}; the same command resumes there.")
        else:
            if error is None:
                fsync_folder(self.output.parent)
            self._remove_beside()
            if os.name == "nt":  # Windows cannot remove an open file
                self.file.close()
            self.partial.unlink(missing_ok=True)  # empty, or a second name of the output
        with suppress(OSError):  # the buffer of a write that failed
            self.file.close()

    def discard(self) -> None:
        """Start from the beginning."""
        self._remove_beside()
        if not self.file.closed:
            self.file.truncate(0)  # a partial file without its journal may be another program's
        self.size, self.rows, self.fitted = 0, 0, False

    def _remove_beside(self) -> None:
        for path in (self.journal, self.saved_fit, side_file(self.partial)):
            path.unlink(missing_ok=True)

    def resume(self) -> None:
        """Resume an interrupted call if there is one."""
        if self.journal.exists():
            if reason := self._read_journal():
                self.log(f"Starting from the beginning: {self.partial} cannot be used, because {reason}.")
                self.discard()
            else:
                self.log(f"Resuming at row {self.rows:,} of {self.n:,} with the fit in {self.saved_fit}.")

    def _read_journal(self) -> str:
        """Read the finished blocks, up to the first whose bytes have changed. Returns why the journal cannot be used, or ""."""
        with open(self.journal, "r+b") as journal:
            try:
                call = json.loads(journal.readline())
                if changed := [reason for name, reason in REASONS.items() if self.call[name] != call.get(name)]:
                    return changed[0]
                self.estimator, self.fitted = load_fitted(self.saved_fit), True
            except (ValueError, AttributeError, RecursionError, OSError):
                return "its journal or its fit is damaged"
            end = journal.tell()
            self.file.seek(0)
            while line := journal.readline():
                if not self._accept(line):
                    self.log(f"Rows from {self.rows:,} are damaged in {self.partial} and are computed again.")
                    break
                end = journal.tell()
            journal.truncate(end)
        return ""

    def _accept(self, line: bytes) -> bool:
        """Count the block of a line of the journal as finished if the partial file has its bytes. Returns whether it has."""
        try:
            size, crc = map(operator.index, json.loads(line))
        except (ValueError, TypeError, RecursionError):
            return False
        possible = self.size < size <= os.fstat(self.file.fileno()).st_size and self.rows < self.n
        if not (possible and line.endswith(b"\n")) or zlib.crc32(self.file.read(size - self.size)) != crc:
            return False
        self.size, self.rows = size, min(self.rows + self.source.block_rows, self.n)
        return True

    def fit(self) -> None:
        fit_to(self.estimator, self.source)
        self.discard()
        with named(self.saved_fit):
            write_members(self.saved_fit, to_members(self.estimator))
            self._write_line(self.call, "xb")
            fsync_folder(self.output.parent)
        self.fitted = True

    def run(self) -> Iterator[int]:
        """Transform and write the other rows, one block at a time. Yields the number of finished rows."""
        write = BLOCKS[self.output.suffix.lower()]
        self.file.seek(self.size)
        self.file.truncate()
        while self.rows < self.n:
            stop = min(self.rows + self.source.block_rows, self.n)
            content = write(self._images(stop), self.rows, self.n)
            with named(self.partial):
                self.file.write(content)
                fsync_file(self.file)
            with named(self.journal):
                self._write_line([self.size + len(content), zlib.crc32(content)], "ab")
            self.size, self.rows = self.size + len(content), stop
            yield stop

    def _write_line(self, value: Any, mode: str) -> None:
        with open(self.journal, mode) as journal:
            journal.write(json.dumps(value).encode() + b"\n")
            fsync_file(journal)

    def _images(self, stop: int) -> np.ndarray:
        """The images of the rows up to `stop`. An error discards the job, because resuming would raise the same error."""
        self._check_input()
        try:
            return np.asarray(self.estimator.transform(self.source.rows(self.rows, stop)))
        except ValueError as error:
            start = self.rows
            self.discard()
            counted = ", counted from 0 in what follows" if start else ""
            raise ValueError(f"{self.source.path}, rows {start:,} to {stop - 1:,}{counted}: {error}") from error

    def _check_input(self) -> None:
        if not self.source.path.exists() or self.source.fingerprint() != self.call["input"]:
            self.discard()
            raise ValueError(f"{self.source.path} has changed while it was reduced, so nothing was written. Run it again.")

    def check(self, path: Path, *, force: bool) -> None:
        """Raise an error if the output cannot get its name, or if the input has changed."""
        self._check_input()
        check_output(path, force=force)
        if os.name == "nt":  # Windows cannot rename an open file
            self.file.close()


def is_large(path: Path) -> bool:
    """Whether a file is better reduced one block at a time: a ``.npy`` of more than 64 MiB, of float32 or float64."""
    return can_stream(path) and path.stat().st_size > LARGE


def can_stream(path: Path) -> bool:
    """Whether a file can be read one block at a time: a ``.npy`` with a matrix of float32 or float64."""
    with suppress(ValueError, OSError):
        return bool(Source.of(path))
    return False


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
        check_finite((source.rows(start, start + source.block_rows) for start in steps), source.path)  # names the row
        raise


def open_locked(partial: Path) -> BinaryIO:
    """Open and lock a partial file."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    while True:
        if partial.is_symlink():
            raise FileExistsError(f"{partial} is a link, and its target would be overwritten: remove the link.")
        file = open(os.open(partial, flags, 0o666), "r+b")
        try:
            lock(file)
        except BlockingIOError:
            file.close()
            output = partial.with_name(partial.name.removesuffix(".partial"))
            raise BlockingIOError(
                f"{output} is being written by another process, which has locked {partial}: wait, or choose another output."
            ) from None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), partial.stat()):
                return file
        file.close()  # the other process has renamed or removed the file before it released the lock
