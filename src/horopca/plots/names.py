"""Names beside points, as many as fit, placed when the picture is drawn and its layout is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import figure_of, in_lines, plain, proportion, text_size, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

FONT = 7.0  # Names are so large, in points, on axes of the usual size.
LONGEST = 32  # A name has at most so many characters.
MOST = 150  # A picture has at most so many names.
# A name stands right, left, above, below or at one of the corners: the corner of its box is there, in its widths and heights.
PLACES = ((0.0, -0.5), (-1.0, -0.5), (-0.5, 0.0), (-0.5, -1.0), (0.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (-1.0, -1.0))


def weights(radius: np.ndarray, edges: np.ndarray | None) -> np.ndarray:
    """How telling each point is: near the centre, and with many edges if there are edges."""
    near = 1 / np.cosh(radius / 2) ** 2  # the area that a mark of constant hyperbolic size has on the disk
    if edges is None or not len(edges):
        return near
    degree = np.log1p(np.bincount(edges.ravel(), minlength=len(radius)))
    return np.asarray(near * (0.3 + degree / max(degree.max(), 1e-9)))


def draw_names(ax: Axes, xy: np.ndarray, names: list[str], weight: np.ndarray, marks: np.ndarray, note: Text) -> None:
    """Write the names of the points xy (n, 2), the heaviest first, where they hide no other name, no point and no legend.

    `marks` (n,) are the areas of the points in square points. Names of infinite weight may hide points of less. The note says
    how many of the names are not there.
    """
    from matplotlib.artist import Artist, allow_rasterization

    class Names(Artist):
        """Looks for places each time it is drawn: only then is it known where the axes are."""

        @allow_rasterization  # type: ignore[untyped-decorator, unused-ignore]
        def draw(self, renderer: Any) -> None:
            wanted = sum(1 for name in names if name)
            say(f"{wanted:,} of {wanted:,} names fit")  # at its longest
            taken = [*_hindrances(ax, renderer), np.array(note.get_window_extent(renderer).extents)]
            self.texts = _placed(ax, xy, names, weight, marks, taken)
            say(f"{len(self.texts):,} of {wanted:,} names fit" if len(self.texts) < wanted else "")
            for text in self.texts:
                text.draw(renderer)

        def get_texts(self) -> list[Text]:
            return self.texts

    said = note.get_text().replace("\n", " ")

    def say(more: str) -> None:
        note.set_text(in_lines(ax, "; ".join(part for part in (said, more) if part), 6))

    artist = Names()
    artist.texts = []
    artist.set_gid("names")
    artist.set_zorder(4)
    artist.set_in_layout(False)
    ax.add_artist(artist)


def _hindrances(ax: Axes, renderer: Any) -> list[np.ndarray]:
    """Boxes in pixels that no name may run into: the legend, and other axes of the figure that do not lie behind these."""
    low, high = ax.bbox.get_points()
    behind = [other for other in figure_of(ax).axes if (other.bbox.min <= low + 1).all() and (other.bbox.max >= high - 1).all()]
    others = [other.bbox for other in (*figure_of(ax).axes, *ax.child_axes) if other not in behind]
    legend = ax.get_legend()
    return [np.array(box.extents) for box in (others if legend is None else [*others, legend.get_window_extent(renderer)])]


def _placed(
    ax: Axes, xy: np.ndarray, names: list[str], weight: np.ndarray, marks: np.ndarray, taken: list[np.ndarray]
) -> list[Text]:
    """The names that fit beside what is taken, as texts in pixels."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text
    from matplotlib.textpath import text_to_path

    figure, theme, font = figure_of(ax), theme_of(ax), text_size(ax, FONT)
    unit = figure.dpi / 72
    if not len(xy):
        return []
    pixels = ax.transData.transform(xy)
    reach = np.sqrt(np.broadcast_to(marks, len(xy)) / np.pi) * unit
    frame, properties = np.array(figure.bbox.extents), FontProperties(size=font)
    found: list[Text] = []
    halo = [withStroke(linewidth=1.4 * proportion(ax), foreground=theme.halo, alpha=0.8)]  # over edges
    style: dict[str, Any] = {"fontsize": font, "color": theme.ink, "path_effects": halo}
    for i in [i for i in np.argsort(-weight, kind="stable")[: 8 * MOST] if names[i]]:
        if len(found) >= MOST:
            break
        text = plain(names[i], LONGEST)
        size = np.array([text_to_path.get_text_width_height_descent(text, properties, False)[0] + 2, 1.25 * font]) * unit
        shown = np.isinf(weight) if np.isinf(weight[i]) else np.full(len(xy), True)
        corner = _free_place(pixels[shown], reach[shown], pixels[i], float(reach[i]), size, frame, taken)
        if corner is not None:
            taken.append(np.concatenate([corner, corner + size]))
            x, y = corner + [unit, size[1] / 2]
            found.append(Text(float(x), float(y), text, ha="left", va="center", **style))
            found[-1].set_figure(figure)
    return found


def _free_place(
    pixels: np.ndarray,
    reach: np.ndarray,
    point: np.ndarray,
    radius: float,
    size: np.ndarray,
    frame: np.ndarray,
    taken: list[np.ndarray],
) -> np.ndarray | None:
    """The lower left corner of the first place beside a point, a mark of a radius, in which nothing is hidden."""
    away = radius + 1.5
    near = np.flatnonzero((np.abs(pixels - point) < size + away + reach.max(initial=0)).all(axis=1))
    others, sizes = pixels[near], reach[near, None]
    for place in PLACES:
        share = np.array(place)
        low = point + away * np.sign(share + 0.5) + size * share
        high = low + size
        if (low < frame[:2]).any() or (high > frame[2:]).any():
            continue
        if ((others + sizes > low) & (others - sizes < high)).all(axis=1).any():
            continue
        if not any((low < box[2:]).all() and (box[:2] < high).all() for box in taken):
            return np.asarray(low)
    return None
