"""Geodesic hulls contain their points and have orthonormal frames; projections are the nearest points."""

import numpy as np
import pytest

from clouds import cloud, directions
from horopca import geometry as geo
from horopca.geometry import lift
from horopca.geometry.hulls import geodesic_hull
from subspaces import same_span


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_hull_does_not_depend_on_the_order_of_its_points(count):
    x = lift(np.sinh(np.array([0.1, 14.0, 3.0, 9.0]))[:count, None] * directions(4, 3, seed=1)[:count])  # far and near
    frame, again = geodesic_hull(x), geodesic_hull(x[::-1])
    assert all(row[np.abs(row).argmax()] > 0 for row in frame[1:, 1:])
    assert same_span(frame, again) and same_span(frame, x / x[:, :1])


@pytest.mark.parametrize(("points", "ideals"), [(3, 0), (1, 2), (0, 3), (2, 1)])
def test_a_hull_holds_its_points_and_is_lorentz_orthonormal(points, ideals):
    x, q = cloud(points, 5), directions(ideals, 5)
    frame = geodesic_hull(x if points else None, q if ideals else None)
    assert np.allclose(frame @ np.diag([-1.0, *[1.0] * 5]) @ frame.T, np.diag([-1.0, 1, 1]))
    assert not points or np.all(geo.distance(geo.geodesic_projection(x, frame), x) < 1e-7)
    assert np.linalg.matrix_rank(np.concatenate([frame, np.column_stack([np.ones(ideals), q])]), tol=1e-9) == 3


def test_geodesic_projection_is_the_nearest_point():
    x, frame = cloud(1, 4, radius=2), geodesic_hull(cloud(3, 4, seed=1))
    image = geo.geodesic_projection(x, frame)
    others = lift((cloud(200, 2) @ frame)[:, 1:])  # points of the hull
    assert np.allclose(geo.geodesic_projection(others, frame), others)
    for fraction in (1e-3, 0.1, 1.0):
        assert np.all(geo.distance(x, geo.geodesic(image, others, fraction)) >= geo.distance(x, image))


def test_geodesic_projection_shrinks_by_cosh_of_the_distance():
    frame = geodesic_hull(cloud(2, 3, seed=1))
    x, y = cloud(30, 3, seed=2), cloud(30, 3, seed=3)
    images = [geo.geodesic_projection(p, frame) for p in (x, y)]
    r = np.minimum(*(geo.distance(p, image) for p, image in zip((x, y), images, strict=True)))
    assert np.all(np.sinh(geo.distance(*images) / 2) <= np.sinh(geo.distance(x, y) / 2) / np.cosh(r) * (1 + 1e-9))


def test_errors_of_hulls():
    x = cloud(2, 3)
    with pytest.raises(ValueError, match="independent"):
        geodesic_hull(np.stack([*x, geo.geodesic(x[0], x[1], 0.3)]))
    for none, count in (({}, 0), ({"points": x[:0]}, 0), ({"ideal_points": directions(1, 3)}, 1)):
        with pytest.raises(ValueError, match=f"needs a point or two ideal points, but got {count} ideal points"):
            geodesic_hull(**none)
