"""``horopca map``: from a graph or a tree in a file to a page and a picture, in one step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from ..embed.graphs import as_graph
from ..explorer import explore
from ..explorer.edges import root_of_tree
from ..geometry import from_hyperboloid, to_hyperboloid
from ..metrics.comparison import make
from ..metrics.stability import stability_note
from ..plots.views import choose_centre
from .console import common, print_rows, progress_bar, report, seconds
from .embed import CLADE, describe_nodes, edges_of, embed_options, figures, fit_embedding, make_embedding, read_graph
from .files import PAGES, Reading, figure_for, save_figure, write_files
from .options import command, metadata_options, names_option, points_argument, writes
from .reduce import PICTURE_METHOD

PICTURE_RADIUS = 6.0  # The default max_radius: points farther out cannot be told from the boundary in a picture of the disk.


@command
@points_argument("graph")
@embed_options
@writes(
    "-o",
    "--output",
    formats=PAGES,
    default=("graph", ".html"),
    help="Page to write.  [default: the name of GRAPH with .html, in this folder]",
)
@writes(
    "--plot",
    default=("output", ".png"),
    help="Picture to draw: .png, .pdf or .svg.  [default: the name of the page with .png]",
)
@click.option("--title", help="Heading of both.  [default: the name of GRAPH]")
@names_option
@click.option("--edges/--no-edges", "with_edges", default=True, help="Whether to draw the edges.  [default: edges]")
@metadata_options
def map(
    graph: Path,
    dimensions: int | None,
    method: str | None,
    settings: tuple[str, ...],
    root: str | None,
    relations: list[str],
    output: Path,
    plot: Path,
    title: str | None,
    names: str,
    with_edges: bool,
    reading: Reading,
) -> None:
    """Draw GRAPH in the hyperbolic plane: a page to explore and a picture.

    \b
    GRAPH is a file, or - for standard input, with one of these:
      a list of edges     two names on each line and, if edges have lengths, a length; separated by tabs, commas or blanks
      a tree              Newick, Nexus, PhyloXML
      an ontology         OBO, OWL, OBO Graphs (JSON)
      distances           a symmetric matrix of all distances: .npy, .csv, .tsv or .txt, with or without names
      a sparse matrix     an .npz file of scipy.sparse.save_npz with the lengths of the edges

    A tree is laid out in the plane without crossings. Other graphs are embedded in 10 dimensions and reduced to the plane, as
    by `horopca embed` and `horopca reduce`. (--method distortion does this with a tree too; -d 2 embeds in the plane
    directly.) Trees and ontologies are coloured by clades, unless --colour-by names a column of --metadata. Points stay within
    a radius of 6, which a disk can show; --set max_radius=12 keeps distances better. The line below a picture that was reduced
    states what hardly changes in it if it is fitted to half of the clades, or of the nodes of a graph without a root.

    \b
    Examples:
      horopca map tree.nwk
      horopca map tree.nwk --metadata strains.tsv --colour-by country --names leaves
      horopca map tree.edges -o tree.html --plot tree.pdf
      horopca map tree.edges -d 2 --method sarkar
      horopca map ontology.obo --root "cell" --no-edges
    """
    figure, title, seed = figure_for(plot), title or graph.stem, common().seed
    source = read_graph(graph, root, relations)
    method = method or (
        "tree" if dimensions in (None, 2) and as_graph(source, largest_component=True).is_tree else "distortion"
    )
    estimator = make_embedding(method, dimensions, settings, random_state=seed, max_radius=PICTURE_RADIUS)
    fitted = fit_embedding(estimator, source, graph)
    X, (edges, lengths) = fitted.embedding_, edges_of(source, fitted.names_)
    about, top = describe_nodes(source, fitted.names_, reading), root_of_tree(edges, len(X))
    original: dict[str, Any] = {"original": lengths}
    if source.distances is not None:
        original, with_edges = {"original": fitted.distance_scale_ * source.distances, "metric": "precomputed"}, False
    reducer: Any = None if X.shape[1] == 2 else make(PICTURE_METHOD, 2, random_state=seed)
    with progress_bar(f"Reducing {len(X):,} points to the plane", reducer) as bar:
        Y = X if reducer is None else reducer.fit_transform(X)
        bar.update(0, 1, f"Drawing {len(X):,} points")
        stable = reducer and stability_note(reducer, X, about.labels, groups=about.columns.get(CLADE), random_state=seed)
        centre = from_hyperboloid(choose_centre(to_hyperboloid(Y), top), "poincare")
        start = None if with_edges else top  # explore finds it in the edges
        page = explore(Y, **about.page_arguments(), **original, edges=edges if with_edges else None, root=start, title=title)
        about.draw(figure, Y, edges, title=title, names=names, with_edges=with_edges, centre=centre, caption=stable)
        write_files((output, page.save), (plot, save_figure(figure)))
    found, time = figures(fitted), seconds()
    summary = {"graph": graph, "output": output, "plot": plot, "n_nodes": len(X), "method": method, "n_dimensions": X.shape[1]}
    summary |= {"seed": seed, **{f"embedding_{name.replace(' ', '_')}": value for name, value in found.items()}}
    summary |= {"distortion": page.distortion, "stability": stable, "seconds": time}
    rows: dict[str, Any] = {"nodes": f"{len(X):,}", "method": method if reducer is None else f"{method}, then {PICTURE_METHOD}"}
    rows |= {f"embedding, {name}": f"{value:.4g}" for name, value in found.items() if reducer is not None}
    rows["distortion"] = None if page.distortion is None else f"{page.distortion:.4g}, from the graph to the picture"
    rows |= {"stability": stable, "metadata": about.note, "time": f"{time:.2f} s", "page in": output, "drawn in": plot}
    report(summary, lambda: print_rows(rows))
