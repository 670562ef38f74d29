"""Writing files of points, and outputs that are complete or absent."""

from __future__ import annotations

import csv
import glob
import io
import os
import secrets
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from .._input.coordinates import check_coordinates
from .._input.libraries import as_plain_array, coordinates_of
from .containers import write_h5ad
from .files import as_matrix, as_text, named
from .metadata import (
    COLUMN_KINDS,
    COLUMNS,
    LABEL_COLUMN,
    MEMBER,
    SIDE_FORMATS,
    WORDS,
    is_side_file,
    side_file,
    to_json,
    write_side_file,
)
from .text import DELIMITERS

ZARR_FILES = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
Metadata = Mapping[str, Any]
Words = Mapping[str, list[str] | np.ndarray]  # the columns "names" and "labels", and further ones


def save(
    path: str | Path,
    X: Any,
    labels: Sequence[Any] | None = None,
    *,
    names: Sequence[Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    model: str | None = None,
    curvature: float | None = None,
    source: Mapping[str, Any] | None = None,
    force: bool = False,
    **h5ad: Any,
) -> Path:
    """Write points to a ``.npy``, ``.npz``, ``.csv``, ``.tsv`` or ``.h5ad`` file. The file is complete or absent.

    Parameters
    ----------
    path : str or Path
        The extension of its name selects the format.
    X : array-like of shape (n, d)
        Points in the model and curvature.
    labels, names : sequence of length n, optional
        Classes and names of the rows: arrays of an ``.npz``, columns of a text file, observations of an ``.h5ad``.
    columns : mapping of str to sequence of length n, optional
        Further columns of a text file or an ``.h5ad``, words or numbers.
    model, curvature : str and float, optional
        Those of the points, by default of the manifold of a tensor of geoopt or HypLL. `load` and every command read them back.
    source : mapping, optional
        How the points were made: strings, numbers, arrays, and mappings of these.
    force : bool, default=False
        Replace an existing file.
    **h5ad
        For an ``.h5ad``: ``key``, the array of ``obsm`` ("X_horopca"), and ``base``, an ``.h5ad`` whose other content is kept.

    Returns
    -------
    Path

    See Also
    --------
    load : reads points

    Notes
    -----
    An ``.npz`` has the metadata in its member ``horopca``, an ``.h5ad`` in ``uns``. The other formats cannot hold it and
    get a side file: ``points.npy.json`` belongs to ``points.npy``, and also holds its labels and names.

    Examples
    --------
    >>> import tempfile
    >>> from horopca.io import load
    >>> table = load(save(Path(tempfile.mkdtemp()) / "points.npy", [[0.1, 0.2]], names=["cat"], model="klein"))
    >>> table.model, table.row_names
    ('klein', ['cat'])
    """
    if own := coordinates_of(X):
        model, curvature = model or own.model, own.curvature if curvature is None else curvature
    stated = check_coordinates("poincare" if model is None else model, -1.0 if curvature is None else curvature)
    X = as_matrix(as_plain_array(X, stated, "X"))
    given = {"names": names, "labels": labels}
    if taken := [name for name in columns or () if name in given]:
        raise ValueError(f"columns must not be called {taken[0]!r}: pass {taken[0]}= for the {taken[0]} of the rows.")
    words = {kind: column for kind, column in {**given, **(columns or {})}.items() if column is not None}
    for kind, column in words.items():
        if len(column) != len(X):
            raise ValueError(f"{kind} must have one entry per row, but has {len(column)} for {len(X)} rows.")
        if kind in WORDS or not (isinstance(column, np.ndarray) and column.dtype.kind == "f"):
            words[kind] = [as_text(word) for word in column]
    if h5ad and Path(path).suffix.lower() != ".h5ad":
        raise TypeError(f"{', '.join(h5ad)}: only for files that end in .h5ad, but path is {str(path)!r}.")
    coordinates = {"model": model, "curvature": curvature}
    metadata = {**{name: value for name, value in coordinates.items() if value is not None}, **(source or {})}
    with atomic_output(path, force=force, formats=FORMATS) as temporary:
        suffix = temporary.suffix.lower()
        WRITERS[suffix](temporary, X, words, metadata, **h5ad)
        beside = dict(metadata)
        if suffix == ".npy":
            beside |= {kind: words[kind] for kind in WORDS if kind in words}
        elif suffix in DELIMITERS and (metadata or columns):
            beside[COLUMNS] = {header: kind for header, kind, _ in _table(X, words, metadata) if kind in COLUMN_KINDS}
        if beside and suffix in SIDE_FORMATS:
            write_side_file(temporary, beside)
    return Path(path)


def _write_npy(path: Path, X: np.ndarray, words: Words, metadata: Metadata) -> None:
    with open(path, "wb") as file:
        file.write(_npy_header(X.dtype, X.shape))
        file.write(np.ascontiguousarray(X).data)  # an OSError of np.save does not say why


def _write_npz(path: Path, X: np.ndarray, words: Words, metadata: Metadata) -> None:
    with open(path, "wb") as file:
        arrays: dict[str, Any] = {kind: np.array(words[kind]) for kind in WORDS if kind in words}
        if metadata:
            arrays[MEMBER] = np.array(to_json(metadata))
        np.savez(file, X=X, **arrays)


def _write_text(path: Path, X: np.ndarray, words: Words, metadata: Metadata) -> None:
    table = _table(X, words, metadata)
    odd = any("\r" in word for column in words.values() if isinstance(column, list) for word in column)
    with open(path, "w", encoding="utf-8", newline="") as file:
        _write_rows(file, DELIMITERS[path.suffix.lower()], [[header] for header, *_ in table], odd)
        _write_rows(file, DELIMITERS[path.suffix.lower()], [column for *_, column in table], odd)


def _write_rows(file: IO[str], delimiter: str, columns: Iterable[Iterable[Any]], quoted: bool = False) -> None:
    # csv.QUOTE_MINIMAL does not quote "\r"
    quoting: Any = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    # str of a NumPy float is the shortest decimal that reads back the same
    writer.writerows(zip(*(map(str, column) for column in columns), strict=True))


def _table(X: np.ndarray, words: Words, metadata: Metadata) -> list[tuple[str, str, Any]]:
    """Header, kind and content of the columns of a text file. Raises ValueError if two have the same header."""
    headers = {"names": "name", "labels": str(metadata.get(LABEL_COLUMN, "label"))}
    found = {
        name: (headers.get(name, name), name if name in WORDS else "words" if isinstance(column, list) else "values", column)
        for name, column in words.items()
    }
    first = [found.pop("names")] if "names" in found else []
    table = [*first, *((f"x{j + 1}", "coordinate", column) for j, column in enumerate(X.T)), *found.values()]
    repeated = [header for header, times in Counter(header for header, *_ in table).items() if times > 1]
    if repeated:
        raise ValueError(f"columns must not be called {repeated[0]!r}, because another column of the file has this header.")
    return table


WRITERS: dict[str, Callable[..., None]] = {
    ".npy": _write_npy,
    ".npz": _write_npz,
    **dict.fromkeys(DELIMITERS, _write_text),
    ".h5ad": write_h5ad,
}
FORMATS = tuple(WRITERS)  #: The extensions of files that points can be written to.


def check_output(path: str | Path, *, force: bool = False, formats: Sequence[str] = ()) -> Path:
    """Return `path` if a file or a Zarr store can be written there. Raises an error if not, or if it exists without `force`."""
    path = Path(path)
    is_store = path.suffix.lower() == ".zarr"
    if formats and path.suffix.lower() not in formats:
        raise ValueError(f"The name of {path} must end in {', '.join(formats)}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}.")
    if path.is_dir() and not is_store:
        raise IsADirectoryError(f"{path} is a folder, but a file name was expected.")
    if os.path.lexists(path) and not force and not _unfinished(path):
        raise exists_error(path)
    if is_store and path.exists() and not is_zarr(path) and not (path.is_dir() and not any(path.iterdir())):
        raise FileExistsError(f"{path} is not a Zarr store, and is not overwritten.")
    side = side_file(path)
    if path.suffix.lower() in SIDE_FORMATS and side.exists() and not is_side_file(side):
        raise FileExistsError(f"{side} exists already and was not written by horopca: remove it, or choose another output.")
    return path


def is_zarr(path: Path) -> bool:
    return any((path / name).exists() for name in ZARR_FILES)


def exists_error(path: Path) -> FileExistsError:
    return FileExistsError(f"{path} exists already; pass force=True to overwrite it.")


def is_same(path: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, or one of them is inside the other."""
    a, b = path.resolve(), other.resolve()
    return a == b or a in b.parents or b in a.parents or (a.exists() and b.exists() and a.samefile(b))


@contextmanager
def atomic_output(path: str | Path, *, force: bool = False, formats: Sequence[str] = ()) -> Iterator[Path]:
    """Write a file completely or not at all: a context manager that yields a temporary path beside `path`.

    The temporary file is renamed to `path` at the end, or removed after an error.

    Parameters
    ----------
    path : str or Path
        The file to write.
    force : bool, default=False
        Whether to replace an existing file.
    formats : sequence of str, optional
        The endings that are allowed.

    See Also
    --------
    save : writes points

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from horopca.io import atomic_output
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_output(folder / "note.txt") as temporary:
    ...     _ = temporary.write_text("all of it")
    >>> [file.name for file in folder.iterdir()]
    ['note.txt']
    """
    with OutputSet(force=force) as outputs:
        with named(Path(path)):
            yield outputs.add(path, formats=formats)
        outputs.publish()


class OutputSet(ExitStack):
    """The outputs of one command, files or folders, which are published together: all of them or, after an error, none.

    Outputs are written under temporary names. `publish` adds the final names as hard links, and closing the set removes the
    temporary names. If the process is killed in between, files with both names are recognised as unfinished, and the same
    command may replace them. On a file system without hard links, files are renamed. The output that was added first is
    published last.
    """

    def __init__(self, *, force: bool = False) -> None:
        super().__init__()
        self.locks = self.enter_context(ExitStack())  # released last: an unlocked file with both names counts as unfinished
        self.force = force
        self.outputs: list[tuple[Path, Path, Callable[..., object]]] = []

    def add(self, path: str | Path, formats: Sequence[str] = ()) -> Path:
        """The temporary path for an output, which `check_output` accepts."""
        path = check_output(path, force=self.force, formats=formats)
        temporary = path.with_name(f".{path.stem}-{secrets.token_hex(4)}{path.suffix}")
        self.callback(_remove, temporary)
        self.callback(_remove, side_file(temporary))
        self.outputs.append((temporary, path, check_output))
        return temporary

    def publish(self) -> None:
        """Give all outputs their final names."""
        for _, path, check in self.outputs:
            check(path, force=self.force)  # another process may have written it meanwhile
        with ExitStack() as undo:
            for temporary, path, _ in reversed(self.outputs):
                if temporary.is_file() and os.name != "nt":  # Windows cannot rename an open file
                    with suppress(BlockingIOError):  # the partial file of a large job is locked already
                        lock(self.locks.enter_context(open(temporary, "rb")))
                side, described = side_file(path), side_file(temporary).exists()
                if described:  # first: points without their metadata would be misread
                    self._publish(side_file(temporary), side, True, undo)
                self._publish(temporary, path, self.force, undo)
                if not described and path.suffix.lower() in SIDE_FORMATS and is_side_file(side):
                    side.unlink()  # it describes the file that was replaced
            undo.pop_all()

    def _publish(self, temporary: Path, path: Path, force: bool, undo: ExitStack) -> None:
        """Give a file its final name. A new one keeps its temporary name too, if the file system has hard links."""
        with named(path, replace=True):  # errors shall not show the temporary name
            for name in _unfinished(path):
                name.unlink(missing_ok=True)
            if force and os.path.lexists(path):
                self._replace(temporary, path, undo)
                return
            try:
                os.link(temporary, path)
            except OSError as error:  # FileExistsError, a folder, or a file system without hard links
                if os.path.lexists(path):
                    raise exists_error(path) from error
                temporary.rename(path)
            undo.callback(_remove, path)

    def _replace(self, temporary: Path, path: Path, undo: ExitStack) -> None:
        """Replace a file or folder. The old one is kept until all outputs have their names."""
        old = temporary.with_name(f"{temporary.name}.old")
        self.callback(_remove, old)
        undo.callback(_restore, old, path)
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        if temporary.is_dir():
            path.rename(old)
        else:
            with suppress(OSError, NotImplementedError):  # no hard links
                os.link(path, old, follow_symlinks=False)
        temporary.replace(path)


def _restore(old: Path, path: Path) -> None:
    if os.path.lexists(old):
        _remove(path)
        old.replace(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _unfinished(path: Path) -> list[Path]:
    """The final and the temporary names of a file whose process was killed while it published; empty for other files."""
    if path.is_symlink() or not path.is_file():
        return []
    try:
        with open(path, "rb") as file:
            lock(file)  # before the names are listed: a process that is alive holds the lock until it has removed them
            others = path.parent.glob(f".{glob.escape(path.stem)}-????????{glob.escape(path.suffix)}")
            names = [name for name in others if name.samefile(path)]
            replaced = not os.path.samestat(os.fstat(file.fileno()), path.stat())  # by another process, before the lock
    except OSError:  # locked, removed meanwhile or not readable
        return []
    return [path, *names] if names and not replaced else []


def lock(file: BinaryIO) -> None:
    """Lock a file until it is closed or the process ends. Raises BlockingIOError if another process has locked it."""
    if sys.platform == "win32":
        import msvcrt

        file.seek((1 << 31) - 1)  # locks are on bytes there, up to the largest C long
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            raise BlockingIOError from None
    else:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:  # a file system without locks
            return


def fsync_file(file: IO[bytes]) -> None:
    """Wait until the content of a file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def fsync_folder(folder: Path) -> None:
    if os.name != "nt":
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def sibling(path: Path, suffix: str) -> Path:
    """The file in the same folder whose name has `suffix` appended."""
    return Path(f"{path}{suffix}")  # "." and "/" have no name that could be replaced


def _npy_header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    head, descr = io.BytesIO(), np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": shape})
    return head.getvalue()


def _npy_block(Y: np.ndarray, start: int, n: int) -> bytes:
    return (b"" if start else _npy_header(Y.dtype, (n, Y.shape[1]))) + Y.tobytes()


def _text_block(Y: np.ndarray, start: int, delimiter: str) -> bytes:
    text = io.StringIO()
    if not start:
        _write_rows(text, delimiter, [[f"x{j + 1}"] for j in range(Y.shape[1])])
    _write_rows(text, delimiter, Y.T)
    return text.getvalue().encode()


# The bytes of a block of rows in a file, as a function of the block, the number of its first row and the number of all rows.
BLOCKS: Mapping[str, Callable[[np.ndarray, int, int], bytes]] = {
    ".npy": _npy_block,
    ".csv": lambda Y, start, n: _text_block(Y, start, DELIMITERS[".csv"]),
    ".tsv": lambda Y, start, n: _text_block(Y, start, DELIMITERS[".tsv"]),
}
