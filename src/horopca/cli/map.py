"""``horopca map``: from a graph or a tree in a file to a page and a picture, in one step."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import rich_click as click

from ..explorer import explore
from ..metrics import average_distortion
from ..metrics.comparison import METHODS, make, report_pairs
from .clades import clades
from .common import common
from .console import print_json, print_rows, progress_bar
from .drawing import PICTURES, draw_plane, figure_for, save_figure
from .embed import embed_options, figures, fit_embedding, make_embedding
from .files import Output, check_files, write_files
from .graphs import edges_of, read_graph
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
    dimensions: int,
    method: str,
    settings: tuple[str, ...],
    root: str | None,
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
      a tree              Newick, Nexus, PhyloXML
      an ontology         OBO
      a sparse matrix     an .npz file of scipy.sparse.save_npz with the lengths of the edges

    The graph is embedded, reduced to the plane and drawn, as by `horopca embed`, `reduce`, `view` and `plot`, which have more
    options. -d 2 embeds in the plane directly. Trees and ontologies are coloured by clades, unless --colour-by names a column
    of --metadata. Points stay within a radius of 6, which a disk can show; --set max_radius=12 keeps distances better.

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
    estimator = make_embedding(method, dimensions, settings, random_state=seed, max_radius=RADIUS)
    relations = read_graph(graph, root)
    fitted = fit_embedding(estimator, relations, graph)
    X, (edges, lengths) = fitted.embedding_, edges_of(relations, fitted.names_)
    called = [str(name) for name in fitted.names_]
    groups = clades(edges, called)
    own: Any = {} if groups is None else {CLADE: [group or "" for group in groups]}
    about = describe(called, len(X), own, reading)
    about = about._replace(colour=about.colour or (CLADE if groups else None))
    reducer: Any = make(reduction, 2, random_state=seed)
    with progress_bar(f"Reducing {len(X):,} points to the plane", reducer):
        Y = X if dimensions == 2 else reducer.fit_transform(X)
        distortion: Any = average_distortion(X, Y, n_pairs=report_pairs(len(X)), random_state=seed)
    shown = edges if with_edges else None
    page = explore(Y, **page_columns(about), names=called, edges=shown, original=lengths, title=title)
    draw_plane(figure, Y, about, shown, title=title, names=drawn_names(called, names, edges))
    seconds = time.perf_counter() - start
    write_files([(output, page.save), (plot, save_figure(figure))], force=force)
    found = figures(method, fitted)
    if as_json:
        report: dict[str, Any] = {f"embedding_{name.replace(' ', '_')}": value for name, value in found.items()}
        files = {"graph": graph, "output": output, "plot": plot, "n_nodes": len(X), "n_dimensions": dimensions, "seed": seed}
        report |= {"reduction_distortion": distortion, "distortion": page.distortion}
        return print_json({**files, **report, "seconds": seconds})
    rows = {"nodes": f"{len(X):,}", **{f"embedding, {name}": f"{value:.4g}" for name, value in found.items()}}
    rows["reduction, distortion"] = f"{distortion:.4f}"
    if page.distortion is not None:
        rows["graph to plane, distortion"] = f"{page.distortion:.4f}"
    rows |= {"metadata": about.note} if about.note else {}
    print_rows({**rows, "time": f"{seconds:.2f} s", "page in": str(output), "drawn in": str(plot)})
