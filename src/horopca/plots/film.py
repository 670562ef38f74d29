"""Pictures of moving points, one after another, in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from .._input.arguments import check_choice, check_count
from ..geometry import geodesic
from ..geometry._arrays import to_numpy
from .figures import new_figure
from .given import Given, check_given, check_same_rows, one_per_point
from .plane import draw_plane
from .views import VIEWS, choose_view

if TYPE_CHECKING:
    from matplotlib.animation import AbstractMovieWriter
    from matplotlib.figure import Figure

FORMATS = (".gif", ".mp4")
COMMONEST = 64  # So many colours of a GIF are exact.


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
    """Write a film of points that move in the hyperbolic plane: one picture per epoch, in one view and with the same colours.

    Parameters
    ----------
    frames : iterable of arrays (n, 2)
        The same points at one time after another, as ``HoroPCA(warm_start=True)`` or one ``transform`` gives them.
    path : str or Path
        Where to: a ``.gif``, or an ``.mp4``, which needs the program ffmpeg.
    labels, value_name, and more
        As for `plot_disk`, for all pictures.
    view : {"auto", "disk", "klein", "equidistant", "halfplane"}
        As for `plot_plane`, chosen once and large enough for all pictures.
    titles : sequence of str, optional
        One for each frame.
    between : int, default=0
        So many more pictures between two frames, in which every point goes on along a geodesic.
    fps : int, default=4
        Pictures per second.
    dpi : float, default=100
        Pixels per inch, of 7 by 6 inches.
    companions : mapping of names to points, or a list of one for each frame, optional
        Points to draw on top, as for `plot_disk`. Those of a list stand still between two frames.
    progress : callable, optional
        Called with how many pictures are drawn, and of how many.
    force : bool, default=False
        Replace a file that is there, once the film is whole.

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
    _refuse_existing(path, force)
    check_choice("view", view, ("auto", *VIEWS))
    check_count("between", between, 0)
    check_count("fps", fps, 1)
    given = _checked_frames(frames, labels, companions, points)
    heads = one_per_point(titles, "titles", len(given), "frame") or [None] * len(given)
    everything = np.concatenate([part for one in given for part in (one.x, one.companions)])
    chosen = choose_view(everything) if view == "auto" else view
    writer, figure, total = _writer(path, fps), new_figure(interactive=False), (len(given) - 1) * (between + 1) + 1
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=".film") as folder:
        unfinished = Path(folder) / path.name
        with writer.saving(figure, str(unfinished), dpi):
            for done, (one, head) in enumerate(_pictures(given, heads, between), start=1):
                figure.clear()
                draw_plane(chosen, one._replace(room=everything), figure.subplots(), value_name, head)
                writer.grab_frame()
                if progress is not None:
                    progress(done, total)
        _refuse_existing(path, force)  # somebody may have written it meanwhile
        os.replace(unfinished, path)
    return path


def _refuse_existing(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Pass force=True to replace it.")


def _checked_frames(frames: Iterable[Any], labels: Any, companions: Any, points: dict[str, Any]) -> list[Given]:
    """What is to be drawn of each frame, or a sentence."""
    frames = list(frames)  # or what makes them one after another
    if not frames:
        raise ValueError("frames must be one array of points after another, but there are none.")
    if np.ndim(to_numpy(frames[0])) < 2:
        raise ValueError("frames must be one array of points after another, but is one array itself. Pass [frames].")
    if points.get("regions") is not None:
        raise ValueError("regions are of one picture, and a film has several. Leave them out.")
    several = isinstance(companions, list | tuple) and len(companions) > 0
    moving = several and all(isinstance(one, Mapping) for one in companions)
    beside = one_per_point(companions, "companions", len(frames), "frame") if moving else [companions] * len(frames)
    given = [check_given(Y, labels, companions=one, **points) for Y, one in zip(frames, beside or [], strict=True)]
    check_same_rows("frames", [len(one.x) for one in given])
    return given


def _pictures(given: list[Given], heads: list[Any], between: int) -> Iterator[tuple[Given, Any]]:
    """The frames, and pictures between them, each with its title."""
    for k, one in enumerate(given):
        yield one, heads[k]
        if k + 1 < len(given):
            for step in range(1, between + 1):
                yield one._replace(x=geodesic(one.x, given[k + 1].x, step / (between + 1))), heads[k]


def _writer(path: Path, fps: int) -> AbstractMovieWriter:
    """What writes files with such an ending, or a sentence."""
    from matplotlib.animation import AbstractMovieWriter, FFMpegWriter

    class Gif(AbstractMovieWriter):
        """Keeps all pictures, to write them in one palette."""

        def setup(self, fig: Figure, outfile: Any, dpi: float | None = None) -> None:
            super().setup(fig, outfile, dpi)
            self.pictures: list[np.ndarray] = []

        def grab_frame(self, **options: Any) -> None:
            width, height = self.frame_size
            self.fig.savefig(drawn := BytesIO(), format="rgba", dpi=self.dpi)
            self.pictures.append(np.frombuffer(drawn.getvalue(), dtype=np.uint8).reshape(height, width, 4)[..., :3])

        def finish(self) -> None:
            if not self.pictures:  # the first could not be drawn, and that error is on its way
                return
            first, *rest = _in_one_palette(np.stack(self.pictures))
            first.save(self.outfile, save_all=True, append_images=rest, duration=round(1000 / self.fps), loop=0)

    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"path must end in {' or '.join(FORMATS)}, but is {str(path)!r}.")
    if ending == ".gif":
        return Gif(fps)
    if not FFMpegWriter.isAvailable():
        raise ValueError(f"{path.name} needs the program ffmpeg, which is not installed here. Write a .gif, or install ffmpeg.")
    return FFMpegWriter(fps=fps)


def _in_one_palette(pictures: np.ndarray) -> list[Any]:
    """Pictures (m, height, width, 3) in 256 colours that are the same in all: with a palette for each, colours would flicker.

    The commonest are kept as they are, and others are spread among all that there are.
    """
    from PIL import Image

    packed, place, counts = np.unique(pictures @ np.array([1 << 16, 1 << 8, 1]), return_inverse=True, return_counts=True)
    shades = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1).astype(np.uint8)
    spread = Image.fromarray(shades[None]).quantize(256 - COMMONEST, method=Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = np.concatenate([shades[np.argsort(-counts, kind="stable")[:COMMONEST]], np.array(spread).reshape(-1, 3)])
    nearest = cKDTree(palette[:256]).query(shades)[1].astype(np.uint8)
    images = [Image.fromarray(picture) for picture in nearest[place].reshape(pictures.shape[:3])]
    for image in images:
        image.putpalette(palette[:256].astype(np.uint8).tobytes())
    return images
