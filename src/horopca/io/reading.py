"""`load`: one function for all formats of points, which the ending of the file name selects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from .arrays import map_npy, read_npz, read_safetensors
from .checkpoints import read_checkpoint, read_keyed_vectors
from .files import FormatError, Table, check_finite, existing, matrix, named, with_columns
from .graphs import TREES, graph_format
from .metadata import COLUMNS, read_side_file, with_metadata
from .subprocess_reader import in_subprocess
from .text import DELIMITERS, ending, read_stated_table, read_text, read_word2vec_binary
from .trees import NETWORKX_FORMATS

# The reader for an ending, and whether such files can hold several arrays, of which `key` selects one.
READERS: dict[str, tuple[Callable[[Path, str | None], Table], bool]] = {
    ".npy": (lambda path, _: Table(matrix(np.asarray(map_npy(path)), path)), False),
    ".npz": (read_npz, True),
    ".csv": (lambda path, _: read_text(path, ","), False),
    ".tsv": (lambda path, _: read_text(path, "\t"), False),
    **dict.fromkeys((".txt", ".vec", ".w2v"), (lambda path, _: read_text(path, None), False)),
    ".bin": (lambda path, _: read_word2vec_binary(path), False),
    **dict.fromkeys((".pth", ".pt", ".best", ".ckpt"), (read_checkpoint, True)),
    ".safetensors": (read_safetensors, True),
    **dict.fromkeys((".kv", ".model"), (read_keyed_vectors, False)),
    ".mat": (in_subprocess("containers", "read_mat", "scipy", "a MATLAB file", "io"), True),
    ".h5ad": (in_subprocess("containers", "read_h5ad", "h5py", "an HDF5 file", "io"), True),
    ".parquet": (in_subprocess("containers", "read_parquet", "pyarrow", "a Parquet file", "io"), False),
}
READABLE = tuple(READERS)  #: Endings of the files from which points are read.
TABLES = (".csv", ".tsv", ".parquet")  # Files in which `key` selects columns.
COMPRESSIBLE = (".csv", ".tsv", ".txt", ".vec", ".w2v")  # Text formats, which may be compressed (.gz).


def load(
    path: str | Path,
    *,
    key: str | None = None,
    names: str | None = None,
    labels: str | None = None,
    values: str | Sequence[str] = (),
    allow_nonfinite: bool = False,
) -> Table:
    """Read points from a file, one per row.

    Parameters
    ----------
    path : str or Path
        The ending of the name selects the format:

        - ``.npy``; ``.npz``, with its arrays ``names`` and ``labels``;
        - ``.csv`` or ``.tsv``, with or without a header and columns of words (recognised by their text, or by a
          name such as "label"), also compressed, ``.csv.gz``;
        - ``.txt``, ``.vec`` or ``.w2v``, the text format of word2vec: a name and its numbers on each line, or numbers only, as
          ``numpy.savetxt`` writes them; ``.bin``, the binary format of word2vec. In all text, the first lines show whether
          commas, tabs, semicolons or blanks separate the values;
        - ``.pth``, ``.pth.best``, ``.pt`` or ``.ckpt``, checkpoints of torch (needs torch 2.6 or later): tensors, lists of
          strings and plain values are read and nothing is executed; those of the Poincaré-embeddings tool have names and state
          whether they are Lorentz; ``.safetensors``;
        - ``.kv`` or ``.model``, vectors or a model of gensim, read as data;
        - ``.mat`` of MATLAB (level 7.3 needs h5py);
        - ``.h5ad`` of AnnData: an array of ``obsm``, with the names and columns of the observations (needs h5py);
        - ``.parquet``: numeric columns, or one column of lists, and columns of words (needs pyarrow).
    key : str, optional
        Which array to read from a format that can hold several.  Default: the only one, the one called ``X`` or
        ``embeddings``, or the only matrix.  In a table (``.csv``, ``.tsv``, ``.parquet``), the columns that are coordinates:
        headers or patterns, such as ``"x*"``, separated by commas; the other columns of numbers become ``values``.  Default:
        the columns of a numbered series (x1, x2, ...; dim_0, dim_1, ...) if there is one, with a warning that names the others;
        otherwise all columns of numbers.
    names, labels : str, optional
        The columns with the names and the classes of the rows. Default: by a header such as "name" or "id", "label", "class" or
        "category"; otherwise the names are the first column of words that are all different, the classes the first other one.
        Names may be repeated if the header is "name" and no other column has names.
    values : str or sequence of str, optional
        Columns of numbers that are not coordinates.
    allow_nonfinite : bool
        Do not raise ValueError for NaN and infinity.

    Returns
    -------
    Table
        ``X`` (float32 and float16 keep their dtype, other numbers become float64); ``row_names``, ``labels`` (the
        names, if there are no classes), ``names`` of the columns; the ``model`` and the ``curvature`` of the points, or None
        if the file does not state them; ``words`` and ``values``, all columns that are not coordinates, by their names.

    See Also
    --------
    save : writes points
    load_edges : graphs and trees
    describe : which model the points are in

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "words.txt"
    >>> _ = path.write_text("2 3\\ncat 0.1 0.2 0.3\\nlion 0.1 0.2 0.4\\n")
    >>> table = load(path)
    >>> table.X.shape, table.labels
    ((2, 3), ['cat', 'lion'])
    """
    path = Path(path)
    values, columns = [values] if isinstance(values, str) else values, chosen_columns(path, key)
    table = with_columns(read_table(path, key), path, columns=columns, names=names, labels=labels, values=values)
    if not allow_nonfinite:
        check_finite([table.X], path)
    return table


def chosen_columns(path: Path, key: str | None) -> list[str]:
    """The columns of a table that `key` selects; empty for other files."""
    return [name.strip() for name in key.split(",")] if key is not None and ending(path) in TABLES else []


def read_table(path: Path, key: str | None) -> Table:
    """The content of a file. All columns of numbers are coordinates, except those that its metadata calls values."""
    path = existing(path)
    suffix = ending(path)
    graphs = (*TREES, ".edges", *(f".{kind}" for kind in NETWORKX_FORMATS))
    if suffix in graphs or (suffix in COMPRESSIBLE and graph_format(path)):
        raise FormatError(
            f"{path} holds a graph, not points: embed it with horopca.embed (on the command line, horopca embed)."
        )
    if suffix not in READERS or (path.suffix.lower() == ".gz" and suffix not in COMPRESSIBLE):
        raise ValueError(f"The name of {path} must end in {', '.join(READERS)} (text also in .gz).")
    reader, several = READERS[suffix]
    if key is not None and not several and suffix not in TABLES:
        choosable = ", ".join(name for name, (_, many) in READERS.items() if many or name in TABLES)
        raise ValueError(f"key={key!r} selects an array or columns of a file ({choosable}), but {path} is not one.")
    with named(path):
        metadata = read_side_file(path)
        kinds = metadata.get(COLUMNS)
        table = reader(path, key) if kinds is None else read_stated_table(path, DELIMITERS.get(suffix, ","), kinds)
    return with_metadata(table, metadata, path)
