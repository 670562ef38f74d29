"""``horopca embed``: from a graph in a file to points in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click
from scipy.sparse import csr_array

from .. import embed as embeddings
from ..embed.graphs import Relations, as_relations, is_matrix
from ..io import FORMATS, load_edges
from ..io.files import named
from ..io.fits import how
from .clades import clades
from .console import common, count, print_rows, progress_bar, report, seconds
from .files import STDOUT, Reading, write_files
from .options import (
    combined,
    command,
    list_of,
    metadata_options,
    model_options,
    parse_settings,
    points_argument,
    set_option,
    writes,
)
from .points import Description, describe, own_names, point_writer

CLADE = "clade"  # The column of classes that are derived from the graph.
DEFAULT_DIMENSIONS = 10  # The default dimension: more add little to a reduction to the plane.
METHODS = {
    "tree": "TreeEmbedding",
    "distortion": "DistortionEmbedding",
    "sarkar": "SarkarEmbedding",
    "poincare": "PoincareEmbedding",
}
# Attributes of embeddings that are reported, if present, and their names.
FIGURES = {
    "distortion_": "distortion",
    "distance_scale_": "scale of distances",
    "scale_": "edge length",
    "mean_rank_": "mean rank",
    "map_": "mean average precision",
}
embed_options = combined(
    click.option(
        "-d",
        "--dimensions",
        type=click.IntRange(min=2),
        help="Dimension of the space.  [default: 10, or 2 with --method tree]",
    ),
    click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        help="How to embed.  [default: distortion; `map` of a tree: tree]",
    ),
    set_option,
    click.option("--root", metavar="NAME", help="Use only this node and the nodes below it."),
    click.option(
        "--relations",
        type=list_of(str),
        default="is_a",
        show_default=True,
        metavar="NAME,NAME",
        help="Relations of an ontology that lead to parents: is_a,part_of.",
    ),
)


@command
@points_argument("graph")
@embed_options
@writes(
    "-o",
    "--output",
    formats=FORMATS,
    required=True,
    help="Points to write: .npy, .npz, .csv, .tsv or .h5ad; - is standard output.",
)
@combined(metadata_options, model_options)
def embed(
    graph: Path,
    dimensions: int | None,
    method: str | None,
    settings: tuple[str, ...],
    root: str | None,
    relations: list[str],
    output: Path,
    reading: Reading,
) -> None:
    """Embed the nodes of GRAPH in hyperbolic space.

    \b
    GRAPH is a file, or - for standard input, with one of these:
      a list of edges     two names on each line and, if edges have lengths, a length; separated by tabs, commas or blanks
      a tree              Newick, Nexus, PhyloXML
      an ontology         OBO, OWL, OBO Graphs (JSON)
      distances           a symmetric matrix of all distances: .npy, .csv, .tsv or .txt, with or without names
      a sparse matrix     an .npz file of scipy.sparse.save_npz with the lengths of the edges

    In a list of edges the child comes first: "cat mammal" reads "a cat is a mammal". The points of a tree or of an ontology
    have classes, their clades.

    \b
    Methods:
      tree         a tree in the plane, without crossings
      distortion   the points whose distances are most like those in the graph
      sarkar       Sarkar's construction on the tree, or on a spanning tree; fast
      poincare     hierarchies, from their relations (Nickel and Kiela)

    \b
    Examples:
      horopca embed tree.nwk -d 10 -o tree.npz
      horopca embed tree.edges -d 2 --method sarkar --model lorentz -o tree.npy
      horopca embed mammals.txt -d 5 --method poincare --set closure=true --set epochs=200 -o mammals.npz
      horopca embed two-trees.edges --set largest_component=true -o tree.npz
      horopca embed tree.nwk --metadata strains.tsv --colour-by country -o tree.npz
      horopca embed ontology.obo --root "cell" -o cells.npz
      horopca embed tree.edges --method poincare --set help
    """
    method = method or "distortion"
    estimator = make_embedding(method, dimensions, settings, random_state=common().seed, **reading.coordinates())
    relation = read_graph(graph, root, relations)
    fitted = fit_embedding(estimator, relation, graph)
    about, source = describe_nodes(relation, fitted.names_, reading), {"input": str(graph), **how(fitted)}
    write_files((output, point_writer(fitted.embedding_, about, source, output, key=f"X_{fitted.model}")))
    (n, columns), time = fitted.embedding_.shape, seconds()
    summary = {"graph": graph, "output": output, "method": method, "seed": common().seed, "n_nodes": n, "n_columns": columns}
    found, model = figures(fitted), fitted.model
    summary |= {"model": model, "seconds": time, **{name.replace(" ", "_"): value for name, value in found.items()}}
    rows: dict[str, Any] = {"nodes": f"{n:,}", "points": f"{count(columns, 'column')}, {model}"}
    rows |= {name: f"{value:.4g}" for name, value in found.items()}
    rows |= {"metadata": about.note, "time": f"{time:.2f} s", "written to": output}
    report(summary, lambda: print_rows(rows, err=output == STDOUT))


# ---------------------------------------------------------------- graphs, also for `horopca map`


def read_graph(path: Path, root: str | None = None, relations: Sequence[str] = ("is_a",)) -> Relations:
    """The graph in a file, or the part of it that is below `root`. Terms of an ontology are called "name (code)"."""
    with named(path):
        if is_matrix(path):
            if root is not None:
                raise click.UsageError(f"--root is for trees and ontologies, but {path} holds a matrix.")
            return as_relations(path)
        found = load_edges(path, root=root, relations=relations)
    if found.codes is not None:
        codes = zip(found.names, found.codes, strict=True)
        found = found._replace(names=[f"{name} ({code})" if code and code not in name else name for name, code in codes])
    return as_relations(found)


def describe_nodes(graph: Relations, nodes: list[Any], reading: Reading) -> Description:
    """What is known about the embedded nodes. Their clades are a column."""
    names = [str(name) for name in nodes]
    found = clades(edges_of(graph, nodes)[0], own_names(names))
    about = describe(names, len(names), {} if found is None else {CLADE: [clade or "" for clade in found]}, reading)
    return about if about.colour or found is None else about._replace(colour=CLADE)


def edges_of(graph: Relations, nodes: list[Any]) -> tuple[np.ndarray, csr_array]:
    """Edges (m, 2) between rows, from parents to children, and the matrix (n, n) of their lengths, for the embedded nodes."""
    row, n = {name: i for i, name in enumerate(nodes)}, len(nodes)
    rows = np.array([row.get(name, -1) for name in graph.names])[graph.edges[:, ::-1]].reshape(-1, 2)
    embedded = (rows >= 0).all(axis=1)
    weights = np.ones(len(rows)) if graph.weights is None else graph.weights
    edges = rows[embedded].astype(np.int64)
    unique, first = np.unique(np.sort(edges, axis=1), axis=0, return_index=True)  # an edge may be listed in both directions
    return edges, csr_array((weights[embedded][first], tuple(unique.T)), shape=(n, n))


def make_embedding(method: str, dimensions: int | None, settings: tuple[str, ...], **defaults: Any) -> Any:
    """The unfitted embedding with the parameters of ``--set``; defaults that the method does not have are left out."""
    kind = getattr(embeddings, METHODS[method])
    given, known = parse_settings(kind, settings, method), kind._get_param_names()
    if "n_components" not in known and dimensions not in (None, 2):
        raise click.UsageError(f"--method {method} embeds in the plane, but -d is {dimensions}.")
    defaults["n_components"] = dimensions or DEFAULT_DIMENSIONS
    return kind(**{name: value for name, value in defaults.items() if name in known} | given)


def fit_embedding(estimator: Any, relations: Relations, graph: Path) -> Any:
    if relations.distances is not None and estimator.__class__ is embeddings.PoincareEmbedding:
        raise click.UsageError(f"--method poincare embeds relations, but {graph} holds distances: use --method distortion.")
    with progress_bar(f"Embedding {len(relations.names):,} nodes of {graph.name}", estimator):
        return estimator.fit(relations)


def figures(fitted: Any) -> dict[str, float]:
    """The reported attributes of a fitted embedding, by name."""
    return {name: float(getattr(fitted, attribute)) for attribute, name in FIGURES.items() if hasattr(fitted, attribute)}
