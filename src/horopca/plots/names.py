"""Names beside points, as many as fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import figure_of, plain, proportion, text_size, theme_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

MAX_NAMES = 150  # A plot of the usual size is hard to read with more names.
TRIED_NAMES = 8 * MAX_NAMES  # The names of less important points are not tried: hardly any would fit.
# Positions of a name relative to its point, in order of preference: right, left, above, below, and the corners.
SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)])


def importance(radius: np.ndarray, edges: np.ndarray | None) -> np.ndarray:
    """Weights (n,) of names: large for points near the centre and, if there are edges, with many of them."""
    near = 1 / np.cosh(radius / 2) ** 2  # the area in the disk of a small mark of constant hyperbolic size
    if edges is None or not len(edges):
        return near
    degree = np.log1p(np.bincount(edges.ravel(), minlength=len(radius)))
    return np.asarray(near * (0.3 + degree / max(degree.max(), 1e-9)))


def names_note(fitting: int, wanted: int) -> str:
    """The note on how many names fit."""
    return f"names that fit: {fitting:,} of {wanted:,}"


def draw_names(ax: Axes, xy: np.ndarray, names: list[str], weight: np.ndarray, marks: np.ndarray, note: Text) -> None:
    """Draw the names of points xy (n, 2), in decreasing order of weight, where they overlap no name, point, legend or axes.

    `marks` (n,) are the areas of the points in square points. Names of infinite weight may overlap points of finite weight.
    The text of `note` is extended by how many names fit.
    """
    from matplotlib.artist import Artist, allow_rasterization
    from matplotlib.patheffects import AbstractPathEffect, Normal, Stroke

    halo: list[AbstractPathEffect] = [
        Stroke(linewidth=1.4 * proportion(ax), foreground=theme_of(ax).halo, alpha=0.8)
    ]  # edges run below
    wanted = sum(1 for name in names if name)
    before = note.get_text().replace("\n", " ")

    def set_note(more: str) -> None:
        note.set_text(wrapped(ax, "; ".join(filter(None, [before, more])), 6))

    class Names(Artist):
        """Finds positions whenever it is drawn, because the layout of the figure is known only then."""

        texts: tuple[Text, ...] = ()

        @allow_rasterization  # type: ignore[untyped-decorator, unused-ignore]
        def draw(self, renderer: Any) -> None:
            set_note(names_note(wanted, wanted))  # the longest note, to reserve its space
            taken = [*_obstacles(ax, renderer), np.array(note.get_window_extent(renderer).extents)]
            self.texts = tuple(_fitting(ax, xy, names, weight, marks, taken))
            set_note(names_note(len(self.texts), wanted) if len(self.texts) < wanted else "")
            # Text with effects is drawn as curves. In vector files it is drawn again without effects, and remains text.
            for effects in [[*halo, Normal()]] if hasattr(renderer, "buffer_rgba") else [halo, []]:
                for text in self.texts:
                    text.set_path_effects(effects)
                    text.draw(renderer)

    artist = Names()
    artist.set(gid="names", zorder=4, in_layout=False)
    ax.add_artist(artist)


def _obstacles(ax: Axes, renderer: Any) -> list[np.ndarray]:
    """Boxes in pixels that no name may overlap: legends, titles, numbers of rings, and other axes beside these."""
    low, high = ax.bbox.get_points() + [[1], [-1]]
    every = (*figure_of(ax).axes, *ax.child_axes)
    beside = [other for other in every if (other.bbox.min > low).any() or (other.bbox.max < high).any()]
    boxes: list[Any] = [other.bbox for other in beside]
    boxes += [other.yaxis.get_tightbbox(renderer) for other in beside if other.axison]  # such as the label of a colour bar
    boxes += [text.get_window_extent(renderer) for text in [ax.title, *ax.texts] if text.get_gid() in ("ring", None)]
    boxes += [legend.get_window_extent(renderer) for legend in (other.get_legend() for other in every) if legend is not None]
    return [np.array(box.extents) for box in boxes if box is not None]


def _fitting(
    ax: Axes, xy: np.ndarray, names: list[str], weight: np.ndarray, marks: np.ndarray, taken: list[np.ndarray]
) -> list[Text]:
    """The names that fit beside the boxes that are taken, as texts in pixels."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.text import Text
    from matplotlib.textpath import text_to_path

    figure, theme, font = figure_of(ax), theme_of(ax), text_size(ax, 7)
    pixel, properties, found = figure.dpi / 72, FontProperties(size=font), list[Text]()
    style: dict[str, Any] = {"fontsize": font, "color": theme.ink, "ha": "left", "va": "center"}
    centres = ax.transData.transform(xy) if len(xy) else np.empty((0, 2))
    reach = np.sqrt(np.broadcast_to(marks, len(xy)) / np.pi)[:, None] * pixel
    dots = np.hstack([centres - reach, centres + reach])
    for i in [i for i in np.argsort(-weight, kind="stable")[:TRIED_NAMES] if names[i]]:
        if len(found) == MAX_NAMES:
            break
        text = plain(names[i])
        width = text_to_path.get_text_width_height_descent(text, properties, False)[0] + 2
        size = np.array([width, 1.25 * font]) * pixel
        low = centres[i] + (SIDES - 1) / 2 * size + SIDES * (reach[i] + 1.5)
        boxes = np.hstack([low, low + size])
        inside = (low >= figure.bbox.min).all(axis=1) & (low + size <= figure.bbox.max).all(axis=1)
        points = dots[np.isinf(weight)] if np.isinf(weight[i]) else dots
        around = np.concatenate([low.min(axis=0), (low + size).max(axis=0)])[None]
        near = points[_overlap(points, around)]  # the points that any of the eight boxes may overlap
        free = np.flatnonzero(inside & ~_overlap(boxes, np.array(taken)) & ~_overlap(boxes, near))
        if len(free):
            box = boxes[min(free, key=lambda k: _crosses(boxes[k], ax))]
            taken.append(box)
            found.append(Text(box[0] + pixel, (box[1] + box[3]) / 2, text, **style))
            found[-1].set_figure(figure)
    return found


def _crosses(box: np.ndarray, ax: Axes) -> bool:
    """Whether a box of pixels crosses the rim of a disk, where a name is hard to read."""
    if not ax.patches:
        return False
    rim = np.asarray(ax.patches[0].get_window_extent().extents)  # the frame of a round view
    centre, radius = (rim[:2] + rim[2:]) / 2, (rim[2] - rim[0]) / 2
    nearest = np.linalg.norm(centre - np.clip(centre, box[:2], box[2:]))
    farthest = np.linalg.norm(np.maximum(abs(centre - box[:2]), abs(centre - box[2:])))
    return bool(nearest < radius < farthest)


def _overlap(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which boxes (m, 4) overlap any of others (k, 4); a box is left, bottom, right, top."""
    apart = (boxes[:, None, :2] >= others[None, :, 2:]) | (boxes[:, None, 2:] <= others[None, :, :2])
    return np.asarray(~np.asarray(apart.any(axis=2)).all(axis=1))
