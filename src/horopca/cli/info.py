"""``horopca info``: what a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np

from .._input.coordinates import EUCLIDEAN, FLATTEST, LARGEST_RADIUS, NEAR_RIM, check_coordinates
from .._input.rows import check_rows
from ..geometry import ModelName, radius
from ..io.description import Description, describe, describe_file
from ..io.files import named, printable
from ..io.metadata import read_side_file
from ..io.streaming import can_stream
from ..metrics import flatness
from ..metrics.hyperbolicity import SAMPLE
from .console import count, print_rows, report
from .files import Reading, read
from .options import command, key_option, model_options, points_argument

SHOWN = 40  # Arrays and numbers of a checkpoint that are listed.


@command
@points_argument()
@key_option
@model_options
def info(input: Path, reading: Reading) -> None:
    """Say what INPUT holds: its size, the models its rows fit, how far out they lie.

    A .npy file of floats is read in blocks and may be larger than memory.

    \b
    Examples:
      horopca info vectors.npy
      horopca info words.tsv --json
      horopca info model.pth --key visual.weight --curvature log:curv
      cut -f 2- words.tsv | horopca info -
    """
    if reading._replace(model=None, curvature=None) == Reading() and can_stream(input):
        with named(input):
            X, found, side = np.load(input, mmap_mode="r"), describe_file(input), read_side_file(input)
            beside: dict[str, Any] = {"states": {name: side.get(name) for name in ("model", "curvature")}}
    else:
        table = read(input, reading, allow_nonfinite=True)
        classes = None if table.labels is None or table.labels == table.row_names else table.labels
        beside = {"n_labels": len(set(classes or ())), "has_names": table.row_names is not None}
        words = [name for name, column in table.words.items() if column not in (table.row_names, classes)]
        beside |= {"words": words, "values": list(table.values), "contents": dict(table.contents)}
        beside |= {"states": {"model": table.model, "curvature": table.curvature}}
        X, found = table.X, describe(table.X)
    X = X[:: -(-found.n_rows // SAMPLE)]
    X = X[np.isfinite(X).all(axis=1)]
    if any(value is not None for value in (reading.model, reading.curvature, *beside["states"].values())):
        found = _in_model(found, X, reading.coordinates(**beside["states"]))
    beside["flatness"] = _flatness(X, found)
    summary = {"input": input, **found._asdict(), **beside}
    report(summary, lambda: print_rows(_in_words(found, beside), title=str(input)))


def _flatness(X: Any, found: Description) -> str | None:
    """Whether the points are curved enough for hyperbolic methods, in a sentence; None if they are not points."""
    fitting = [model for model in found.candidates if found.fits[model]]
    if not fitting or len(X) < 2 or _looks_euclidean(found):
        return None
    return flatness(X, model=cast("ModelName", found.model or fitting[0]), curvature=found.curvature).sentence


def _in_model(found: Description, X: np.ndarray, coordinates: dict[str, Any]) -> Description:
    """The description of points in the model and curvature that the file states or the options give."""
    given = check_coordinates(**coordinates)
    points = np.concatenate([np.asarray(chunk.points()) for chunk in check_rows(X, given).chunks()])
    quartiles = (0.0, 0.25, 0.5, 0.75, 1.0)
    radii = dict(zip(quartiles, np.quantile(radius(points) / given.scale, quartiles).tolist(), strict=True))
    model = given.model
    return found._replace(model=model, curvature=given.curvature, candidates=(model,), radius={model: radii})


def _looks_euclidean(found: Description) -> bool:
    """Whether rows are far outside the ball, as the vectors of word2vec are, and no model is known."""
    unsure = found.model in (None, "lorentz-space")  # every file fits lorentz-space
    return unsure and not found.fits["poincare"] and found.largest_norm - 1 > EUCLIDEAN


def _in_words(found: Description, beside: dict[str, Any]) -> dict[str, str]:
    """The lines of `horopca info`."""
    classes = beside.get("n_labels", 0)
    rows = {
        "rows": f"{found.n_rows:,}",
        "columns": f"{found.n_columns}, {found.dtype}",
        "names": "yes" if beside.get("has_names") else "none",
        "classes": f"{classes:,}" if classes else "none",
        "other columns": ", ".join([*beside.get("words", ()), *beside.get("values", ())]) or "none",
        **_stated(beside),
        "could be": ", ".join(name for name, fit in found.fits.items() if fit) or "in no model at curvature -1",
        "evidence": found.evidence,
        "model": _verdict(found),
        **{f"radius{_as(model, found)}": _quartiles(values) for model, values in found.radius.items()},
        "flat or curved": beside.get("flatness") or "unknown",
        "largest norm": f"{found.largest_norm:.10g}",
        "clipped": f"{count(found.n_clipped, 'row')} with the largest norm" if found.n_clipped else "no",
        "duplicates": count(found.n_duplicates, "row"),
        "NaN or infinite": count(found.n_nonfinite, "row"),
    }
    unsure = found.model in (None, "lorentz-space")  # every file fits lorentz-space
    if unsure and not found.fits["poincare"]:
        over = found.largest_norm - 1
        near = f"some rows are on the rim or up to {over:.2g} outside: --clip 1e-5 moves them inside"
        rows["as a ball"] = near if over < NEAR_RIM else _holds(1 / found.largest_norm)
        if _looks_euclidean(found):
            rows["or Euclidean"] = (
                "these look like vectors of a Euclidean model (word2vec, X_pca): use sklearn.decomposition.PCA. "
                "--model tangent treats them as tangent vectors at the origin"
            )
    if unsure and not found.fits["tangent"]:
        rows["as tangent"] = _holds(LARGEST_RADIUS / found.largest_norm)
    return rows


def _stated(beside: dict[str, Any]) -> dict[str, str]:
    """What a file holds beside the points, and the model and the curvature that it states."""
    contents = [
        f"{name} {'×'.join(map(str, value))}" if isinstance(value, list) else f"{name} = {value:g}"
        for name, value in beside.get("contents", {}).items()
    ]
    states = [f"{name} {value}" for name, value in beside.get("states", {}).items() if value is not None]
    shown = contents[:SHOWN] + [f"and {len(contents) - SHOWN} more"] * (len(contents) > SHOWN)
    return ({"holds": printable(", ".join(shown))} if contents else {}) | ({"states": ", ".join(states)} if states else {})


def _verdict(found: Description) -> str:
    """The options for the model, or the question which of several it is."""
    if found.model is not None:
        return f"--model {found.model}" + ("" if found.curvature == -1 else f" --curvature {found.curvature:.6g}")
    could = " or ".join(found.candidates)
    return f"{could}? The numbers do not say: pass --model" if could else "none"


def _as(model: str, found: Description) -> str:
    return "" if found.model == model else f" as {model}"


def _quartiles(values: dict[float, float]) -> str:
    return "  ".join(f"{value:.3g}" for value in values.values()) + "   (minimum, quartiles, maximum)"


def _holds(scale: float) -> str:
    """The curvatures at which a model holds rows that must shrink by `scale` to fit at curvature -1."""
    bound = -(scale**2)
    return (
        f"holds the rows only at a curvature between {bound:.4g} and 0" if bound < -FLATTEST else "holds them at no curvature"
    )
