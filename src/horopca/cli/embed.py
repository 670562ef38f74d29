"""``horopca embed``: from a graph in a file to points in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_array

from ..embed import DistortionEmbedding, PoincareEmbedding, SarkarEmbedding, TreeEmbedding
from ..embed.graphs import Relations, as_graph, as_relations, is_matrix
from ..io import FORMATS, load_edges
from ..io.fits import provenance
from . import options as opt
from .clades import clades
from .console import called, progress_bar, report, state
from .files import MODELS, Reading, write_files
from .points import Points, annotate, own_names

CLADE = "clade"  # The column of classes that are derived from the graph.
DEFAULT_DIMENSIONS = 10  # A reduction to the plane gains little from more.
METHODS: dict[str, Any] = {
    "tree": TreeEmbedding,
    "distortion": DistortionEmbedding,
    "sarkar": SarkarEmbedding,
    "poincare": PoincareEmbedding,
}
# Attributes of embeddings that are reported, if present, and their names.
MEASURES = {
    "distortion_": "distortion",
    "distance_scale_": "scale_of_distances",
    "scale_": "edge_length",
    "mean_rank_": "mean_rank",
    "map_": "mean_average_precision",
}
embed_options = opt.combined(
    opt.count_option(
        "-d", "--dimensions", least=2, help="Dimension of the space.  [default: 10; 2 for `map` and for --method tree]"
    ),
    click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        help="Method of the embedding.  [default: distortion; `map` of a tree: tree]",
    ),
    opt.set_option,
    click.option("--root", metavar="NAME", help="Use only this node and the nodes below it."),
    click.option(
        "--relations",
        type=opt.list_of(str),
        default="is_a",
        show_default=True,
        metavar="NAME,NAME",
        help="Relations of an ontology that lead to parents, such as is_a,part_of.",
    ),
)


@opt.command
@opt.points_argument("graph")
@embed_options
@opt.writes(
    "-o",
    "--output",
    formats=FORMATS,
    required=True,
    help="Points to write: .npy, .npz, .csv, .tsv or .h5ad; - is standard output.",
)
@opt.metadata_options
@click.option("--model", type=click.Choice(MODELS), help=f"Model of the points to write.  [default: {MODELS[0]}]")
@click.option("--curvature", type=float, metavar="NUMBER", help="Curvature of the points to write, below 0.  [default: -1]")
def embed(graph: Path, output: Path, reading: Reading, **options: Any) -> None:
    """Embed the nodes of GRAPH in hyperbolic space.

    \b
    GRAPH is a file, or - for standard input, with one of these:
      a list of edges  two names on each line, and a length if edges have lengths
      a tree           Newick, Nexus, PhyloXML
      an ontology      OBO, OWL, OBO Graphs (JSON)
      distances        a symmetric matrix with or without names: .npy, .csv, .tsv, .txt
      a sparse matrix  lengths of edges: an .npz file of scipy.sparse.save_npz

    In a list of edges the child comes first: "cat mammal" reads "a cat is a mammal". The clades of a tree or of an ontology
    are written as classes of the points. A list of edges in which nodes have several parents is a graph, unless --root names
    its top node.

    \b
    Methods:
      tree         a tree in the plane, without crossings
      distortion   the points whose distances are closest to those in the graph
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
    fitted, relations, method = embedding(graph, **options, **reading.coordinates())
    points, source = annotate_nodes(relations, fitted, reading), {"input": called(graph), **provenance(fitted)}
    write_files((output, points.writer(source, output, key=f"X_{fitted.model}")))
    n, columns = points.X.shape
    summary = {"graph": graph, "method": method, "seed": state().seed, "n_nodes": n, "n_columns": columns}
    summary |= {"model": fitted.model, **measures(fitted), "metadata": points.note}
    report({**summary, "seconds": state().seconds, "output": output})


def embedding(
    path: Path,
    method: str | None,
    dimensions: int | None,
    settings: Sequence[str],
    root: str | None,
    relations: Sequence[str],
    for_picture: bool = False,
    **defaults: Any,
) -> tuple[Any, Relations, str]:
    """The fitted embedding of the graph in a file, the graph, and the method; `defaults` that the method lacks are left out."""
    graph = read_graph(path, root, relations)
    drawn = for_picture and dimensions in (None, 2) and as_graph(graph, largest_component=True).is_tree
    method = method or ("tree" if drawn else "distortion")
    kind = METHODS[method]
    given, known = opt.parse_settings(kind, settings, method), kind._get_param_names()
    if "n_components" not in known and dimensions not in (None, 2):
        raise click.UsageError(f"--method {method} embeds in the plane, but -d is {dimensions}.")
    if graph.distances is not None and method == "poincare":
        raise click.UsageError(f"--method poincare embeds relations, but {path} holds distances: use --method distortion.")
    defaults |= {"n_components": dimensions or (2 if for_picture else DEFAULT_DIMENSIONS), "random_state": state().seed}
    estimator = kind(**{name: value for name, value in defaults.items() if name in known} | given)
    with progress_bar(f"Embedding {len(graph.names):,} nodes of {path.name}", estimator):
        return estimator.fit(graph), graph, method


def read_graph(path: Path, root: str | None, relations: Sequence[str]) -> Relations:
    """The graph in a file, or the part of it that is below `root`. Terms of an ontology are called "name (code)"."""
    if is_matrix(path):
        if root is not None:
            raise click.UsageError(f"--root is for trees and ontologies, but {path} holds a matrix.")
        return as_relations(path)
    found = load_edges(path, root=root, relations=relations)
    if found.codes is not None:
        codes = zip(found.names, found.codes, strict=True)
        found = found._replace(names=[f"{name} ({code})" if code and code not in name else name for name, code in codes])
    return as_relations(found)._replace(ontology=root is not None or found.codes is not None)


def annotate_nodes(graph: Relations, fitted: Any, reading: Reading) -> Points:
    """The embedded nodes as points. Their clades are a column, if the graph is a tree or an ontology."""
    names, edges = [str(name) for name in fitted.names_], np.unique(edges_of(graph, fitted.names_)[0], axis=0)
    hierarchy = graph.ontology or np.bincount(edges[:, 1], minlength=1).max() <= 1  # nodes with one parent are a tree
    found = clades(edges, own_names(names)) if hierarchy else None
    columns = {} if found is None else {CLADE: [clade or "" for clade in found]}
    coordinates = {"model": fitted.model, "curvature": fitted.curvature}
    points = annotate(Points(fitted.embedding_, coordinates, names, columns), reading)
    return points if points.colour or found is None else points._replace(colour=CLADE)


def edges_of(graph: Relations, nodes: list[Any]) -> tuple[np.ndarray, csr_array]:
    """Edges (m, 2) between the rows of embedded nodes, parent first, and the matrix (n, n) of their lengths."""
    row, n = {name: i for i, name in enumerate(nodes)}, len(nodes)
    rows = np.array([row.get(name, -1) for name in graph.names])[graph.edges[:, ::-1]]
    embedded = (rows >= 0).all(axis=1)
    edges = rows[embedded]
    unique, first = np.unique(np.sort(edges, axis=1), axis=0, return_index=True)  # an edge may be listed in both directions
    return edges, csr_array((graph.weights[embedded][first], tuple(unique.T)), shape=(n, n))


def measures(fitted: Any) -> dict[str, float]:
    """The attributes of a fitted embedding that are reported, by the names of `MEASURES`."""
    return {name: float(getattr(fitted, attribute)) for attribute, name in MEASURES.items() if hasattr(fitted, attribute)}
