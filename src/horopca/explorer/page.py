"""`explore`: validates its arguments, and makes one HTML page that contains them."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from .._input.arguments import MetricName, check_choice, check_count
from .._input.coordinates import check_coordinates
from ..geometry import ModelName, radius, translate_to_origin
from ..io import atomic_output
from ..plots.palette import COLOURS, DARK_COLOURS, DARK_OTHER, OTHER, RAMPS
from ..plots.validation import check_edges, check_regions
from ..plots.views import choose_centre, choose_view, why_equidistant
from .columns import Arrays, add_frames, add_labels, add_numbers, add_texts, check_frames, ranges_of
from .edges import root_of_tree, subtree_sizes
from .original import add_original

Layout = Literal["slider", "side"]
LAYOUTS = get_args(Layout)
MIN_REACH = 1e-6  # If no point is farther from the centre than this, all are equal to rounding, and the page does not zoom in.
MAX_PANES = 4  # More panes would be too narrow.
SANDBOX = "allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"  # pop-ups: links open in a tab
OTHER_SCRIPTS = ("main.js", "widget.js")  # main.js is added last; widget.js is not part of the page
STRIPPED = re.compile(r"^ *(//|/\*\*|\*).*\n|^ +", re.MULTILINE)  # comments and indents, which the page does not need


class Page:
    """The page of the explorer: a notebook displays it, and `save` writes it to a file.

    In a notebook the page is an iframe, which a saved or converted notebook still shows without a kernel or a network. If
    anywidget is installed, `widget` is the same page as a widget: display it to read the selection from `selection`.

    Parameters
    ----------
    html : str
        The page.
    n_points : int
        The number of points on it.
    distortion : float or None
        The average distortion of the first picture, if the original is known.

    See Also
    --------
    horopca.explore : makes the page

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from horopca import explore
    >>> page = explore([[0.0, 0.0], [0.5, 0.0]], names=["root", "leaf"])
    >>> page.n_points, page.save(mkdtemp() + "/page.html").name
    (2, 'page.html')
    """

    def __init__(self, html: str, n_points: int, distortion: float | None = None) -> None:
        self.html = html
        self.n_points = n_points
        self.distortion = distortion  #: Average distortion from the original to the picture; None without an original.

    def save(self, path: str | Path, force: bool = False) -> Path:
        """Write the page to an ``.html`` file, completely or not at all, and replace an existing file only if `force`."""
        with atomic_output(path, force=force, formats=(".html", ".htm")) as temporary:
            temporary.write_text(self.html, encoding="utf-8")
        return Path(path)

    @cached_property
    def widget(self) -> Any:
        """The page as a widget, with a traitlet `selection` (row numbers); None if anywidget is not installed."""
        try:
            import anywidget
            import traitlets
        except ImportError:
            return None

        class Explorer(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
            _esm = (files(__package__) / "assets" / "widget.js").read_text(encoding="utf-8")
            html = traitlets.Unicode().tag(sync=True)
            selection = traitlets.List(traitlets.Int()).tag(sync=True)

        return Explorer(html=self.html)

    @property
    def selection(self) -> list[int]:
        """The rows selected in the displayed `widget`; setting it selects them there."""
        return [] if self.widget is None else list(self.widget.selection)

    @selection.setter
    def selection(self, rows: Sequence[int]) -> None:
        if self.widget is None:
            raise ImportError("A selection in a notebook needs anywidget: pip install anywidget.")
        self.widget.selection = [check_count("selection", row, 0, max(self.n_points - 1, 1), " (a row)") for row in rows]

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="{SANDBOX}" '
            'style="width: 100%; height: 640px; border: 0" title="Points in the hyperbolic plane"></iframe>'
        )

    def __repr__(self) -> str:
        size = len(self.html) / 1e6
        points = "1 point" if self.n_points == 1 else f"{self.n_points:,} points"
        return f'<Page: {points}, {size:.1f} MB; .save("page.html") keeps it>'


def explore(
    Y: Any,
    labels: Any = None,
    *,
    names: Sequence[Any] | None = None,
    edges: Any = None,
    values: Any = None,
    original: Any = None,
    details: Any = None,
    images: Sequence[Any] | None = None,
    sizes: Any = None,
    palette: Any = None,
    root: int | None = None,
    title: str = "Points in the hyperbolic plane",
    titles: Sequence[Any] | None = None,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    n_neighbors: int = 10,
    metric: MetricName = "hyperbolic",
    regions: Any = None,
    layout: Layout = "slider",
) -> Page:
    """An HTML page to explore points of the hyperbolic plane: navigate, search, select, compare with the original.

    Parameters
    ----------
    Y : array of shape (n, 2), or (n, 3) for ``model="lorentz"``; or several of them, in a list or along a first axis
        Points of the plane, such as ``HoroPCA(2).fit_transform(X)``. Far from the origin, rounding merges points of
        the ball: use Lorentz coordinates there. Several arrays are pictures of the same points, row by row, such as epochs of
        a training. The page starts with the last of them.
    labels : sequence of n, mapping of names to such sequences, or data frame, optional
        The class of each point, to colour, select and filter by. Several columns can be passed.
    names : sequence of n, optional
        The name of each point, to show and to search.
    edges : array of int (m, 2), optional
        Pairs of rows of Y to join by geodesics. If they form a tree (parent first), the page starts at its root and shows
        large subtrees first.
    values : array (n,), mapping of names to arrays (n,), or data frame, optional
        Numbers to colour and filter by. NaN is a missing value.
    original : array of shape (n, d), SciPy sparse matrix (n, n), or distances (n, n), optional
        What the picture is compared with: the points before the reduction, in the same model and curvature; a graph, as a
        sparse matrix of edge lengths, with the distances of shortest paths; or, with ``metric="precomputed"``, a matrix of
        distances. Of several pictures, the last is compared. The page shows which neighbours were added and lost, and
        the distortion of each point. Given points, it can refit HoroPCA to a selection, and refine the picture.
    details : sequence of n texts, mapping of names to such sequences, or data frame, optional
        Texts to show with a point and to search. Web addresses become links.
    images : sequence of n, optional
        An image for each point: the path of a file, a data URI, or None. The page contains the images, and shows them at
        the points when 200 of them or fewer are in view.
    sizes : array (n,), optional
        Numbers that the areas of the marks are proportional to.
    palette : sequence or mapping of "#rrggbb", optional
        Colours of the classes; see `horopca.plots.class_colours`.
    root : int, optional
        The row that the page starts from. By default, the root of the tree of the edges; or the Fréchet mean, if there is no
        tree or if most of it would lie on the rim.
    title : str
        The heading of the page.
    titles : sequence, optional
        The titles of several pictures, such as ``["epoch 1", "epoch 2"]``.
    model, curvature : str and float
        The coordinates of Y and of the original.
    n_neighbors : int
        The number of neighbours of each point that are compared with those in the original.
    metric : {"hyperbolic", "precomputed"}
        Whether `original` contains points or distances.
    regions : result of `horopca.metrics.bootstrap`, optional
        The confidence region of each point of Y (of the last picture). The page shows those of pinned and selected points,
        and those of all points on demand.
    layout : {"slider", "side"}
        Whether several pictures are shown one at a time, with a slider, or side by side in linked panes (2 to 4 pictures).
        Panes share the point under the pointer, the pinned point, the selection, filters, colours and flights.

    Returns
    -------
    Page
        A notebook displays it; ``.save("page.html")`` writes one file that works without a server or a network.

    See Also
    --------
    horopca.plots.plot_plane : a still picture

    Examples
    --------
    >>> from horopca import HoroPCA
    >>> from horopca.datasets import make_hierarchy
    >>> tree = make_hierarchy(random_state=0)
    >>> Y = HoroPCA(n_components=2, random_state=0).fit_transform(tree.points)
    >>> explore(Y, tree.labels, edges=tree.edges, original=tree.points).n_points
    121
    >>> start = [[0.0, 0.0], [0.1, 0.0]]  # the same two points in two epochs, with a slider between
    >>> explore([start, Y[:2]], titles=["epoch 1", "epoch 2"]).n_points
    2
    """
    coordinates = check_coordinates(model, curvature)
    frames = check_frames(Y, coordinates)
    check_choice("layout", layout, LAYOUTS)
    side = layout == "side"
    if side and not 2 <= len(frames) <= MAX_PANES:
        raise ValueError(f'layout="side" shows 2 to {MAX_PANES} pictures, but Y has {len(frames)}.')
    y, n, everything = frames[-1], len(frames[-1]), np.concatenate(frames)
    header: dict[str, Any] = {"unit": 1 / coordinates.scale, "ramps": RAMPS}
    header |= {"other": {"light": OTHER, "dark": DARK_OTHER}, "plain": {"light": COLOURS[0], "dark": DARK_COLOURS[0]}}
    header["radii"] = ranges_of(radius(everything) / coordinates.scale)
    arrays: Arrays = {}
    add_frames(header, arrays, frames, titles)
    add_labels(header, arrays, labels, n, palette)
    add_texts(header, n, names, details, images)
    add_numbers(header, arrays, n, values, sizes)
    pairs = None if edges is None else check_edges(edges, n)
    tree_root = None if pairs is None else root_of_tree(pairs, n)
    if pairs is not None and len(pairs):
        arrays["edges"] = pairs[np.lexsort(pairs.T)].T.ravel().astype(np.uint32)  # in this order they compress best
        if tree_root is not None:
            arrays["subtrees"] = subtree_sizes(pairs, n, tree_root)
    distortion = None if original is None else add_original(header, arrays, original, metric, y, n_neighbors, coordinates)
    if regions is not None:  # ellipses in the tangent spaces of the points, from which the page computes borders
        header["level"], arrays["ellipses"] = regions.level, (check_regions(regions, n) * coordinates.scale).ravel()
    if root is not None:
        check_count("root", root, 0, n - 1, " (a row of Y)")
    centred = frames if side else [y] * len(frames)
    homes = [choose_centre(frame, tree_root) if root is None else frame[root] for frame in centred]
    _add_view(header, homes, frames)
    if side:
        header |= {"layout": layout, "homes": [home[1:].tolist() for home in homes]}
    return Page(_assemble(title, _pack(header, arrays)), n, distortion)


def _add_view(header: dict[str, Any], homes: list[np.ndarray], frames: list[np.ndarray]) -> None:
    """Add the initial view: its centre, its model, and the largest distance of a point in any picture from there."""
    seen = np.concatenate([translate_to_origin(frame, home) for frame, home in zip(frames, homes, strict=True)])
    reach = 1.05 * float(radius(seen).max())
    header["home"], header["reach"] = homes[-1][1:].tolist(), reach if reach > MIN_REACH else 0.5
    header["model"] = {"disk": "poincare", "equidistant": "equidistant"}[choose_view(seen)]
    if header["model"] == "equidistant":
        why = why_equidistant(seen)
        header["why"] = why[0].upper() + why[1:]


def _assemble(title: str, data: str) -> str:
    """Fill the template. The security policy lists the hashes of the style and the script: the browser runs nothing else."""
    folder = files(__package__) / "assets"

    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".js") and file.name not in OTHER_SCRIPTS)
    script = '(() => {\n"use strict";\n' + "\n".join(STRIPPED.sub("", read(name)) for name in [*names, "main.js"]) + "})();\n"
    style = read("style.css")
    fields = {"title": html.escape(str(title).encode(errors="replace").decode()), "data": data}
    for name, text in (("style", style), ("script", script)):
        fields |= {name: text, f"{name}_hash": f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"}
    return re.sub(r"\{(\w+)\}", lambda match: fields[match[1]], read("page.html"))


def _pack(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """The header, as JSON, and the arrays, compressed and in base64, so that no text in them can close the HTML element.

    An array is stored as byte planes: the first bytes of all elements, then the second bytes, and so on. Signs and exponents
    compress better next to each other.
    """
    plan = [{"name": name, "type": array.dtype.str[1:], "length": array.size} for name, array in arrays.items()]
    text = json.dumps({**header, "arrays": plan}, separators=(",", ":"), allow_nan=False).encode()
    little = [np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for array in arrays.values()]
    planes = [array.view(np.uint8).reshape(-1, array.dtype.itemsize).T.tobytes() for array in little]
    raw = b"".join([len(text).to_bytes(4, "little"), text, *planes])
    return base64.b64encode(zlib.compress(raw, 9)).decode()
