"""Graphs in files: lists of edges, trees and ontologies recognised by their content, and sparse matrices."""

from __future__ import annotations

import csv
import re
import sys
import warnings
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array
from scipy.sparse.csgraph import breadth_first_order

from .arrays import read_members
from .files import Budget, EdgeList, FormatError, as_text, existing, format_errors, listed, printable
from .subprocess_reader import in_subprocess
from .text import beginning, ending, is_number, number, open_bytes, open_lines
from .trees import check_phyloxml, networkx_error, read_newick

COMMENTS = ("#", "%")
HEADERS = {"source", "target", "from", "to", "id1", "id2", "u", "v", "node1", "node2", "child", "parent", "start", "end"}
ATTRIBUTES = re.compile(r"\{[^{}]*\}$")  # networkx.write_edgelist writes the attributes of an edge after it.
WEIGHT = re.compile(r"'weight': ([^,{}]+)")  # The length of an edge among its attributes.
NODE_BYTES = 104  # Bytes of a node without its name: its position, and its entries in a dictionary and a list.

# For each format of sparse matrices, its class and the names of the arrays stored beside "data".
SPARSE: dict[str, tuple[Any, ...]] = {
    kind: (cls, "indices", "indptr") for kind, cls in (("csr", csr_array), ("csc", csc_array), ("bsr", bsr_array))
}
SPARSE |= {"coo": (coo_array, "row", "col"), "dia": (dia_array, "offsets")}
NO_MATRIX = "is damaged, or holds no sparse matrix written by scipy.sparse.save_npz"
ROOT = "root"  # The node that joins several top terms of an ontology.


