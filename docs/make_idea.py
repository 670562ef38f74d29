"""The pictures of the pages "Start", "The idea" and "Glossary": python docs/make_idea.py writes docs/images/idea/*.png."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from horopca import HoroPCA, plots
from horopca.datasets import make_hierarchy
from horopca.geometry import busemann, distance, from_hyperboloid, geodesic_hull, geodesic_projection, to_hyperboloid
from horopca.plots.curves import poincare_arcs
from horopca.statistics import frechet_mean

IMAGES = Path(__file__).parent / "images" / "idea"
BLUE, ORANGE, GREEN, BROWN = plots.COLOURS[:4]
RIM = "#30363D"
Q = np.array([np.cos(0.5), np.sin(0.5)])


def panels(count: int, width: float = 4.2) -> Any:
    figure = Figure(layout="constrained")
    figure.set_size_inches(width * count, 4.2)
    return np.atleast_1d(figure.subplots(1, count))


def empty_disk(ax: Any, title: str = "") -> Any:
    plots.plot_plane(np.zeros((1, 2)), ax=ax)
    ax.collections[-1].remove()
    ax.set_title(title, fontsize=11)
    return ax


def dots(ax: Any, places: Any, colour: str = BLUE, size: float = 36) -> None:
    places = np.atleast_2d(places)
    ax.scatter(places[:, 0], places[:, 1], s=size, c=colour, zorder=5, edgecolors="white", linewidths=0.6, clip_on=False)


def said(ax: Any, text: str, place: Any, colour: str = RIM, **options: Any) -> None:
    ax.annotate(text, place, xytext=options.pop("by", (6, 6)), textcoords="offset points", color=colour, fontsize=10, zorder=6)


def ideal_point() -> Any:
    ax = empty_disk(panels(1)[0])
    starts = np.array([[0.0, 0.0], [-0.6, 0.3], [-0.1, -0.6], [0.5, -0.55], [0.0, 0.7]])
    plots.plot_geodesics(starts, np.tile(Q * (1 - 1e-9), (len(starts), 1)), ax=ax)
    dots(ax, starts)
    dots(ax, Q, ORANGE, 70)
    said(ax, "ideal point", Q, ORANGE, by=(-62, 10))
    return ax


def horosphere_() -> Any:
    ax = empty_disk(panels(1)[0])
    plots.plot_horocycles(Q, levels=[-2, -1, 0, 1, 2], colour=ORANGE, ax=ax)
    return ax


def busemann_() -> Any:
    ax = empty_disk(panels(1)[0])
    rng = np.random.default_rng(1)
    x = rng.uniform(-0.9, 0.9, (400, 2))
    x = x[np.linalg.norm(x, axis=1) < 0.93][:150]
    plots.plot_horocycles(Q, levels=[-2, -1, 0, 1, 2], colour="#B6B8BC", ax=ax)
    values = busemann(to_hyperboloid(x), Q)
    marks = ax.scatter(x[:, 0], x[:, 1], c=values, cmap="viridis_r", s=26, zorder=5)
    ax.figure.colorbar(marks, ax=ax, shrink=0.7, label="Busemann function")
    return ax


def spine() -> Any:
    figure = Figure(layout="constrained")
    figure.set_size_inches(4.6, 4.4)
    ax = figure.add_subplot(projection="3d")
    plots.plot_ball(np.zeros((1, 3)), ax=ax)
    ax.collections[-1].remove()
    ax.plot([0, 0], [0, 0], [-1, 1], color=ORANGE, linewidth=2.4)
    ax.scatter([0, 0], [0, 0], [-1, 1], color=ORANGE, s=60)
    turn = np.linspace(0, np.pi, 60)
    page = np.stack([np.sin(turn), 0 * turn, np.cos(turn)], axis=1)
    ax.plot(*page.T, color=GREEN, linewidth=1.6)
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    ax.add_collection3d(Poly3DCollection([page], facecolor=GREEN, alpha=0.18))
    for height, radius, angle in ((0.35, 0.55, 1.9), (-0.3, 0.7, 2.6), (-0.62, 0.45, 1.3)):
        around = np.linspace(0, angle, 40)
        ring = np.stack([radius * np.cos(around), radius * np.sin(around), 0 * around + height], axis=1)
        ax.plot(*ring.T, color=BLUE, linewidth=1.2, linestyle="dashed")
        ax.scatter(*ring[-1], color=BLUE, s=40)
        ax.scatter(*ring[0], color=BROWN, s=40)
    ax.view_init(18, -62)
    return ax


def two_projections() -> Any:
    """Points in the flat plane and in the disk, each carried to a line along what is level for its direction."""
    axes = panels(2)
    rng = np.random.default_rng(3)
    flat = rng.uniform(-0.62, 0.62, size=(8, 2))
    ax = axes[0]
    for place in flat:
        ax.plot(*np.stack([place, (place @ Q) * Q]).T, color=ORANGE, linestyle="dashed", linewidth=1.2)
    ax.plot(*np.stack([-1.1 * Q, 1.1 * Q]).T, color=RIM, linewidth=1.4)
    dots(ax, flat)
    dots(ax, (flat @ Q)[:, None] * Q, BROWN)
    ax.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")
    ax.axis("off")
    ax.set_title("PCA: along straight lines", fontsize=11)
    plots.plot_projection(flat, Q, ax=axes[1])
    axes[1].set_title("HoroPCA: along horocycles", fontsize=11)
    return ax


def shrinking() -> Any:
    """The same two points by the geodesic projection and by the horospherical one, with their distances."""
    axes = panels(2)
    q, far = np.array([1.0, 0.0]), np.array([np.cos(1.7), np.sin(1.7)])
    along = poincare_arcs(far[None] * (1 - 1e-9), q[None] * (1 - 1e-9), 33)[0]
    high = to_hyperboloid(along)
    x = along[[int(np.argmin(abs(busemann(high, q) - level))) for level in (2.6, 0.8)]]
    high = to_hyperboloid(x)
    hull = geodesic_hull(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]))
    nearest = from_hyperboloid(geodesic_projection(high, hull), "poincare")
    level = from_hyperboloid(to_hyperboloid(-busemann(high, q)[:, None] * q, "tangent"), "poincare")
    empty_disk(axes[0], "to the nearest point of the line")
    axes[0].plot([-1, 1], [0, 0], color=RIM, linewidth=1.4)
    plots.plot_geodesics(x, nearest, colour=ORANGE, ax=axes[0])
    plots.plot_projection(x, q, ax=axes[1])
    axes[1].set_title("along horocycles", fontsize=11)
    d = float(distance(high[0], high[1]))
    for ax, image in zip(axes, (nearest, level), strict=True):
        plots.plot_geodesics(x[:1], x[1:], ax=ax)
        dots(ax, x)
        dots(ax, image, BROWN)
        after = float(distance(*to_hyperboloid(image)))
        ax.text(0, -0.45, f"{d:.2f} apart; then {after:.2f}", ha="center", fontsize=11)
    return axes[0]


def poles() -> Any:
    """What stays level about a pole inside the disk, on its rim, and beyond."""
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 700), np.linspace(-1, 1, 700)), axis=-1)
    inside = np.linalg.norm(grid, axis=-1) < 0.9999
    x = to_hyperboloid(np.where(inside[..., None], grid, 0))
    axes = panels(3)
    n = np.array([1.0, 0.0])
    titles = ("a pole inside: distances to it", "on the rim: horocycles", "beyond: distances to a line")
    for ax, kappa, title in zip(axes, (0.25, 0.0, -0.25), titles, strict=True):
        empty_disk(ax, title)
        low, high = x[..., 0] - x[..., 1:] @ n, x[..., 0] + x[..., 1:] @ n
        kept = np.where(inside, low + kappa * high, np.nan)
        levels = np.sort(np.concatenate([np.exp([-2.6, -1.8, -1.0, -0.2, 0.6, 1.4, 2.2]), [0], -np.exp([-1.8, -0.4, 1])]))
        levels = levels if kappa < 0 else levels[levels > 2 * np.sqrt(kappa)] if kappa else levels[levels > 0]
        levels = np.r_[1.02, 1.3, levels[levels > 1.5]] if kappa > 0 else levels
        ax.contour(grid[..., 0], grid[..., 1], kept, levels=levels, colors=[ORANGE], linewidths=1.2, linestyles="solid")
        if kappa > 0:
            dots(ax, n * np.tanh(-np.log(kappa) / 4), ORANGE, 60)
        elif kappa == 0:
            dots(ax, n, ORANGE, 60)
        else:
            ax.contour(grid[..., 0], grid[..., 1], kept, levels=[0.0], colors=[RIM], linewidths=2)
    return ax


def stretch() -> Any:
    tree = make_hierarchy(3, 5, random_state=0)
    axes = panels(2, 4.6)
    best = {"spine": "free", "objective": "distortion"}
    for ax, options, title in zip(axes, ({}, {"stretch": True}), ("without a stretch", "with it"), strict=True):
        Y = HoroPCA(2, **best, **options).fit_transform(tree.points)
        plots.plot_distortion(tree.points, Y, random_state=0, ax=ax)
        ax.set_title(f"{title}: {ax.get_title()}" if ax.get_title() else title, fontsize=10)
    return axes[0]


def bowl() -> Any:
    """A section of the hyperboloid, and how its points are seen in the ball from below."""
    figure = Figure(layout="constrained")
    figure.set_size_inches(4.6, 4.2)
    ax = figure.subplots()
    s = np.linspace(-2.6, 2.6, 200)
    ax.plot(s, np.sqrt(1 + s**2), color=BLUE, linewidth=2)
    ax.plot([-2.9, 0, 2.9], [2.9, 0, 2.9], color="#B6B8BC", linestyle="dashed", linewidth=1)
    ax.plot([-1, 1], [0, 0], color=ORANGE, linewidth=2)
    high = to_hyperboloid(np.sinh([[-1.5], [-0.6], [0.0], [0.8], [1.6]]), "lorentz-space")
    low = from_hyperboloid(high, "poincare")[:, 0]
    for (t, place), z in zip(high, low, strict=True):
        ax.plot([0, place], [-1, t], color=RIM, linewidth=0.8)
        dots(ax, [place, t])
        dots(ax, [z, 0], BROWN)
    said(ax, "(t, s)", high[-1][::-1], BLUE, by=(-36, 6))
    said(ax, "the ball", (1, 0), ORANGE, by=(6, -4))
    ax.set(xlim=(-3, 3), ylim=(-1.15, 3), aspect="equal")
    ax.axis("off")
    return ax


def distortion() -> Any:
    """Two points, their images on a line, and how far both are apart."""
    ax = empty_disk(panels(1)[0])
    x = np.array([[-0.75, 0.15], [0.55, 0.25]])
    q = np.array([1.0, 0.0])
    high = to_hyperboloid(x)
    image = from_hyperboloid(to_hyperboloid(-busemann(high, q)[:, None] * q, "tangent"), "poincare")
    plots.plot_projection(x, q, ax=ax)
    plots.plot_geodesics(x[:1], x[1:], colour=BLUE, ax=ax)
    dots(ax, x)
    dots(ax, image, BROWN)
    before, after = float(distance(*high)), float(distance(*to_hyperboloid(image)))
    ax.text(0, -0.45, f"d = {before:.2f}, d′ = {after:.2f}", ha="center", fontsize=11)
    ax.text(0, -0.6, f"distortion {abs(after - before) / before:.2f}", ha="center", fontsize=11)
    return ax


def variance() -> Any:
    """What the two variances are means of: the distances of pairs, and those from the mean."""
    axes = panels(2)
    x = np.array([[-0.7, 0.2], [-0.4, -0.6], [0.2, 0.75], [0.6, 0.1], [0.35, -0.5], [0.75, 0.45]])
    mean = from_hyperboloid(frechet_mean(to_hyperboloid(x)).point, "poincare")
    one, other = np.triu_indices(len(x), 1)
    empty_disk(axes[0], "of pairs")
    plots.plot_geodesics(x[one], x[other], ax=axes[0])
    empty_disk(axes[1], "about the Fréchet mean")
    plots.plot_geodesics(x, np.tile(mean, (len(x), 1)), ax=axes[1])
    for ax in axes:
        dots(ax, x)
    dots(axes[1], mean, ORANGE, 70)
    return axes[0]


def reading() -> Any:
    """One picture of a tree, with what to read in it."""
    tree = make_hierarchy(3, 4, random_state=1)
    Y = HoroPCA(2, spine="free", objective="distortion", stretch=True, centre="origin").fit_transform(tree.points)
    axes = panels(2, 4.6)
    plots.plot_plane(Y, tree.labels, edges=tree.edges, grid=True, title="disk: angles are true", view="disk", ax=axes[0])
    plots.plot_plane(Y, tree.labels, edges=tree.edges, title="equidistant: distances are", ax=axes[1], view="equidistant")
    return axes[0]


PICTURES: dict[str, Callable[[], Any]] = {
    "ideal-point": ideal_point, "horosphere": horosphere_, "busemann": busemann_, "spine": spine,
    "projections": two_projections, "shrinking": shrinking, "poles": poles, "stretch": stretch, "reading": reading,
    "bowl": bowl, "distortion": distortion, "variance": variance,
}  # fmt: skip


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        draw().figure.savefig(IMAGES / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
