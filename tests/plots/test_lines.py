"""Geodesics, horocycles, projections and entailment cones: true curves, seen from the centre of the axes."""

import numpy as np
import pytest

from conftest import offsets
from horopca.geometry import busemann, distance, from_hyperboloid, radius, to_hyperboloid, translate_to_origin
from horopca.plots import plot_cones, plot_geodesics, plot_horocycles, plot_plane, plot_projection
from horopca.plots.views import VIEWS

rng = np.random.default_rng(0)
Y = rng.uniform(-0.6, 0.6, (20, 2))
IDEAL = np.array([np.cos(1.0), np.sin(1.0)])


def on_geodesics(x, y, z):
    """Whether points z lie between x and y: the triangle inequality is an equality exactly on the geodesic."""
    return np.allclose(distance(x, z) + distance(z, y), distance(x, y), atol=1e-8)


def test_horocycles_touch_the_rim_and_go_through_the_points(ax):
    plot_horocycles([IDEAL, -IDEAL], through=Y[:3], ax=ax)
    assert len(ax.patches) == 1 + 6  # the rim, and a horocycle for each ideal point and each point
    for k, circle in enumerate(ax.patches[1:]):
        assert np.linalg.norm(circle.center) + circle.radius == pytest.approx(1)
        assert np.linalg.norm(Y[k % 3] - circle.center) == pytest.approx(circle.radius)


def test_the_projection_keeps_the_busemann_function_on_the_geodesic(ax):
    base = np.array([0.3, -0.2])
    plot_projection(Y, IDEAL, base=base, ax=ax)
    images = to_hyperboloid(np.asarray(ax.collections[-1].get_offsets()))
    assert np.allclose(busemann(images, IDEAL), busemann(to_hyperboloid(Y), IDEAL))
    seen = from_hyperboloid(translate_to_origin(images, to_hyperboloid(base)), "poincare")
    assert np.linalg.matrix_rank(seen, tol=1e-6) == 1  # on a diameter, in the frame of the base


@pytest.mark.parametrize("view", VIEWS)
def test_geodesics_join_the_points_of_the_plot_in_its_view(ax, view):
    """Also those that are equal, on a diameter, or next to the rim."""
    model = VIEWS[view].model
    special = np.array([[0.5, 0.0], [-0.9, 0.0], [0.3, 0.3], [0.3, 0.3], [0.9999, 0.0], [-0.01, 0.9999]])
    points = np.concatenate([Y, special])
    plot_plane(points, view=view, centre=3, ax=ax)
    drawn = offsets(ax)
    plot_geodesics(points[::2], points[1::2], ax=ax)
    for k, line in enumerate(ax.collections[-1].get_segments()):
        np.testing.assert_allclose(line[[0, -1]], drawn[[2 * k, 2 * k + 1]], atol=1e-9)
        z = to_hyperboloid(line, model)
        # the triangle inequality is an equality exactly on the geodesic; rounding next to the rim
        assert np.allclose(distance(z[0], z) + distance(z, z[-1]), distance(z[0], z[-1]), atol=1e-6)


def test_lines_are_seen_from_the_centre_of_the_disk(ax):
    plot_plane(Y, centre=3, ax=ax)
    plot_horocycles(IDEAL, through=Y[3:4], ax=ax)
    plot_horocycles(IDEAL, levels=busemann(to_hyperboloid(Y[3:4]), IDEAL), ax=ax)
    for circle in ax.patches[-2:]:  # through the centre, to the rim
        assert circle.radius == pytest.approx(0.5) and np.linalg.norm(circle.center) == pytest.approx(0.5)
    plot_projection(Y[3:4], IDEAL, base=Y[3], ax=ax)
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), [[0, 0]], atol=1e-9)


def test_curves_of_the_disk_are_errors_in_other_views(ax):
    plot_plane(Y, view="klein", ax=ax)
    calls = (lambda: plot_cones(Y, ax=ax), lambda: plot_horocycles(IDEAL, ax=ax), lambda: plot_projection(Y, IDEAL, ax=ax))
    for draw in calls:
        with pytest.raises(ValueError, match="draws in the Poincaré disk, but ax shows Klein's disk"):
            draw()
    ax.clear()
    assert len(plot_cones(Y, ax=ax).patches) == 1  # a new disk


def borders(ax):
    return [path.vertices for path in ax.collections[-1].get_paths()]


@pytest.mark.parametrize(("root", "centre"), [(None, None), ([0.2, -0.3], None), (None, Y[1]), ([0.2, -0.3], [0.9995, 0.0])])
@pytest.mark.parametrize("kind", ["K", "angles"])
def test_borders_of_cones_are_geodesics_that_leave_at_the_angle(ax, root, centre, kind):
    options = {"K": {"K": 0.2}, "angles": {"angles": [0.4] * len(Y)}}[kind]
    plot_cones(Y, root=root, ax=plot_plane(Y, view="disk", centre=centre, ax=ax), **options)
    there = to_hyperboloid(np.zeros(2) if centre is None else np.array(centre))
    root = to_hyperboloid(np.zeros(2) if root is None else np.array(root))
    seen, middle = (translate_to_origin(points, there) for points in (to_hyperboloid(Y), root))
    for x, border in zip(seen, borders(ax), strict=True):
        for side in (border[:65], border[:-66:-1]):
            line = to_hyperboloid(side[:40])  # the rest of the border ends on the rim
            assert distance(x, line[0]) < 1e-6 and on_geodesics(x, line[-1], line)
            back, along = (translate_to_origin(p, x)[1:] for p in (middle, line[20]))
            cosine = -back @ along / np.linalg.norm(back) / np.linalg.norm(along)
            size = np.tanh(distance(x, middle) / 2)
            # K (1 - |x|^2) / |x| in the unit ball: Ganea, Becigneul and Hofmann (2018)
            psi = {"K": np.arcsin(min(1, 0.2 * (1 - size**2) / size)), "angles": 0.4}[kind]
            assert np.arccos(cosine) == pytest.approx(psi, abs=1e-6)
        assert np.linalg.norm(np.diff(border[65:130], axis=0), axis=1).max() < 2 * np.pi / 60  # the rim in equal steps


def test_the_root_has_no_cone(ax):
    assert len(borders(plot_cones([[0.0, 0.0], [0.5, 0.0]], ax=ax))) == 1
    for k in range(4):  # rounding moves another root off the origin
        assert len(borders(plot_cones(Y[:5], root=Y[k], ax=ax))) == 4


def test_the_narrowest_and_the_widest_cone(ax):
    plot_cones([[0.5, 0.1]] * 2, angles=[0.0, np.pi], ax=ax)
    narrow, wide = (border[65:130] for border in borders(ax))
    assert np.ptp(narrow, axis=0).max() < 1e-9 and np.ptp(wide, axis=0).min() > 1.9
    assert radius(to_hyperboloid(borders(ax)[0][0])) == pytest.approx(2 * np.arctanh(np.hypot(0.5, 0.1)))
