"""Regions around points in pictures."""

import matplotlib
import numpy as np
import pytest

from horopca.geometry import distance, from_hyperboloid, to_hyperboloid, translate
from horopca.plots import animate, plot_disk, plot_equidistant, plot_klein

matplotlib.use("Agg")
Y = np.array([[0.0, 0.0], [0.5, 0.0], [-0.3, 0.6]])
RADII = np.array([0.1, 0.5, 0.9])
ROUND = 2 * np.pi * np.arange(40) / 40
CIRCLES = RADII[:, None, None] * np.stack([np.cos(ROUND), np.sin(ROUND)], axis=1)
BORDERS = from_hyperboloid(translate(to_hyperboloid(CIRCLES, "tangent"), to_hyperboloid(Y)[:, None, :]))


def drawn(ax, model):
    """The borders as they are drawn, taken back to the hyperboloid, those of the largest regions first."""
    (regions,) = (collection for collection in ax.collections if collection.get_gid() == "regions")
    return to_hyperboloid(np.array([path.vertices[:-1] for path in regions.get_paths()]), model)


@pytest.mark.parametrize(("plot", "model"), [(plot_disk, "poincare"), (plot_klein, "klein"), (plot_equidistant, "tangent")])
@pytest.mark.parametrize("centre", [None, 2])
def test_circles_are_circles_of_their_radius_in_every_view(plot, model, centre, ax):
    borders = drawn(plot(Y, regions=BORDERS, centre=centre, ax=ax), model)
    moved = Y if centre is None else from_hyperboloid(translate(to_hyperboloid(Y), to_hyperboloid(-Y[2])))
    for border, k in zip(borders, (2, 1, 0), strict=True):
        assert np.allclose(distance(border, to_hyperboloid(moved[k])), RADII[k], atol=1e-6)


def test_points_of_large_regions_are_paler(ax):
    marks = plot_disk(Y, ["a", "b", "c"], regions=BORDERS, ax=ax).collections[-1]
    rows = [int(np.argmin(np.linalg.norm(Y - place, axis=1))) for place in marks.get_offsets().data]
    firm = dict(zip(rows, marks.get_facecolors()[:, 3], strict=True))
    assert 1 > firm[0] > firm[1] > firm[2] > 0.25
    assert all(colour[3] == 1 for colour in plot_disk(Y).collections[-1].get_facecolors())


def test_a_region_as_large_as_the_picture_is_left_out_and_told_of(ax):
    wide = from_hyperboloid(translate(to_hyperboloid(10 * CIRCLES[2:], "tangent"), to_hyperboloid(Y[2])))
    plot_disk(Y, regions=np.concatenate([BORDERS[:2], wide]), ax=ax)
    assert len(drawn(ax, "poincare")) == 2 and "1 of 3 regions are as large as the picture" in ax.texts[-1].get_text()
    assert ax.collections[-1].get_facecolors()[:, 3].min() == 0.25


def test_what_has_borders_is_taken_as_them(ax):
    class Found:
        def borders(self, n_points):
            return BORDERS

    assert np.allclose(drawn(plot_disk(Y, regions=Found(), ax=ax), "poincare")[0], to_hyperboloid(BORDERS[2]))


def test_regions_in_another_model_and_curvature(ax):
    borders = drawn(plot_disk(2 * Y, regions=2 * BORDERS, curvature=-0.25, ax=ax), "poincare")
    assert np.allclose(distance(borders[0], to_hyperboloid(Y[2])), RADII[2])


@pytest.mark.parametrize("wrong", [np.zeros((2, 5, 2)), np.zeros((3, 2, 2)), np.zeros((3, 2))])
def test_refusal(wrong):
    with pytest.raises(ValueError, match="regions must be a result of"):
        plot_disk(Y, regions=wrong)
    with pytest.raises(ValueError, match="regions must lie inside the unit ball"):
        plot_disk(Y, regions=np.full((3, 5, 2), 2.0))


def test_a_film_has_none(tmp_path):
    with pytest.raises(ValueError, match="regions are of one picture"):
        animate([Y, Y], tmp_path / "film.gif", regions=BORDERS)
