"""Regions around points: true borders in every view, and those that are too large left out."""

import numpy as np
import pytest

from conftest import note_on
from horopca.geometry import distance, from_hyperboloid, to_hyperboloid, translate
from horopca.plots import plot_plane
from horopca.plots.views import VIEWS

Y = np.array([[0.0, 0.0], [0.5, 0.0], [-0.3, 0.6]])
RADII = np.array([0.1, 0.2, 0.4])


class Discs:
    """Regions as `horopca.metrics.bootstrap` returns them: discs of given radii."""

    level = 0.9

    def __init__(self, radii):
        self.axes = np.asarray(radii)[:, None, None] * np.eye(2)

    def semi_axes(self):
        return self.axes


def drawn(ax, model="poincare"):
    """The borders as they are drawn, on the hyperboloid, those of the largest regions first."""
    (regions,) = (collection for collection in ax.collections if collection.get_gid() == "regions")
    return [to_hyperboloid(path.vertices[:-1], model) for path in regions.get_paths()]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("centre", "unit"), [(None, 1), (2, 1), (None, 2)])
def test_circles_are_circles_of_their_radius_in_every_view(view, centre, unit, ax):
    options = {"regions": Discs(unit * RADII), "centre": centre, "curvature": -1 / unit**2}
    borders = drawn(plot_plane(unit * Y, view=view, ax=ax, **options), VIEWS[view].model)
    moved = Y if centre is None else from_hyperboloid(translate(to_hyperboloid(Y), to_hyperboloid(-Y[2])))
    for border, k in zip(borders, (2, 1, 0), strict=True):
        assert np.allclose(distance(border, to_hyperboloid(moved[k])), RADII[k], atol=1e-6)


@pytest.mark.parametrize("reach", [0.5, 1.0, 3.0])
def test_borders_of_large_regions_are_drawn_to_a_pixel(ax, reach):
    """Around a far point: the border is a circle in the disk, and every edge of its polygon is close to it."""
    far = from_hyperboloid(to_hyperboloid(np.array([[8.0, 0.0], [-8.0, 1.0], [0.0, 8.0]]), "tangent"))
    plot_plane(far, view="disk", regions=Discs([reach, 0.1, 0.1]), ax=ax)
    (regions,) = (collection for collection in ax.collections if collection.get_gid() == "regions")
    border = max((path.vertices for path in regions.get_paths()), key=lambda xy: np.ptp(xy[:, 0]))
    near, end = np.tanh(np.array([8.0 - reach, 8.0 + reach]) / 2)  # on the diameter through the point
    middles = (border[1:] + border[:-1]) / 2
    off = np.abs(np.linalg.norm(middles - [(near + end) / 2, 0], axis=1) - (end - near) / 2)
    assert off.max() < 2e-3  # of a plot of radius 1, 300 pixels


def test_points_of_large_regions_are_paler_and_regions_that_are_too_large_are_left_out_and_counted(ax):
    marks = plot_plane(Y, ["a", "b", "c"], regions=Discs([0.1, 0.2, 9.0]), ax=ax).collections[-1]
    rows = [int(np.argmin(np.linalg.norm(Y - offset, axis=1))) for offset in marks.get_offsets().data]
    alpha = dict(zip(rows, marks.get_facecolors()[:, 3], strict=True))
    assert 1 > alpha[0] > alpha[1] > alpha[2] == 0.25 and len(drawn(ax)) == 2
    assert note_on(ax) == "regions at a confidence of 90%; too large to draw: 1 of 3"


@pytest.mark.parametrize("wrong", [np.zeros((3, 5, 2)), Discs([1.0])])
def test_errors(wrong):
    with pytest.raises(ValueError, match="regions must be the result of"):
        plot_plane(Y, regions=wrong)
