"""``horopca map``: from a graph or a tree in a file to a page and a picture, in one step."""

from __future__ import annotations

import re
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click
from scipy.sparse import csr_array

from ..embed.forms import as_relations
from ..explorer import explore
from ..explorer.edges import root_of_tree
from ..io.files import named
from ..metrics import average_distortion
from ..metrics.comparison import METHODS, make, report_pairs
from .console import print_json, print_rows, status
from .drawing import PICTURES, draw_plane, figure_for, saved
from .embed import embed_options, figures, fit_embedding
from .files import Output, check_files, write_files
from .options import choice, points_argument, usual_options, writes
from .texts import Texts
from .view import PAGES

BEST = "horopca-stretch"  # This reduction keeps distances best.
RADIUS = 6.0  # A disk shows points up to this radius, if no other is asked for.
FEW_BRANCHES, MOST_BRANCHES = 8, 20  # From so many to so many branches of a tree have colours of their own.
UNNAMED = re.compile(r"inner \d+")


@click.command()
@points_argument("graph")
@embed_options
@choice(
    "reduction",
    (BEST, *(name for name in METHODS if name != BEST)),
    help="How to come to the plane, as `horopca reduce --method`.",
)
@writes("-o", "--output", help="Where to write the page.  [default: the name of GRAPH with .html, here]")
@writes("--plot", help="Where to draw the picture: .png, .pdf or .svg.  [default: the name of the page with .png]")
@click.option("--title", help="Heading of both.  [default: the name of GRAPH]")
@usual_options
def map(
    graph: Path,
    dimensions: int,
    method: str,
    reduction: str,
    output: Path | None,
    plot: Path | None,
    title: str | None,
    seed: int,
    as_json: bool,
    force: bool,
    **settings: Any,
) -> None:
    """Take GRAPH to a page to move around in and to a picture: embed it, reduce it to the plane, and draw it.

    GRAPH is a file as for `horopca embed`. The steps are those of `horopca embed`, `horopca reduce`, `horopca view` and
    `horopca plot`, which have more options; -d 2 embeds in the plane at once. Points stay within a radius of 6, which a disk
    shows: --max-radius 12 keeps distances better and shows less.

    \b
    Examples:
      horopca map tree.edges
      horopca map tree.edges -o tree.html --plot tree.pdf --title "A tree"
      horopca map tree.edges -d 2 --method sarkar
    """
    output = Path(f"{graph.stem}.html") if output is None else output
    plot = output.with_suffix(".png") if plot is None else plot
    check_files({"graph": graph}, [Output("-o", output, PAGES), Output("--plot", plot, PICTURES)], force=force)
    figure, start = figure_for(plot), time.perf_counter()
    fitted = fit_embedding(graph, method, dimensions, seed, settings, {"max_radius": RADIUS})
    X, (texts, lengths), title = fitted.embedding_, _texts(fitted, graph), title or graph.stem
    with status(f"Reducing {len(X):,} points to the plane"):
        Y = X if dimensions == 2 else make(reduction, 2, random_state=seed).fit_transform(X)
        distortion: Any = average_distortion(X, Y, n_pairs=report_pairs(len(X)), random_state=seed)
    draw_plane(figure, Y, texts, title=title)
    page = explore(Y, labels=texts.labels, names=texts.names, edges=texts.edges, original=lengths, title=title)
    seconds = time.perf_counter() - start
    write_files([(output, page.save), (plot, saved(figure))], force=force)
    found = figures(method, fitted)
    if as_json:
        report: dict[str, Any] = {f"embedding_{name.replace(' ', '_')}": value for name, value in found.items()}
        about = {"graph": graph, "output": output, "plot": plot, "n_nodes": len(X), "n_dimensions": dimensions, "seed": seed}
        report |= {"reduction_distortion": distortion, "distortion": page.distortion}
        return print_json({**about, **report, "seconds": seconds})
    steps = {f"embedding, {name}": f"{value:.4g}" for name, value in found.items()}
    rows = {"nodes": f"{len(X):,}", **steps, "reduction, distortion": f"{distortion:.4f}"}
    if page.distortion is not None:
        rows["graph to plane, distortion"] = f"{page.distortion:.4f}"
    print_rows({**rows, "time": f"{seconds:.2f} s", "page in": str(output), "drawn in": str(plot)})


def _texts(fitted: Any, graph: Path) -> tuple[Texts, csr_array]:
    """Names, edges from parents to children and, in a tree, branches of the embedded nodes; and the lengths of the edges."""
    with named(graph), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was read before
        relations = as_relations(graph)
    row = {name: i for i, name in enumerate(fitted.names_)}
    rows = np.array([row.get(name, -1) for name in relations.names])[relations.edges[:, ::-1]].reshape(-1, 2)
    embedded, names = (rows >= 0).all(axis=1), [str(name) for name in fitted.names_]
    weights = np.ones(len(rows)) if relations.weights is None else relations.weights
    edges = rows[embedded].astype(np.int64)
    unique, first = np.unique(np.sort(edges, axis=1), axis=0, return_index=True)  # an edge may be listed in both directions
    lengths = csr_array((weights[embedded][first], tuple(unique.T)), shape=(len(names), len(names)))
    return Texts(branches(edges, names), names, edges), lengths


def branches(edges: np.ndarray, names: list[str]) -> list[Any] | None:
    """The large branch of a tree that each node belongs to, by its name; None for what is above them, and for other graphs.

    The largest branch is divided until there are several. Where its node has no name of its own, a branch is called by a leaf.
    """
    below: list[list[int]] = [[] for _ in names]
    for parent, child in edges.tolist():
        below[parent].append(child)
    root = root_of_tree(edges, len(names))
    if root is None:
        return None
    inside = {node: _descendants(node, below) for node in below[root]}
    if sum(len(members) for members in inside.values()) != len(edges):  # the others lead round in a circle
        return None
    while len(inside) < FEW_BRANCHES:
        largest = max(inside, key=lambda node: len(inside[node]))
        if not below[largest] or len(inside) - 1 + len(below[largest]) > MOST_BRANCHES:
            break
        del inside[largest]
        inside |= {node: _descendants(node, below) for node in below[largest]}
    found: list[Any] = [None] * len(names)
    for node in sorted(inside, key=lambda node: len(inside[node]))[-MOST_BRANCHES:]:
        leaf = next(member for member in inside[node] if not below[member])
        title = f"{names[leaf]} …" if UNNAMED.fullmatch(names[node]) else names[node]
        for member in inside[node]:
            found[member] = title
    return found


def _descendants(node: int, below: list[list[int]]) -> list[int]:
    """A node and those below it."""
    found = [node]
    for member in found:
        found += below[member]
    return found
