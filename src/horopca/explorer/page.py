"""The page: what a user passed, checked, packed and put into one HTML file."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from .._points.door import check_count, check_door
from .._points.memory import Rows
from .._points.places import check_rows
from ..io import atomic_output
from ..statistics import frechet_mean
from .neighbours import local_distortion, nearest_neighbours
from .packing import pack, rounded, smallest_integers

__all__ = ["Page", "explore"]

SCRIPTS = (
    "geometry", "inflate", "data", "colours", "scene", "paint-gl", "paint-2d", "export", "state", "pointer", "panels", "main",
)  # fmt: skip
STORED_NEIGHBOURS = 300_000  # in all, so that 100,000 points stay below 5 MB
MISSING = "no label"


class Page:
    """The explorer's page: shows itself in a notebook; `save` writes the file."""

    def __init__(self, html: str, n_points: int) -> None:
        self.html = html
        self.n_points = n_points

    def save(self, path: str | Path, force: bool = False) -> Path:
        """Write the page to an ``.html`` file, whole or not at all; over an existing one only with ``force=True``."""
        with atomic_output(path, force=force, formats=(".html", ".htm")) as temporary:
            temporary.write_text(self.html, encoding="utf-8")
        return Path(path)

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-downloads" '
            'style="width: 100%; height: 640px; border: 0" title="Points in the hyperbolic plane"></iframe>'
        )

    def __repr__(self) -> str:
        size = len(self.html) / 1e6
        return f'<Page: {self.n_points:,} points, {size:.1f} MB; .save("page.html") keeps it>'


def explore(
    Y: Any,
    labels: Sequence[Any] | None = None,
    *,
    names: Sequence[Any] | None = None,
    edges: Any = None,
    values: Any = None,
    original: Any = None,
    root: int | None = None,
    title: str = "Points in the hyperbolic plane",
    model: str = "poincare",
    curvature: float = -1.0,
    n_neighbors: int = 10,
) -> Page:
    """A page in which to move around points of the hyperbolic plane, find them by name and see their neighbours.

    Parameters
    ----------
    Y : array of shape (n, 2), or (n, 3) for ``model="lorentz"``
        Points of the plane, e.g. ``HoroPCA(2).fit_transform(X)``.  Lorentz or tangent coordinates keep detail at radii
        beyond 17, where points of the ball start to round together.
    labels : sequence of n, optional
        A class for each point, to colour by and to switch on and off.
    names : sequence of n, optional
        A name for each point, to show and to search.
    edges : array of int (m, 2), optional
        Pairs of rows of Y to join by geodesics.
    values : array (n,), mapping of names to arrays (n,), or data frame, optional
        Numbers to colour by; NaN where one is missing.
    original : array of shape (n, d), optional
        The points before the reduction, in the same model and curvature.  Neighbours are then those of the original
        space, and points can be coloured by their local distortion: the mean of ``|d(Y) - d(X)| / d(X)`` over the
        `n_neighbors` nearest.
    root : int, optional
        The row that the page starts from and returns to.  Without it: the root, where the edges are those of one tree
        from parents to children, and the Fréchet mean otherwise.
    title : str
    model, curvature : of Y and of the original
    n_neighbors : int
        Neighbours that a local distortion is the mean of.

    Returns
    -------
    Page
        Shows itself in a notebook; ``.save("page.html")`` writes one file that works without a server or a network.

    Examples
    --------
    >>> from horopca import HoroPCA
    >>> from horopca.datasets import make_hierarchy
    >>> tree = make_hierarchy(random_state=0)
    >>> Y = HoroPCA(n_components=2, random_state=0).fit_transform(tree.points)
    >>> explore(Y, tree.labels, edges=tree.edges, original=tree.points).n_points
    121
    """
    door = check_door(model, curvature)
    rows = check_rows(Y, door, name="Y")
    n, d = rows.shape[0], rows.shape[1] - 1
    if d != 2:
        raise ValueError(
            f"Y must be points of the plane ({door.columns(2)} columns for model={model!r}), but has {door.columns(d)}. Reduce "
            "them first: HoroPCA(n_components=2).fit_transform(X), or horopca reduce on the command line."
        )
    y = np.asarray(rows.all(), dtype=np.float64)
    header: dict[str, Any] = {"unit": 1 / door.scale}
    arrays = {"x": y[:, 1], "y": y[:, 2]}
    if labels is not None:
        _add_labels(header, arrays, check_length(labels, "labels", n))
    if names is not None:
        header["names"] = ["" if is_missing(name) else str(name) for name in check_length(names, "names", n)]
    pairs = _check_edges(edges, n) if edges is not None else None
    if pairs is not None and len(pairs):
        arrays["edges"] = pairs[np.lexsort(pairs.T)].T.ravel().astype(np.uint32)  # in this order they compress best
    if values is not None:
        _add_values(header, arrays, values, n)
    if original is not None:
        before = check_rows(original, door, name="original")
        _add_original(header, arrays, before, y, check_count("n_neighbors", n_neighbors, 1), door.scale)
    header["home"] = _home(y, pairs, root).tolist()
    return Page(_assemble(title, *pack(header, arrays)), n)


