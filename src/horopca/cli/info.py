"""``horopca info``: what a file contains."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from .._input.coordinates import EUCLIDEAN_FACTOR, MAYBE_EUCLIDEAN_FACTOR, NEAR_BOUNDARY, Coordinates, check_coordinates
from .._input.rows import check_rows
from ..geometry import ModelName, radius
from ..io import Table
from ..io.arrays import map_npy
from ..io.description import QUANTILES, Description, describe
from ..io.files import FormatError, listed, printable, with_columns
from ..io.metadata import read_side_file, with_metadata
from ..io.streaming import can_stream
from ..metrics import flatness
from ..metrics.hyperbolicity import SAMPLE
from .console import count, print_rows, report
from .files import Reading, read
from .options import command, key_option, model_options, points_argument

SHOWN = 40  # The largest number of arrays and numbers of a checkpoint that are listed.


@command
@points_argument()
@key_option
@model_options
def info(input: Path, reading: Reading) -> None:
    """Describe the points in INPUT: their number, the models they fit, their distances from the origin.

    If the file or --model states the model, distances are those of this model. For a checkpoint, .npz or .safetensors file,
    the names and shapes of its arrays are listed, and its numbers, any of which can be passed to --curvature by its name. A
    .npy file of floats is read in blocks and may be larger than memory.

    \b
    Examples:
      horopca info vectors.npy
      horopca info words.tsv --json
      horopca info model.pth --key visual.weight --curvature log:curv
      cut -f 2- words.tsv | horopca info -
    """
    plain = reading._replace(model=None, curvature=None) == Reading() and not isinstance(reading.curvature, str)
    if plain and can_stream(input):
        table = with_columns(with_metadata(Table(map_npy(input)), read_side_file(input), input), input)
    else:
        try:
            table = read(input, reading, allow_nonfinite=True)
        except FormatError as error:
            if not error.keys or reading.key is not None:
                raise
            contents = dict(read(input, Reading(key=error.keys[0]), allow_nonfinite=True).contents)
            choice = {"arrays": _listed(contents), "points": f"in one of {listed(error.keys)}: pass --key"}
            shown = {"input": input, "keys": error.keys, "contents": contents}
            return report(shown, lambda: print_rows(choice, title=str(input)))
    found = describe(table.X)
    X = table.X[:: -(-found.n_rows // SAMPLE)]
    X = X[np.isfinite(X).all(axis=1)]
    stated: dict[str, Any] = {"model": table.model, "curvature": table.curvature}
    known = any(value is not None for value in (reading.model, reading.curvature, *stated.values()))
    if known:
        found = _in_model(found, X, check_coordinates(**reading.coordinates(**stated)))
    # far outside the ball, as the vectors of word2vec are; every file fits "lorentz-space"
    outside = not known and found.model in (None, "lorentz-space") and not found.fits["poincare"]
    euclidean = outside and found.largest_norm - 1 > EUCLIDEAN_FACTOR
    rim = None
    if outside and (over := found.largest_norm - 1) < NEAR_BOUNDARY:
        rim = f"some rows are on the boundary of the ball or up to {over:.2g} outside: --clip 1e-5 moves them inside"
    curved = None
    if len(X) > 1 and found.candidates and not euclidean:
        curved = flatness(X, model=cast("ModelName", found.candidates[0]), curvature=found.curvature).sentence
    classes = None if table.labels == table.row_names else table.labels
    beside: dict[str, Any] = {
        "column_names": table.names,
        "n_labels": len(set(classes or ())),
        "has_names": table.row_names is not None,
        "words": [name for name, column in table.words.items() if column not in (table.row_names, classes)],
        "values": list(table.values),
        "contents": dict(table.contents),
        "states": stated,
        "flatness": curved,
    }
    rows = {**_rows(found, beside), **_model_rows(found, known, euclidean), "flat or curved": curved, "on the rim": rim}
    report({"input": input, **found._asdict(), **beside}, lambda: print_rows(rows, title=str(input)))


def _rows(found: Description, beside: dict[str, Any]) -> dict[str, str | None]:
    """What a file holds, as text."""
    names = beside["column_names"]
    return {
        "rows": f"{found.n_rows:,}",
        "columns": f"{found.n_columns}, {found.dtype}" + (f": {listed(names)}" if names else ""),
        "names": "yes" if beside["has_names"] else None,
        "classes": f"{beside['n_labels']:,}" if beside["n_labels"] else None,
        "other columns": listed([*beside["words"], *beside["values"]], "") or None,
        "arrays": _listed(beside["contents"]),
        "largest norm": f"{found.largest_norm:.10g}",
        "clipped": f"{count(found.n_clipped, 'row')} with the largest norm" if found.n_clipped else None,
        "duplicates": count(found.n_duplicates, "row") if found.n_duplicates else None,
        "NaN or infinite": count(found.n_nonfinite, "row") if found.n_nonfinite else None,
    }


def _listed(contents: Mapping[str, Any]) -> str | None:
    """The arrays of a file with their shapes, and its numbers."""
    held = [f"{k} {'×'.join(map(str, v))}" if isinstance(v, list) else f"{k} = {v:g}" for k, v in contents.items()]
    return printable(", ".join(held[:SHOWN] + [f"and {len(held) - SHOWN} more"] * (len(held) > SHOWN))) or None


def _in_model(found: Description, X: np.ndarray, given: Coordinates) -> Description:
    """The description of points in the model and curvature that the file states or the options give."""
    radii = np.quantile(radius(check_rows(X, given).all()) / given.scale, QUANTILES).tolist()
    model, curvature = given
    radii = {model: dict(zip(QUANTILES, radii, strict=True))}
    return found._replace(model=model, curvature=curvature, candidates=(model,), radius=radii)


def _model_rows(found: Description, known: bool, euclidean: bool) -> dict[str, str | None]:
    """The model that is known, or those that the rows fit and the evidence for them; and how far out the rows lie."""
    curvature = "" if found.curvature == -1 else f" --curvature {found.curvature:.6g}"
    model = f"--model {found.model}{curvature}"
    if euclidean:
        model = "none: these look like Euclidean vectors (word2vec, X_pca). Use sklearn.decomposition.PCA, or --model tangent"
    elif found.model is None:
        model = f"{' or '.join(found.candidates)}? The numbers do not say: pass --model" if found.candidates else "none"
        if found.largest_norm > MAYBE_EUCLIDEAN_FACTOR:
            model += ". If these are Euclidean vectors (word2vec, X_pca), use sklearn.decomposition.PCA"
    fitting = ", ".join(name for name, fit in found.fits.items() if fit) or "no model at curvature -1"
    rows: dict[str, str | None] = {} if known else {"fits": fitting, "evidence": found.evidence}
    rows["model"] = model
    for name, values in found.radius.items():
        quartiles = "  ".join(f"{value:.3g}" for value in values.values())
        rows["radius" if name == found.model else f"radius as {name}"] = f"{quartiles}   (minimum, quartiles, maximum)"
    return rows
