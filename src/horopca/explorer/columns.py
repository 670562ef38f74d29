"""The pictures of a page, and the columns about their points: classes, names, numbers, texts, images, sizes."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._input.coordinates import Coordinates
from ..plots.palette import NO_LABEL, SCALES, class_colours, is_missing, label_texts, value_range
from ..plots.validation import check_numbers, check_plane, check_same_rows, one_per_point

Header = dict[str, Any]
Arrays = dict[str, np.ndarray]


def check_frames(Y: Any, coordinates: Coordinates) -> list[np.ndarray]:
    """Validate Y and return its pictures, each (n, 3) on the hyperboloid. Raises ValueError if there are none."""
    if isinstance(Y, Mapping):
        instead = "list(Y.values()), titles=list(Y)" if len(Y) > 1 else "the array alone"
        raise ValueError(f"Y must be an array, or a list of them, but is a mapping. Pass {instead}.")
    if not len(Y):
        raise ValueError("Y must be points of the plane, or several pictures of them, but is empty.")
    if not is_several(Y):
        return [check_plane(Y, coordinates.model, coordinates.curvature)]
    if len(Y) == 1:
        raise ValueError("Y must be an array, or a list of several arrays of the same points, but the list has one. Pass Y[0].")
    frames = [check_plane(one, coordinates.model, coordinates.curvature, name=f"Y[{k}]") for k, one in enumerate(Y)]
    check_same_rows("Y", [len(y) for y in frames])
    return frames


def is_several(Y: Any) -> bool:
    """Whether Y is an array with a third axis, or a list of matrices."""
    if isinstance(Y, list | tuple):
        return len(Y) > 0 and np.ndim(Y[0]) == 2
    return getattr(Y, "ndim", 2) == 3 and len(Y) > 0


def add_frames(header: Header, arrays: Arrays, frames: list[np.ndarray], titles: Any) -> None:
    """Add the last picture, which the page starts with, the earlier ones, and their titles."""
    *earlier, y = frames
    arrays |= {"x": y[:, 1], "y": y[:, 2]}
    if not earlier:
        if titles is not None:
            raise ValueError("titles needs several pictures, but Y is only one. Pass title= for the heading of the page.")
        return
    called = one_per_point(titles, "titles", len(frames), "picture")
    header["titles"] = [str(one) for one in called or (f"{k} of {len(frames)}" for k in range(1, len(frames) + 1))]
    for k, before in enumerate(earlier):
        arrays |= {f"x-{k}": before[:, 1], f"y-{k}": before[:, 2]}


def columns_of(values: Any, usual: str) -> dict[str, Any]:
    """Columns by name, from a mapping, a data frame, or one column without a name."""
    if not (isinstance(values, Mapping) or hasattr(values, "columns")):
        values = {getattr(values, "name", None) or usual: values}
    return {str(name): values[name] for name in getattr(values, "columns", values)}


def add_labels(header: Header, arrays: Arrays, labels: Any, n: int, palette: Any) -> None:
    """Add classes in the natural order of their names, with colours for a light and a dark page, and a code for each point."""
    header["labelings"], header["unlabelled"] = [], NO_LABEL
    class_colours([], palette)  # a palette without labels is checked too
    for k, (name, column) in enumerate({} if labels is None else columns_of(labels, "Class").items()):
        texts = label_texts(one_per_point(column, "labels", n) or [])
        colours = {theme: class_colours(texts, palette, theme) for theme in ("light", "dark")}
        row = {text: code for code, text in enumerate(colours["light"])}
        codes = np.array([row[text] for text in texts])
        counts = np.bincount(codes, minlength=len(row)).tolist()
        shades = {theme: list(found.values()) for theme, found in colours.items()}
        header["labelings"].append({"name": name, "classes": list(row), "counts": counts} | shades)
        arrays[f"codes-{k}"] = codes.astype(np.min_scalar_type(len(row)))  # the smallest type that holds them


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
        column = check_numbers(given, f"values {name!r}", n)
        header.setdefault("columns", []).append({"name": name, "ranges": ranges_of(column)})
        with np.errstate(over="ignore"):  # beyond float32: shown as missing
            arrays[f"column-{k}"] = column.astype(np.float32)
    if sizes is not None:
        arrays["sizes"] = _radii(check_numbers(sizes, "sizes", n))


def ranges_of(values: np.ndarray) -> dict[str, tuple[float, float]]:
    """The ends of a ramp for every scale that suits the values."""
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
