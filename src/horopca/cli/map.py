"""``horopca map``: from a graph or a tree in a file to a page and a picture, in one step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..explorer import explore
from ..explorer.edges import root_of_tree
from ..geometry import from_hyperboloid, to_hyperboloid
from ..metrics.comparison import make_reduction
from ..metrics.stability import stability_note
from ..plots.views import choose_centre
from .console import called, progress_bar, report, state
from .embed import CLADE, annotate_nodes, edges_of, embed_options, embedding, measures
from .files import PAGES, Reading, figure_for, write_files
from .options import command, metadata_options, names_option, output_option, points_argument, writes
from .reduce import PICTURE_METHOD

PICTURE_RADIUS = 6.0  # The default max_radius: points farther out look as if they were on the boundary of the disk.


@command
@points_argument("graph")
@embed_options
@output_option("Page", "graph", PAGES)
@writes("--plot", after="output", help="Picture to draw: .png, .pdf or .svg.  [default: the name of the page with .png]")
@click.option("--title", help="Title of the page and of the picture.  [default: the name of GRAPH]")
@names_option
@click.option("--edges/--no-edges", "with_edges", default=True, help="Whether to draw the edges.  [default: edges]")
@metadata_options
def map(
    graph: Path, output: Path, plot: Path, title: str | None, names: str, with_edges: bool, reading: Reading, **options: Any
) -> None:
    """Draw GRAPH in the hyperbolic plane: a page to explore and a picture.

    GRAPH is a file, or - for standard input, as for `horopca embed`: a tree (Newick, Nexus, PhyloXML), an ontology (OBO, OWL,
    OBO Graphs), a list of edges, or a matrix of distances or of lengths of edges.

    A tree is laid out in the plane without crossings. Other graphs are embedded in the plane with the least distortion, as is
    a tree with --method distortion. With -d 10 a graph is embedded in 10 dimensions and reduced to the plane, as by `horopca
    embed` and `horopca reduce`; a line below the picture then states what is stable in refits to random halves of the clades
    (of the nodes, if there are no clades). Trees and ontologies are coloured by clades, unless --colour-by names a column of
    --metadata. A list of edges (child first) in which nodes have several parents is a graph, unless --root names its top node.
    Points stay within a radius of 6, which a disk can show; --set max_radius=12 preserves distances better.

    \b
    Examples:
      horopca map tree.nwk
      horopca map tree.nwk --metadata strains.tsv --colour-by country --names leaves
      horopca map tree.edges -o tree.html --plot tree.pdf
      horopca map tree.edges -d 2 --method sarkar
      horopca map ontology.obo --root "cell" --no-edges
    """
    figure, title, seed = figure_for(plot), title or Path(called(graph)).stem, state().seed
    fitted, source, method = embedding(graph, **options, for_picture=True, max_radius=PICTURE_RADIUS)
    points, (edges, lengths) = annotate_nodes(source, fitted, reading), edges_of(source, fitted.names_)
    X, n, top = points.X, len(points.X), root_of_tree(edges, len(points.X))
    original: dict[str, Any] = {"original": lengths}
    if source.distances is not None:
        original, with_edges = {"original": fitted.distance_scale_ * source.distances, "metric": "precomputed"}, False
    reducer: Any = None if X.shape[1] == 2 else make_reduction(PICTURE_METHOD, 2, random_state=seed)
    with progress_bar(f"Reducing {n:,} points to the plane", reducer) as update:
        images = points if reducer is None else points._replace(X=reducer.fit_transform(X))
        update(0, 1, f"Drawing {n:,} points")
        halved: dict[str, Any] = {"groups": points.columns.get(CLADE), "called": "clades", "random_state": seed}
        stable = reducer and stability_note(reducer, X, points.labels, **halved)
        centre = from_hyperboloid(choose_centre(to_hyperboloid(images.X), top), "poincare")
        shown: dict[str, Any] = {"edges": edges} if with_edges else {"root": top}  # explore finds the root in the edges
        page = explore(images.X, **images.page_arguments(), **original, **shown, title=title)
        images.draw(figure, edges, title=title, names=names, with_edges=with_edges, centre=centre, caption=stable)
        write_files((output, page.save), (plot, figure))
    how = method if reducer is None else f"{method}, then {PICTURE_METHOD}"
    summary = {"graph": graph, "n_nodes": n, "method": how, "n_dimensions": X.shape[1], "seed": seed}
    summary |= {f"embedding_{name}": value for name, value in measures(fitted).items()}
    summary |= {"distortion": page.distortion, "stability": stable, "metadata": points.note}
    report({**summary, "seconds": state().seconds, "output": output, "plot": plot})