# ---------------------------------------------------------------- the door


def check_length(values: Any, what: str, n: int) -> list[Any]:
    """One value for each of the n points, or a sentence."""
    values = list(values)
    if len(values) != n:
        raise ValueError(f"{what} must have one entry for each of the {n} points, but has {len(values)}.")
    return values


def is_missing(value: Any) -> bool:
    """None, NaN, and whatever else is not equal to itself."""
    return value is None or bool(value != value)


def _check_edges(edges: Any, n: int) -> np.ndarray:
    edges = np.asarray(edges)
    if edges.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError(
            f"edges must be pairs of row numbers, of shape (m, 2), but has shape {edges.shape} and dtype {edges.dtype}."
        )
    wrong = np.flatnonzero(((edges < 0) | (edges >= n)).any(axis=1))
    if wrong.size:
        a, b = edges[wrong[0]]
        raise ValueError(
            f"edges must join rows 0 to {n - 1} of Y, but {wrong.size} of {len(edges)} do not (the first joins {a} and {b})."
        )
    return edges.astype(np.int64)


def _columns(values: Any, n: int) -> dict[str, np.ndarray]:
    """Numbers by name."""
    if not (isinstance(values, Mapping) or hasattr(values, "columns")):
        values = {getattr(values, "name", None) or "Value": values}
    columns = {}
    for name in getattr(values, "columns", values):
        try:
            column = np.asarray(values[name], dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"values must be numbers, but {str(name)!r} holds something else.") from None
        if column.shape != (n,):
            raise ValueError(f"values must have one number for each of {n} points, but {str(name)!r} has shape {column.shape}.")
        columns[str(name)] = column
    return columns


# ---------------------------------------------------------------- what the page holds


def _add_labels(header: dict[str, Any], arrays: dict[str, np.ndarray], labels: list[Any]) -> None:
    """Class codes in falling order of frequency."""
    texts = np.array([MISSING if is_missing(label) else str(label) for label in labels], dtype=object)
    classes, first, codes, counts = np.unique(texts, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -counts))
    rank = np.argsort(order)
    header["classes"], header["counts"] = classes[order].tolist(), counts[order].tolist()
    arrays["codes"] = smallest_integers(rank[codes.ravel()])


def _add_values(header: dict[str, Any], arrays: dict[str, np.ndarray], values: Any, n: int) -> None:
    columns = _columns(values, n)
    header["columns"] = list(columns)
    with np.errstate(over="ignore"):  # beyond float32: shown as missing
        arrays.update({f"column-{k}": column.astype(np.float32) for k, column in enumerate(columns.values())})


def _add_original(
    header: dict[str, Any], arrays: dict[str, np.ndarray], before: Rows, y: np.ndarray, k: int, scale: float
) -> None:
    n = len(y)
    if before.shape[0] != n:
        raise ValueError(f"original must have one row for each of the {n} points of Y, but has {before.shape[0]}.")
    if n < 2:
        return
    indices, distances = nearest_neighbours(before.take(np.arange(n)), min(k, n - 1))
    kept = min(max(3, min(10, STORED_NEIGHBOURS // n)), indices.shape[1])
    header["k"] = kept
    arrays["distortion"] = rounded(local_distortion(y, indices, distances))
    arrays["neighbours"] = indices[:, :kept].ravel().astype(np.uint32)
    arrays["spans"] = rounded(distances[:, :kept].ravel() / scale)


def _home(y: np.ndarray, edges: np.ndarray | None, root: int | None) -> np.ndarray:
    """Space part of the point that the page starts from."""
    if root is None:
        root = _root_of_tree(edges, len(y)) if edges is not None else None
    else:
        root = check_count("root", root, 0, max(len(y) - 1, 1), " (a row of Y)")
    return (frechet_mean(y).point if root is None else y[root])[1:]


def _root_of_tree(edges: np.ndarray, n: int) -> int | None:
    """The row with no parent, if the edges (parent, child) are those of one tree on all n rows."""
    parents = np.bincount(edges[:, 1], minlength=n)
    roots = np.flatnonzero(parents == 0)
    return int(roots[0]) if len(roots) == 1 and len(edges) == n - 1 and parents.max(initial=0) == 1 else None


# ---------------------------------------------------------------- the file


def _assemble(title: str, data: str, size: int) -> str:
    """The template with everything in it. Styles and scripts are named by their hashes: the browser runs nothing else."""
    folder = files(__package__) / "assets"
    style = (folder / "style.css").read_text(encoding="utf-8")
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    script = '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"
    fields = {
        "title": html.escape(str(title).encode(errors="replace").decode()),
        "style": style,
        "style_hash": _sha256(style),
        "script": script,
        "script_hash": _sha256(script),
        "size": str(size),
        "data": data,
    }
    template = (folder / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{(\w+)\}", lambda match: fields[match[1]], template)


def _sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
