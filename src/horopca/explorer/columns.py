"""Columns that describe the points: classes, names, numbers, texts, images, sizes."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..plots.palette import SCALES, class_colours, is_missing, label_texts, value_range
from ..plots.validation import one_per_point
from .packing import smallest_integers

Header = dict[str, Any]
Arrays = dict[str, np.ndarray]


def columns_of(values: Any, usual: str) -> dict[str, Any]:
    """Columns by name, from a mapping, a data frame, or one column without a name."""
    if not (isinstance(values, Mapping) or hasattr(values, "columns")):
        values = {getattr(values, "name", None) or usual: values}
    return {str(name): values[name] for name in getattr(values, "columns", values)}


def add_labels(header: Header, arrays: Arrays, labels: Any, n: int, palette: Any) -> None:
    """Add classes in the natural order of their names, with colours for a light and a dark page, and a code for each point."""
    header["labelings"] = []
    class_colours([], palette)  # a palette without labels is checked too
    for k, (name, column) in enumerate({} if labels is None else columns_of(labels, "Class").items()):
        texts = label_texts(one_per_point(column, "labels", n) or [])
        colours = {theme: class_colours(texts, palette, theme) for theme in ("light", "dark")}
        row = {text: code for code, text in enumerate(colours["light"])}
        codes = np.array([row[text] for text in texts])
        counts = np.bincount(codes, minlength=len(row)).tolist()
        shades = {theme: list(found.values()) for theme, found in colours.items()}
        header["labelings"].append({"name": name, "classes": list(row), "counts": counts} | shades)
        arrays[f"codes-{k}"] = smallest_integers(codes)


def add_texts(header: Header, n: int, names: Any, details: Any, images: Any) -> None:
    """Add names, columns of texts, and images as data URIs."""
    if names is not None:
        header["names"] = _texts(names, "names", n)
    if details is not None:
        columns = columns_of(details, "Details").items()
        header["details"] = [{"name": name, "texts": _texts(column, "details", n)} for name, column in columns]
    if images is not None:
        header["images"] = [_data_uri(image) for image in one_per_point(images, "images", n) or []]


def add_numbers(header: Header, arrays: Arrays, n: int, values: Any, sizes: Any) -> None:
    """Add columns of numbers with the ends of their ramps, and the radii of marks."""
    for k, (name, given) in enumerate({} if values is None else columns_of(values, "Value").items()):
        column = _numbers(given, name, "values", n)
        header.setdefault("columns", []).append({"name": name, "ranges": ranges_of(column)})
        with np.errstate(over="ignore"):  # beyond float32: shown as missing
            arrays[f"column-{k}"] = column.astype(np.float32)
    if sizes is not None:
        arrays["sizes"] = _radii(_numbers(sizes, "sizes", "sizes", n))


def ranges_of(values: np.ndarray) -> dict[str, tuple[float, float]]:
    """The ends of a ramp on every scale that makes sense for the values."""
    known = values[np.isfinite(values)]
    low, high = (known.min(), known.max()) if known.size else (0, 0)
    sensible = {"linear": True, "log": low > 0, "diverging": low < 0 < high}
    return {scale: value_range(values, scale) for scale in SCALES if sensible[scale]}


def _radii(areas: np.ndarray) -> np.ndarray:
    """Radii of marks, relative to the default: areas are proportional, between limits. Missing values have the default."""
    known = areas[np.isfinite(areas) & (areas > 0)]
    middle = float(np.median(known)) if known.size else 1.0
    with np.errstate(invalid="ignore"):
        radii = np.sqrt(np.where(np.isfinite(areas), np.maximum(areas, 0) / middle, 1.0))
    return radii.clip(0.35, 4).astype(np.float32)


def _texts(values: Any, what: str, n: int) -> list[str]:
    return ["" if is_missing(value) else str(value) for value in one_per_point(values, what, n) or []]


def _numbers(values: Any, name: str, what: str, n: int) -> np.ndarray:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be numbers, but {name!r} contains something else.") from None
    if column.shape != (n,):
        raise ValueError(f"{what} must have one number for each of {n} points, but {name!r} has shape {column.shape}.")
    return column


def _data_uri(image: Any) -> str:
    if is_missing(image) or image == "":
        return ""
    if str(image).startswith("data:image/"):
        return str(image)
    path, kind = Path(image), mimetypes.guess_type(str(image))[0] or ""
    if not kind.startswith("image/"):
        raise ValueError(f"images must be paths of image files, data URIs or None, but one is {str(image)[:60]!r}.")
    if not path.is_file():
        raise FileNotFoundError(f"images must be existing files, but {path} does not exist.")
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
