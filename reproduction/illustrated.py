"""The paper's explanatory figures, drawn: lines, horocycles, and the projection from space to a plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from horopca.geometry import busemann, distance, from_hyperboloid, horosphere, to_hyperboloid, translate, translate_to_origin
from horopca.geometry.isometries import translate_ideal_to_origin
from horopca.plots import COLOURS, plot_geodesics, plot_horocycles
from horopca.plots.curves import horocycle_arcs, poincare_arcs
from horopca.projections import horospherical_projection

BLUE, GREEN, RED, YELLOW = COLOURS[0], COLOURS[2], COLOURS[3], COLOURS[1]
INK = "#222222"
LEFT, RIGHT = np.array([-0.14, 0.0, -0.03]), np.array([0.03, 0.03, 0.06])  # of a name beside its point in space
POINTS = np.array([[-0.62, 0.3], [-0.15, 0.52], [0.42, 0.38]])
IDEAL = np.array([1.0, 0.0])
BASES = np.array([[0.0, 0.0], [-0.25, -0.55]])  # a point of each of the two lines towards the ideal point


def lines(figure: Any) -> None:
    """Three panels: the same points, projected on two lines that point the same way."""
    figure.set_size_inches(12, 4.4)
    panels = figure.subplots(1, 3)
    for ax, title, draw in zip(panels, ("Euclidean", "geodesic", "horospherical"), (_flat, _nearest, _sliding), strict=True):
        ends = draw(ax)
        ax.set_title(title, fontsize=12, color=INK)
        ax.text(0, -1.16, f"blue {ends[0]:.2f}      green {ends[1]:.2f}", ha="center", va="top", fontsize=10, color=INK)
        ax.set(xlim=(-1.08, 1.08), ylim=(-1.28, 1.08), aspect="equal")
        ax.set_axis_off()


def _flat(ax: Any) -> list[float]:
    ends = []
    for y, colour in ((0.0, BLUE), (-0.45, GREEN)):
        ax.plot([-1, 1], [y, y], color=INK, linewidth=1.3, zorder=1)
        ax.scatter(POINTS[:, 0], np.full(3, y), s=44, color=colour, zorder=3)
        ends.append(float(np.ptp(POINTS[:, 0])))
    for point in POINTS:
        ax.plot([point[0]] * 2, [point[1], -0.45], color=RED, linewidth=1, zorder=2)
    ax.scatter(*POINTS.T, s=40, color="black", zorder=4)
    return ends


def _line_through(base: np.ndarray) -> np.ndarray:
    """The geodesic through a point of the disk that ends in the ideal point, as a polyline."""
    b = to_hyperboloid(base)
    toward = translate_ideal_to_origin(IDEAL, b)
    return from_hyperboloid(translate(to_hyperboloid(np.linspace(-1, 1, 401)[:, None] * toward * (1 - 1e-7)), b), "poincare")


def _seen_from(base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points and the ideal point, as seen from a point of the line."""
    b = to_hyperboloid(base)
    return from_hyperboloid(translate_to_origin(to_hyperboloid(POINTS), b), "poincare"), translate_ideal_to_origin(IDEAL, b)


def _back(curves: np.ndarray, base: np.ndarray) -> np.ndarray:
    return from_hyperboloid(translate(to_hyperboloid(curves), to_hyperboloid(base)), "poincare")


def _drawn(ax: Any, images: list[np.ndarray]) -> list[float]:
    """Rim, lines, points and images; returns how far the outer images are apart."""
    for base, image, colour in zip(BASES, images, (BLUE, GREEN), strict=True):
        ax.plot(*_line_through(base).T, color=INK, linewidth=1.3, zorder=1)
        ax.scatter(*image.T, s=44, color=colour, zorder=4)
    ax.scatter(*IDEAL, s=36, color=RED, zorder=4, clip_on=False)
    ax.scatter(*POINTS.T, s=40, color="black", zorder=5)
    return [float(distance(to_hyperboloid(image[0]), to_hyperboloid(image[-1]))) for image in images]


