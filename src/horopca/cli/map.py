"""``horopca map``: from a graph or a tree in a file to a page and a picture, in one step."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import rich_click as click

from ..explorer import explore
from ..explorer.edges import root_of_tree
from ..metrics import average_distortion
from ..metrics.comparison import METHODS, make, report_pairs
from .clades import clades
from .common import common
from .console import print_json, print_rows, progress_bar
from .drawing import PICTURES, draw_plane, figure_for, save_figure
from .embed import embed_options, figures, fit_embedding, make_embedding
from .files import Output, check_files, write_files
from .graphs import edges_of, is_tree, read_graph, shown_names
from .options import Reading, choice, command, metadata_options, points_argument, reading, writes
from .points import NAMES, describe, drawn_names
from .view import PAGES, page_columns

BEST = "horopca-stretch"  # This reduction keeps distances best.
RADIUS = 6.0  # A disk shows points up to this radius.
CLADE = "clade"


@command
@points_argument("graph")
@embed_options
@choice(
    "reduction",
    (BEST, *(name for name in METHODS if name != BEST)),
    help="How to reduce to the plane, as `horopca reduce --method`.",
)
@writes("-o", "--output", help="Page to write.  [default: the name of GRAPH with .html, in this folder]")
@writes("--plot", help="Picture to draw: .png, .pdf or .svg.  [default: the name of the page with .png]")
@click.option("--title", help="Heading of both.  [default: the name of GRAPH]")
@choice("names", NAMES, help="Which names to write on the picture.")
@click.option("--edges/--no-edges", "with_edges", default=True, help="Whether to draw the edges.  [default: edges]")
@reading(metadata_options)
def map(
    graph: Path,
    dimensions: int | None,
    method: str | None,
    settings: tuple[str, ...],
    root: str | None,
    relations: list[str],
    reduction: str,
    output: Path | None,
    plot: Path | None,
    title: str | None,
    names: str,
    with_edges: bool,
    reading: Reading,
) -> None:
    """Draw GRAPH in the hyperbolic plane: a page to explore and a picture.

    \b
    GRAPH is a file, or - for standard input, with one of these:
      a list of edges     two names on each line and, if edges have lengths, a length; separated by tabs, commas or blanks
      a tree              Newick, Nexus, PhyloXML, NeXML
      an ontology         OBO, OWL, OBO Graphs (JSON)
      a sparse matrix     an .npz file of scipy.sparse.save_npz with the lengths of the edges

    A tree is laid out in the plane without crossings. Other graphs are embedded in 10 dimensions and reduced to the plane, as
    by `horopca embed` and `horopca reduce`. (--method distortion does this with a tree too; -d 2 embeds in the plane
    directly.) Trees and ontologies are coloured by clades, unless --colour-by names a column of --metadata. Points stay within
    a radius of 6, which a disk can show; --set max_radius=12 keeps distances better.

    \b
    Examples:
      horopca map tree.nwk
      horopca map tree.nwk --metadata strains.tsv --colour-by country --names leaves
      horopca map tree.edges -o tree.html --plot tree.pdf --title "A tree"
      horopca map tree.edges -d 2 --method sarkar
      horopca map ontology.obo --root "cell" --no-edges
    """
    output = Path(f"{graph.stem}.html") if output is None else output
    plot = output.with_suffix(".png") if plot is None else plot
    seed, as_json, _, force = common()
    inputs = {"graph": graph, "metadata": reading.metadata}
    check_files(inputs, [Output("-o", output, PAGES), Output("--plot", plot, PICTURES)], force=force)
    figure, start, title = figure_for(plot), time.perf_counter(), title or graph.stem
    source = read_graph(graph, root, relations)
    method = method or ("tree" if dimensions in (None, 2) and is_tree(source) else "distortion")
    estimator = make_embedding(method, dimensions, settings, random_state=seed, max_radius=RADIUS)
    fitted = fit_embedding(estimator, source, graph)
    X, (edges, lengths) = fitted.embedding_, edges_of(source, fitted.names_)
    called, top = shown_names(fitted.names_), root_of_tree(edges, len(X))
    groups = clades(edges, called)
    own: Any = {} if groups is None else {CLADE: [group or "" for group in groups]}
    about = describe(called, len(X), own, reading)
    about = about._replace(colour=about.colour or (CLADE if groups else None))
    reducer: Any = make(reduction, 2, random_state=seed)
    with progress_bar(f"Reducing {len(X):,} points to the plane", reducer):
        Y = X if X.shape[1] == 2 else reducer.fit_transform(X)
        distortion: Any = average_distortion(X, Y, n_pairs=report_pairs(len(X)), random_state=seed)
    shown = edges if with_edges else None
    page = explore(Y, **page_columns(about), names=called, edges=shown, original=lengths, root=top, title=title)
    draw_plane(figure, Y, about, shown, title=title, names=drawn_names(called, names, edges), centre=top)
    seconds = time.perf_counter() - start
    write_files([(output, page.save), (plot, save_figure(figure))], force=force)
    found = figures(method, fitted)
    if as_json:
        report: dict[str, Any] = {f"embedding_{name.replace(' ', '_')}": value for name, value in found.items()}
        files = {
            "graph": graph,
            "output": output,
            "plot": plot,
            "n_nodes": len(X),
            "method": method,
            "n_dimensions": X.shape[1],
            "seed": seed,
        }
        report |= {"reduction_distortion": distortion, "distortion": page.distortion}
        return print_json({**files, "method": method, "seed": seed, **report, "seconds": seconds})
    rows = {"nodes": f"{len(X):,}", "method": method, **{f"embedding, {name}": f"{value:.4g}" for name, value in found.items()}}
    rows["reduction, distortion"] = f"{distortion:.4f}"
    if page.distortion is not None:
        rows["graph to plane, distortion"] = f"{page.distortion:.4f}"
    rows |= {"metadata": about.note} if about.note else {}
    print_rows({**rows, "time": f"{seconds:.2f} s", "page in": str(output), "drawn in": str(plot)})