def load_edges(path: str | Path, *, root: str | None = None, relations: Sequence[str] = ("is_a",)) -> EdgeList:
    """Read a graph, a tree or an ontology.

    The content of the file decides, not its name:

    - **Newick** and **Nexus** trees, and with Biopython **PhyloXML**. Edges lead from a child to its parent. The
      first tree is read. A missing branch length becomes the mean of the others, a length of zero or below a thousandth
      of the mean. Names are those of the file; nodes without a name are called "inner 1", "leaf 1", and so on.
    - With pronto, ontologies in **OBO**, **OWL** (RDF/XML) or **OBO Graphs** JSON, without obsolete terms. Several
      top terms are joined under one node called "root".
    - **Edge lists**: two names on each line, and a length if edges have lengths. Separators are tabs, commas or blanks,
      the first of these that the first line contains. Lines that begin with ``#`` or ``%`` are comments, and a header such as
      "source,target,weight" is recognised.

    Text may be compressed (``.gz``). What was left out or replaced is in ``notes`` and raised as warnings.

    Parameters
    ----------
    path : str or Path
        The file.
    root : str, optional
        Only this node of a tree or an ontology and its descendants, by its name or its code.
    relations : sequence of str, default=("is_a",)
        Relations of an ontology that lead from a term to its parents, such as ``("is_a", "part_of")``.

    Returns
    -------
    EdgeList
        ``names``, ``edges`` (m, 2), ``weights`` (m,) or None, ``codes`` of the terms of an ontology or None, ``notes``.

    See Also
    --------
    load : points
    horopca.embed.DistortionEmbedding : from a graph to points

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
    read = graph_format(path) or next((read for read, endings, _ in GRAPHS if ending(path) in endings), None)
    found: EdgeList = _read_edges(path) if read is None else read(path, list(relations))
    if root is not None:  # the notes on an ontology, which has codes, are about its top terms
        found = _below(found if found.codes is None else found._replace(notes=()), root, path)
    for note in found.notes:
        warnings.warn(printable(f"{path}: {note}"), stacklevel=2)
    return found


def _below(graph: EdgeList, root: str, path: Path) -> EdgeList:
    """The subgraph of a node and its descendants; edges lead from children to parents."""
    known = [*graph.names, *(graph.codes or [])]
    if root not in known:
        raise ValueError(f"root must be the name of a node of {path}, but {root!r} is not.")
    n, (child, parent) = len(graph.names), graph.edges.T
    downwards = csr_array((np.ones(len(child), dtype=bool), (parent, child)), shape=(n, n))
    here = np.sort(breadth_first_order(downwards, known.index(root) % n, return_predecessors=False))
    kept = np.isin(np.arange(n), here)
    rank, inside = np.cumsum(kept) - 1, kept[child] & kept[parent]
    return graph._replace(
        names=[graph.names[i] for i in here],
        edges=rank[graph.edges[inside]],
        weights=None if graph.weights is None else graph.weights[inside],
        codes=None if graph.codes is None else [graph.codes[i] for i in here],
    )


_read_phyloxml = in_subprocess("trees", "read_phyloxml", "Bio", "a PhyloXML file", "trees")


def _read_xml(path: Path, relations: list[str]) -> EdgeList:
    """The tree in a PhyloXML file. Other XML is rejected here, before Biopython is needed."""
    check_phyloxml(path)
    found: EdgeList = _read_phyloxml(path)
    return found


def _reject_gml(path: Path, relations: list[str]) -> EdgeList:
    raise networkx_error(path, "gml")


# For each format: its reader, which takes the relations of an ontology; extensions; and a pattern of the beginning of a file.
# The first pattern that matches selects the format, or else the extension. No pattern can match a text in two ways, because
# backtracking could take exponential time.
GRAPHS: tuple[tuple[Callable[[Path, list[str]], EdgeList], tuple[str, ...], re.Pattern[str]], ...] = (
    (
        lambda path, _: read_newick(path),
        (".nwk", ".newick", ".tree", ".tre", ".nhx", ".nex", ".nexus", ".treefile", ".contree", ".nw"),
        re.compile(r"\s*(\[[^\]]*\]\s*)*\(|\s*#NEXUS", re.IGNORECASE),
    ),
    (
        in_subprocess("graphs", "read_terms", "pronto", "an ontology", "trees"),
        (".obo", ".owl"),
        re.compile(r'\s*<(?s:.{0,2000}?)(?:<rdf:RDF|<Ontology)|\s*\{\s*"(?:graphs|meta|@context)"|format-version:|\[Term\]'),
    ),
    (_read_xml, (".xml", ".phyloxml", ".nexml"), re.compile(r"\s*<")),
    (_reject_gml, (), re.compile(r'\s*(?:Creator\s+"[^"]*"\s*)?graph\s*\[')),
)
TREES = tuple(ending for _, endings, _ in GRAPHS for ending in endings)  # The extensions of graphs, trees and ontologies.


def graph_format(path: Path) -> Callable[[Path, list[str]], EdgeList] | None:
    """The reader of the tree or the ontology in a file, by its beginning; None for other files."""
    head = beginning(path) if path.is_file() else ""  # a pipe cannot be read twice
    return next((read for read, _, pattern in GRAPHS if pattern.match(head)), None)


def _read_edges(path: Path) -> EdgeList:
    """The graph in an edge list."""
    budget = Budget(path)
    position: dict[str, int] = {}
    ends, weights = array("q"), array("d")
    for line, one, other, *weight in _edges(path, budget):
        if len(weights) != (len(ends) // 2 if weight else 0):
            have, earlier = ("has no weight", "have") if weights else ("has a weight", "have none")
            raise FormatError(f"{path}, line {line}: this edge {have}, but those before it {earlier}.")
        for name in (one, other):
            if name not in position:
                budget.claim(NODE_BYTES + sys.getsizeof(name))
                position[name] = len(position)
            ends.append(position[name])
        budget.claim(24)
        weights.extend(number(field) if is_number(field) else np.nan for field in weight)
        if weight and not 0 < weights[-1] < np.inf:
            raise FormatError(
                f"{path}, line {line}: a weight is a length and must be a positive number, but is {weight[0][:40]!r}."
            )
    if not ends:
        raise FormatError(f"{path} holds no edges: expected two names, and perhaps a weight, on each line.")
    names, edges = list(position), np.frombuffer(ends, dtype=np.int64).reshape(-1, 2)
    if all(name.isascii() and name.removeprefix("-").isdigit() and len(name) < 19 for name in names):
        order = np.argsort([int(name) for name in names], kind="stable")  # row i is node i where they are 0, 1, 2, ...
        names, edges = [names[i] for i in order], np.argsort(order)[edges]
    return EdgeList(names, edges, np.frombuffer(weights) if weights else None)


def _edges(path: Path, budget: Budget) -> Iterator[tuple[Any, ...]]:
    """Line number, two names and the weight, if there is one, of each edge."""
    with open_lines(path, budget) as lines, format_errors(path, "has a field that is too long", csv.Error):
        body = ((k, text) for k, line in enumerate(lines, 1) if (text := line.strip()) and text[0] not in COMMENTS)
        first = next(body, None)
        if first is None:
            return
        bare = ATTRIBUTES.sub("", first[1])
        delimiter = next((mark for mark in ("\t", ",") if mark in bare), None)
        header = {field.strip(' "').lower() for field in bare.split(delimiter)[:2]} <= HEADERS
        for k, text in body if header else chain([first], body):
            fields = _fields(text, delimiter)
            if len(fields) not in (2, 3) or not (fields[0] and fields[1]):
                raise FormatError(f"{path}, line {k}: expected two names, and perhaps a weight, but found {text[:60]!r}.")
            yield k, *fields


def _fields(text: str, delimiter: str | None) -> list[str]:
    """The values on a line, with the weight that its attributes may hold; in a file with commas they may be quoted."""
    attributes = ATTRIBUTES.search(text) if text.endswith("}") else None
    weight = WEIGHT.findall(attributes[0])[:1] if attributes else []
    bare = text[: attributes.start()].rstrip(f" {delimiter or ''}") if attributes else text
    quoted = delimiter == "," and '"' in bare
    fields = next(csv.reader([bare], skipinitialspace=True)) if quoted else bare.split(delimiter)
    return [field.strip() for field in [*fields, *weight]]


def load_adjacency(path: Path) -> coo_array:
    """The sparse matrix that `scipy.sparse.save_npz` wrote. Every index is checked, and nothing is unpickled."""
    path = existing(path)
    members = read_members(path, NO_MATRIX)
    if "format" not in members and (points := [name for name, array in members.items() if array.ndim == 2]):
        raise FormatError(f"{path} must hold a graph, but holds points, like {points[0]} {members[points[0]].shape}.")
    with format_errors(path, NO_MATRIX):
        Budget(path).claim(64 * max(map(int, members["shape"])))  # bytes of a graph with this many nodes
        kind, *names = SPARSE[as_text(members["format"].item())]
        indices = tuple(members[name] for name in names)
        if any(array.dtype.kind not in "iu" for array in indices):
            raise TypeError("The indices are not integers.")
        parts = (indices,) if kind is coo_array else indices
        matrix = kind((members["data"], *parts), shape=tuple(members["shape"].tolist()))
        if hasattr(matrix, "indptr"):  # a wrong index would be followed in memory, and SciPy checks few of an empty matrix
            matrix.check_format(full_check=True)
            if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
                raise ValueError("indptr must not decrease.")
        return coo_array(matrix)


def read_terms(path: Path, relations: list[str]) -> EdgeList:
    """The terms of an ontology and their parents by some relations, without obsolete terms; in the separate process."""
    pronto: Any = import_module("pronto")
    with open_bytes(path) as file:
        ontology = pronto.Ontology(file, import_depth=0, threads=1)  # other files and addresses are not read
    every = list(ontology.terms())
    terms = [term for term in every if not term.obsolete]
    notes = [f"obsolete terms left out: {len(every) - len(terms):,}."] if len(terms) < len(every) else []
    position = {term.id: i for i, term in enumerate(terms)}

    def parents(term: Any) -> Iterator[Any]:
        if "is_a" in relations:  # the hierarchy itself; others are relationships
            yield from term.superclasses(distance=1, with_self=False)
        for relation, found in term.relationships.items() if set(relations) != {"is_a"} else ():
            yield from found if relation.id in relations else ()

    pairs = ((i, position.get(parent.id)) for i, term in enumerate(terms) for parent in parents(term))
    try:
        edges = list(dict.fromkeys((i, parent) for i, parent in pairs if parent is not None and parent != i))
    except KeyError as error:
        raise FormatError(f"{path} has no [Typedef] of the relation {error}, so that only is_a can be read.") from error
    known = {"is_a", *(relation.id for relation in ontology.relationships())}
    if missing := [relation for relation in relations if relation not in known]:
        raise FormatError(f"{path} has no relation {missing[0]!r}: its relations are {listed(sorted(known))}.")
    if not edges:
        raise FormatError(f"{path} holds no terms that are related by {' or '.join(relations)}.")
    codes = [as_text(term.id) for term in terms]
    named = [as_text(term.name or term.id) for term in terms]
    counts = Counter(named)
    names = [name if counts[name] == 1 else f"{name} ({code})" for name, code in zip(named, codes, strict=True)]
    below = {child for child, _ in edges}
    tops = [i for i in range(len(terms)) if i not in below]
    if len(tops) < 2:
        return EdgeList(names, np.array(edges), None, codes, notes)
    root = next(name for name in (ROOT, *(f"{ROOT} ({k})" for k in range(2, len(names) + 3))) if name not in counts)
    edges += [(top, len(names)) for top in tops]
    notes.append(f"its {len(tops)} top terms are joined under a node called {root!r}; root= selects one of them.")
    return EdgeList([*names, root], np.array(edges), None, [*codes, ""], notes)
