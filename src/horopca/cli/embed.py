"""``horopca embed``: from a graph in a file to points in a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import rich_click as click

from .. import embed as embeddings
from ..embed.graphs import Relations
from ..io import FORMATS
from ..io.anndata import how
from .common import common
from .console import count, print_json, print_rows, progress_bar
from .files import STDOUT, Output, check_files, write_files
from .graphs import read_graph
from .options import Reading, combined, command, list_of, metadata_options, model_options, points_argument, reading, writes
from .points import describe, point_writer
from .settings import parse_settings, set_option


class Embedding(NamedTuple):
    """A method: its class in `horopca.embed`, and the attributes to report with their names."""

    estimator: str
    figures: dict[str, str]


KEPT = {"distortion_": "distortion", "distortion_given_up_": "of it for max_radius", "distance_scale_": "scale of distances"}
DIMENSIONS = 10  # More add little to what a reduction to the plane can use.
METHODS = {
    "tree": Embedding("TreeEmbedding", KEPT),
    "distortion": Embedding("DistortionEmbedding", KEPT),
    "sarkar": Embedding("SarkarEmbedding", {**KEPT, "scale_": "edge length"}),
    "poincare": Embedding("PoincareEmbedding", {"mean_rank_": "mean rank", "map_": "mean average precision"}),
}
embed_options = combined(
    [
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
    ]
)


@command
@points_argument("graph")
@embed_options
@writes("-o", "--output", help="Points to write: .npy, .npz, .csv, .tsv or .h5ad; - is standard output.")
@reading(metadata_options, model_options)
def embed(
    graph: Path,
    dimensions: int | None,
    method: str | None,
    settings: tuple[str, ...],
    root: str | None,
    relations: list[str],
    output: Path | None,
    reading: Reading,
) -> None:
    """Embed the nodes of GRAPH in hyperbolic space.

    \b
    GRAPH is a file, or - for standard input, with one of these:
      a list of edges     two names on each line and, if edges have lengths, a length; separated by tabs, commas or blanks
      a tree              Newick, Nexus, PhyloXML, NeXML
      an ontology         OBO, OWL, OBO Graphs (JSON)
      a sparse matrix     an .npz file of scipy.sparse.save_npz with the lengths of the edges

    In a list of edges the child comes first: "cat mammal" reads "a cat is a mammal".

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
    (seed, as_json, _, force), method = common(), method or "distortion"
    estimator = make_embedding(method, dimensions, settings, random_state=seed, **reading.coordinates())
    if output is None and not as_json:
        raise click.UsageError("-o FILE is missing: where to write the points.")
    if output == STDOUT and as_json:
        raise click.UsageError("-o - and --json both write to standard output: write one of them to a file.")
    check_files({"graph": graph, "metadata": reading.metadata}, [Output("-o", output, FORMATS)], force=force)
    start = time.perf_counter()
    fitted = fit_embedding(estimator, read_graph(graph, root, relations), graph)
    names = [str(name) for name in fitted.names_]
    about, source = describe(names, len(names), {}, reading), {"input": str(graph), **how(fitted)}
    write_files([(output, point_writer(fitted.embedding_, about, source, output, key=f"X_{fitted.model}"))], force=force)
    found, (n, columns) = figures(method, fitted), fitted.embedding_.shape
    seconds = time.perf_counter() - start
    if as_json:
        report = {name.replace(" ", "_"): value for name, value in found.items()}
        sizes = {"n_nodes": n, "n_columns": columns, "model": fitted.model, "seconds": seconds}
        return print_json({"graph": graph, "output": output, "method": method, "seed": seed, **sizes, **report})
    rows = {"nodes": f"{n:,}", "points": f"{count(columns, 'column')}, {fitted.model}"}
    rows |= {name: f"{value:.4g}" for name, value in found.items()}
    rows |= {"metadata": about.note} if about.note else {}
    print_rows({**rows, "time": f"{seconds:.2f} s", "written to": str(output)}, err=output == STDOUT)


def make_embedding(method: str, dimensions: int | None, settings: tuple[str, ...], **defaults: Any) -> Any:
    """The unfitted embedding with the parameters of ``--set``; defaults that the method does not have are left out."""
    kind = getattr(embeddings, METHODS[method].estimator)
    given, known = parse_settings(kind, settings, method), kind().get_params()
    if "n_components" not in known and dimensions not in (None, 2):
        raise click.UsageError(f"--method {method} embeds in the plane, but -d is {dimensions}.")
    defaults["n_components"] = dimensions or DIMENSIONS
    return kind(**{name: value for name, value in defaults.items() if name in known} | given)


def fit_embedding(estimator: Any, relations: Relations, graph: Path) -> Any:
    with progress_bar(f"Embedding {len(relations.names):,} nodes of {graph.name}", estimator):
        return estimator.fit(relations)


def figures(method: str, fitted: Any) -> dict[str, float]:
    """What an embedding reports about itself."""
    report = METHODS[method].figures
    return {name: float(getattr(fitted, attribute)) for attribute, name in report.items() if hasattr(fitted, attribute)}