def _nearest(ax: Any) -> list[float]:
    images = []
    for base in BASES:
        seen, toward = _seen_from(base)
        x = to_hyperboloid(seen)
        along = np.arctanh(x[:, 1:] @ toward / x[:, 0])
        image = _back(np.tanh(along / 2)[:, None] * toward, base)
        plot_geodesics(POINTS, image, colour=RED, ax=ax)
        images.append(image)
    return _drawn(ax, images)


def _sliding(ax: Any) -> list[float]:
    plot_horocycles(IDEAL, through=POINTS, colour=RED, ax=ax)
    images = []
    for base in BASES:
        seen, toward = _seen_from(base)
        images.append(_back(horocycle_arcs(seen, toward)[:, -1], base))
    return _drawn(ax, images)


BESIDE = {1: (20, 6), 4: (0, 12), 7: (20, -6)}  # where the lengths of three segments are written


def rays_and_horocycles(figure: Any) -> None:
    """Geodesics towards an ideal point, the horocycles that cross them at right angles, and equal segments between two."""
    figure.set_size_inches(6.2, 6.2)
    ax = figure.subplots()
    plot_horocycles(IDEAL, levels=(-1.5, -0.5, 0.5, 1.5), colour=RED, ax=ax)
    angles = np.deg2rad([40, 75, 110, 145, 180, 215, 250, 285, 320])
    for k, angle in enumerate(angles):
        curve = _arc(np.array([np.cos(angle), np.sin(angle)]), IDEAL, 4001)
        ax.plot(*curve.T, color=INK, linewidth=1.1)
        level = busemann(to_hyperboloid(curve), IDEAL)
        between = curve[(level >= -0.5) & (level <= 0.5)]  # the part between two horocycles
        ax.plot(*between.T, color=BLUE, linewidth=4, solid_capstyle="butt", zorder=4)
        if k in BESIDE:
            length = float(distance(*to_hyperboloid(between[[0, -1]])))
            place = between[len(between) // 2]
            style: dict[str, Any] = {"ha": "center", "va": "center", "color": BLUE, "fontsize": 11, "zorder": 7}
            ax.annotate(f"{length:.2f}", place, BESIDE[k], textcoords="offset points", **style)
    ax.scatter(*IDEAL, s=60, color=RED, zorder=6, clip_on=False)


def two_projections(figure: Any) -> None:
    """x and y on a geodesic towards p, and their projections on the line through the origin."""
    figure.set_size_inches(5.2, 5.2)
    ax = figure.subplots()
    far = np.array([np.cos(2.0), np.sin(2.0)])
    curve = _arc(far, IDEAL)
    pair = curve[[70, 125]]
    plot_horocycles(IDEAL, through=pair, colour="#BBBBBB", ax=ax)
    plot_geodesics([[-1 + 1e-9, 0.0]], [[1 - 1e-9, 0.0]], colour=INK, ax=ax)
    ax.plot(*curve.T, color=INK, linewidth=1.2)
    slid = horocycle_arcs(pair, IDEAL)
    x = to_hyperboloid(pair)
    near = np.stack([np.tanh(np.arctanh(x[:, 1] / x[:, 0]) / 2), np.zeros(2)], axis=1)
    plot_geodesics(pair, near, colour=BLUE, ax=ax)
    for arc in slid:
        ax.plot(*arc.T, color=GREEN, linewidth=1.6)
    for places, names, colour, below in (
        (pair, ("x", "y"), "black", False),
        (slid[:, -1], ("x′", "y′"), GREEN, True),
        (near, ("", ""), BLUE, True),
    ):
        ax.scatter(*np.asarray(places).T, s=46, color=colour, zorder=6)
        for place, name in zip(places, names, strict=True):
            ax.annotate(
                name, place, xytext=(0, -16 if below else 7), textcoords="offset points", ha="center", color=colour, fontsize=13
            )
    ax.annotate("p", IDEAL, xytext=(9, -4), textcoords="offset points", color=RED, fontsize=13, annotation_clip=False)
    ax.scatter(*IDEAL, s=46, color=RED, zorder=6, clip_on=False)
    d = [float(distance(*to_hyperboloid(np.asarray(places)))) for places in (pair, slid[:, -1], near)]
    ax.set_title(f"d(x, y) = d(x′, y′) = {d[1]:.2f};  between the geodesic projections {d[2]:.2f}", fontsize=10, color=INK)


def _arc(a: np.ndarray, b: np.ndarray, n_points: int = 201) -> np.ndarray:
    return poincare_arcs(a[None] * (1 - 1e-9), b[None] * (1 - 1e-9), n_points)[0]


def projection_in_space(figure: Any) -> None:
    """Two horospheres through x meet in a circle around the spine, which meets the plane in x' and x''."""
    figure.set_size_inches(7, 6.6)
    ax = figure.add_subplot(projection="3d", computed_zorder=False)
    ideals = np.array([[np.cos(0.75), np.sin(0.75), 0.0], [np.cos(2.2), np.sin(2.2), 0.0]])
    x = np.array([0.1, 0.22, 0.52])
    _sphere(ax, np.zeros(3), 1.0, "#999999", 0.06)
    angle = np.linspace(0, 2 * np.pi, 241)
    ax.plot(np.cos(angle), np.sin(angle), 0 * angle, color=YELLOW, linewidth=2.2)
    disk = np.linspace(0, 1, 2)[:, None]
    ax.plot_surface(disk * np.cos(angle), disk * np.sin(angle), 0 * disk * angle, color=YELLOW, alpha=0.12, linewidth=0)
    point = to_hyperboloid(x[None])
    for q in ideals:
        centre, size = horosphere(q, point)
        _sphere(ax, np.asarray(centre).ravel(), float(np.ravel(size)[0]), RED, 0.13)
    plane = from_hyperboloid(horospherical_projection(point, ideals), "poincare")[0]
    circle = _circle(ideals, point)
    ax.plot(*circle.T, color=GREEN, linewidth=2.4, zorder=8)
    spine = np.concatenate([_arc(ideals[0, :2], ideals[1, :2]), np.zeros((201, 1))], axis=1)
    ax.plot(*spine.T, color=BLUE, linewidth=2.2, zorder=7)
    other = circle[np.argmin(np.where(np.linalg.norm(circle - plane, axis=1) > 0.2, np.abs(circle[:, 2]), 9.0))]
    for place, name, colour in (
        (ideals[0], "p₁", RED),
        (ideals[1], "p₂", RED),
        (np.zeros(3), "b", INK),
        (x, "x", "black"),
        (plane, "x′", GREEN),
        (other, "x″", GREEN),
    ):
        ax.scatter(*place, s=40, color=colour, depthshade=False, zorder=9)
        ax.text(*(place + (LEFT if name == "x′" else RIGHT)), name, fontsize=13, color=colour, zorder=10)
    ax.set(xlim=(-0.9, 0.9), ylim=(-0.9, 0.9), zlim=(-0.9, 0.9))
    ax.set_box_aspect((1, 1, 1), zoom=1.3)
    ax.view_init(elev=24, azim=-62)
    ax.set_axis_off()


def _sphere(ax: Any, centre: np.ndarray, size: float, colour: str, alpha: float) -> None:
    u, v = np.mgrid[0 : 2 * np.pi : 61j, 0 : np.pi : 31j]
    shape = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    ax.plot_surface(
        *(centre[:, None, None] + size * shape), color=colour, alpha=alpha, linewidth=0, antialiased=True, rasterized=True
    )


def _circle(ideals: np.ndarray, point: np.ndarray) -> np.ndarray:
    """The points (n, 3) with the Busemann coordinates of `point`: its orbit under the rotations around the spine."""
    spine = np.concatenate([np.ones((2, 1)), ideals], axis=1)  # light-like vectors that span it
    J = np.diag([-1.0, 1, 1, 1])
    inside = spine.T @ np.linalg.solve(spine @ J @ spine.T, spine @ J)  # the orthogonal projection on their span
    fixed, turning = inside @ point[0], point[0] - inside @ point[0]
    first = turning / np.sqrt(turning @ J @ turning)
    basis = np.linalg.svd(np.concatenate([spine @ J, [J @ first]]))[2][-1]
    second = basis / np.sqrt(basis @ J @ basis)
    t = np.linspace(0, 2 * np.pi, 241)[:, None]
    size = np.sqrt(turning @ J @ turning)
    return from_hyperboloid(fixed + size * (np.cos(t) * first + np.sin(t) * second), "poincare")
