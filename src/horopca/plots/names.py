"""Names beside points, as many as fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT = 7.0  # points
LONGEST = 32  # characters
# right, left, above, below: the corner of the name's box, in widths and heights of it, and how text is put there
PLACES = (
    (0.0, -0.5, "left", "center"),
    (-1.0, -0.5, "right", "center"),
    (-0.5, 0.0, "center", "bottom"),
    (-0.5, -1.0, "center", "top"),
)


def weights(radius: np.ndarray, edges: np.ndarray | None) -> np.ndarray:
    """How telling each point is: near the centre, and with many edges if there are edges."""
    near = 1 / np.cosh(radius / 2) ** 2  # the area that a mark of constant hyperbolic size has on the disk
    if edges is None or not len(edges):
        return near
    degree = np.log1p(np.bincount(edges.ravel(), minlength=len(radius)))
    return near * (0.3 + degree / max(degree.max(), 1e-9))


def place_names(ax: Axes, xy: np.ndarray, names: list[str], weight: np.ndarray, most: int = 150) -> None:
    """Write the names of the points xy (n, 2), the heaviest first, where they hide no other name and no named point."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    figure = cast("Figure", ax.get_figure(root=True))
    figure.draw_without_rendering()  # so that the layout is what it will be
    to_points = 72 / figure.dpi
    pixels, frame = ax.transData.transform(xy) * to_points, np.array(figure.bbox.extents) * to_points
    taken: list[np.ndarray] = []
    properties = FontProperties(size=FONT)
    for i in [i for i in np.argsort(-weight, kind="stable")[: 8 * most] if names[i]]:
        if len(taken) >= most:
            break
        text = names[i] if len(names[i]) <= LONGEST else f"{names[i][: LONGEST - 1]}…"
        width = text_to_path.get_text_width_height_descent(text, properties, False)[0] + 2
        _place(ax, xy[i], pixels[i], text.replace("$", r"\$"), np.array([width, 1.25 * FONT]), frame, taken)


def _place(
    ax: Axes, at: np.ndarray, pixel: np.ndarray, text: str, size: np.ndarray, frame: np.ndarray, taken: list[np.ndarray]
) -> None:
    """Write the text at the first place beside the point that is free."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=1.4, foreground="white", alpha=0.8)]  # over edges and points
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": FONT, "color": "#222222"}
    style |= {"path_effects": halo, "zorder": 4, "annotation_clip": False}
    for dx, dy, horizontal, vertical in PLACES:
        shift = 3.5 * np.array([np.sign(dx + 0.5), np.sign(dy + 0.5)])
        low = pixel + shift + size * [dx, dy]
        box = np.concatenate([low, low + size])
        inside = (box[:2] > frame[:2]).all() and (box[2:] < frame[2:]).all()
        if inside and not any((box[:2] < other[2:]).all() and (other[:2] < box[2:]).all() for other in taken):
            taken.append(box)
            ax.annotate(text, tuple(at), xytext=tuple(shift), ha=horizontal, va=vertical, **style)
            return
