"""Metadata of a file of points: its model, its curvature, and how the points were made.

An ``.npz`` file holds the metadata in its member ``horopca``, an ``.h5ad`` file in ``uns``. The formats that cannot store
metadata (``.npy``, ``.csv``, ``.tsv``) have a side file: ``points.npy.json`` belongs to ``points.npy``.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..geometry import MODELS
from .files import Budget, FormatError, Table, as_text, format_errors

MEMBER = "horopca"  # The name of the metadata among the members of an .npz file.
LABEL_COLUMN = "label_column"  # The entry with the name of the column that the classes were taken from.
COLUMNS = "columns"  # The entry of a text file with the kinds of its columns that are not coordinates, by their headers.
COLUMN_KINDS = ("names", "labels", "words", "values")  # The values of that entry.
WORDS = ("names", "labels")  # The arrays of an .npz file, and the entries of metadata, that are words.
SIDE_FORMATS = (".npy", ".csv", ".tsv")
SIDE_FORMAT = "horopca points"  # Other programs' JSON files with such a name do not have this under "format".
FINGERPRINT_BYTES = 1 << 16  # The part of a file whose CRC is compared: enough to notice another array of the same size.


def to_json(value: Any) -> bytes:
    """JSON, with NumPy's numbers and arrays as numbers and lists."""
    return json.dumps(value, default=lambda item: item.tolist() if hasattr(item, "tolist") else str(item)).encode()


def from_json(content: bytes | np.ndarray, path: Path) -> dict[str, Any]:
    """The dictionary in JSON from a file; empty for other values. Raises ValueError if the file holds no JSON."""
    with format_errors(path, "has damaged metadata"):
        found = json.loads(content if isinstance(content, bytes) else as_text(content[()]))
    return found if isinstance(found, dict) else {}


def with_metadata(table: Table, metadata: Mapping[str, Any], path: Path) -> Table:
    """The table with the model, curvature, names and labels from its metadata. Raises ValueError if one of them is invalid."""
    words = {kind: metadata[kind] for kind in WORDS if kind in metadata}
    for kind, column in words.items():
        if not isinstance(column, list) or len(column) != len(table.X) or not all(isinstance(word, str) for word in column):
            raise FormatError(f"{path} has damaged metadata: {kind} must be {len(table.X)} strings.")
    columns, header = {**table.words, **words}, metadata.get(LABEL_COLUMN)
    if isinstance(header, str) and header not in columns:
        columns = {header if name in ("label", "labels") else name: column for name, column in columns.items()}
    model, curvature = (metadata.get(name, getattr(table, name)) for name in ("model", "curvature"))
    if model is not None and (not isinstance(model, str) or model not in MODELS):
        raise FormatError(f"{path} names the model {str(model)[:40]!r}, but the models are {', '.join(MODELS)}.")
    if curvature is not None and (not isinstance(curvature, int | float) or not -np.inf < curvature < 0):
        raise FormatError(f"{path} names the curvature {str(curvature)[:40]}, but a curvature is a negative number.")
    return table._replace(words=columns, model=model, curvature=None if curvature is None else float(curvature))


def side_file(path: Path) -> Path:
    """The file beside a file of points that holds its metadata."""
    return path.with_name(f"{path.name}.json")


def write_side_file(path: Path, metadata: Mapping[str, Any]) -> None:
    """Write the metadata of a file of points, which is complete, beside it."""
    side_file(path).write_bytes(to_json({"format": SIDE_FORMAT, **metadata, "file": _fingerprint(path)}))


def is_side_file(side: Path) -> bool:
    """Whether there is a file that `write_side_file` has written."""
    beginning = to_json({"format": SIDE_FORMAT})[:-1]
    if not side.is_file():
        return False
    with open(side, "rb") as file:
        return file.read(len(beginning)) == beginning


def read_side_file(path: Path) -> dict[str, Any]:
    """The metadata beside a file of points, or nothing. Raises ValueError if it was written for another version of the file."""
    side = side_file(path)
    if path.suffix.lower() not in SIDE_FORMATS or not side.is_file():
        return {}
    Budget(side).claim(8 * side.stat().st_size)  # bytes of strings in lists
    found = from_json(side.read_bytes(), side)
    if found.get("format") != SIDE_FORMAT:  # another program's
        return {}
    if found.get("file") != _fingerprint(path):
        raise FormatError(f"{side} describes another version of {path}: remove it, then pass the model and the curvature.")
    return found


def _fingerprint(path: Path) -> dict[str, int]:
    with open(path, "rb") as file:
        return {"bytes": path.stat().st_size, "crc32": zlib.crc32(file.read(FINGERPRINT_BYTES))}
