"""``horopca info``: what a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from .._input.coordinates import FLATTEST, LARGEST_RADIUS
from .._input.validation import NEAR_RIM
from ..io import Table
from ..io.description import Description, describe, describe_file
from ..io.files import named
from ..io.streaming import can_stream
from .console import print_json, print_rows
from .files import read
from .options import PLAIN, Reading, json_option, points_argument, reading_options
from .texts import texts_of


@click.command()
@points_argument()
@reading_options
@json_option
def info(input: Path, reading: Reading, as_json: bool) -> None:
    """Say what INPUT holds: its size, the models its rows fit, how far out they lie.

    A .npy of floats is read a block at a time, and may be larger than memory.

    \b
    Examples:
      horopca info vectors.npy
      horopca info words.tsv --json
      cut -f 2- words.tsv | horopca info -
    """
    beside: dict[str, Any] = {}
    if reading == PLAIN and can_stream(input):
        with named(input):
            found = describe_file(input)
    else:
        table = read(input, reading, allow_nonfinite=True)
        found, beside = describe(table.X), _beside(table)
    if as_json:
        print_json({"input": input, **found._asdict(), **beside})
    else:
        print_rows(_in_words(found, beside), title=str(input))


def _beside(table: Table) -> dict[str, Any]:
    """What a table holds beside its points, as a program has it: how many classes, and columns by their names."""
    texts = texts_of(table)
    columns = {"words": list(table.words), "values": list(table.values)}
    return {"n_labels": len(set(texts.labels or ())), "has_names": texts.names is not None, **columns}


def _in_words(found: Description, beside: dict[str, Any]) -> dict[str, str]:
    """The lines of `horopca info`."""
    rows = {
        "rows": f"{found.n_rows:,}",
        "columns": f"{found.n_columns}, {found.dtype}",
        "names": "yes" if beside.get("has_names") else "none",
        "labels": f"{beside['n_labels']} different" if beside.get("n_labels") else "none",
        "other columns": ", ".join([*beside.get("words", ()), *beside.get("values", ())]) or "none",
        "could be": ", ".join(name for name, fit in found.fits.items() if fit) or "in no model at curvature -1",
        "evidence": found.evidence,
        "model": _verdict(found),
        **{f"radius{_as(model, found)}": _quartiles(values) for model, values in found.radius.items()},
        "largest norm": f"{found.largest_norm:.10g}",
        "on a clip": f"{found.n_clipped} rows share the largest norm" if found.n_clipped else "no",
        "duplicates": f"{found.n_duplicates} rows",
        "NaN or infinite": f"{found.n_nonfinite} rows",
    }
    unsure = found.model in (None, "lorentz-space")  # which rows that are in no other model are
    if unsure and not found.fits["poincare"]:
        over = found.largest_norm - 1
        near = f"some rows are on the rim or beyond by up to {over:.2g}: --clip 1e-5 moves them inside"
        rows["as a ball"] = near if over < NEAR_RIM else _holds(1 / found.largest_norm)
    if unsure and not found.fits["tangent"]:
        rows["as tangent"] = _holds(LARGEST_RADIUS / found.largest_norm)
    return rows


def _verdict(found: Description) -> str:
    """The model as an option, or the question which of several it is."""
    if found.model is not None:
        return f"--model {found.model}" + ("" if found.curvature == -1 else f" --curvature {found.curvature:.6g}")
    could = " or ".join(found.candidates)
    return f"{could}? The numbers do not say: pass the one with --model" if could else "none"


def _as(model: str, found: Description) -> str:
    return "" if found.model == model else f" as {model}"


def _quartiles(values: dict[float, float]) -> str:
    return "  ".join(f"{value:.3g}" for value in values.values()) + "   (minimum, quartiles, maximum)"


def _holds(scale: float) -> str:
    """At which curvatures a model holds rows that have to be made so much smaller for it at -1."""
    bound = -(scale**2)
    return (
        f"holds the rows only at a curvature between {bound:.4g} and 0" if bound < -FLATTEST else "holds them at no curvature"
    )
