"""``horopca embed``: from a graph in a file to points in a file."""

from __future__ import annotations

import time
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import rich_click as click

from .common import _print_json, _print_table, _working, choice, file, force_option, json_option, seed_option, sentences

# name -> (class of `horopca.embed`, the attributes to report and what they are called)
METHODS: dict[str, tuple[str, dict[str, str]]] = {
    "distortion": ("DistortionEmbedding", {"distortion_": "distortion", "distance_scale_": "scale of distances"}),
    "sarkar": (
        "SarkarEmbedding",
        {"distortion_": "distortion", "scale_": "edge length", "distance_scale_": "scale of distances"},
    ),
    "poincare": ("PoincareEmbedding", {"mean_rank_": "mean rank", "map_": "mean average precision"}),
    "skipgram": ("HyperbolicSkipGram", {"loss_": "loss"}),
}


def _scale(text: str) -> float | str:
    return text if text == "auto" else float(text)


@click.command()
@click.argument("graph", type=click.Path(path_type=Path))
@click.option("-d", "--dimensions", type=click.IntRange(min=2), default=10, show_default=True, help="Dimension of the space.")
@choice("method", tuple(METHODS), help="How to embed.")
@file("-o", "--output", help="Where to write the points: .npy, or .npz, .csv and .tsv, which keep the names too.")
@file(
    "--labels-out",
    help="Where to write the names of the nodes, one to a line, in the order of the rows.  "
    "[default: for an .npy, a .names.txt beside it]",
)
@choice("model", ("poincare", "lorentz", "klein", "halfspace", "tangent"), help="Coordinates of the points.")
@click.option("--curvature", type=float, default=-1.0, show_default=True, help="Curvature of the space, below 0.")
@click.option("--largest-component", is_flag=True, help="Of a graph that is not connected, embed the largest component.")
@click.option("--closure", is_flag=True, help="With --method poincare: also relate nodes to those above their parents.")
@click.option(
    "--scale", type=_scale, metavar="LENGTH", help="With --method sarkar: length of an edge.  [default: auto, the best]"
)
@click.option("--epochs", type=click.IntRange(min=1), help="With --method poincare or skipgram: passes over the data.")
@click.option("--verbose", is_flag=True, help="Tell on standard error how the work goes on.")
@seed_option
@json_option
@force_option
@sentences()
def embed(
    graph: Path,
    dimensions: int,
    method: str,
    output: Path | None,
    labels_out: Path | None,
    as_json: bool,
    force: bool,
    seed: int,
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
      skipgram     networks, from random walks (Chamberlain and others)

    \b
    Examples:
      horopca embed tree.edges -d 10 -o tree.npz
      horopca embed tree.edges -d 2 --method sarkar --model lorentz -o tree.npy --labels-out names.txt
      horopca embed mammals.txt -d 5 --method poincare --closure -o mammals.npz
    """
    labels_out = _checked(output, labels_out, force, as_json)
    start = time.perf_counter()
    with nullcontext() if settings["verbose"] else _working(f"Embedding {graph.name}"):
        model = _estimator(method, dimensions, seed, settings).fit(graph)
    seconds = time.perf_counter() - start
    _write(model, output, labels_out, force)
    about = {"graph": graph, "output": output, "labels_out": labels_out, "seconds": seconds, "seed": seed}
    _tell(method, model, about, as_json)


def _checked(output: Path | None, labels_out: Path | None, force: bool, as_json: bool) -> Path | None:
    """Where the names go; outputs that could not be written are refused before the work."""
    from ..io import FORMATS, check_output

    if output is None and not as_json:
        raise click.UsageError("Say with -o FILE where to write the points.")
    if output is not None:
        check_output(output, force=force, formats=FORMATS)
        if labels_out is None and output.suffix.lower() == ".npy":  # which has no room for names
            labels_out = output.with_suffix(".names.txt")
    if labels_out is not None:
        check_output(labels_out, force=force)
        if output is not None and labels_out.resolve() == output.resolve():
            raise click.UsageError("-o and --labels-out must be different files.")
    return labels_out


def _write(model: Any, output: Path | None, labels_out: Path | None, force: bool) -> None:
    """Points and names: both, or neither if one cannot be written."""
    from ..io import atomic_output, save

    names = [str(name) for name in model.names_]
    with nullcontext() if labels_out is None else atomic_output(labels_out, force=force) as temporary:
        if temporary is not None:
            temporary.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        if output is not None:
            save(output, model.embedding_, None if output.suffix.lower() == ".npy" else names, force=force)


def _estimator(method: str, dimensions: int, seed: int, settings: dict[str, Any]) -> Any:
    """The estimator with the options that it has; one that it has not is refused."""
    kind = getattr(import_module("..embed", __package__), METHODS[method][0])
    known = kind().get_params()
    given = {name: value for name, value in settings.items() if value not in (None, False)}
    for name in given.keys() - known.keys():
        raise click.UsageError(f"--{name.replace('_', '-')} is not an option of --method {method}.")
    return kind(dimensions, random_state=seed, **given)


def _tell(method: str, model: Any, about: dict[str, Any], as_json: bool) -> None:
    figures = {called: float(getattr(model, name)) for name, called in METHODS[method][1].items()}
    n, d = model.embedding_.shape
    if as_json:
        report = {called.replace(" ", "_"): value for called, value in figures.items()}
        return _print_json({**about, "method": method, "n_nodes": n, "n_columns": d, "model": model.model, **report})
    rows = {"nodes": f"{n:,}", "columns": f"{d}, {model.model}", **{name: f"{value:.4g}" for name, value in figures.items()}}
    rows["time"] = f"{about['seconds']:.2f} s"
    files = {"written to": about["output"], "names in": about["labels_out"]}
    _print_table(rows | {name: str(path) for name, path in files.items() if path is not None})
