"""Animations of moving points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_count
from ..geometry import geodesic
from ..geometry._arrays import to_numpy
from .figures import new_figure
from .plane import draw_plane, plot_plane
from .validation import check_plane_arguments, check_same_rows, one_per_point

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation


def animate(
    frames: Iterable[Any],
    labels: Sequence[Any] | None = None,
    *,
    titles: Sequence[str] | None = None,
    between: int = 0,
    **options: Any,
) -> FuncAnimation:
    """An animation of points that move in the hyperbolic plane, such as one picture per epoch of a training.

    Parameters
    ----------
    frames : iterable of arrays (n, 2)
        The same points at successive times, such as the images of ``HoroPCA(warm_start=True)`` or of one ``transform``.
    labels : sequence of n, optional
        The class of each point.
    titles : sequence of str, optional
        One for each frame.
    between : int, default=0
        The number of pictures between two frames, in which every point moves along a geodesic.
    **options
        As for `plot_plane`, for all pictures. View and limits are the same in all of them.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        ``.save("film.gif", writer="pillow", fps=4)`` writes a file; an ``.mp4`` needs the program ffmpeg. In a notebook,
        ``HTML(film.to_jshtml())`` shows it.

    See Also
    --------
    horopca.explore : several pictures with a slider

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> start, end = [[0.0, 0.0], [0.1, 0.0]], [[0.0, 0.0], [0.8, 0.0]]
    >>> film = animate([start, end], ["root", "leaf"], titles=["epoch 1", "epoch 2"], between=1)
    >>> film.save(f"{mkdtemp()}/film.gif", writer="pillow", fps=4)
    """
    from matplotlib.animation import FuncAnimation

    check_count("between", between, 0)
    frames = list(frames)
    if not frames or np.ndim(to_numpy(frames[0])) < 2:
        found = f"its first entry has shape {np.shape(to_numpy(frames[0]))}" if frames else "is empty"
        raise ValueError(f"frames must be a sequence of arrays (n, 2), but {found}.")
    if options.get("regions") is not None:
        raise ValueError("regions belong to one picture, but an animation has several. Omit regions.")
    headings = one_per_point(titles, "titles", len(frames), "frame") or [None] * len(frames)
    parameters = signature(plot_plane)
    data = []
    for Y, title in zip(frames, headings, strict=True):
        given = parameters.bind(Y, labels, title=title, ax=None, **options)
        given.apply_defaults()
        data.append(check_plane_arguments(given.arguments))
    check_same_rows("frames", [len(one.x) for one in data])
    figure, boxes = new_figure(), list[Any]()
    everything = np.concatenate([part for one in data for part in (one.x, one.diamonds)])

    def draw(picture: int) -> list[Any]:
        k, step = divmod(picture, between + 1)
        one = data[k]
        figure.clear()
        figure.set_layout_engine("constrained")
        if step:
            one = copy(one)
            one.x = geodesic(one.x, data[k + 1].x, step / (between + 1))
        # Every picture has the layout of the first, with two lines for notes: otherwise the axes would jump.
        draw_plane(one, figure.subplots(), everything, note_lines=2)
        if not boxes:
            figure.draw_without_rendering()
            boxes.extend(ax.get_position() for ax in figure.axes)
        figure.set_layout_engine("none")
        for ax, box in zip(figure.axes, boxes, strict=True):
            ax.set_position(box)
        return []

    count = (len(data) - 1) * (between + 1) + 1
    return FuncAnimation(figure, draw, count, interval=250, cache_frame_data=False)
