"""``horopca info``: what a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np

from .._input.coordinates import FLATTEST, LARGEST_RADIUS
from .._input.validation import EUCLIDEAN, NEAR_RIM
from ..geometry import ModelName
from ..io.description import Description, describe, describe_file
from ..io.files import named
from ..io.streaming import can_stream
from ..metrics import flatness
from ..metrics.hyperbolicity import SAMPLE
from .common import common
from .console import count, print_json, print_rows
from .files import read
from .options import Reading, command, key_option, model_options, points_argument, reading


@command
@points_argument()
@reading(key_option, model_options)
def info(input: Path, reading: Reading) -> None:
    """Say what INPUT holds: its size, the models its rows fit, how far out they lie.

    A .npy file of floats is read in blocks and may be larger than memory.

    \b
    Examples:
      horopca info vectors.npy
      horopca info words.tsv --json
      cut -f 2- words.tsv | horopca info -
    """
    beside: dict[str, Any] = {}
    if reading == Reading() and can_stream(input):
        with named(input):
            found = describe_file(input)
            beside["flatness"] = _flatness(np.load(input, mmap_mode="r"), found)
    else:
        table = read(input, reading, allow_nonfinite=True)
        classes = None if table.labels is None or table.labels == table.row_names else table.labels
        beside = {"n_labels": len(set(classes or ())), "has_names": table.row_names is not None}
        beside |= {"words": list(table.words), "values": list(table.values)}
        found = describe(table.X)
        beside["flatness"] = _flatness(table.X, found)
    if common().as_json:
        print_json({"input": input, **found._asdict(), **beside})
    else:
        print_rows(_in_words(found, beside), title=str(input))


def _flatness(X: Any, found: Description) -> str | None:
    """Whether the points are curved enough for hyperbolic methods, in a sentence; None if they are not points."""
    fitting = [model for model in found.candidates if found.fits[model]]
    if not fitting or found.n_nonfinite or found.n_rows < 2:
        return None
    X = X[:: -(-found.n_rows // SAMPLE)]
    return flatness(X, model=cast("ModelName", fitting[0]), curvature=found.curvature).sentence


def _in_words(found: Description, beside: dict[str, Any]) -> dict[str, str]:
    """The lines of `horopca info`."""
    classes = beside.get("n_labels", 0)
    rows = {
        "rows": f"{found.n_rows:,}",
        "columns": f"{found.n_columns}, {found.dtype}",
        "names": "yes" if beside.get("has_names") else "none",
        "classes": f"{classes:,}" if classes else "none",
        "other columns": ", ".join([*beside.get("words", ()), *beside.get("values", ())]) or "none",
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
        if over > EUCLIDEAN:
            rows["or Euclidean"] = (
                "these look like vectors of a Euclidean model (word2vec, X_pca): use sklearn.decomposition.PCA. "
                "--model tangent treats them as tangent vectors at the origin"
            )
    if unsure and not found.fits["tangent"]:
        rows["as tangent"] = _holds(LARGEST_RADIUS / found.largest_norm)
    return rows


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
