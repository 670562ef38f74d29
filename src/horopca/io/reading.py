"""`load`: one function for every format, chosen by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from .arrays import read_npy, read_npz
from .checkpoints import read_checkpoint, read_keyed_vectors
from .edges import TREES
from .files import FormatError, Table, check_finite, existing, matrix
from .lines import ending
from .matlab import read_mat
from .metadata import check_metadata, read_side_file, with_metadata
from .safetensors import read_safetensors
from .subprocess_reader import in_subprocess
from .text import read_text
from .word2vec import read_word2vec_binary, read_word2vec_text

# By the ending of its name a path is read by this, with a key if the format has several arrays to choose from.
READERS: dict[str, tuple[Callable[[Path, str | None], Table], bool]] = {
    ".npy": (lambda path, _: Table(matrix(read_npy(path), path)), False),
    ".npz": (read_npz, True),
    ".csv": (lambda path, _: read_text(path, ","), False),
    ".tsv": (lambda path, _: read_text(path, "\t"), False),
    ".txt": (lambda path, _: read_word2vec_text(path), False),
    ".vec": (lambda path, _: read_word2vec_text(path), False),
    ".w2v": (lambda path, _: read_word2vec_text(path), False),
    ".bin": (lambda path, _: read_word2vec_binary(path), False),
    ".pth": (read_checkpoint, True),
    ".pt": (read_checkpoint, True),
    ".best": (read_checkpoint, True),
    ".ckpt": (read_checkpoint, True),
    ".safetensors": (read_safetensors, True),
    ".kv": (read_keyed_vectors, False),
    ".model": (read_keyed_vectors, False),
    ".mat": (read_mat, True),
    ".h5ad": (in_subprocess("hdf", "read_h5ad", "h5py", "an HDF5 file"), True),
    ".feather": (in_subprocess("columns", "read_feather", "pyarrow", "a Feather file"), False),
    ".parquet": (in_subprocess("columns", "read_parquet", "pyarrow", "a Parquet file"), False),
}
READABLE = tuple(READERS)  #: The endings of files that points can be read from.
PACKABLE = (".csv", ".tsv", ".txt", ".vec", ".w2v")  # These may have .gz behind.


def load(
    path: str | Path,
    *,
    key: str | None = None,
    names: str | None = None,
    labels: str | None = None,
    values: str | Sequence[str] = (),
    allow_nonfinite: bool = False,
) -> Table:
    """Read the points in a file, one to a row.

    Parameters
    ----------
    path : str or Path
        Of one of these formats, by the ending of its name:

        - ``.npy``; ``.npz``, whose arrays ``names`` and ``labels`` are read too;
        - ``.csv`` or ``.tsv``, with or without a header line and columns of words (recognised by their text, or by a
          name such as "label"), also packed, ``.csv.gz``;
        - ``.txt``, ``.vec`` or ``.w2v``, word2vec's text: a name and its numbers on each line; ``.bin``, word2vec's binary;
        - ``.pth``, ``.pth.best``, ``.pt`` or ``.ckpt``, checkpoints of torch: tensors, lists of strings and plain values
          are taken from them, anything else is passed over unexecuted; those of the Poincaré-embeddings tool bring their
          names and say whether they are Lorentz; torch itself is not needed; ``.safetensors``;
        - ``.kv`` or ``.model``, gensim's vectors or a model with them, read as data;
        - ``.mat``, MATLAB's (the old format, and the new one with h5py);
        - ``.h5ad``, AnnData's: an array of ``obsm``, with the names and columns of the observations (needs h5py);
        - ``.parquet`` or ``.feather``: numeric columns, or one column of lists, and columns of words (needs pyarrow).
    key : str, optional
        Which array to take of a format that can hold several.  Without it: the only one, the one called ``X`` or
        ``embeddings``, or the only matrix.
    names, labels : str, optional
        Which column holds the names of the rows, and which their classes. Without these: by a header such as "name" or "id",
        "label", "class" or "category"; else names are the first words that are all different, and classes the first others.
    values : str or sequence of str, optional
        Columns of numbers that are no coordinates.
    allow_nonfinite : bool
        Let NaN and infinity through, for a caller that reports them itself.

    Returns
    -------
    Table
        ``X`` (float32 and float16 stay what they are, every other number becomes float64); ``row_names``, ``labels`` (the
        names, where there are no classes), ``names`` of the columns; the ``model`` and the ``curvature`` of the points, or None
        where the file does not say; ``words`` and ``values``, all columns that are no coordinates, by their names.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "words.txt"
    >>> _ = path.write_text("2 3\\ncat 0.1 0.2 0.3\\nlion 0.1 0.2 0.4\\n")
    >>> table = load(path)
    >>> table.X.shape, table.labels
    ((2, 3), ['cat', 'lion'])
    """
    path = existing(path)
    suffix = ending(path)
    if suffix in TREES or suffix == ".edges":
        raise FormatError(
            f"{path} holds a graph, and no points: horopca.embed (on the command line, horopca embed) places its nodes."
        )
    if suffix not in READERS or (path.suffix.lower() == ".gz" and suffix not in PACKABLE):
        raise ValueError(
            f"The format of {path} is not known: its name must end in {', '.join(READERS)}; text may have .gz behind."
        )
    reader, several = READERS[suffix]
    if key is not None and not several:
        choosable = ", ".join(name for name, (_, many) in READERS.items() if many)
        raise ValueError(f"key={key!r} selects an array of a file that can hold several ({choosable}), but {path} is not one.")
    values = (values,) if isinstance(values, str) else tuple(values)
    table = check_metadata(with_metadata(reader(path, key), read_side_file(path), path), path)
    table = table.as_told(names, labels, values, path)
    if not allow_nonfinite:
        check_finite([table.X], path)
    return table
