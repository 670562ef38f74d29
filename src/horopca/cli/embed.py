"""``horopca embed``: from a graph in a file to points in a file."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import rich_click as click

from .. import embed as embeddings
from ..io import FORMATS
from ..io.anndata import how
from ..io.files import named
from .console import print_json, print_rows, status
from .files import STDOUT, Output, check_files, write_files
from .options import Reading, choice, model_options, points_argument, refuse_others, together, usual_options, writes
from .texts import Texts, point_writer, word_writer


class Placing(NamedTuple):
    """A way to embed: its class in `horopca.embed`, and the attributes to report with what they are called."""

    estimator: str
    report: dict[str, str]


KEPT = {"distortion_": "distortion", "distortion_given_up_": "of it for max radius", "distance_scale_": "scale of distances"}
METHODS = {
    "distortion": Placing("DistortionEmbedding", KEPT),
    "sarkar": Placing("SarkarEmbedding", {**KEPT, "scale_": "edge length"}),
    "poincare": Placing("PoincareEmbedding", {"mean_rank_": "mean rank", "map_": "mean average precision"}),
}


def _length(text: str) -> float | str:
    return text if text in ("auto", "none") else float(text)


embed_options = together(
    [
        click.option(
            "-d", "--dimensions", type=click.IntRange(min=2), default=10, show_default=True, help="Dimension of the space."
        ),
        choice("method", tuple(METHODS), help="How to embed."),
        click.option("--largest-component", is_flag=True, help="Embed the largest component of a graph that is not connected."),
        click.option("--closure", is_flag=True, help="With --method poincare: also relate nodes to those above their parents."),
        click.option("--scale", type=_length, metavar="LENGTH", help="Distance per length of an edge.  [default: auto]"),
        click.option(
            "--max-radius",
            type=_length,
            metavar="LENGTH",
            help="No point is farther out; none: as the model holds.  [default: 12]",
        ),
        click.option("--epochs", type=click.IntRange(min=1), help="With --method poincare: passes over the data."),
        click.option("--verbose", is_flag=True, help="Tell on standard error how the work goes on."),
    ]
)


@click.command()
@points_argument("graph")
@embed_options
@writes("-o", "--output", help="Where to write the points: .npy, or .npz, .csv and .tsv, which keep names too; - is stdout.")
@writes(
    "--labels-out",
    help="Where to write the names of the nodes, one to a line, in the order of the rows.",
)
@model_options
@usual_options
def embed(
    graph: Path,
    dimensions: int,
    method: str,
    output: Path | None,
    labels_out: Path | None,
    as_json: bool,
    force: bool,
    seed: int,
    model: str | None,
    curvature: float | None,
    **settings: Any,
) -> None:
    """Embed the nodes of GRAPH in hyperbolic space.

    GRAPH is a text file with an edge on each line: two names, and a length if edges have lengths, separated by blanks,
    tabs or commas; or an .npz file with a sparse adjacency matrix of SciPy's. For --method poincare the first name
    is the kind and the second what it is a kind of.

    \b
    Methods:
      distortion   the points whose distances are most like those in the graph
      sarkar       Sarkar's construction on the tree, or on a spanning tree; fast
      poincare     hierarchies, from their relations (Nickel and Kiela)

    \b
    Examples:
      horopca embed tree.edges -d 10 -o tree.npz
      horopca embed tree.edges -d 2 --method sarkar --model lorentz -o tree.npy --labels-out names.txt
      horopca embed mammals.txt -d 5 --method poincare --closure -o mammals.npz
    """
    if output is None and not as_json:
        raise click.UsageError("Say with -o FILE where to write the points.")
    if output == STDOUT and as_json:
        raise click.UsageError("-o - and --json would both be on standard output: write one of them to a file.")
    check_files({"graph": graph}, [Output("-o", output, FORMATS), Output("--labels-out", labels_out)], force=force)
    start = time.perf_counter()
    fitted = fit_embedding(graph, method, dimensions, seed, {**settings, **Reading(model, curvature).place()})
    seconds = time.perf_counter() - start
    names = [str(name) for name in fitted.names_]
    source = {"input": str(graph), **how(fitted)}
    points = point_writer(fitted.embedding_, Texts(names=names), source, output, key=f"X_{fitted.model}")
    words = [] if labels_out is None else [(labels_out, word_writer(names))]
    write_files([(output, points), *words], force=force)
    about = {"graph": graph, "output": output, "labels_out": labels_out, "seconds": seconds, "seed": seed}
    _tell(method, fitted, about, as_json)


def fit_embedding(
    graph: Path, method: str, dimensions: int, seed: int, settings: dict[str, Any], defaults: dict[str, Any] | None = None
) -> Any:
    """The embedding of the graph in a file. An option that the method has not is refused; a default of ours is left out."""
    kind = getattr(embeddings, METHODS[method].estimator)
    known = kind().get_params()
    given = {name: value for name, value in settings.items() if value not in (None, False)}
    refuse_others(given, known, method)
    given = {name: value for name, value in (defaults or {}).items() if name in known} | given
    with nullcontext() if settings["verbose"] else status(f"Embedding {graph.name}"), named(graph):
        return kind(dimensions, random_state=seed, **{n: None if v == "none" else v for n, v in given.items()}).fit(graph)


def figures(method: str, fitted: Any) -> dict[str, float]:
    """What an embedding reports of itself."""
    report = METHODS[method].report
    return {called: float(getattr(fitted, name)) for name, called in report.items() if hasattr(fitted, name)}


def _tell(method: str, fitted: Any, about: dict[str, Any], as_json: bool) -> None:
    found, (n, d) = figures(method, fitted), fitted.embedding_.shape
    if as_json:
        report = {called.replace(" ", "_"): value for called, value in found.items()}
        return print_json({**about, "method": method, "n_nodes": n, "n_columns": d, "model": fitted.model, **report})
    rows = {"nodes": f"{n:,}", "columns": f"{d}, {fitted.model}", **{name: f"{value:.4g}" for name, value in found.items()}}
    rows["time"] = f"{about['seconds']:.2f} s"
    files = {"written to": about["output"], "names in": about["labels_out"]}
    rows |= {name: str(path) for name, path in files.items() if path is not None}
    print_rows(rows, err=about["output"] == STDOUT)
