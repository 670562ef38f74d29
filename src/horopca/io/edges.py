"""Graphs as lists of edges in text: two names and perhaps a weight to a line."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array

from .arrays import read_members
from .budget import Budget
from .files import as_text, existing, format_errors
from .lines import ending, lines, open_text
from .trees import Linked, read_newick, read_obo, read_phyloxml

COMMENTS = ("#", "%")
HEADERS = {"source", "target", "from", "to", "id1", "id2", "u", "v", "node1", "node2", "child", "parent", "start", "end"}
ATTRIBUTES = re.compile(r"\{(?:'weight': ([^,{}]+))?\}$")  # networkx.write_edgelist puts this behind an edge.


# The ending of a file's name says which of these reads it.
TREES: dict[str, Callable[[Path], Linked]] = {
    **dict.fromkeys((".nwk", ".newick", ".tree", ".tre", ".nhx", ".nex", ".nexus"), read_newick),
    **dict.fromkeys((".xml", ".phyloxml"), read_phyloxml),
    ".obo": read_obo,
}


# A sparse matrix of a format is of this class of SciPy's, and made of these members.
SPARSE = {
    "csr": (csr_array, ("data", "indices", "indptr")),
    "csc": (csc_array, ("data", "indices", "indptr")),
    "bsr": (bsr_array, ("data", "indices", "indptr")),
    "dia": (dia_array, ("data", "offsets")),
    "coo": (coo_array, ("data", "row", "col")),
}
NO_MATRIX = "is damaged, or holds no sparse matrix written by scipy.sparse.save_npz"


class EdgeList(NamedTuple):
    """A graph in a file."""

    names: list[str]  #: n: in numeric order if all are whole numbers, in that of their first appearance otherwise
    edges: np.ndarray  #: (m, 2) positions in `names`, in the order of the file
    weights: np.ndarray | None = None  #: (m,) where the file has them


class _Line(NamedTuple):
    number: int
    ends: tuple[str, str]
    weight: float | None


def load_adjacency(path: Path) -> coo_array:
    """The sparse matrix that `scipy.sparse.save_npz` has written; every place in it is checked, and nothing is unpickled."""
    path = existing(path)
    members = read_members(path, NO_MATRIX)
    with format_errors(path, NO_MATRIX, ValueError, KeyError, TypeError, IndexError, OverflowError):
        kind, names = SPARSE[as_text(members["format"].item())]
        rows, columns = (int(side) for side in members["shape"])
        Budget(path).claim(64 * max(rows, columns))  # what a graph of so many nodes takes
        data, *places = (members[name] for name in names)
        if data.dtype.kind not in "fiub" or any(place.dtype.kind not in "iu" for place in places):
            raise TypeError("These are no numbers, or no places.")
        content = (data, tuple(places)) if kind is coo_array else (data, *places)
        matrix = kind(content, shape=(rows, columns))
        if hasattr(matrix, "indptr"):  # a wrong place would be looked up in memory, and SciPy looks at few of an empty matrix
            matrix.check_format(full_check=True)
            if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
                raise ValueError("The rows end before they begin.")
        return coo_array(matrix)


def load_edges(path: str | Path) -> EdgeList:
    """Read a graph: from a text file with an edge on each line, two names and a weight if there are weights; or a tree.

    Names are separated by tabs, commas or blanks, whichever the first line has (in this order), so names may hold blanks
    in a file with tabs or commas, and commas in quotation marks. Lines that begin with ``#`` or ``%`` are comments; a
    first line such as "source,target,weight" is recognised. Nothing else is guessed: a line that is no edge is refused by
    its number.

    Trees and ontologies are recognised by the ending of the file's name; their edges lead from a child to its parent:
    ``.nwk``, ``.newick``, ``.tree``, ``.tre`` (Newick, or Nexus if the file says so), ``.nex``, ``.nexus``, ``.xml`` and
    ``.phyloxml`` (PhyloXML), ``.obo``. The first tree of a file is taken. A missing length of a branch is the mean of
    the others, and a length of zero or below a thousandth of it; a tree without lengths has no weights. Any of
    these files may be packed (``.gz``).

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    EdgeList
        ``names``, ``edges`` (m, 2) and ``weights`` (m,) or None.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cats.edges"
    >>> _ = path.write_text("feline cat\\nfeline lion\\n")
    >>> graph = load_edges(path)
    >>> graph.names, graph.edges.tolist()
    (['feline', 'cat', 'lion'], [[0, 1], [0, 2]])
    """
    path = existing(path)
    if ending(path) in TREES:
        return EdgeList(*TREES[ending(path)](path))
    position: dict[str, int] = {}
    ends, weights = [], []
    weighted: bool | None = None
    for line in _parsed(path):
        if weighted is None:
            weighted = line.weight is not None
        elif weighted != (line.weight is not None):
            have, earlier = ("has no weight", "have") if weighted else ("has a weight", "have none")
            raise ValueError(f"{path}, line {line.number}: this edge {have}, but those before it {earlier}.")
        ends.append([position.setdefault(name, len(position)) for name in line.ends])
        weights.append(line.weight)
    if not ends:
        raise ValueError(f"{path} holds no edges: expected two names, and perhaps a weight, on each line.")
    names, edges = _numeric_order(list(position), np.array(ends))
    return EdgeList(names, edges, np.array(weights, dtype=np.float64) if weighted else None)


def _parsed(path: Path) -> Iterator[_Line]:
    with open_text(path) as file:
        body = ((k, text) for k, line in enumerate(lines(file, path), 1) if (text := line.strip()) and text[0] not in COMMENTS)
        first = next(body, None)
        if first is None:
            return
        delimiter = next((mark for mark in ("\t", ",") if mark in first[1]), None)
        header = {field.strip(' "').lower() for field in first[1].split(delimiter)[:2]} <= HEADERS
        for number, text in body if header else chain([first], body):
            yield _edge(number, text, delimiter, path)


def _edge(number: int, text: str, delimiter: str | None, path: Path) -> _Line:
    where = f"{path}, line {number}"
    attributes = ATTRIBUTES.search(text)
    bare = text[: attributes.start()].rstrip(f" {delimiter or ''}") if attributes else text
    try:
        fields = _fields(bare, delimiter)
    except csv.Error:
        raise ValueError(f"{where}: its quotation marks do not match: {text[:60]!r}.") from None
    fields += [attributes[1]] if attributes and attributes[1] else []
    if len(fields) not in (2, 3):
        raise ValueError(f"{where}: expected two names, and perhaps a weight, but found {len(fields)} value(s): {text[:60]!r}.")
    if not (fields[0] and fields[1]):
        raise ValueError(f"{where}: a name is missing: {text[:60]!r}.")
    return _Line(number, (fields[0], fields[1]), _weight(fields[2], where) if len(fields) == 3 else None)


def _fields(text: str, delimiter: str | None) -> list[str]:
    """The values on a line; between commas they may stand in quotation marks."""
    if delimiter != "," or '"' not in text:
        return [field.strip() for field in text.split(delimiter)]
    return [field.strip() for field in next(csv.reader([text], delimiter=delimiter, skipinitialspace=True, strict=True))]


def _weight(field: str, where: str) -> float:
    try:
        weight = float(field)
    except ValueError:
        raise ValueError(f"{where}: the weight {field[:40]!r} is not a number.") from None
    if not 0 < weight < np.inf:
        raise ValueError(f"{where}: a weight is a length and must be a positive number, but is {field[:40]}.")
    return weight


def _numeric_order(names: list[str], edges: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Whole numbers in their order (row i is node i where they are 0, 1, 2, ...); other names as they came."""
    if not all(name.isascii() and name.removeprefix("-").isdigit() and len(name) < 19 for name in names):
        return names, edges
    order = np.argsort([int(name) for name in names], kind="stable")
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return [names[i] for i in order], rank[edges]
