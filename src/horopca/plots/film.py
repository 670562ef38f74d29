"""Films of moving points."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_choice, check_count, check_number
from ..geometry import geodesic
from ..geometry._arrays import to_numpy
from .figures import new_figure
from .plane import draw_plane
from .validation import PlotData, check_plot_data, check_same_rows, one_per_point
from .views import VIEWS, choose_view

if TYPE_CHECKING:
    from matplotlib.animation import AbstractMovieWriter

WRITERS = {".gif": "pillow", ".mp4": "ffmpeg"}  # matplotlib's names


def animate(
    frames: Iterable[Any],
    path: str | Path,
    labels: Sequence[Any] | None = None,
    *,
    view: str = "auto",
    titles: Sequence[str] | None = None,
    between: int = 0,
    fps: int = 4,
    dpi: float = 100.0,
    value_name: str | None = None,
    companions: Any = None,
    progress: Callable[[int, int], None] | None = None,
    force: bool = False,
    **points: Any,
) -> Path:
    """Write a film of points that move in the hyperbolic plane, such as one picture per epoch of a training.

    Parameters
    ----------
    frames : iterable of arrays (n, 2)
        The same points at successive times, such as the images of ``HoroPCA(warm_start=True)`` or of one ``transform``.
    path : str or Path
        A ``.gif``, or an ``.mp4``, which needs the program ffmpeg.
    labels, value_name, and more
        As for `plot_disk`, for all pictures.
    view : {"auto", "disk", "klein", "equidistant", "halfplane"}
        As for `plot_plane`; the same for all pictures, with the same limits.
    titles : sequence of str, optional
        One for each frame.
    between : int, default=0
        The number of pictures between two frames, in which every point moves along a geodesic.
    fps : int, default=4
        Pictures per second.
    dpi : float, default=100
        Pixels per inch. A picture measures 7 by 6 inches.
    companions : mapping of names to points, or a list of one for each frame, optional
        Points to draw on top, as for `plot_disk`. Those of a list do not move between two frames.
    progress : callable, optional
        Called as ``progress(done, total)`` after each picture.
    force : bool, default=False
        Whether to replace an existing file. It is replaced when the film is complete.

    Returns
    -------
    Path

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> start, end = [[0.0, 0.0], [0.1, 0.0]], [[0.0, 0.0], [0.8, 0.0]]
    >>> animate([start, end], f"{mkdtemp()}/film.gif", ["root", "leaf"], titles=["epoch 1", "epoch 2"], between=3).name
    'film.gif'
    """
    path = Path(path)
    _check_absent(path, force)
    check_choice("view", view, ("auto", *VIEWS))
    check_count("between", between, 0)
    check_count("fps", fps, 1)
    check_number("dpi", dpi, "a positive number", above=0)
    data = _check_frames(frames, labels, companions, points)
    heads = one_per_point(titles, "titles", len(data), "frame") or [None] * len(data)
    everything = np.concatenate([part for one in data for part in (one.x, one.companions)])
    chosen = choose_view(everything) if view == "auto" else view
    writer, figure, total = _writer(path, fps), new_figure(interactive=False), (len(data) - 1) * (between + 1) + 1
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=".film") as folder:
        unfinished = Path(folder) / path.name
        boxes: list[Any] = []
        with writer.saving(figure, str(unfinished), dpi):
            for done, (one, head) in enumerate(_pictures(data, heads, between), start=1):
                figure.clear()
                figure.set_layout_engine("constrained")
                # Every picture has the layout of the first, with two lines for notes: otherwise the film would jump.
                draw_plane(chosen, one._replace(margin=everything), figure.subplots(), value_name, head, note_lines=2)
                if not boxes:
                    figure.draw_without_rendering()
                    boxes = [ax.get_position() for ax in figure.axes]
                figure.set_layout_engine("none")
                for ax, box in zip(figure.axes, boxes, strict=True):
                    ax.set_position(box)
                writer.grab_frame()
                if progress is not None:
                    progress(done, total)
        _check_absent(path, force)  # it may have been written in the meantime
        os.replace(unfinished, path)
    return path


def _check_absent(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Pass force=True to replace it.")


def _check_frames(frames: Iterable[Any], labels: Any, companions: Any, points: dict[str, Any]) -> list[PlotData]:
    """Validate the frames and what is drawn with them."""
    frames = list(frames)
    if not frames:
        raise ValueError("frames must contain at least one array of points, but is empty.")
    if np.ndim(to_numpy(frames[0])) < 2:
        raise ValueError("frames must be a sequence of arrays of points, but is one array. Pass [frames].")
    if points.get("regions") is not None:
        raise ValueError("regions belong to one picture, but a film has several. Omit them.")
    each = isinstance(companions, list | tuple) and len(companions) > 0 and all(isinstance(one, Mapping) for one in companions)
    beside = one_per_point(companions, "companions", len(frames), "frame") if each else [companions] * len(frames)
    data = [check_plot_data(Y, labels, companions=one, **points) for Y, one in zip(frames, beside or [], strict=True)]
    check_same_rows("frames", [len(one.x) for one in data])
    return data


def _pictures(data: list[PlotData], heads: list[Any], between: int) -> Iterator[tuple[PlotData, Any]]:
    """The frames and the pictures between them, each with its title."""
    for k, one in enumerate(data):
        yield one, heads[k]
        for step in range(1, between + 1) if k + 1 < len(data) else ():
            yield one._replace(x=geodesic(one.x, data[k + 1].x, step / (between + 1))), heads[k]


def _writer(path: Path, fps: int) -> AbstractMovieWriter:
    """Matplotlib's writer of files with this suffix. Raises ValueError if there is none."""
    from matplotlib.animation import writers

    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise ValueError(f"path must end in {' or '.join(WRITERS)}, but is {str(path)!r}.")
    if not writers.is_available(WRITERS[suffix]):
        raise ValueError(f"{path.name} needs the program ffmpeg, which is not installed here. Write a .gif, or install ffmpeg.")
    return writers[WRITERS[suffix]](fps=fps)
